"""The official file of NAS-Bench-101, read once and turned into a compact table."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .._util.files import check_writable, write_atomically
from ..errors import DataError
from ..routing.benchmarks import cache_folder
from .cells101 import MAX_VERTICES, N_CELLS, bits_of, cell_hash, parameters
from .files import FAMILY
from .records101 import Training, read_training
from .tfrecord import read_records

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from numpy.typing import NDArray

TABLE = "nasbench101.npz"
_EPOCHS = 108
_CHECKED_EVERY = 1_000  # computing the hash of a cell takes half a millisecond


@dataclass
class _Cell:
    """A cell with all its trainings."""

    first: Training
    validation: list[float] = field(default_factory=list)
    test: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def convert(
    path: str | os.PathLike[str],
    to: str | os.PathLike[str] | None = None,
    *,
    expected: int | None = N_CELLS,
    progress: Callable[[int], None] = lambda done: None,
) -> Path:
    """Turn `nasbench_only108.tfrecord` (or the full file) into a table; returns where it is.

    Parameters
    ----------
    to
        The folder for it, or a file ending in .npz; the user's cache by default, where it is found.
    expected
        How many cells there must be; None: any number.
    progress
        Is told the number of records read.
    """
    target = cache_folder() / FAMILY / TABLE if to is None else Path(to)
    target = target if target.suffix == ".npz" else target / TABLE
    check_writable(target)
    cells: dict[str, _Cell] = {}
    try:
        with open(path, "rb") as file:
            for done, record in enumerate(read_records(file, Path(path).name)):
                if done % _CHECKED_EVERY == 0:
                    progress(done)
                _add(cells, read_training(record), is_checked=done % _CHECKED_EVERY == 0)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}.") from error
    if not cells:
        raise DataError(f"{path} has no training of {_EPOCHS} epochs in it.")
    if expected is not None and len(cells) != expected:
        raise DataError(f"{path} must have {expected:,} cells, it has {len(cells):,}; download it again.")
    columns = _columns([cells[digest] for digest in sorted(cells)])
    return write_atomically(target, lambda out: np.savez_compressed(out, **columns))  # type: ignore[arg-type]  # keywords of savez are arrays of any name


def _add(cells: dict[str, _Cell], training: Training, *, is_checked: bool) -> None:
    if training.epochs != _EPOCHS:
        return
    if is_checked and cell_hash(training.matrix, training.operations) != training.hash:
        raise DataError(
            f"the record of {training.hash} has another hash than its cell; the file is not the official one."
        )
    if is_checked and parameters(training.matrix, training.operations) != training.parameters:
        raise DataError(f"the record of {training.hash} has another number of parameters than its cell.")
    cell = cells.setdefault(training.hash, _Cell(training))
    cell.validation.append(training.validation_accuracy)
    cell.test.append(training.test_accuracy)
    cell.seconds.append(training.seconds)


def _columns(cells: list[_Cell]) -> dict[str, NDArray[np.generic]]:
    """Return the columns of the table; accuracies and times are means over the trainings of a cell."""
    ops = np.full((len(cells), MAX_VERTICES - 2), -1, dtype=np.int8)
    for row, cell in zip(ops, cells, strict=True):
        row[: len(cell.first.operations)] = cell.first.operations
    return {
        "hash": np.array([list(bytes.fromhex(cell.first.hash)) for cell in cells], dtype=np.uint8),
        "n_vertices": np.array([len(cell.first.matrix) for cell in cells], dtype=np.int8),
        "adj_bits": np.array([bits_of(cell.first.matrix) for cell in cells], dtype=np.int32),
        "ops": ops,
        "params": np.array([cell.first.parameters for cell in cells], dtype=np.int32),
        "n_runs": np.array([len(cell.validation) for cell in cells], dtype=np.int8),
        "valid108": np.array([np.mean(cell.validation) for cell in cells], dtype=np.float32),
        "test108": np.array([np.mean(cell.test) for cell in cells], dtype=np.float32),
        "train_time108_s": np.array([np.mean(cell.seconds) for cell in cells], dtype=np.float32),
    }
