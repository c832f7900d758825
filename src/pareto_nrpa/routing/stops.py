"""Stops from rows of a spreadsheet, checked cell by cell."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._util.checks import did_you_mean, nearest_name, shown
from .._util.text import minutes, shown_time
from ..errors import InstanceError
from .table import Table, column_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_NUMBERS = ("x", "y", "lat", "lon", "demand")
_TIMES = ("opens", "closes", "service")
_KNOWN = ("name", *_NUMBERS, *_TIMES, "kind")
_SYNONYMS = {"latitude": "lat", "longitude": "lon", "lng": "lon"}
_RANGES = {"lat": 90.0, "lon": 180.0}
# An unknown column so similar to a missing known one is taken for a typing error, not for a column of the user.
_ALIKE = 0.75
#: Matrices and pruning take n^2 and more.
MOST_STOPS = 3_000

WINDOW_ENDS = ("start", "end-of-service")


@dataclass
class Stops:
    """The stops of an instance, the depot first.

    Attributes
    ----------
    source
        Name of the file in messages.
    rows
        A dictionary for each, as `Itinerary.stops` has them; `closes` is infinite where a window never closes.
    places
        Place of each in the file, for messages.
    order
        Row number of each in the file; matrices without names have that order.
    per_hour
        Units of time in an hour (60 if times are given as hh:mm), None if unknown.
    """

    source: str
    rows: list[dict[str, Any]]
    places: list[str]
    order: list[int]
    per_hour: float | None = None
    clock: bool = False

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> NDArray[np.float64]:
        """Return the numbers of a column [n]."""
        return np.array([row[name] for row in self.rows], dtype=float)

    def named(self, stop: int) -> str:
        """Return a stop for messages: name and place."""
        word = "the depot" if stop == 0 else "stop"
        return f"{word} {shown(self.rows[stop]['name'])} ({self.places[stop]})"

    def time(self, value: float) -> str:
        """Return a time in the notation of the file."""
        return shown_time(value, clock=self.clock)

    @property
    def has_windows(self) -> bool:
        """Whether any stop but the depot has a window."""
        return any(row["opens"] > 0 or math.isfinite(row["closes"]) for row in self.rows[1:])


def numbered_stops(
    source: str,
    columns: Mapping[str, NDArray[np.float64]],
    places: list[str],
    *,
    prefix: str = "",
    names: list[str] | None = None,
) -> Stops:
    """Return numbered stops from columns [n] by name."""
    n = len(places)
    called = names or ["depot", *(f"{prefix}{i}" for i in range(1, n))]
    usual = {"opens": 0.0, "closes": math.inf, "service": 0.0, "demand": 0.0}
    lists = {key: np.asarray(values, dtype=float).tolist() for key, values in columns.items()}
    rows = [{"name": called[i], **usual, **{key: values[i] for key, values in lists.items()}} for i in range(n)]
    return Stops(source, rows, places, list(range(n)))


def looks_like_stops(head: str) -> bool:
    """Tell whether a text begins with names of columns."""
    first = next((line for line in head.splitlines() if line.strip()), "")
    return len({cell.strip(' "').lower() for cell in re.split("[,;\t]", first)} & set(_KNOWN)) > 1


def stops_of_table(table: Table) -> Stops:
    """Return the stops of a table, whose first row names the columns."""
    columns = _checked_columns(table)
    rows = [_read_row(table, number, columns) for number in range(1, len(table.rows))]
    if len(rows) < 2:
        raise InstanceError(
            f"{table.source} must have a row for the depot and one for each stop, got {len(rows)} row(s)."
        )
    if len(rows) > MOST_STOPS:
        raise InstanceError(f"{table.source} has {len(rows):,} rows; at most {MOST_STOPS:,} are supported.")
    depot = _depot(table, columns)
    order = [depot, *(i for i in range(len(rows)) if i != depot)]
    _name_rows(rows, order)
    clock = _clock(table, columns)
    stops = Stops(
        source=table.source,
        rows=[rows[i] for i in order],
        places=[f"{table.word} {table.lines[i + 1]}" for i in order],
        order=order,
        per_hour=60.0 if clock else None,
        clock=clock,
    )
    check_stops(stops)
    return stops


def check_stops(stops: Stops) -> None:
    """Raise if values of stops are contradictory."""
    for i, row in enumerate(stops.rows):
        if row["closes"] < row["opens"]:
            hint = " (for times past midnight write 26:00)" if stops.clock else ""
            raise InstanceError(
                f"{stops.source}: {stops.named(i)} closes at {stops.time(row['closes'])}, before it opens at "
                f"{stops.time(row['opens'])}{hint}."
            )
    if stops.rows[0]["demand"]:
        raise InstanceError(f"{stops.source}: {stops.named(0)} must have no demand, got {stops.rows[0]['demand']:g}.")


def without_return(stops: Stops) -> Stops:
    """Return stops whose depot never closes, so that vehicles may return at any time."""
    return replace(stops, rows=[stops.rows[0] | {"closes": math.inf}, *stops.rows[1:]])


def close_by_end_of_service(stops: Stops) -> Stops:
    """Return stops with windows for the end of service; the window of the depot is unchanged."""
    rows = [stops.rows[0], *(row | {"closes": row["closes"] - row["service"]} for row in stops.rows[1:])]
    for i, row in enumerate(rows):
        if row["closes"] < row["opens"]:
            raise InstanceError(
                f"{stops.source}: {stops.named(i)} cannot be served within its window, which is shorter than its "
                f"service of {row['service']:g}."
            )
    return replace(stops, rows=rows)


def _checked_columns(table: Table) -> list[str]:
    names = column_names(table, _KNOWN, _SYNONYMS)
    for name in names:
        missing = [known for known in _KNOWN if known not in names and len(known) > 1]
        if name and name not in _KNOWN and (near := nearest_name(name.lower(), missing, _ALIKE)):
            raise InstanceError(
                f"{table.place(0, name)}: did you mean {near!r}? Rename the column, also if it has another meaning."
            )
    for first, second in (("x", "y"), ("lat", "lon")):
        if (first in names) != (second in names):
            there, lost = (first, second) if first in names else (second, first)
            raise InstanceError(
                f"{table.place(0)}: there is a column {there} and none named {lost}{did_you_mean(lost, names)}."
            )
    if "x" in names and "lat" in names:
        raise InstanceError(f"{table.place(0)}: there are both x, y and lat, lon; rename or delete one pair.")
    if not set(names) & set(_KNOWN):
        raise InstanceError(
            f"{table.place(0)}: expected names of columns, among {', '.join(_KNOWN)}, got {shown(', '.join(names))}."
        )
    return names


def _read_row(table: Table, number: int, columns: list[str]) -> dict[str, Any]:
    cells = table.rows[number]
    if len(cells) < len(columns) or any(cells[len(columns) :]):
        hint = "" if table.decimal_commas else "; text or numbers with a comma need quotes, or ; between columns"
        raise InstanceError(
            f"{table.place(number)}: expected {len(columns)} cells, one for each column, got {len(cells)}{hint}."
        )
    row: dict[str, Any] = {"name": "", "opens": 0.0, "closes": math.inf, "service": 0.0, "demand": 0.0}
    for name, cell in zip(columns, cells, strict=False):
        if name in _NUMBERS and (cell or name != "demand"):
            row[name] = _checked_number(table, number, name, cell)
        elif name in _TIMES:
            row[name] = _time(table, number, name, cell) if cell else row[name]
        elif name == "name" and not cell:
            table.wrong(number, name, "a name", cell)
        elif name not in _NUMBERS and (name or cell):
            if not name:
                raise InstanceError(f"{table.place(number)}: {shown(cell)} is in a column without a name.")
            row[name] = cell
    return row


def _checked_number(table: Table, number: int, name: str, cell: str) -> float:
    value = table.number(number, name, cell)
    if name == "demand" and value < 0:
        table.wrong(number, name, "a number of at least 0", cell)
    if abs(value) > _RANGES.get(name, math.inf):
        table.wrong(number, name, f"degrees from -{_RANGES[name]:g} to {_RANGES[name]:g}", cell)
    return value


def _time(table: Table, number: int, name: str, cell: str) -> float:
    value = minutes(cell)
    if value is None:
        value = table.number(number, name, cell, "a time, such as 08:30 or 510")
    if value < 0:
        table.wrong(number, name, "a time of at least 0", cell)
    return value


def _clock(table: Table, columns: list[str]) -> bool:
    """Tell whether times are given as hh:mm; a mixed file is an error. Service may be minutes in both cases."""
    times = [
        (number, name, cell)
        for number in range(1, len(table.rows))
        for name, cell in zip(columns, table.rows[number], strict=False)
        if (name in ("opens", "closes") and cell) or (name == "service" and ":" in cell)
    ]
    is_clock = bool(times) and ":" in times[0][2]
    for number, name, cell in times:
        if (":" in cell) != is_clock:
            wanted = "a time such as 08:30" if is_clock else "a number"
            table.wrong(number, name, f"{wanted}, as in {table.word} {table.lines[times[0][0]]}", cell)
    return is_clock


def _depot(table: Table, columns: list[str]) -> int:
    """Return the row of the depot."""
    kinds = [cells[columns.index("kind")] for cells in table.rows[1:]] if "kind" in columns else []
    depots = [i for i, kind in enumerate(kinds) if kind.lower() == "depot"]
    if len(depots) > 1:
        raise InstanceError(
            f"{table.place(depots[1] + 1, 'kind')}: the depot is given in {table.place(depots[0] + 1)} already."
        )
    if any(kinds) and not depots:
        row = next(i for i, kind in enumerate(kinds) if kind)
        near = nearest_name("depot", [kind.lower() for kind in kinds])
        hint = f" (but {near!r})" if near else ""
        raise InstanceError(f"{table.place(row + 1, 'kind')}: no row has 'depot' there{hint}; write it in one.")
    return depots[0] if depots else 0


def _name_rows(rows: list[dict[str, Any]], order: list[int]) -> None:
    for number, i in enumerate(order):
        rows[i]["name"] = rows[i]["name"] or (f"stop {number}" if number else "depot")
