"""Reading of instances: a file is read once, its format recognised by name or content, and parsed."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from .._util.checks import check_choice, shown
from ..errors import InstanceError
from .benchmarks import with_secondary
from .content import as_text, is_workbook, read_content
from .costs import ROUNDINGS, TIME, matrix_of
from .instance import Instance, RoutingOptions, build_problem, places_instance
from .solomon import looks_like_matrix, parse_matrix, parse_rows, parse_solomon
from .stops import looks_like_stops, stops_of_table
from .table import frame_table, is_frame, sheet_tables, table_of_text
from .tsplib import joined, parse_tsplib
from .vroom import parse_vroom

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd

    from ..problem.base import CompiledProblem
    from .costs import MatrixSource

_HEAD = 100_000  # characters at the start that identify the format


def read_stops(
    stops: str | os.PathLike[str] | pd.DataFrame,
    *,
    speed: float | None = None,
    time: MatrixSource | None = None,
    costs: Mapping[str, MatrixSource] | None = None,
    objectives: Sequence[str] | None = None,
    vehicles: int | None = None,
    capacity: float | None = None,
    late_costs: bool = False,
    window_end: str = "start",
    rounding: str = "file",
    name: str | None = None,
) -> CompiledProblem:
    """Return the problem of visiting the stops of a spreadsheet.

    Columns, in any order: `name`; `x`, `y` or `lat`, `lon`; `opens`, `closes`, `service`; `demand`; `kind`. Others are
    kept and shown. The depot is the row with "depot" in `kind`, else the first one. More: docs/spreadsheet.md.

    Parameters
    ----------
    stops
        A CSV or Excel file, or a pandas DataFrame; or a file of another tool (Solomon, VRPLIB, VROOM, TSPTW).
    speed
        Distance per hour where times are written as 08:30 (they are minutes then), else per unit of time. Distances
        are kilometres for lat and lon.
    time
        A matrix of travel times without service, instead of distances and speed: a file, a DataFrame or an array.
    costs
        Matrices of further costs by name.
    objectives
        Names: those of the costs, `distance`, `time`, `finish`, `waiting`, `lateness`, `vehicles`, `longest`. Default:
        time and all costs; without costs distance, and finish for one vehicle with windows; with several vehicles also
        their number; with late_costs the lateness instead of finish.
    vehicles, capacity
        Number of vehicles (default 1) and capacity of each (default: no limit).
    late_costs
        True if a missed window counts as `lateness`, not as a violation.
    window_end
        Meaning of `closes`: the latest "start" of service, or the latest "end-of-service".
    rounding
        How distances between places are rounded, as in `read_instance`.
    name
        Name of the problem; that of the file by default.
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
    if is_frame(stops):
        check_choice("rounding", rounding, ROUNDINGS)
        instance = places_instance(stops_of_table(frame_table(stops, "stops")), "stops", rounding)
    elif isinstance(stops, str | os.PathLike) and "\0" not in str(stops):
        instance = read_instance(stops, rounding=rounding)
    else:
        raise InstanceError(f"stops must be the name of a file, or a pandas DataFrame, got {shown(stops)}.")
    return build_problem(replace(instance, name=name or instance.name), options)


def read_problem(
    paths: Sequence[str | os.PathLike[str]], options: RoutingOptions | None = None, *, rounding: str = "file"
) -> CompiledProblem:
    """Return the problem in a file, or in several TSPLIB files, an objective each."""
    return build_problem(joined([read_instance(path, rounding=rounding) for path in paths]), options)


def read_instance(path: str | os.PathLike[str], *, rounding: str = "file") -> Instance:
    """Return the instance in a file of any supported format.

    Parameters
    ----------
    rounding
        How distances between places are rounded: as in the format ("file": TSPLIB and VRPLIB round, others do not),
        not at all ("none"), to whole numbers ("round"), or down to tenths ("dimacs", as in the best known costs of
        Solomon's instances in the DIMACS challenge).
    """
    check_choice("rounding", rounding, ROUNDINGS)
    file, content = Path(path), read_content(path)
    if is_workbook(content):
        return _of_workbook(content, file, rounding)
    text = as_text(content, path)
    head, ending = text[:_HEAD], file.suffix.lower()
    parse = next(parse for fits, parse in PARSERS if fits(ending, head))
    instance = parse(text, file.name, rounding)
    return with_secondary(instance, file) if instance.kind == "windows" else instance


def _of_workbook(content: bytes, file: Path, rounding: str) -> Instance:
    """Return the instance in a workbook: stops in its first sheet, travel times in an optional sheet named time."""
    sheets = sheet_tables(content, file.name)
    first, *others = sheets
    instance = places_instance(stops_of_table(sheets[first]), file.stem, rounding)
    times = next((sheets[name] for name in others if name.strip().lower() == TIME), None)
    return instance if times is None else replace(instance, travel=matrix_of(times, instance.stops, TIME))


def _parse_table(text: str, source: str, rounding: str) -> Instance:
    return places_instance(stops_of_table(table_of_text(text, source)), Path(source).stem, rounding)


def _has(pattern: str) -> Callable[[str, str], bool]:
    return lambda _, head: re.search(pattern, head, re.MULTILINE) is not None


#: Tests of formats, by file name or beginning of the text, and their parsers, in this order.
PARSERS: tuple[tuple[Callable[[str, str], bool], Callable[[str, str, str], Instance]], ...] = (
    (lambda ending, _: ending in (".csv", ".tsv"), _parse_table),
    (lambda ending, head: ending == ".json" or re.match(r"\s*\[?\s*{", head) is not None, parse_vroom),
    (lambda ending, _: ending in (".tsp", ".atsp", ".vrp"), parse_tsplib),
    (_has(r"^\s*DIMENSION\s*:"), parse_tsplib),
    (_has(r"^\s*VEHICLE\s*$"), parse_solomon),
    (lambda _, head: looks_like_matrix(head), parse_matrix),
    (lambda _, head: looks_like_stops(head), _parse_table),
    (lambda *_: True, parse_rows),
)
