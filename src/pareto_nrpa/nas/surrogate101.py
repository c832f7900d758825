"""A surrogate of NAS-Bench-101: accuracies of all cells, predicted by a model fitted to the real ones of 30,001 cells.

The real accuracies are those of a sample of 7.1 % of the space, one training each. Predictions are not the benchmark;
everything that uses them has `surrogate` in its name. The model is fitted at the first use and not stored; its
predictions are stored as an array of numbers.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np

from .._util.lazy import needed
from ..errors import DataError
from .cells101 import MAX_VERTICES, N_OPERATIONS, path_counts
from .tables import check_numbers, computed_once, read_columns

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

logger = logging.getLogger(__name__)

_COLUMNS = ("n_vertices", "adj_bits", "ops", "params")
_VERSION = "1"
_ROWS_AT_ONCE = 50_000


def predicted_accuracies(cells: Path, sample: Path) -> NDArray[np.float64]:
    """Return the predicted accuracies, from 0 to 1, of all cells of a table; the first time it takes a minute."""
    found = computed_once("nasbench101-surrogate", (cells, sample), _VERSION, lambda: _predict(cells, sample))
    return found.astype(float)


def _predict(cells: Path, sample: Path) -> NDArray[np.float32]:
    logger.warning("fitting the surrogate of NAS-Bench-101, once on this machine; it takes about a minute")
    known, accuracies = read_sample(sample)
    table = read_columns(cells, _COLUMNS)
    model = fit(features(known), accuracies)
    from threadpoolctl import threadpool_limits

    predicted = []
    with threadpool_limits(1, user_api="openmp"):
        for begin in range(0, len(table["params"]), _ROWS_AT_ONCE):
            part = {name: column[begin : begin + _ROWS_AT_ONCE] for name, column in table.items()}
            predicted.append(model.predict(features(part)))
    return np.concatenate(predicted).astype(np.float32)


def read_sample(path: Path) -> tuple[dict[str, NDArray[Any]], NDArray[np.float64]]:
    """Return the cells whose validation accuracy after 108 epochs is known, and that accuracy."""
    columns = read_columns(path, [*_COLUMNS, "valid108"])
    accuracies: NDArray[Any] = columns.pop("valid108")
    if accuracies.dtype.kind != "f" or accuracies.ndim != 1:
        raise DataError(f"column 'valid108' of {path} must be numbers, got {accuracies.dtype}.")
    is_known = np.isfinite(accuracies)
    check_numbers(path, "valid108", accuracies[is_known], least=0, most=1)
    if is_known.sum() < 100:
        raise DataError(f"{path} has {is_known.sum()} known accuracies; a surrogate needs at least 100.")
    return {name: column[is_known] for name, column in columns.items()}, accuracies[is_known].astype(float)


def features(cells: dict[str, NDArray[Any]]) -> NDArray[np.float32]:
    """Return the features of cells [n, 381]: paths of each kind and length, edges, operations, parameters."""
    n, bits, ops = cells["n_vertices"], cells["adj_bits"], cells["ops"]
    paths = path_counts(n, bits, ops)
    ends = np.cumsum([N_OPERATIONS**length for length in range(MAX_VERTICES - 1)])
    lengths = [part.sum(axis=1) for part in np.split(paths, ends[:-1], axis=1)]
    edges = sum((bits >> k & 1) for k in range(MAX_VERTICES * (MAX_VERTICES - 1) // 2))
    kinds = [(ops == operation).sum(axis=1) for operation in range(N_OPERATIONS)]
    return np.column_stack([paths, *lengths, n, edges, *kinds, np.log(cells["params"])]).astype(np.float32)


def fit(x: NDArray[np.float32], accuracies: NDArray[np.float64]) -> Any:
    """Return a gradient boosting model; by absolute errors, as some trainings failed."""
    with needed("the surrogate of NAS-Bench-101", "scikit-learn", "nas"):
        from sklearn.ensemble import HistGradientBoostingRegressor
        from threadpoolctl import threadpool_limits
    model = HistGradientBoostingRegressor(
        loss="absolute_error", max_iter=400, learning_rate=0.08, early_stopping=False, random_state=0
    )
    # One thread: several are many times slower on a busy machine.
    with threadpool_limits(1, user_api="openmp"):
        return model.fit(x, accuracies)
