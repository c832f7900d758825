"""VROOM's JSON: jobs, vehicles that are alike, matrices. What is not supported is refused by name."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .._util.checks import is_number, shown
from ..errors import InstanceError
from ..result.result import FORMAT as RESULT
from .instance import DISTANCE, Instance
from .matrices import checked_matrices
from .stops import MOST_STOPS, Stops, check_stops
from .table import read_text

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_TOP = {"jobs", "vehicles", "matrices"}
_JOB = {"id", "description", "location", "location_index", "service", "delivery", "time_windows"}
_VEHICLE = {"id", "description", "start", "start_index", "end", "end_index", "capacity", "time_window", "profile"}
_MATRICES = {"durations": None, "distances": DISTANCE, "costs": "cost"}
_SECONDS_PER_HOUR = 3600.0


class _Wrong(InstanceError):
    """What is wrong with a file, without its name."""


def read_vroom(path: Path) -> Instance:
    """Return what a file says. Times are seconds, places are [longitude, latitude]."""
    try:
        content = json.loads(read_text(path))
        return _instance(path, content)
    except InstanceError as error:
        raise InstanceError(f"{path}: {error}." if isinstance(error, _Wrong) else str(error)) from error
    except (ValueError, RecursionError, OverflowError) as error:  # a number of more digits than there are
        raise InstanceError(f"{path} is not JSON, or is damaged.") from error


def _instance(path: Path, content: Any) -> Instance:
    if isinstance(content, dict) and content.get("format") == RESULT:
        raise _Wrong("this is a saved result, no problem to solve; read it with pareto-nrpa show or pareto-nrpa report")
    _check_keys(content, _TOP, "a file of VROOM")
    jobs, vehicles = (_list(content.get(key), key) for key in ("jobs", "vehicles"))
    if not jobs or not vehicles:
        raise _Wrong("there must be at least one of jobs and of vehicles")
    if len(jobs) >= MOST_STOPS:
        raise _Wrong(f"there can be {MOST_STOPS - 1:,} jobs at most, got {len(jobs):,}")
    vehicle = _like_each_other(vehicles)
    rows = [_depot(vehicle), *(_job(job) for job in jobs)]
    for row in rows:
        if ("lat" in row) != ("lat" in rows[0]):
            raise _Wrong(f"{shown(row['name'])} and the depot must both have a location, or none")
    indices = [row.pop("index") for row in rows]
    matrices = _matrices(content.get("matrices"), vehicle.get("profile", "car"), indices)
    names = [row["name"] for row in rows]
    stops = Stops(path.name, rows, ["vehicles", *(f"job {name}" for name in names[1:])], list(range(len(rows))))
    stops.per_hour = _SECONDS_PER_HOUR
    check_stops(stops)
    travel = matrices.pop("", None)
    capacity = _amount(vehicle.get("capacity"), "capacity of a vehicle") if "capacity" in vehicle else None
    return Instance(stops, path.stem, travel, matrices, len(vehicles), capacity)


def _check_keys(value: Any, known: set[str], what: str) -> None:
    if not isinstance(value, dict):
        raise _Wrong(f"{what} must be an object of JSON, got {shown(value)[:60]}")
    for key in value:
        if key not in known:
            raise _Wrong(f"{shown(key)[:60]} of {what} is not supported; {', '.join(sorted(known))} are")


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise _Wrong(f"{what} must be a list, got {shown(value)[:60]}")
    return value


def _like_each_other(vehicles: list[Any]) -> dict[str, Any]:
    first: dict[str, Any] = {}
    for number, vehicle in enumerate(vehicles):
        _check_keys(vehicle, _VEHICLE, f"vehicle {number + 1}")
        first = first or vehicle
        for key in sorted(_VEHICLE - {"id", "description"}):
            if vehicle.get(key) != first.get(key):
                raise _Wrong(f"vehicle {number + 1} has another {key} than the first one; they must be alike")
    for begin, end in (("start", "end"), ("start_index", "end_index")):
        if first.get(begin) != first.get(end):
            raise _Wrong(f"{begin} and {end} of the vehicles must be the same place, the depot")
    return first


def _depot(vehicle: dict[str, Any]) -> dict[str, Any]:
    opens, closes = _window(vehicle.get("time_window"), "time_window of the vehicles")
    row = {"name": "depot", "opens": opens, "closes": closes, "service": 0.0, "demand": 0.0}
    return row | _place(vehicle, "start", "the vehicles")


def _job(job: Any) -> dict[str, Any]:
    _check_keys(job, _JOB, "a job")
    what = f"job {shown(job.get('id'))[:40]}"
    name = str(job.get("description") or job.get("id", ""))[:200]
    if not name or not name.isprintable():
        raise _Wrong(f"{what} must have an id")
    windows = _list(job.get("time_windows", [None]), f"time_windows of {what}")
    if len(windows) != 1:
        raise _Wrong(f"time_windows of {what} must be one window, got {len(windows)}")
    opens, closes = _window(windows[0], f"time_windows of {what}")
    service = _number(job.get("service", 0), f"service of {what}")
    demand = _amount(job["delivery"], f"delivery of {what}") if "delivery" in job else 0.0
    row = {"name": name, "opens": opens, "closes": closes, "service": service, "demand": demand}
    return row | _place(job, "location", what)


def _place(value: dict[str, Any], key: str, what: str) -> dict[str, Any]:
    index = value.get(f"{key}_index")
    if index is not None and (isinstance(index, bool) or not isinstance(index, int) or index < 0):
        raise _Wrong(f"{key}_index of {what} must be a whole number of at least 0, got {shown(index)[:60]}")
    if key not in value:
        return {"index": index}
    place = value[key]
    if not isinstance(place, list) or len(place) != 2 or not all(map(is_number, place)):
        raise _Wrong(f"{key} of {what} must be [longitude, latitude], got {shown(place)[:60]}")
    if abs(place[0]) > 180 or abs(place[1]) > 90:
        raise _Wrong(f"{key} of {what} must be [longitude, latitude] in degrees, got {shown(place)[:60]}")
    return {"index": index, "lat": float(place[1]), "lon": float(place[0])}


def _window(value: Any, what: str) -> tuple[float, float]:
    if value is None:
        return 0.0, math.inf
    if not isinstance(value, list) or len(value) != 2:
        raise _Wrong(f"{what} must be two times, got {shown(value)[:60]}")
    return _number(value[0], what), _number(value[1], what)


def _number(value: Any, what: str) -> float:
    if not is_number(value) or not 0 <= value <= 1e12:
        raise _Wrong(f"{what} must be a number of at least 0, got {shown(value)[:60]}")
    return float(value)


def _amount(value: Any, what: str) -> float:
    if not isinstance(value, list) or len(value) != 1:
        raise _Wrong(
            f"{what} must be a list of one number, as only one kind of load is supported, got {shown(value)[:60]}"
        )
    return _number(value[0], what)


def _matrices(given: Any, profile: Any, indices: list[int | None]) -> dict[str, NDArray[np.float64]]:
    """Return the matrices of the profile, in the order of depot and jobs: durations under no name."""
    if given is None:
        return {}
    if not isinstance(given, dict) or not isinstance(profile, str) or profile not in given:
        raise _Wrong(f"matrices must have the profile of the vehicles, {shown(profile)[:60]}")
    _check_keys(given[profile], set(_MATRICES), f"matrices of {profile[:40]}")
    if "durations" not in given[profile]:
        raise _Wrong(f"matrices of {profile[:40]} must have durations")
    if any(index is None for index in indices):
        raise _Wrong("with matrices, start_index of vehicles and location_index of each job must be given")
    found = {}
    for key, name in _MATRICES.items():
        if key in given[profile]:
            try:
                matrix = checked_matrices(given[profile][key], key)[0]
            except InstanceError as error:
                raise _Wrong(str(error).rstrip(".")) from error
            if max(i for i in indices if i is not None) >= len(matrix):
                raise _Wrong(f"{key} is for {len(matrix)} places, and an index is larger")
            found[name or ""] = np.ascontiguousarray(matrix[np.ix_(indices, indices)])  # type: ignore[arg-type]  # no index is None
            np.fill_diagonal(found[name or ""], 0.0)
    return found
