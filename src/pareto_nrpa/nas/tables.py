"""Tables of the benchmarks: columns read and checked, and the objectives of all cells by name."""

from __future__ import annotations

import hashlib
import logging
import math
import os
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.checks import did_you_mean
from .._util.files import write_atomically
from ..engine.jit.kernels import fingerprint
from ..errors import DataError, InstanceError, ParetoNRPAError
from ..routing.benchmarks import cache_folder, data_folders
from .cells101 import MAX_VERTICES, cell_keys, graph_key
from .cells101 import N_CELLS as N_CELLS_101

logger = logging.getLogger(__name__)

FAMILY = "nas"
TABLE_101 = "nasbench101.npz"
SURROGATE_CELLS, SURROGATE_SAMPLE = "nasbench101_cells.npz", "nasbench101_subset.npz"
SOURCE = "https://storage.googleapis.com/nasbench/nasbench_only108.tfrecord"

#: NAS-Bench-101, by the name of the objective: the column of the converted table. Errors are in per cent.
OFFICIAL = {"error": "valid108", "test_error": "test108", "params": "params", "train_time": "train_time108_s"}
SURROGATE = ("surrogate_error", "params")
DECIMALS = 4
_LARGEST_COLUMN = 200_000_000  # bytes; the hashes of NAS-Bench-101 are 7 million
_KEYS_VERSION = fingerprint(graph_key)

Folder = str | os.PathLike[str] | None
Columns = dict[str, NDArray[np.generic]]


def check_objectives(problem: str, names: Sequence[str], known: Sequence[str]) -> None:
    """Raise if an objective does not exist, or is given twice."""
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise InstanceError(
                f"{problem} has no objective {name!r}{hint}; there are: {', '.join(known)}; "
                f"join several with +, as in objectives={'+'.join(known[:2])}."
            )
    if len(set(names)) < len(names):
        raise InstanceError(f"each objective of {problem} can be given once, got {'+'.join(names)}.")


# --- columns of files


def find_table(name: str, folder: Folder = None) -> Path | None:
    """Return the file of a table in the data folder or its folder `nas`, or None."""
    for base in data_folders(folder):
        for path in (base / FAMILY / name, base / name):
            if path.is_file():
                return path
    return None


def read_columns(path: Path, names: Iterable[str], *, rows: int | None = None) -> Columns:
    """Return some columns of an .npz table, all of one length; nothing in it is unpickled."""
    try:
        with open(path, "rb") as content, np.load(content, allow_pickle=False) as file:
            sizes = {info.filename.removesuffix(".npy"): info.file_size for info in file.zip.infolist()}
            for name in names:
                if name not in sizes:
                    known = textwrap.shorten(", ".join(sorted(sizes)), 300)
                    raise DataError(f"the table {path} has no column {name!r}; it has: {known}.")
                if sizes[name] > _LARGEST_COLUMN:
                    raise DataError(f"column {name!r} of {path} unpacks to more than {_LARGEST_COLUMN:,} bytes.")
            columns: Columns = {name: file[name] for name in names}
    except OSError as error:
        raise DataError(f"cannot read the table {path}: {error.strerror or error}.") from error
    except DataError:
        raise
    except Exception as error:  # any error of a damaged file
        raise DataError(f"{path} is not a table of columns (.npz), or is damaged.") from error
    for name, column in columns.items():
        expected = rows if rows is not None else len(next(iter(columns.values())))
        if column.ndim == 0 or len(column) != expected:
            raise DataError(f"the table {path} must have {expected:,} rows, column {name!r} has {column.shape}.")
    return columns


def check_numbers(
    path: object, name: str, column: NDArray[np.generic], *, least: float = -math.inf, most: float = math.inf
) -> NDArray[np.float64]:
    """Return a column of finite numbers within bounds, or raise a DataError."""
    if column.ndim != 1 or column.dtype.kind not in "iuf":
        raise DataError(f"column {name!r} of {path} must be numbers, got {column.dtype} of shape {column.shape}.")
    numbers = column.astype(float)
    if not np.isfinite(numbers).all():
        raise DataError(f"column {name!r} of {path} must be finite numbers; {(~np.isfinite(numbers)).sum()} are not.")
    outside = numbers[(numbers < least) | (numbers > most)]
    if len(outside):
        bounds = f"from {least:g} to {most:g}" if most < math.inf else f"at least {least:g}"
        raise DataError(f"column {name!r} of {path} must be {bounds}, got {outside[0]:g}.")
    return numbers


def computed_once(
    name: str, sources: Iterable[Path], version: str, compute: Callable[[], NDArray[np.generic]]
) -> NDArray[np.generic]:
    """Return an array computed from files, cached for the user while these and the version are the same."""
    digest = hashlib.sha256(version.encode())
    for source in sources:
        digest.update(hashlib.sha256(source.read_bytes()).digest())
    path = cache_folder().parent / "computed" / f"{name}-{digest.hexdigest()[:16]}.npz"
    try:
        with open(path, "rb") as content, np.load(content, allow_pickle=False) as file:
            kept: NDArray[np.generic] = file["values"]  # numpy compares the checksum
            return kept
    except Exception as error:  # missing or damaged
        logger.debug("%s is computed: %s", name, error)
    values = compute()
    try:
        write_atomically(path, lambda file: np.savez(file, values=values))
    except ParetoNRPAError as error:
        logger.warning("%s will be computed again next time: %s", name, error)
    return values


# --- NAS-Bench-101


class Cells(NamedTuple):
    """All cells of a table."""

    n_vertices: NDArray[np.integer]
    bits: NDArray[np.integer]  # of the edges, see `cells101.matrix_of`
    ops: NDArray[np.integer]  # [n, 5]
    keys: NDArray[np.int64]  # shared by isomorphic cells


def read_official(names: Sequence[str], data: Folder = None) -> tuple[Cells, NDArray[np.float64]]:
    """Return all cells and their objectives [n, m] from the converted official file."""
    check_objectives("nas-bench-101", names, tuple(OFFICIAL))
    path = find_table(TABLE_101, data)
    if path is None:
        raise InstanceError(
            f"the table of NAS-Bench-101 is not on this machine; download {SOURCE} (500 MB), then convert it once "
            "with: pareto-nrpa data convert-nasbench101 nasbench_only108.tfrecord. Without it there is "
            "nas-bench-101-surrogate."
        )
    cells = read_cells(path)
    columns = read_columns(path, [OFFICIAL[name] for name in names], rows=N_CELLS_101)
    values = np.empty((N_CELLS_101, len(names)))
    for k, name in enumerate(names):
        is_error = name.endswith("error")
        numbers = check_numbers(
            path, OFFICIAL[name], columns[OFFICIAL[name]], least=0, most=1 if is_error else math.inf
        )
        values[:, k] = _percent(1.0 - numbers) if is_error else numbers
    return cells, values


def read_surrogate(names: Sequence[str], data: Folder = None) -> tuple[Cells, NDArray[np.float64]]:
    """Return all cells with predicted errors and exact parameters [n, m]; the first time, the model is fitted."""
    from .surrogate101 import predicted_accuracies

    check_objectives("nas-bench-101-surrogate", names, SURROGATE)
    path, sample = (find_table(name, data) for name in (SURROGATE_CELLS, SURROGATE_SAMPLE))
    if path is None or sample is None:
        missing = SURROGATE_CELLS if path is None else SURROGATE_SAMPLE
        raise InstanceError(
            f"the surrogate of NAS-Bench-101 is fitted to real accuracies and needs {missing} in the folder nas of the "
            "data folder (see docs/nas.md)."
        )
    cells = read_cells(path)
    of_name: dict[str, Callable[[], NDArray[np.float64]]] = {
        "params": lambda: check_numbers(
            path, "params", read_columns(path, ["params"], rows=N_CELLS_101)["params"], least=0
        ),
        "surrogate_error": lambda: _percent(1.0 - predicted_accuracies(path, sample)),
    }
    return cells, np.column_stack([of_name[name]() for name in names])


def read_cells(path: Path) -> Cells:
    """Return the cells of a table, which must all differ."""
    found: dict[str, Any] = read_columns(path, ["n_vertices", "adj_bits", "ops"], rows=N_CELLS_101)
    n, bits, ops = (found[name] for name in ("n_vertices", "adj_bits", "ops"))
    is_whole = all(column.dtype.kind in "iu" for column in (n, bits, ops))
    if not is_whole or n.ndim != 1 or bits.ndim != 1 or ops.shape[1:] != (MAX_VERTICES - 2,):
        raise DataError(f"the table {path} must have whole numbers n_vertices, adj_bits and five ops for each cell.")
    if n.min() < 2 or n.max() > MAX_VERTICES or bits.min() < 0 or ops.min() < -1 or ops.max() > 2:
        raise DataError(f"the table {path} has cells that are not of NAS-Bench-101.")
    keys: Any = computed_once("nasbench101-keys", [path], _KEYS_VERSION, lambda: cell_keys(n, bits, ops))
    n_missing = N_CELLS_101 - len(np.unique(keys))
    if n_missing:
        raise DataError(f"the table {path} must have every cell once, {n_missing:,} are repeated.")
    return Cells(n, bits, ops, keys)


def _percent(errors: NDArray[np.float64]) -> NDArray[np.float64]:
    rounded: NDArray[np.float64] = np.round(100.0 * errors, DECIMALS)
    return rounded
