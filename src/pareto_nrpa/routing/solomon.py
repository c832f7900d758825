"""Small tables of numbers: Solomon's files, and TSPTW files with places or with a matrix of travel times."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import numpy as np

from ..errors import InstanceError
from ..problem.base import MAX_MOVES
from .content import ACCEPTED
from .instance import Instance, VehicleType, places_instance
from .stops import MOST_STOPS, check_stops, numbered_stops

MOST_CITIES = MAX_MOVES + 1
_COLUMNS = ("number", "x", "y", "demand", "opens", "closes", "service")
_MAY_BE_NEGATIVE = ("x", "y")

#: Numbers of the lines that are not empty, each with its words.
_Lines = list[tuple[int, list[str]]]


def parse_solomon(text: str, source: str, rounding: str) -> Instance:
    """Return the instance of a file of Solomon: a heading, vehicles and their capacity, a row for each customer."""
    lines = _lines(text)
    at = next((i for i, (_, words) in enumerate(lines) if words == ["VEHICLE"]), len(lines))
    if len(lines) < at + 3:
        raise InstanceError(f"{source}: VEHICLE must be followed by NUMBER, CAPACITY and their values; is it cut off?")
    line, words = lines[at + 2]
    count, capacity = _numbers(source, line, words, ("NUMBER", "CAPACITY"))
    if count < 1 or count != int(count) or capacity <= 0:
        _wrong(source, line, f"NUMBER must be a whole number of at least 1 and CAPACITY above 0, got {words}")
    # Customers begin at the first row of numbers: headings of two lines, of one, and none are found.
    rows = lines[at + 3 :]
    while rows and not rows[0][1][0].isdecimal():
        rows = rows[1:]
    instance = _of_rows(rows, source, rounding, "stop ")
    return replace(instance, vehicles=(VehicleType(int(count), capacity),))


def parse_rows(text: str, source: str, rounding: str) -> Instance:
    """Return the instance of a TSPTW file with places: a line with the number of cities, then a row for each."""
    lines = _lines(text)
    if not lines:
        raise InstanceError(f"{source} is empty; the first line must be the number of cities.")
    (first, words), rows = lines[0], lines[1:]
    if len(words) != 1 or not words[0].isdecimal() or len(words[0]) > 9 or int(words[0]) < 2:
        got = f"got {' '.join(words)[:40]!r}; {ACCEPTED}"
        _wrong(source, first, f"expected the number of cities (at least 2), {got}")
    n = int(words[0])
    if n > MOST_CITIES:
        raise InstanceError(f"{source} declares {n} cities; an instance has {MOST_CITIES} at most.")
    if len(rows) != n:
        raise InstanceError(f"{source} declares {n} cities but has {len(rows)} rows; is it cut off?")
    return _of_rows(rows, source, rounding, "")


def _of_rows(rows: _Lines, source: str, rounding: str, prefix: str) -> Instance:
    """Return the instance of rows of seven numbers, the depot first."""
    values = np.array([_numbers(source, line, words, _COLUMNS) for line, words in rows]).reshape(-1, len(_COLUMNS))
    most = MOST_STOPS if prefix else MOST_CITIES
    if not 2 <= len(values) <= most:
        raise InstanceError(f"{source} must have rows for 2 to {most:,} stops, got {len(values)}; is it cut off?")
    columns = dict(zip(_COLUMNS[1:], values.T[1:], strict=True))
    stops = numbered_stops(source, columns, [f"line {line}" for line, _ in rows], prefix=prefix)
    check_stops(stops)
    return places_instance(stops, Path(source).stem, rounding, kind="routes" if prefix else "windows")


def looks_like_matrix(head: str) -> bool:
    """Tell a matrix file from one with places: after the number of stops, a row has as many numbers as stops.

    With seven stops both have seven; then only a matrix has a first row with a second number above 0, and twice as many
    rows in the file.
    """
    lines = _lines(head)
    if len(lines) < 2 or len(lines[0][1]) != 1 or not lines[0][1][0].isdecimal() or len(lines[0][1][0]) > 5:
        return False
    n = int(lines[0][1][0])
    return len(lines[1][1]) == n and (n != len(_COLUMNS) or len(lines) > 1 + n)


def parse_matrix(text: str, source: str, rounding: str) -> Instance:
    """Return the instance of a TSPTW file with a matrix: number of stops, travel times (with service), windows."""
    lines = _lines(text)
    n = int(lines[0][1][0])
    if not 2 <= n <= MOST_STOPS:
        raise InstanceError(f"{source} declares {n} stops; expected 2 to {MOST_STOPS:,}.")
    if len(lines) != 1 + 2 * n:
        raise InstanceError(
            f"{source} declares {n} stops, so {n} rows of travel times and {n} windows must follow; it has "
            f"{len(lines) - 1} rows."
        )
    travel = np.array([_numbers(source, line, words, ["travel times"] * n) for line, words in lines[1 : n + 1]])
    windows = np.array([_numbers(source, line, words, ("opens", "closes")) for line, words in lines[n + 1 :]])
    np.fill_diagonal(travel, 0.0)
    columns = {"opens": windows[:, 0], "closes": windows[:, 1]}
    stops = numbered_stops(source, columns, [f"line {line}" for line, _ in lines[n + 1 :]], prefix="stop ")
    check_stops(stops)
    return Instance(Path(source).stem, stops, travel=travel)


def _lines(text: str) -> _Lines:
    """Return the lines that are neither empty nor comments."""
    lines = ((i, line.split()) for i, line in enumerate(text.splitlines(), 1))
    return [(i, words) for i, words in lines if words and not words[0].startswith("#")]


def _numbers(source: str, line: int, words: list[str], names: tuple[str, ...] | list[str]) -> list[float]:
    """Return the numbers of a row, or raise with the wrong one."""
    if len(words) != len(names):
        what = f" ({', '.join(names)})" if len(set(names)) == len(names) else ""
        _wrong(source, line, f"expected {len(names)} numbers{what}, got {len(words)}")
    values = []
    for name, word in zip(names, words, strict=True):
        try:
            value = float(word)
        except ValueError:
            _wrong(source, line, f"{name} must be a number, got {word[:40]!r}")
        if not math.isfinite(value):
            _wrong(source, line, f"{name} must be finite, got {word[:40]}")
        if value < 0 and name not in _MAY_BE_NEGATIVE:
            _wrong(source, line, f"{name} must not be negative, got {value:g}")
        values.append(value)
    return values


def _wrong(source: str, line: int, reason: str) -> NoReturn:
    raise InstanceError(f"{source}, line {line}: {reason}.")
