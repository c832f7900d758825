"""VROOM's JSON: jobs, identical vehicles, matrices. Unsupported fields are refused by name."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from msgspec import Meta, Struct

from .._util.checks import printable
from .._util.structs import decode
from ..errors import InstanceError
from .content import ACCEPTED
from .costs import DISTANCE
from .instance import Instance, VehicleType, places_instance
from .matrices import checked_matrices
from .stops import MOST_STOPS, Stops, check_stops

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Amount = Annotated[float, Meta(ge=0, le=1e12)]
_Index = Annotated[int, Meta(ge=0)]
_Place = tuple[Annotated[float, Meta(ge=-180, le=180)], Annotated[float, Meta(ge=-90, le=90)]]  # longitude, latitude
_Window = tuple[_Amount, _Amount]
_SECONDS_PER_HOUR = 3600.0


class _Job(Struct, forbid_unknown_fields=True):
    id: int | str
    description: str = ""
    location: _Place | None = None
    location_index: _Index | None = None
    service: _Amount = 0.0
    delivery: tuple[_Amount] = (0.0,)  # one kind of load
    time_windows: tuple[_Window] = ((0.0, math.inf),)  # one window


class _Vehicle(Struct, forbid_unknown_fields=True):
    id: int | str = ""
    description: str = ""
    start: _Place | None = None
    start_index: _Index | None = None
    end: _Place | None = None
    end_index: _Index | None = None
    capacity: tuple[_Amount] | None = None
    time_window: _Window = (0.0, math.inf)
    profile: str = "car"


class _Matrices(Struct, forbid_unknown_fields=True):
    durations: list[list[_Amount]]
    distances: list[list[_Amount]] | None = None
    costs: list[list[_Amount]] | None = None


class _Problem(Struct, forbid_unknown_fields=True):
    jobs: Annotated[list[_Job], Meta(min_length=1, max_length=MOST_STOPS - 1)]
    vehicles: Annotated[list[_Vehicle], Meta(min_length=1)]
    matrices: dict[str, _Matrices] = {}


class _AnyObject(Struct):
    format: str = ""
    jobs: Any = None
    vehicles: Any = None


def parse_vroom(text: str, source: str, rounding: str) -> Instance:
    """Return the instance of a file. Times are seconds."""
    what = "a VROOM file of jobs, identical vehicles and matrices"
    data = text.encode("utf-8", "surrogatepass")
    found = decode(data, _AnyObject, source=source, what=what, error=InstanceError)
    if found.format.startswith("pareto-nrpa "):
        kind, readers = "result", "show or pareto-nrpa report"
        if "certificate" in found.format:
            kind, readers = "certificate", "certify --check"
        raise InstanceError(f"{source} is a saved {kind}, not a problem to solve; read it with pareto-nrpa {readers}.")
    if found.jobs is None and found.vehicles is None:
        raise InstanceError(f"{source} is a JSON file without jobs and vehicles; {ACCEPTED}.")
    problem = decode(data, _Problem, source=source, what=what, error=InstanceError)
    vehicle = _alike(problem.vehicles, source)
    depot = _Job("depot", "", vehicle.start, vehicle.start_index, time_windows=(vehicle.time_window,))
    visited = [depot, *problem.jobs]
    rows = [_row(job) for job in visited]
    if len({"lat" in row for row in rows}) > 1:
        raise InstanceError(f"{source}: give start of the vehicles and location of each job, or none of them.")
    places = ["vehicles", *(f"job {job.id}" for job in problem.jobs)]
    stops = Stops(source, rows, places, list(range(len(rows))), per_hour=_SECONDS_PER_HOUR)
    check_stops(stops)
    capacity = None if vehicle.capacity is None else vehicle.capacity[0]
    instance = replace(
        places_instance(stops, Path(source).stem, rounding), vehicles=(VehicleType(len(problem.vehicles), capacity),)
    )
    if not problem.matrices:
        return instance
    if vehicle.profile not in problem.matrices:
        raise InstanceError(f"{source}: matrices must have the profile of the vehicles, {vehicle.profile[:60]!r}.")
    given = problem.matrices[vehicle.profile]
    indices = [job.location_index for job in visited]
    travel = _in_order(given.durations, indices, f"{source}: durations")
    named = {DISTANCE: given.distances, "cost": given.costs}
    costs = {key: _in_order(rows, indices, f"{source}: {key}") for key, rows in named.items() if rows is not None}
    return replace(instance, travel=travel, costs=instance.costs | costs, is_metric=False)


def _alike(vehicles: list[_Vehicle], source: str) -> _Vehicle:
    """Return the first of identical vehicles, or raise with their difference."""
    first = vehicles[0]
    for number, vehicle in enumerate(vehicles, 1):
        for key in ("start", "start_index", "end", "end_index", "capacity", "time_window", "profile"):
            if getattr(vehicle, key) != getattr(first, key):
                raise InstanceError(
                    f"{source}: vehicle {number} has another {key} than the first one; vehicles must be identical."
                )
    if (first.start, first.start_index) != (first.end, first.end_index):
        raise InstanceError(f"{source}: start and end of the vehicles must be the same place, the depot.")
    return first


def _row(job: _Job) -> dict[str, Any]:
    ((opens, closes),) = job.time_windows
    place = {} if job.location is None else {"lat": job.location[1], "lon": job.location[0]}
    name = printable(job.description or str(job.id))[:200]
    return {"name": name, "opens": opens, "closes": closes, "service": job.service, "demand": job.delivery[0]} | place


def _in_order(rows: list[list[float]], indices: list[int | None], name: str) -> NDArray[np.float64]:
    """Return a matrix in the order of depot and jobs."""
    matrix = checked_matrices(rows, name)[0]
    if any(index is None or index >= len(matrix) for index in indices):
        raise InstanceError(
            f"{name} are for {len(matrix)} places: start_index of the vehicles and location_index of each job must be "
            "given and smaller."
        )
    ordered = np.ascontiguousarray(matrix[np.ix_(indices, indices)])  # type: ignore[arg-type]  # no index is None
    np.fill_diagonal(ordered, 0.0)
    return ordered
