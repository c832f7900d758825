"""Tables of the benchmarks: where they are, columns read and checked, and what was computed from them."""

from __future__ import annotations

import hashlib
import logging
from typing import TYPE_CHECKING

import numpy as np

from ...exceptions import DataError, ParetoNRPAError
from ...files import write_atomically
from ..data import cache_folder, data_folders

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from numpy.typing import NDArray

logger = logging.getLogger(__name__)

FAMILY = "nas"


def find_table(name: str, folder: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the file of a table by its name, or None; both a collection of families and the folder `nas` will do."""
    for base in data_folders(folder):
        for path in (base / FAMILY / name, base / name):
            if path.is_file():
                return path
    return None


def read_columns(path: Path, names: Iterable[str], *, rows: int | None = None) -> dict[str, NDArray[np.generic]]:
    """Return some columns of an .npz table, all of one length; nothing in it is ever unpickled."""
    try:
        # Opened here, as np.load leaves a damaged file open.
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            if not isinstance(file, np.lib.npyio.NpzFile):
                raise ValueError("an array, not a table")
            for name in names:
                if name not in file.files:
                    there = ", ".join(sorted(file.files))
                    raise DataError(f"the table {path} has no column {name!r}; it has: {there}.")
            columns = {name: file[name] for name in names}
    except OSError as error:
        raise DataError(f"cannot read the table {path}: {error.strerror or error}.") from error
    except DataError:
        raise
    except Exception as error:  # whatever a damaged file leads to
        raise DataError(f"{path} is not a table of columns (.npz), or is damaged.") from error
    for name, column in columns.items():
        expected = rows if rows is not None else len(next(iter(columns.values())))
        if column.ndim == 0 or len(column) != expected:
            raise DataError(f"the table {path} must have {expected:,} rows, column {name!r} has {column.shape}.")
    return columns


def check_numbers(path: object, name: str, column: NDArray[np.generic]) -> NDArray[np.float64]:
    """Return a column of finite numbers, or say that it is none."""
    if column.ndim != 1 or column.dtype.kind not in "iuf":
        raise DataError(f"column {name!r} of {path} must be numbers, got {column.dtype} of shape {column.shape}.")
    numbers = column.astype(float)
    if not np.isfinite(numbers).all():
        raise DataError(f"column {name!r} of {path} must be finite numbers; {(~np.isfinite(numbers)).sum()} are not.")
    return numbers


def computed_once(
    name: str, sources: Iterable[Path], version: str, compute: Callable[[], NDArray[np.generic]]
) -> NDArray[np.generic]:
    """Return what is computed from files, kept in the user's cache while these and the version are the same."""
    digest = hashlib.sha256(version.encode())
    for source in sources:
        digest.update(hashlib.sha256(source.read_bytes()).digest())
    path = cache_folder().parent / "computed" / f"{name}-{digest.hexdigest()[:16]}.npy"
    try:
        with open(path, "rb") as file:
            return np.asarray(np.load(file, allow_pickle=False))
    except (OSError, ValueError, EOFError):  # not there, or damaged
        values = compute()
    try:
        write_atomically(path, lambda file: np.save(file, values, allow_pickle=False))
    except ParetoNRPAError as error:
        logger.warning("%s will be computed again next time: %s", name, error)
    return values
