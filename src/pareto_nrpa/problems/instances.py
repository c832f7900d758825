"""Reading instance files: the Solomon-Potvin-Bengio format for time windows, .npy for a secondary cost."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..exceptions import InstanceError
from ..problem import CompiledProblem
from .matrices import euclidean
from .mo_tsptw import mo_tsptw

WINDOWS_FOLDER, SECONDARY_FOLDER = "SolomonTSPTW", "SecondaryCost"
_COLUMNS = ("number", "x", "y", "demand", "opening", "closing", "service")


def read_tsptw(path: str | Path, *, secondary: str | Path | None = None) -> CompiledProblem:
    """Return the problem in a file: a line with the number of cities, then a row for each, the depot first.

    The secondary cost, where there is one, is a square matrix in an .npy file: the one given, or
    `SecondaryCost/NAME.npy` beside the file's folder, or `NAME.npy` beside the file. Without one the problem has a
    single objective. A fixed reference point is taken from `nadirs.json` beside the file.
    """
    path = Path(path)
    rows = _read_rows(path)
    _, x, y, _, opens, closes, service = rows.T
    distances = euclidean(np.column_stack([x, y]))
    times = distances + service[:, None]
    np.fill_diagonal(times, 0.0)
    costs, lengths = [times], [distances]
    matrix_file = Path(secondary) if secondary is not None else find_secondary(path)
    if matrix_file is not None:
        matrix = _read_matrix(matrix_file, len(rows))
        costs.append(matrix)
        lengths.append(matrix)
    try:
        return mo_tsptw(
            np.stack(costs),
            opens,
            closes,
            distances=np.stack(lengths),
            name=path.stem,
            reference_point=_reference_point(path, len(costs)),
        )
    except InstanceError as error:
        raise InstanceError(f"{path}: {error}") from error


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
    if len(rows) != n:
        raise InstanceError(f"{path} announces {n} cities but has {len(rows)} rows; is it cut off?")
    return np.array([_read_row(path, i, fields) for i, fields in rows])


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
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
            raise InstanceError(f"{path}, line {line}: {name} must be a number, got {field!r}.") from error
        if not np.isfinite(value):
            raise InstanceError(f"{path}, line {line}: {name} must be finite, got {field}.")
        if value < 0 and name not in ("x", "y"):
            raise InstanceError(f"{path}, line {line}: {name} must not be negative, got {field}.")
        values.append(value)
    if values[5] < values[4]:
        raise InstanceError(f"{path}, line {line}: the window closes at {fields[5]}, before it opens at {fields[4]}.")
    return values


def find_secondary(path: Path) -> Path | None:
    """Return the file with the secondary cost of an instance, if there is one."""
    for candidate in (path.parent.parent / SECONDARY_FOLDER / f"{path.stem}.npy", path.with_name(f"{path.stem}.npy")):
        if candidate.is_file():
            return candidate
    return None


def _read_matrix(path: Path, n: int) -> NDArray[np.float64]:
    try:
        # Opened here, because np.load leaves the file open when it fails.
        with open(path, "rb") as file:
            matrix = np.load(file, allow_pickle=False)
    except OSError as error:
        raise InstanceError(f"cannot read the secondary cost {path}: {error.strerror or error}.") from error
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise InstanceError(f"the secondary cost {path} is not an .npy file of numbers, or is cut off.") from error
    if not isinstance(matrix, np.ndarray) or matrix.dtype.kind not in "iuf":
        raise InstanceError(f"the secondary cost {path} must be a matrix of numbers.")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InstanceError(f"the secondary cost {path} must be a square matrix, got shape {matrix.shape}.")
    if len(matrix) != n:
        raise InstanceError(f"the secondary cost {path} is for {len(matrix)} cities, the instance has {n}.")
    return matrix.astype(float)


def _reference_point(path: Path, n_objectives: int) -> list[float] | None:
    """Return the fixed reference point of a public instance; one of another length does not apply."""
    try:
        points = json.loads((path.parent / "nadirs.json").read_text(encoding="utf-8"))
        point = [float(x) for x in points[path.stem]]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return point if len(point) == n_objectives and np.isfinite(point).all() else None
