"""The plan of one solution on paper: as a table, as the driver's list, as GeoJSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .._util.checks import printable
from .._util.csv_text import csv_text
from .._util.times import shown_time
from ..errors import ParetoNRPAError
from ..result.result import aligned, by_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..result.choose import Choice

_TIMES = ("arrival", "waiting", "start", "lateness", "departure")
# What a schedule says already, or an instance means by coordinates.
_KNOWN = {"name", "x", "y", "lat", "lon"}


def in_words(chosen: Choice, plan: dict[str, Any]) -> list[str]:
    """Return a solution as lines for the terminal: objectives by name, then route by route, stop by stop."""
    lines = [f"{name} {value:.6g}" for name, value in chosen.objectives.items()]
    head = [printable(f"Solution {chosen.number}: {', '.join(lines)}")]
    if chosen.violations:
        head.append(f"{chosen.violations:g} violation(s)")
    if not chosen.routes:
        return [*head, printable(chosen.words)]
    for r, route in enumerate(chosen.routes):
        title = [f"Route {r + 1}"] if len(chosen.routes) > 1 else []
        head += ["", *title, *_table(route, clock=plan.get("clock", False))]
    return head


def _table(route: list[dict[str, Any]], *, clock: bool) -> list[str]:
    has_load = any(row.get("load") for row in route)
    columns = ["arrival", "waiting", "lateness", "departure"]
    header = [*columns, *(["load"] if has_load else []), "stop"]
    rows = [
        [
            *(_shown(row[column], column, clock=clock) for column in columns),
            *([f"{row.get('load') or 0:g}"] if has_load else []),
            row["name"],
        ]
        for row in route
    ]
    return aligned(header, rows)


def _shown(value: float, column: str, *, clock: bool) -> str:
    """Return a cell; no waiting and no lateness are nothing to see."""
    return "" if column in ("waiting", "lateness") and not value else shown_time(value, clock=clock)


def drivers_list(chosen: Choice, plan: dict[str, Any]) -> str:
    """Return a solution as CSV: a line for each stop, with all that the instance says of it."""
    _need_routes(chosen)
    clock, stops = plan.get("clock", False), plan["stops"]
    more = list(dict.fromkeys(name for stop in stops for name in stop if name not in _KNOWN))
    table: list[list[Any]] = [["route", "position", "stop", *_TIMES, "load", *more]]
    for route, position, row in _rows(chosen):
        stop = stops[row["stop"]]
        times = [shown_time(row[name], clock=clock) if clock else row[name] for name in _TIMES]
        table.append([route, position, row["name"], *times, row.get("load"), *(stop.get(name) for name in more)])
    return csv_text(table)


def geojson(chosen: Choice, plan: dict[str, Any]) -> str:
    """Return a solution as GeoJSON: a line for each route and a point for each stop, as maps read them."""
    _need_routes(chosen)
    stops = plan["stops"]
    if not plan["geographic"] or any(stop.get("lat") is None for stop in stops):
        raise ParetoNRPAError("GeoJSON needs lat and lon of all stops, and these have none; --csv works without.")
    clock = plan["clock"]
    lines = [
        _feature(
            "LineString", [_place(stops[row["stop"]]) for row in route], {"route": r + 1, "stops": by_names([route])}
        )
        for r, route in enumerate(chosen.routes)
        if len(route) > 1
    ]
    points = [
        _feature("Point", _place(stops[row["stop"]]), {
            "route": route, "position": position, "name": row["name"],
            **{name: shown_time(row[name], clock=clock) if clock else row[name] for name in _TIMES},
        })
        for route, position, row in _rows(chosen)
    ]  # fmt: skip
    properties = {"solution": chosen.number, **chosen.objectives}
    return json.dumps({"type": "FeatureCollection", "properties": properties, "features": lines + points}, indent=1)


def _place(stop: dict[str, Any]) -> list[float]:
    return [stop["lon"], stop["lat"]]


def _feature(kind: str, coordinates: list[Any], properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Feature", "geometry": {"type": kind, "coordinates": coordinates}, "properties": properties}


def _rows(chosen: Choice) -> Iterator[tuple[int, int, dict[str, Any]]]:
    for r, route in enumerate(chosen.routes):
        for position, row in enumerate(route):
            yield r + 1, position, row


def _need_routes(chosen: Choice) -> None:
    if not chosen.routes:
        raise ParetoNRPAError(
            "this result has no stops and no times: it is not of a file of stops, or was saved before they were kept; "
            "solve it again."
        )
