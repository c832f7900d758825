"""From a file, of whatever format, to a problem."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from .._util.checks import shown
from ..errors import InstanceError
from . import matrix_tsptw, tsplib, vroom, vrplib_files
from .instance import Instance, RoutingOptions, routing_problem
from .stops import stops_of_table
from .table import frame_table, is_frame, read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd
    from numpy.typing import ArrayLike

    from ..problem.base import CompiledProblem

_HEAD = 100_000  # bytes that tell what a file is


def read_stops(
    stops: str | os.PathLike[str] | pd.DataFrame,
    *,
    speed: float | None = None,
    time: str | os.PathLike[str] | pd.DataFrame | ArrayLike | None = None,
    costs: Mapping[str, str | os.PathLike[str] | pd.DataFrame | ArrayLike] | None = None,
    objectives: Sequence[str] | None = None,
    vehicles: int | None = None,
    capacity: float | None = None,
    late_costs: bool = False,
    window_end: str = "start",
    name: str | None = None,
) -> CompiledProblem:
    """Return the problem of visiting the stops of a spreadsheet.

    Columns, in any order: `name`; `x`, `y` or `lat`, `lon`; `opens`, `closes`, `service`; `demand`; `kind`. Others are
    kept and shown. The depot is the row with "depot" in `kind`, else the first one. docs/planning.md tells the rest.

    Parameters
    ----------
    stops
        A CSV file, or a pandas DataFrame; or the file of another tool (Solomon, VRPLIB, VROOM, TSPTW with a matrix).
    speed
        Distance per hour where times are written as 08:30 (they are minutes then), else per unit of time. Distances
        are kilometres for lat and lon.
    time
        A matrix of travel times without service, instead of distances and speed: a CSV file, a DataFrame or an array.
    costs
        Matrices of further costs by name.
    objectives
        By name: those of the costs, `distance`, and `time`, `finish`, `waiting`, `lateness`, `vehicles`, `longest`.
        By default time and all costs; without costs distance, and when the work is finished. With several vehicles
        their number, with late_costs the lateness too.
    vehicles, capacity
        How many there are (one), and what each carries (no limit).
    late_costs
        True if a missed window costs (`lateness`) and is no violation.
    window_end
        What `closes` is: the latest "start" of service, or the latest "end-of-service".
    name
        Of the problem; that of the file by default.
    """
    options = RoutingOptions(
        speed=speed,
        time=time,
        costs=costs or {},
        objectives=objectives,
        vehicles=vehicles,
        capacity=capacity,
        late_costs=late_costs,
        window_end=window_end,
    )
    if not is_frame(stops):
        if not isinstance(stops, str | os.PathLike) or "\0" in str(stops):
            raise InstanceError(f"stops must be the name of a file, or a pandas DataFrame, got {shown(stops)}.")
        return read_routing([stops], options, name=name)
    return routing_problem(Instance(stops_of_table(frame_table(stops, "stops")), name or "stops"), options)


def is_routing_file(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file is of a format that is read here."""
    return os.path.isfile(path) and _reader(Path(path)) is not None


def read_routing(
    paths: Sequence[str | os.PathLike[str]], options: RoutingOptions, *, name: str | None = None
) -> CompiledProblem:
    """Return the problem in a file; several TSPLIB files are as many objectives."""
    files = [Path(path) for path in paths]
    if all(map(tsplib.is_tsplib, files)):
        if options.given:
            raise InstanceError(
                f"{files[0].name} is a tour of TSPLIB, which has no {options.given[0].replace('_', ' ')}."
            )
        return tsplib.read_tsplib(files, name=name)
    if len(files) > 1:
        raise InstanceError(
            f"several files at once must all be TSPLIB files, an objective each; {files[1].name} cannot be added to "
            f"{files[0].name} (matrices of costs are given with --cost)."
        )
    reader = _reader(files[0])
    if reader is None:
        raise InstanceError(
            f"{files[0]} is no file of stops: neither a CSV nor a format that is known (docs/planning.md)."
        )
    instance = reader(files[0])
    instance.name = name or instance.name
    return routing_problem(instance, options)


def _reader(path: Path) -> Callable[[Path], Instance] | None:
    """Return what reads a file, by its name or by what it begins with; None for formats that others read."""
    ending = path.suffix.lower()
    if ending in (".csv", ".tsv"):
        return _read_csv
    if ending == ".json":
        return vroom.read_vroom
    try:
        with open(path, "rb") as file:
            head = file.read(_HEAD).decode("utf-8-sig", errors="replace")
    except OSError:
        return None
    readers: tuple[tuple[Callable[[str], bool], Callable[[Path], Instance]], ...] = (
        (vrplib_files.looks_like_solomon, vrplib_files.read_solomon),
        (vrplib_files.looks_like_vrplib, vrplib_files.read_vrplib),
        (matrix_tsptw.looks_like_matrix, matrix_tsptw.read_matrix_tsptw),
    )
    return next((reader for fits, reader in readers if fits(head)), None)


def _read_csv(path: Path) -> Instance:
    return Instance(stops_of_table(read_table(path)), path.stem)
