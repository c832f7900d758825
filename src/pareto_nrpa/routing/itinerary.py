"""Routes with times: computed from solutions, stored in results as columns, read back as itineraries."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, Struct

from .._util.csv_text import csv_text
from .._util.structs import decode, encode
from .._util.text import aligned, shown_time
from ..errors import ParetoNRPAError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ..problem.base import CompiledProblem
    from ..result.result import Result

_DIGITS = 6  # of times, after the point
_LATE = 1e-6  # smaller values are rounding errors
_LATE_SHOWN = 5
_TIMES = ("arrival", "waiting", "start", "lateness", "departure")
_IN_TEXT = ("arrival", "waiting", "lateness", "departure")
# Columns of a list, and names of coordinates.
_KNOWN = {"name", "x", "y", "lat", "lon"}

_Stop = dict[str, str | bool | int | float | None]


class Route(Struct, forbid_unknown_fields=True):
    """The route of one vehicle: columns of values, a row for each stop from depot to depot.

    Attributes
    ----------
    stops
        Indices of the stops, 0 for the depot.
    arrival, start, departure
        When a stop is reached, when its service starts, and when it is left.
    load
        Load served so far; missing if no stop has a demand.
    """

    stops: Annotated[list[Annotated[int, Meta(ge=0)]], Meta(min_length=1)]
    arrival: list[float]
    start: list[float]
    departure: list[float]
    load: list[float] | None = None

    def __post_init__(self) -> None:
        columns = (self.arrival, self.start, self.departure, *([self.load] if self.load is not None else []))
        if any(len(column) != len(self.stops) for column in columns):
            raise ValueError(f"every column must have {len(self.stops)} entries, one for each stop")


class _Context(Struct, tag="routes", tag_field="kind", forbid_unknown_fields=True):
    """The data shared by the solutions of a result."""

    stops: Annotated[list[_Stop], Meta(min_length=1)]
    clock: bool = False


class _Place(Struct):
    """The typed columns of a stop; further columns may hold any value."""

    name: str
    x: float | None = None
    y: float | None = None
    lat: Annotated[float, Meta(ge=-90, le=90)] | None = None
    lon: Annotated[float, Meta(ge=-360, le=360)] | None = None
    opens: float | None = None
    closes: float | None = None

    def __post_init__(self) -> None:
        if (self.x is None) != (self.y is None) or (self.lat is None) != (self.lon is None):
            raise ValueError("a stop must have both x and y, or both lat and lon")


class _Places(Struct):
    stops: list[_Place]


class _Details(Struct, forbid_unknown_fields=True):
    """The data of each solution of a result."""

    routes: list[Route]
    violated: str = ""


@dataclass(frozen=True, eq=False)
class Itinerary:
    """The routes of one solution.

    Attributes
    ----------
    stops
        A dictionary for each stop, the depot first: name, x and y or lat and lon where known, opens, closes (None:
        never), service, demand, and further columns of the user's file.
    clock
        True if times are minutes of the day, to be shown as hh:mm.
    routes
        The routes that leave the depot.
    """

    stops: list[dict[str, Any]]
    clock: bool
    routes: list[Route]

    def rows(self, route: Route) -> list[dict[str, Any]]:
        """Return a route stop by stop: stop (its index), name, load, and arrival, waiting, start, lateness, departure.

        Lateness is that of the start of service.
        """
        found = []
        loads: Sequence[float | None] = route.load or [None] * len(route.stops)
        columns = zip(route.stops, route.arrival, route.start, route.departure, loads, strict=True)
        for index, arrival, start, departure, load in columns:
            stop = self.stops[index]
            late = 0.0 if stop.get("closes") is None else max(0.0, start - stop["closes"])
            times = {"arrival": arrival, "waiting": start - arrival, "start": start, "lateness": late}
            found.append({"stop": index, "name": stop["name"], **times, "departure": departure, "load": load})
        return found

    def words(self) -> str:
        """Return the names of the stops, route by route."""
        return " | ".join(" - ".join(self.stops[i]["name"] for i in route.stops if i) for route in self.routes)

    def lines(self) -> list[str]:
        """Return a table for each route."""
        lines: list[str] = []
        for number, route in enumerate(self.routes, 1):
            lines += ["", *([f"Route {number}"] if len(self.routes) > 1 else []), *self._table(route)]
        return lines

    def _table(self, route: Route) -> list[str]:
        has_load = any(route.load or ())
        header = [*_IN_TEXT, *(["load"] if has_load else []), "stop"]
        rows = [
            [
                *(self._cell(row[column], column) for column in _IN_TEXT),
                *([f"{row['load']:g}"] if has_load else []),
                row["name"],
            ]
            for row in self.rows(route)
        ]
        return aligned(header, rows)

    def _cell(self, value: float, column: str) -> str:
        """Return a time as text, empty for no waiting or lateness."""
        return "" if column in ("waiting", "lateness") and value <= _LATE else shown_time(value, clock=self.clock)

    def to_csv(self) -> str:
        """Return the routes as CSV: a line for each stop, with all its columns."""
        more = list(dict.fromkeys(name for stop in self.stops for name in stop if name not in _KNOWN))
        table: list[list[Any]] = [["route", "position", "stop", *_TIMES, "load", *more]]
        for route, position, row in self._numbered():
            stop = self.stops[row["stop"]]
            further = (stop.get(name) for name in more)
            table.append([route, position, row["name"], *self._times(row).values(), row["load"] or 0.0, *further])
        return csv_text(table)

    def to_geojson(self, properties: Mapping[str, object] | None = None) -> str:
        """Return the routes as GeoJSON: a line for each route and a point for each stop, for map programs."""
        if any(stop.get("lat") is None for stop in self.stops):
            raise ParetoNRPAError("GeoJSON requires lat and lon of all stops; use --csv instead.")
        places = [[stop["lon"], stop["lat"]] for stop in self.stops]
        lines = [
            _feature("LineString", [places[i] for i in route.stops], {"route": number, "stops": self._names(route)})
            for number, route in enumerate(self.routes, 1)
            if len(route.stops) > 1
        ]
        points = [
            _feature("Point", places[row["stop"]], {"route": route, "position": position, "name": row["name"]}
                     | self._times(row))
            for route, position, row in self._numbered()
        ]  # fmt: skip
        content = {"type": "FeatureCollection", "properties": dict(properties or {}), "features": lines + points}
        return json.dumps(content, indent=1)

    def _names(self, route: Route) -> str:
        return replace(self, routes=[route]).words()

    def _times(self, row: dict[str, Any]) -> dict[str, Any]:
        return {name: shown_time(row[name], clock=True) if self.clock else row[name] for name in _TIMES}

    def _numbered(self) -> Iterator[tuple[int, int, dict[str, Any]]]:
        for number, route in enumerate(self.routes, 1):
            for position, row in enumerate(self.rows(route)):
                yield number, position, row


def has_routes(result: Result) -> bool:
    """Tell whether a result has the routes of its solutions."""
    return result.context.get("kind") == "routes" and bool(result.details)


def itineraries(result: Result) -> list[Itinerary]:
    """Return the routes of each solution of a result; invalid ones are refused."""
    if not has_routes(result):
        raise ParetoNRPAError(
            "this result has no stops and no times: it is not of routes, or was saved by an older version; solve it "
            "again."
        )
    source = f"the result of {result.instance}"
    what = "one with stops and times of routes"
    saved = encode(result.context)
    context = decode(saved, _Context, source=source, what=what)
    n_stops = len(decode(saved, _Places, source=source, what=what).stops)
    details = decode(encode(result.details), list[_Details], source=source, what=what)
    last = max((stop for detail in details for route in detail.routes for stop in route.stops), default=0)
    if last >= n_stops:
        raise ParetoNRPAError(
            f"{source} is not {what}, or is damaged: a route has stop {last}, and there are {n_stops}."
        )
    return [Itinerary(context.stops, context.clock, detail.routes) for detail in details]


@dataclass(frozen=True, eq=False)
class Timetable:
    """Computes the routes of a solution: move i is stop i, a move beyond the last stop ends a route."""

    stops: list[dict[str, Any]]
    travel: NDArray[np.float64]  # [n, n] without service
    late_costs: bool = False

    def routes(self, solution: Sequence[int]) -> list[list[int]]:
        """Return the stops of each vehicle that leaves the depot, without the depot."""
        found: list[list[int]] = [[]]
        for move in solution:
            if move < len(self.stops):
                found[-1].append(int(move))
            else:
                found.append([])
        return [route for route in found if route]

    def details(self, solution: Sequence[int]) -> dict[str, Any]:
        """Return the routes of a solution as columns, and the missed stops if these are violations.

        A vehicle leaves the depot as late as possible without returning later.
        """
        routes, late = [], []
        has_load = any(stop["demand"] for stop in self.stops)
        for route in self.routes(solution):
            opening = self.stops[0]["opens"] or 0.0
            rows = self._drive(route, opening + self._spare_time(self._drive(route, opening)))
            index, arrival, start, departure, load = map(list, zip(*rows, strict=True))
            times = {"arrival": _rounded(arrival), "start": _rounded(start), "departure": _rounded(departure)}
            routes.append({"stops": index, **times} | ({"load": load} if has_load else {}))
            late += [
                f"{self.stops[i]['name']} by {begin - self._closing(i):.4g}"
                for i, _, begin, *_ in rows
                if begin - self._closing(i) > _LATE
            ]
        if not late or self.late_costs:
            return {"routes": routes}
        others = f" and {len(late) - _LATE_SHOWN} more" if len(late) > _LATE_SHOWN else ""
        return {"routes": routes, "violated": f"late at {', '.join(late[:_LATE_SHOWN])}{others}"}

    def describe(self, solution: Sequence[int]) -> str:
        """Return the names of the stops, route by route."""
        return " | ".join(" - ".join(self.stops[i]["name"] for i in route) for route in self.routes(solution))

    def _drive(self, route: list[int], leave: float) -> list[tuple[int, float, float, float, float]]:
        """Return for each stop its index, arrival, start of service, departure and load."""
        time, load, here = leave + self.stops[0]["service"], 0.0, 0
        rows = [(0, leave, leave, time, load)]
        for index in [*route, 0]:
            stop = self.stops[index]
            arrival = time + float(self.travel[here, index])
            start = arrival if index == 0 else max(arrival, stop["opens"])
            load += stop["demand"]
            time = start + (stop["service"] if index else 0.0)
            rows.append((index, arrival, start, time, load))
            here = index
        return rows

    def _closing(self, stop: int) -> float:
        closes = self.stops[stop]["closes"]
        return math.inf if closes is None else float(closes)

    def _spare_time(self, rows: list[tuple[int, float, float, float, float]]) -> float:
        """Return the forward slack of the departure: how much later a vehicle may leave (Savelsbergh 1992)."""
        spare, waited = math.inf, 0.0
        for index, arrival, start, *_ in rows[1:]:
            waited += start - arrival
            spare = min(spare, waited + max(0.0, self._closing(index) - start))
        return min(spare, waited)


def _rounded(times: list[float]) -> list[float]:
    return [round(time, _DIGITS) for time in times]


def with_timetable(
    problem: CompiledProblem,
    stops: Sequence[dict[str, Any]],
    travel: NDArray[np.float64],
    *,
    clock: bool = False,
    late_costs: bool = False,
) -> CompiledProblem:
    """Return a problem of routes whose results store stops and times.

    Parameters
    ----------
    stops
        A dictionary for each stop, the depot first, as in `Itinerary`; `closes` may be infinite.
    travel
        [n, n] travel times without service.
    """
    shown = [stop | {"closes": None if stop["closes"] == math.inf else stop["closes"]} for stop in stops]
    timetable = Timetable(shown, travel, late_costs)
    # Stops named by numbers are described by their moves.
    has_names = any(stop["name"] != str(i) for i, stop in enumerate(shown) if i)
    return replace(
        problem,
        context={"kind": "routes", "stops": shown, "clock": clock},
        details=timetable.details,
        describe=timetable.describe if has_names else None,
    )


def _feature(kind: str, coordinates: list[Any], properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Feature", "geometry": {"type": kind, "coordinates": coordinates}, "properties": properties}
