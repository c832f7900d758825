"""Reading instance files: the Solomon-Potvin-Bengio format for time windows, .npy for a secondary cost."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ..errors import InstanceError
from ..problem.base import MAX_MOVES, CompiledProblem
from .matrices import euclidean
from .proved_fronts import with_proved_front
from .route_plan import numbered_plan
from .tsptw import mo_tsptw

WINDOWS_FOLDER, SECONDARY_FOLDER = "SolomonTSPTW", "SecondaryCost"
_COLUMNS = ("number", "x", "y", "demand", "opening", "closing", "service")
MOST_CITIES = MAX_MOVES + 1
_LONGEST_FILE = 10_000_000  # bytes; a row of the most cities may have a thousand


def read_tsptw(
    path: str | Path, *, secondary: str | Path | None = None, check_return: bool = True, name: str | None = None
) -> CompiledProblem:
    """Return the problem in a file: a line with the number of cities, then a row for each, the depot first.

    A tour must be back before the depot closes, unless `check_return` is False, as the public instances have it.

    The secondary cost, where there is one, is a square matrix in an .npy file: the one given, or
    `SecondaryCost/NAME.npy` beside the file's folder, or `NAME.npy` beside the file. Without one the problem has a
    single objective. A fixed reference point is taken from `nadirs.json` beside the file.
    """
    path = Path(path)
    rows = _read_rows(path)
    _, x, y, demand, opens, closes, service = rows.T
    points = np.column_stack([x, y])
    distances = euclidean(points)
    times = distances + service[:, None]
    np.fill_diagonal(times, 0.0)
    costs, lengths = [times], [distances]
    matrix_file = Path(secondary) if secondary is not None else find_secondary(path)
    if matrix_file is not None:
        matrix = _read_matrix(matrix_file, len(rows))
        costs.append(matrix)
        lengths.append(matrix)
    try:
        problem = mo_tsptw(
            np.stack(costs),
            opens,
            closes,
            distances=np.stack(lengths),
            check_return=check_return,
            metric=True,
            name=name or path.stem,
            plan=numbered_plan(points, distances, opens, _closing(closes, check_return), service, demand),
            reference_point=_reference_point(path, len(costs)),
        )
    except InstanceError as error:
        raise InstanceError(f"{path}: {error}") from error
    return with_proved_front(problem)


def _closing(closes: NDArray[np.float64], check_return: bool) -> NDArray[np.float64]:
    return closes if check_return else np.concatenate([[np.inf], closes[1:]])


def _read_rows(path: Path) -> NDArray[np.float64]:
    lines = [(i, line.split()) for i, line in enumerate(_read_text(path).splitlines(), 1) if line.strip()]
    if not lines:
        raise InstanceError(f"{path} is empty; the first line must be the number of cities.")
    first, fields = lines[0]
    if len(fields) != 1 or not fields[0].isdecimal() or len(fields[0]) > 9 or int(fields[0]) < 2:
        raise InstanceError(
            f"{path}, line {first}: expected the number of cities (at least 2), got {' '.join(fields)[:40]!r}."
        )
    n, rows = int(fields[0]), lines[1:]
    if n > MOST_CITIES:
        raise InstanceError(f"{path} announces {n} cities; an instance has {MOST_CITIES} at most.")
    if len(rows) != n:
        raise InstanceError(f"{path} announces {n} cities but has {len(rows)} rows; is it cut off?")
    return np.array([_read_row(path, i, fields) for i, fields in rows])


def _read_text(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            content = file.read(_LONGEST_FILE + 1)
        if len(content) > _LONGEST_FILE:
            raise InstanceError(f"{path} has more than {_LONGEST_FILE:,} bytes, too many for an instance.")
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InstanceError(f"{path} is not a text file.") from error
    except OSError as error:
        raise InstanceError(f"cannot read {path}: {error.strerror or error}.") from error


def _read_row(path: Path, line: int, fields: list[str]) -> list[float]:
    if len(fields) != len(_COLUMNS):
        raise InstanceError(
            f"{path}, line {line}: expected {len(_COLUMNS)} numbers ({', '.join(_COLUMNS)}), got {len(fields)}."
        )
    values = []
    for name, field in zip(_COLUMNS, fields, strict=True):
        try:
            value = float(field)
        except ValueError as error:
            raise InstanceError(f"{path}, line {line}: {name} must be a number, got {field[:40]!r}.") from error
        if not np.isfinite(value):
            raise InstanceError(f"{path}, line {line}: {name} must be finite, got {field[:40]}.")
        if value < 0 and name not in ("x", "y"):
            raise InstanceError(f"{path}, line {line}: {name} must not be negative, got {value:g}.")
        values.append(value)
    if values[5] < values[4]:
        raise InstanceError(
            f"{path}, line {line}: the window closes at {values[5]:g}, before it opens at {values[4]:g}."
        )
    return values


def find_secondary(path: Path) -> Path | None:
    """Return the file with the secondary cost of an instance, if there is one."""
    for candidate in (path.parent.parent / SECONDARY_FOLDER / f"{path.stem}.npy", path.with_name(f"{path.stem}.npy")):
        if candidate.is_file():
            return candidate
    return None


def _read_matrix(path: Path, n: int) -> NDArray[np.float64]:
    try:
        with open(path, "rb") as file:
            shape, is_transposed, kind = _read_header(file, path)
            _check_header(path, shape, kind, n)
            # Before any of it is read: a header can announce more than there is memory.
            if os.fstat(file.fileno()).st_size - file.tell() < n * n * kind.itemsize:
                raise InstanceError(f"the secondary cost {path} is cut off.")
            content = np.frombuffer(file.read(n * n * kind.itemsize), kind)
    except OSError as error:
        raise InstanceError(f"cannot read the secondary cost {path}: {error.strerror or error}.") from error
    matrix = content.reshape(n, n).astype(float)
    return matrix.T if is_transposed else matrix


def _read_header(file: BinaryIO, path: Path) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, whether columns come first, and kind of numbers of an .npy file."""
    try:
        read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}[npy.read_magic(file)]
        return read(file)
    except OSError:
        raise
    except Exception as error:  # a header is read as Python's literals, which fail in all kinds of ways
        raise InstanceError(f"the secondary cost {path} is not an .npy file of numbers, or is cut off.") from error


def _check_header(path: Path, shape: tuple[int, ...], kind: np.dtype[Any], n: int) -> None:
    if kind.kind not in "iuf":
        raise InstanceError(f"the secondary cost {path} must be a matrix of numbers.")
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InstanceError(f"the secondary cost {path} must be a square matrix, got shape {str(shape)[:40]}.")
    if shape[0] != n:
        raise InstanceError(f"the secondary cost {path} is for {str(shape[0])[:20]} cities, the instance has {n}.")


def _reference_point(path: Path, n_objectives: int) -> list[float] | None:
    """Return the fixed reference point of a public instance; one of another length does not apply."""
    try:
        points = json.loads((path.parent / "nadirs.json").read_text(encoding="utf-8"))
        point = [float(x) for x in points[path.stem]]
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    return point if len(point) == n_objectives and all(map(math.isfinite, point)) else None
