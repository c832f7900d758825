"""Costs between stops: distances between places, and matrices from files."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from .._util.checks import did_you_mean, is_number, shown
from .._util.text import minutes
from ..errors import InstanceError
from .matrices import checked_floats, checked_matrices, euclidean
from .table import Table, is_frame, matrix_table, read_table

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    from .stops import Stops

    #: What a matrix may be given as.
    MatrixSource = str | os.PathLike[str] | pd.DataFrame | ArrayLike

#: Names of the matrices of travel times and of distances.
TIME, DISTANCE = "time", "distance"
#: Kinds of rounding of distances, see `read_instance`.
ROUNDINGS = ("file", "none", "round", "dimacs")
_EARTH = 6371.0088  # kilometres, the mean radius


def great_circle(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distances in kilometres between places [n, 2] of latitude and longitude in degrees (haversine)."""
    lat, lon = np.radians(places).T
    half = np.sin((lat[:, None] - lat) / 2) ** 2
    half += np.cos(lat[:, None]) * np.cos(lat) * np.sin((lon[:, None] - lon) / 2) ** 2
    return np.asarray(2 * _EARTH * np.arcsin(np.sqrt(np.clip(half, 0.0, 1.0))))


def rounded_lengths(lengths: NDArray[np.float64], rounding: str) -> NDArray[np.float64]:
    """Return distances rounded; "file" and "none" change nothing."""
    if rounding == "round":
        return np.floor(lengths + 0.5)
    return np.floor(10 * lengths) / 10 if rounding == "dimacs" else lengths


def distances(stops: Stops) -> NDArray[np.float64] | None:
    """Return the distances between stops: kilometres for lat and lon, Euclidean for x and y, or None."""
    if "lat" in stops.rows[0]:
        return great_circle(np.column_stack([stops.column("lat"), stops.column("lon")]))
    if "x" in stops.rows[0]:
        return euclidean(np.column_stack([stops.column("x"), stops.column("y")]))
    return None


def checked_speed(stops: Stops, speed: float | None, *, has_distances: bool) -> float:
    """Return the speed, 1 where units are arbitrary; raise if one is required."""
    if not has_distances and not {"lat", "x"} & stops.rows[0].keys():
        raise InstanceError(
            f"{stops.source} has no places (columns x, y or lat, lon) and no travel times; give a matrix with --time."
        )
    if speed is None:
        if "lat" in stops.rows[0] or stops.per_hour is not None:
            raise InstanceError(_no_speed(stops))
        speed = 1.0
    if not is_number(speed) or speed <= 0:
        raise InstanceError(f"speed must be a finite number above 0, got {shown(speed)}.")
    return speed


def _no_speed(stops: Stops) -> str:
    """Return the message for a missing speed: its unit, usual values, alternatives."""
    unit = "km" if "lat" in stops.rows[0] else "units of x and y"
    per, usual = "hour", "30 in town, 50 mixed"
    if not stops.per_hour:
        per, usual = "unit of time", "30 in town, 50 mixed where that is an hour, 0.5 and 0.8 where it is a minute"
    elif unit != "km":
        usual += ", where they are km"
    return (
        f"{stops.source} needs a speed, in {unit} per {per}, for travel times: --speed (usual: {usual}), or a matrix "
        "of travel times: --time."
    )


def matrix(value: MatrixSource, stops: Stops, name: str) -> NDArray[np.float64]:
    """Return a matrix [n, n] in the order of the stops, the depot first.

    Parameters
    ----------
    value
        A CSV file; a pandas DataFrame with its labels, as in a CSV file (a default index does not count as labels); or
        an array in the order of the rows of the stops.
    name
        Of the cost, for messages.
    """
    if is_frame(value):
        return matrix_of(matrix_table(value, name, len(stops)), stops, name)
    if isinstance(value, str | os.PathLike):
        return matrix_of(read_table(value), stops, name)
    given = checked_floats(value, name, "a square matrix of numbers")
    checked: NDArray[np.float64] = checked_matrices(_in_order(given, stops, name), name)[0]
    np.fill_diagonal(checked, 0.0)  # the diagonal is not used
    return checked


def _in_order(values: NDArray[Any], stops: Stops, name: str) -> NDArray[Any]:
    n = len(stops)
    if values.shape != (n, n):
        raise InstanceError(f"{name} must be a matrix for {n} stops, [{n}, {n}], got shape {values.shape}.")
    return values[np.ix_(stops.order, stops.order)]


def matrix_of(table: Table, stops: Stops, name: str) -> NDArray[np.float64]:
    """Return the numbers of a table; its size tells whether the first row and column are names."""
    n = len(stops)
    height, widths = len(table.rows), {len(cells) for cells in table.rows}
    least = [n + has_labels for has_labels in table.labels or (False, False)]
    if not least[0] <= height <= n + 1 or len(widths) > 1 or not least[1] <= min(widths) <= n + 1:
        row = next((i for i, cells in enumerate(table.rows) if len(cells) != len(table.rows[0])), None)
        size = f"{height} rows of {len(table.rows[0])}"
        if row is not None:
            size += f" cells, and one of {len(table.rows[row])} in {table.word} {table.lines[row]}"
        raise InstanceError(
            f"{table.source} must have {n} x {n} numbers for the {n} rows of {stops.source}, with names "
            f"{n + 1} x {n + 1} cells; it has {size}{_taken_for_names(table, n)}."
        )
    top, left = height - n, widths.pop() - n
    down = _stops_along(table, [(i, 0) for i in range(top, height)] if left else None, stops)
    across = _stops_along(table, [(0, j) for j in range(left, n + left)] if top else None, stops)
    values = np.zeros((n, n))
    has_clock = name == TIME and stops.clock
    for row, origin in enumerate(down, top):
        for column, target in enumerate(across, left):
            if origin != target:
                values[origin, target] = _cost(table, row, column, has_clock=has_clock)
    return values


def _taken_for_names(table: Table, n: int) -> str:
    """Return a hint at the usual cause of a DataFrame without its first row."""
    is_cut = table.labels == (True, False) and len(table.rows) == n
    return "; if pd.read_csv took the first row for names, give it header=None" if is_cut else ""


def _stops_along(table: Table, cells: list[tuple[int, int]] | None, stops: Stops) -> list[int]:
    """Return the stops of rows or columns: by the names in the cells, else in the order of the stops file.

    Labels 0 to n-1 that are not names are row numbers of the stops file.
    """
    in_order: list[int] = np.argsort(stops.order).tolist()
    names = [stops.rows[i]["name"] for i in in_order]
    numbers = [str(i) for i in range(len(stops))]
    is_counted = table.labels is not None if cells is None else [table.rows[i][j] for i, j in cells] == numbers
    if is_counted and any(number in names and number != name for number, name in zip(numbers, names, strict=True)):
        if cells is None or not set(numbers) <= set(names):
            raise InstanceError(
                f"{table.source} is labelled 0 to {len(stops) - 1}, which may be names of stops or positions, and both "
                f"differ for {stops.source}; give names as text (frame.index.astype(str), likewise the columns), or an "
                "array in the order of the stops."
            )
        return _named_stops(table, cells, stops)
    return in_order if cells is None or is_counted else _named_stops(table, cells, stops)


def _named_stops(table: Table, cells: list[tuple[int, int]], stops: Stops) -> list[int]:
    """Return the stops of the names in the first row or column."""
    numbers = {stop["name"]: i for i, stop in enumerate(stops.rows)}
    if len(numbers) < len(stops):
        name = Counter(stop["name"] for stop in stops.rows).most_common(1)[0][0]
        raise InstanceError(f"{table.source} has names, and two stops are called {shown(name)}; rename one.")
    found: list[int] = []
    for row, column in cells:
        name = table.rows[row][column]
        if name not in numbers:
            table.wrong(row, column + 1, f"the name of a stop{did_you_mean(name, numbers)}", name)
        if numbers[name] in found:
            table.wrong(row, column + 1, "each stop once", name)
        found.append(numbers[name])
    return found


def _cost(table: Table, row: int, column: int, *, has_clock: bool) -> float:
    cell, column = table.rows[row][column], column + 1
    value = minutes(cell) if has_clock else None
    if value is None:
        value = table.number(row, column, cell)
    if value < 0:
        table.wrong(row, column, "a number of at least 0", cell)
    return value
