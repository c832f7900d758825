"""A solution of a routing problem as people drive it: stop by stop, with times, waiting, lateness and load.

A problem has one in its attribute `plan` where stops are known by more than their number. Tables, files and pages read
it; no algorithm does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class RoutePlan:
    """The stops of a routing problem, and the timetable of each solution.

    Attributes
    ----------
    stops
        A dictionary for each stop, the depot first: name, x and y or lat and lon where known, opens, closes (None:
        never), service, demand, and further columns of the user's file.
    travel
        [n, n] travel times without service.
    clock
        True if times were given as hh:mm and are to be shown so; they are minutes then.
    """

    stops: list[dict[str, Any]]
    travel: NDArray[np.float64]
    clock: bool = False

    @property
    def geographic(self) -> bool:
        """Whether stops lie on the globe (lat, lon) and not in a plane (x, y)."""
        return "lat" in self.stops[0]

    def routes(self, solution: Sequence[int]) -> list[list[int]]:
        """Return the stops of each vehicle that leaves the depot, without the depot.

        A move beyond the last stop ends a route.
        """
        found: list[list[int]] = [[]]
        for move in solution:
            if move < len(self.stops):
                found[-1].append(int(move))
            else:
                found.append([])
        return [route for route in found if route]

    def schedule(self, solution: Sequence[int]) -> list[list[dict[str, Any]]]:
        """Return the timetable: for each route a row per stop, from depot to depot.

        A row has stop (its index), name, arrival, waiting, start (of service), lateness (of the start), departure and
        load (what was asked for up to there). A vehicle leaves the depot as late as it can be back equally early.
        """
        return [self._timetable(route) for route in self.routes(solution)]

    def _timetable(self, route: list[int]) -> list[dict[str, Any]]:
        opening = self.stops[0]["opens"]
        return self._drive(route, opening + _spare_time(self._drive(route, opening), self.stops))

    def _drive(self, route: list[int], leave: float) -> list[dict[str, Any]]:
        depot = self.stops[0]
        time, load, here = leave + depot["service"], 0.0, 0
        rows = [_row(0, depot, leave, leave, time, load)]
        for index in [*route, 0]:
            stop = self.stops[index]
            arrival = time + float(self.travel[here, index])
            start = arrival if index == 0 else max(arrival, stop["opens"])
            load += stop["demand"]
            time = start + (stop["service"] if index else 0.0)
            rows.append(_row(index, stop, arrival, start, time, load))
            here = index
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return what a file keeps of it, beside the schedules."""
        return {"stops": self.stops, "clock": self.clock, "geographic": self.geographic}


def numbered_plan(
    points: NDArray[np.float64],
    travel: NDArray[np.float64],
    opens: NDArray[np.float64],
    closes: NDArray[np.float64],
    service: NDArray[np.float64],
    demand: NDArray[np.float64] | None = None,
) -> RoutePlan:
    """Return the plan of an instance whose stops [n] have places [n, 2] and no names but their numbers."""
    asked = np.zeros(len(points)) if demand is None else demand
    stops = [
        {"name": str(i) if i else "depot", "x": x, "y": y, "opens": o, "closes": c if math.isfinite(c) else None}
        | {"service": s, "demand": d}
        for i, (x, y, o, c, s, d) in enumerate(np.column_stack([points, opens, closes, service, asked]).tolist())
    ]
    return RoutePlan(stops, travel)


def _row(
    index: int, stop: dict[str, Any], arrival: float, start: float, departure: float, load: float
) -> dict[str, Any]:
    return {
        "stop": index,
        "name": stop["name"],
        "arrival": arrival,
        "waiting": start - arrival,
        "start": start,
        "lateness": max(0.0, start - _closing(stop)),
        "departure": departure,
        "load": load,
    }


def _closing(stop: dict[str, Any]) -> float:
    return math.inf if stop["closes"] is None else stop["closes"]


def _spare_time(rows: list[dict[str, Any]], stops: list[dict[str, Any]]) -> float:
    """Return by how much a vehicle may leave later without being anywhere later than it must (Savelsbergh 1992)."""
    spare, waited = math.inf, 0.0
    for row in rows[1:]:
        waited += row["waiting"]
        spare = min(spare, waited + max(0.0, _closing(stops[row["stop"]]) - row["start"]))
    return min(spare, waited)
