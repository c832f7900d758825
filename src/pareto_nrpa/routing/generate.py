"""Seeded random instances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .._util.checks import check_whole
from ..errors import InstanceError
from ..problem.base import CompiledProblem
from .itinerary import with_timetable
from .matrices import euclidean
from .solomon import MOST_CITIES
from .stops import numbered_stops
from .tsp import mo_tsp
from .tsptw import mo_tsptw
from .vehicles import vrptw

_SIDE = 100.0  # cities lie in a square of this side
_MOST_COSTS = 300_000_000  # gigabytes
_SERVICE = 10.0  # time spent at each city, as in the public instances


def generate_tsptw(
    n: int, seed: int = 0, tightness: float = 0.5, n_objectives: int = 2, *, name: str | None = None
) -> CompiledProblem:
    """Return a random problem with time windows that has at least one feasible tour.

    Windows are placed around the arrival times of a random tour. The depot never closes.

    Parameters
    ----------
    n
        Number of cities, the depot included, at least 2.
    seed
        Same seed, same instance.
    tightness
        0: every window is as wide as the whole day; 1: windows have nearly no width.
    n_objectives
        1 for travel time only; each further one is the distance between other random places.
    """
    _check(n, n_objectives, seed, tightness)
    rng = np.random.default_rng(seed)
    places = [_SIDE * rng.random((n, 2)) for _ in range(n_objectives)]
    distances = np.stack([euclidean(points) for points in places])
    service = np.full(n, _SERVICE)
    service[0] = 0.0
    costs = distances.copy()
    costs[0] += service[:, None]
    np.fill_diagonal(costs[0], 0.0)
    tour = np.concatenate([[0], 1 + rng.permutation(n - 1)])
    arrivals = np.zeros(n)
    arrivals[tour[1:]] = np.cumsum(costs[0][tour[:-1], tour[1:]])
    day = arrivals.max() + costs[0][tour[-1], 0]
    opens, closes = _windows(arrivals, day, tightness, rng)
    if tightness == 0:
        opens[:], closes[:] = 0.0, np.ceil(day) + 1.0
    opens[0], closes[0] = 0.0, np.inf
    problem = mo_tsptw(
        costs,
        opens,
        closes,
        distances=distances,
        metric=True,
        name=name or f"tsptw:n={n},seed={seed},tightness={tightness:g},objectives={n_objectives}",
    )
    return _with_places(problem, places[0], distances[0], {"opens": opens, "closes": closes, "service": service})


def generate_vrptw(
    n: int,
    seed: int = 0,
    tightness: float = 0.5,
    vehicles: int | None = None,
    objectives: Sequence[str] = ("distance", "vehicles"),
    *,
    name: str | None = None,
) -> CompiledProblem:
    """Return a random problem of routes for vehicles with capacities that has at least one feasible solution.

    Stops are assigned to vehicles in a random order; windows are placed around the arrival times. The capacity is a
    fifth above the largest load, and the depot closes when the last vehicle is back.

    Parameters
    ----------
    n
        Number of stops, the depot included, at least 2.
    seed, tightness
        As in `generate_tsptw`.
    vehicles
        Number of vehicles; one for every ten stops by default.
    objectives
        Names as in `vrptw`, and distance.
    """
    _check(n, 1, seed, tightness)
    vehicles = -(-(n - 1) // 10) if vehicles is None else vehicles
    check_whole("vehicles", vehicles, 1)
    rng = np.random.default_rng(seed)
    places = _SIDE * rng.random((n, 2))
    places[0] = _SIDE / 2
    distances = euclidean(places)
    service, demand = np.full(n, _SERVICE), rng.integers(1, 30, n).astype(float)
    service[0] = demand[0] = 0.0
    times = distances + service[:, None]
    np.fill_diagonal(times, 0.0)
    routes = [np.concatenate([[0], stops]) for stops in np.array_split(1 + rng.permutation(n - 1), vehicles)]
    arrivals = np.zeros(n)
    for route in routes:
        arrivals[route[1:]] = np.cumsum(times[route[:-1], route[1:]])
    day = max(arrivals[route[-1]] + times[route[-1], 0] for route in routes)
    opens, closes = _windows(arrivals, day, tightness, rng)
    opens[0], closes[0] = 0.0, np.ceil(day) + 1.0
    problem = vrptw(
        times,
        opens,
        closes,
        vehicles=vehicles,
        objectives=objectives,
        costs={"distance": distances},
        demand=demand,
        capacity=float(np.ceil(1.2 * max(demand[route].sum() for route in routes))),
        metric=True,
        name=name
        or f"vrptw:n={n},seed={seed},tightness={tightness:g},vehicles={vehicles},objectives={'+'.join(objectives)}",
    )
    columns = {"opens": opens, "closes": closes, "service": service, "demand": demand}
    return _with_places(problem, places, distances, columns)


def _windows(
    arrivals: NDArray[np.float64], day: float, tightness: float, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return windows around times of arrival, with a margin: a window of width zero can be kept despite rounding."""
    before, after = (1.0 - tightness) * day * rng.random((2, len(arrivals)))
    opens = np.maximum(0.0, np.floor(arrivals - before))
    return opens, np.minimum(np.ceil(arrivals + after) + 1.0, np.ceil(day) + 1.0)


def _with_places(
    problem: CompiledProblem,
    places: NDArray[np.float64],
    travel: NDArray[np.float64],
    columns: dict[str, NDArray[np.float64]],
) -> CompiledProblem:
    """Return a problem whose results store places and times of numbered stops."""
    named = {"x": places[:, 0], "y": places[:, 1], **columns}
    stops = numbered_stops(problem.name, named, [f"number {i}" for i in range(len(places))])
    return with_timetable(problem, stops.rows, travel)


def generate_tsp(n: int, seed: int = 0, n_objectives: int = 2, *, name: str | None = None) -> CompiledProblem:
    """Return a random travelling salesman problem: a matrix of distances between random places per objective."""
    _check(n, n_objectives, seed)
    rng = np.random.default_rng(seed)
    costs = np.stack([euclidean(rng.random((n, 2))) for _ in range(n_objectives)])
    return mo_tsp(costs, name=name or f"mo-tsp:n={n},seed={seed},objectives={n_objectives}")


def _check(n: int, n_objectives: int, seed: int, tightness: float = 0.0) -> None:
    for name, value, least in (("n", n, 2), ("n_objectives", n_objectives, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise InstanceError(f"{name} must be a whole number of at least {least}, got {value!r}.")
    if n > MOST_CITIES:
        raise InstanceError(f"n must be at most {MOST_CITIES}, got {n}.")
    if n * n * n_objectives > _MOST_COSTS:
        raise InstanceError(f"n * n * n_objectives must be at most {_MOST_COSTS:,}, got {n} and {n_objectives}.")
    if not 0 <= tightness <= 1:
        raise InstanceError(f"tightness must be between 0 and 1, got {tightness}.")
