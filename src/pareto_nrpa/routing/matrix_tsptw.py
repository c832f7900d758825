"""TSPTW files with a matrix: the number of stops, travel times row by row (service included), a window for each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InstanceError
from .instance import Instance
from .matrices import checked_matrices
from .stops import MOST_STOPS, Stops, check_stops
from .table import read_text

if TYPE_CHECKING:
    from pathlib import Path


def looks_like_matrix(head: str) -> bool:
    """Tell it from the files with coordinates: after the number of stops, a row has as many numbers as there are stops.

    With seven stops both have seven; then only a matrix begins with a row whose second number is above 0 and whose
    file has twice as many rows.
    """
    lines = [line.split() for line in head.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if len(lines) < 2 or len(lines[0]) != 1 or not lines[0][0].isdecimal() or len(lines[0][0]) > 5:
        return False
    n = int(lines[0][0])
    return len(lines[1]) == n and (n != 7 or len(lines) > 1 + n)


def read_matrix_tsptw(path: Path) -> Instance:
    """Return what a file says."""
    lines = [
        (number, line.split())
        for number, line in enumerate(read_text(path).splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    n = int(lines[0][1][0])
    if not 2 <= n <= MOST_STOPS:
        raise InstanceError(f"{path} announces {n} stops; there can be 2 to {MOST_STOPS:,}.")
    if len(lines) != 1 + 2 * n:
        raise InstanceError(
            f"{path} announces {n} stops, so that {n} rows of travel times and {n} windows must follow; it has "
            f"{len(lines) - 1} rows."
        )
    matrix = [_numbers(path, number, cells, n) for number, cells in lines[1 : n + 1]]
    windows = [_numbers(path, number, cells, 2) for number, cells in lines[n + 1 :]]
    rows: list[dict[str, Any]] = [
        {"name": f"stop {i}" if i else "depot", "opens": o, "closes": c, "service": 0.0, "demand": 0.0}
        for i, (o, c) in enumerate(windows)
    ]
    stops = Stops(path.name, rows, [f"line {number}" for number, _ in lines[n + 1 :]], list(range(n)))
    check_stops(stops)
    travel = np.array(matrix)
    np.fill_diagonal(travel, 0.0)
    return Instance(stops, path.stem, travel=checked_matrices(travel, "travel times")[0])


def _numbers(path: Path, line: int, cells: list[str], expected: int) -> list[float]:
    if len(cells) != expected:
        raise InstanceError(f"{path}, line {line}: expected {expected} numbers, got {len(cells)}.")
    values = []
    for cell in cells:
        try:
            values.append(float(cell))
        except ValueError as error:
            raise InstanceError(f"{path}, line {line}: expected a number, got {cell[:40]!r}.") from error
        if not math.isfinite(values[-1]) or values[-1] < 0:
            raise InstanceError(f"{path}, line {line}: expected a finite number of at least 0, got {cell[:40]}.")
    return values
