"""The numbers of NAS-Bench-101 by the name of the objective: official ones, or those of the surrogate."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._util.checks import did_you_mean
from ..engine.jit.kernels import fingerprint
from ..errors import DataError, InstanceError
from .cells101 import MAX_VERTICES, N_CELLS
from .convert101 import TABLE
from .files import check_numbers, computed_once, find_table, read_columns
from .graphs101 import cell_keys, graph_key
from .surrogate101 import CELLS, SAMPLE, predicted_accuracies

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

SOURCE = "https://storage.googleapis.com/nasbench/nasbench_only108.tfrecord"

#: By the name of the objective, the column of the converted table; errors are in per cent.
OFFICIAL = {"error": "valid108", "test_error": "test108", "params": "params", "train_time": "train_time108_s"}
SURROGATE = ("surrogate_error", "params")
_DECIMALS = 4
_KEYS_VERSION = fingerprint(graph_key)


class Cells(NamedTuple):
    """All cells of a table."""

    n_vertices: NDArray[np.integer]
    bits: NDArray[np.integer]  # of the edges, see `cells101.matrix_of`
    ops: NDArray[np.integer]  # [n, 5]
    keys: NDArray[np.int64]  # which isomorphic cells share


def read_official(
    names: Sequence[str], data: str | os.PathLike[str] | None = None
) -> tuple[Cells, NDArray[np.float64]]:
    """Return all cells and their objectives [n, m] from the converted official file."""
    check_objectives("nas-bench-101", names, tuple(OFFICIAL))
    path = find_table(TABLE, data)
    if path is None:
        raise InstanceError(
            f"the table of NAS-Bench-101 is not on this machine; download {SOURCE} (500 MB), then convert it once "
            "with: pareto-nrpa data convert-nasbench101 nasbench_only108.tfrecord. Without it there is "
            "nas-bench-101-surrogate."
        )
    cells = read_cells(path)
    columns = read_columns(path, [OFFICIAL[name] for name in names], rows=N_CELLS)
    values = np.empty((N_CELLS, len(names)))
    for k, name in enumerate(names):
        most = 1 if name.endswith("error") else math.inf
        numbers = check_numbers(path, OFFICIAL[name], columns[OFFICIAL[name]], least=0, most=most)
        values[:, k] = _error(numbers) if name.endswith("error") else numbers
    return cells, values


def read_surrogate(
    names: Sequence[str], data: str | os.PathLike[str] | None = None
) -> tuple[Cells, NDArray[np.float64]]:
    """Return all cells with predicted errors and exact parameters [n, m]; the first time, the model is fitted."""
    check_objectives("nas-bench-101-surrogate", names, SURROGATE)
    path, sample = (find_table(name, data) for name in (CELLS, SAMPLE))
    if path is None or sample is None:
        missing = CELLS if path is None else SAMPLE
        raise InstanceError(
            f"the surrogate of NAS-Bench-101 is fitted to real accuracies and needs {missing} in the folder nas of the "
            "data folder (docs/nas.md says what is in it)."
        )
    cells = read_cells(path)
    values = np.empty((N_CELLS, len(names)))
    for k, name in enumerate(names):
        if name == "params":
            values[:, k] = check_numbers(path, name, read_columns(path, [name], rows=N_CELLS)[name], least=0)
        else:
            values[:, k] = _error(predicted_accuracies(path, sample))
    return cells, values


def check_objectives(problem: str, names: Sequence[str], known: Sequence[str]) -> None:
    """Raise if an objective does not exist, or is asked for twice."""
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise InstanceError(f"{problem} has no objective {name!r}{hint}; there are: {', '.join(known)}.")
    if len(set(names)) < len(names):
        raise InstanceError(f"each objective of {problem} can be asked for once, got {'+'.join(names)}.")


def read_cells(path: Path) -> Cells:
    """Return the cells of a table, which must all differ."""
    found: dict[str, Any] = read_columns(path, ["n_vertices", "adj_bits", "ops"], rows=N_CELLS)
    n, bits, ops = (found[name] for name in ("n_vertices", "adj_bits", "ops"))
    is_whole = all(column.dtype.kind in "iu" for column in (n, bits, ops))
    if not is_whole or n.ndim != 1 or bits.ndim != 1 or ops.shape[1:] != (MAX_VERTICES - 2,):
        raise DataError(f"the table {path} must have whole numbers n_vertices, adj_bits and five ops for each cell.")
    if n.min() < 2 or n.max() > MAX_VERTICES or bits.min() < 0 or ops.min() < -1 or ops.max() > 2:
        raise DataError(f"the table {path} has cells that are none of NAS-Bench-101.")
    keys: Any = computed_once("nasbench101-keys", [path], _KEYS_VERSION, lambda: cell_keys(n, bits, ops))
    n_missing = N_CELLS - len(np.unique(keys))
    if n_missing:
        raise DataError(f"the table {path} must have every cell once, {n_missing:,} are there twice.")
    return Cells(n, bits, ops, keys)


def _error(accuracies: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return errors in per cent."""
    errors: NDArray[np.float64] = np.round(100.0 * (1.0 - accuracies), _DECIMALS)
    return errors
