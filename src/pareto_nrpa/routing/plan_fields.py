"""Stops and schedules in a saved result, which anybody may have written: what they must be."""

from __future__ import annotations

from typing import Any

from .._util.checks import is_number

_COORDINATES = (("x", "y"), ("lat", "lon"))
_NUMBERS = ("arrival", "waiting", "start", "lateness", "departure")
_ROW = {"stop", "name", *_NUMBERS, "load"}


def is_plan(value: Any) -> bool:
    """Tell whether something is stops with what is needed to show them."""
    return (
        isinstance(value, dict)
        and value.keys() == {"stops", "clock", "geographic"}
        and type(value["clock"]) is bool
        and type(value["geographic"]) is bool
        and isinstance(value["stops"], list)
        and len(value["stops"]) > 0
        and all(_is_stop(stop, geographic=value["geographic"]) for stop in value["stops"])
    )


def _is_stop(stop: Any, *, geographic: bool) -> bool:
    if not isinstance(stop, dict) or not isinstance(stop.get("name"), str) or not all(map(_is_cell, stop.values())):
        return False
    here = {name: stop[name] for pair in _COORDINATES for name in pair if stop.get(name) is not None}
    if not all(map(is_number, here.values())) or any((a in here) != (b in here) for a, b in _COORDINATES):
        return False
    return not geographic or "lat" not in here or (abs(here["lat"]) <= 90 and abs(here["lon"]) <= 360)


def _is_cell(value: Any) -> bool:
    return value is None or isinstance(value, str | bool) or is_number(value)


def are_schedules(value: Any) -> bool:
    """Tell whether something is, for each solution, routes of one row and more."""
    return _all(value, lambda routes: _all(routes, lambda rows: _all(rows, _is_row) and len(rows) > 0))


def _all(value: Any, is_right: Any) -> bool:
    return isinstance(value, list) and all(map(is_right, value))


def _is_row(row: Any) -> bool:
    return (
        isinstance(row, dict)
        and row.keys() <= _ROW
        and row.keys() >= _ROW - {"load"}
        and isinstance(row["name"], str)
        and isinstance(row["stop"], int)
        and all(is_number(row[name]) for name in _NUMBERS)
        and (row.get("load") is None or is_number(row["load"]))
    )


def fit_together(plan: dict[str, Any], schedules: list[list[list[dict[str, Any]]]]) -> bool:
    """Tell whether all rows are at stops of the plan, under their names."""
    names = [stop["name"] for stop in plan.get("stops", ())]
    rows = (row for routes in schedules for route in routes for row in route)
    return all(0 <= row["stop"] < len(names) and names[row["stop"]] == row["name"] for row in rows)
