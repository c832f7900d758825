"""Detection of infeasible instances before the search, with the name of the stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import InstanceError
from .tsptw import TOLERANCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .stops import Stops


def check_load(stops: Stops, vehicles: int, capacity: float) -> None:
    """Raise if the vehicles cannot carry the demand."""
    demand = stops.column("demand")
    largest = int(np.argmax(demand))
    if demand[largest] > capacity * (1 + TOLERANCE):
        raise InstanceError(
            f"{stops.source}: {stops.named(largest)} has demand {demand[largest]:g}, above the capacity of a vehicle "
            f"({capacity:g})."
        )
    if demand.sum() > vehicles * capacity * (1 + TOLERANCE):
        raise InstanceError(
            f"{stops.source}: total demand is {demand.sum():g}, more than {vehicles} vehicle(s) of capacity "
            f"{capacity:g} carry."
        )


def check_windows(stops: Stops, shortest: NDArray[np.float64], *, vehicles: int) -> None:
    """Raise if a window cannot be kept on any route.

    Times [n, n] are shortest paths, and include service at the stop left.
    """
    opens, closes = stops.column("opens"), stops.column("closes")
    latest = closes * (1 + TOLERANCE)
    start = np.maximum(opens[0] + shortest[0], opens)
    late = [i for i in range(1, len(stops)) if start[i] > latest[i]]
    if late:
        stop = min(late, key=lambda i: closes[i])
        raise InstanceError(
            f"{stops.source}: {stops.named(stop)} cannot be reached in time: it closes at {stops.time(closes[stop])}, "
            f"and a vehicle that leaves the depot at {stops.time(opens[0])} is there at {stops.time(start[stop])}."
        )
    back = start + shortest[:, 0]
    late = [i for i in range(1, len(stops)) if back[i] > latest[0]]
    if late:
        stop = max(late, key=lambda i: back[i])
        raise InstanceError(
            f"{stops.source}: from {stops.named(stop)} no vehicle is back at the depot before it closes at "
            f"{stops.time(closes[0])}: served at {stops.time(start[stop])}, it is back at {stops.time(back[stop])}."
        )
    if vehicles == 1:
        _check_pairs(stops, start, shortest, latest)


def _check_pairs(
    stops: Stops, start: NDArray[np.float64], shortest: NDArray[np.float64], latest: NDArray[np.float64]
) -> None:
    """Raise if one vehicle cannot serve two stops in any order."""
    too_late = start[:, None] + shortest > latest[None, :]
    both = np.triu(too_late & too_late.T, 1)[1:, 1:]
    if both.any():
        first, second = (int(i) + 1 for i in np.argwhere(both)[0])
        raise InstanceError(
            f"{stops.source}: one vehicle cannot serve both {stops.named(first)} and {stops.named(second)} in time "
            "in any order; use more vehicles (--vehicles) or wider windows."
        )
