"""Tables of the benchmarks: where they are, columns read and checked, and what was computed from them."""

from __future__ import annotations

import hashlib
import io
import logging
import math
import textwrap
import warnings
import zipfile
from typing import TYPE_CHECKING

import numpy as np

from .._util.files import write_atomically
from ..errors import DataError, ParetoNRPAError
from ..routing.benchmarks import cache_folder, data_folders

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable
    from pathlib import Path
    from typing import BinaryIO

    from numpy.typing import NDArray

logger = logging.getLogger(__name__)

FAMILY = "nas"
_LARGEST_COLUMN = 200_000_000  # bytes; the hashes of NAS-Bench-101 are 7 million
_LONGEST_LIST = 300  # characters of a message
_DIGEST = hashlib.sha256().digest_size


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
        with zipfile.ZipFile(path) as file:
            there = {info.filename.removesuffix(".npy"): info for info in file.infolist()}
            for name in names:
                if name not in there:
                    known = textwrap.shorten(", ".join(sorted(there)), _LONGEST_LIST)
                    raise DataError(f"the table {path} has no column {name!r}; it has: {known}.")
                # What a member unpacks to is known beforehand, and no more than that is ever unpacked.
                if there[name].file_size > _LARGEST_COLUMN:
                    raise DataError(f"column {name!r} of {path} unpacks to more than {_LARGEST_COLUMN:,} bytes.")
            columns = {name: _array(file.read(there[name])) for name in names}
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


def _array(content: bytes) -> NDArray[np.generic]:
    """Return the array of an .npy file, whose header must say as many bytes as there are."""
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
    with warnings.catch_warnings(action="error"):  # a header of Python 2 is as good as damaged
        shape, fortran, dtype = read(file)
    if dtype.hasobject or math.prod(shape) * dtype.itemsize != len(content) - file.tell():
        raise ValueError("objects, or another length than the header says")
    return np.frombuffer(content, dtype, offset=file.tell()).reshape(shape, order="F" if fortran else "C").copy()


def check_numbers(
    path: object, name: str, column: NDArray[np.generic], *, least: float = -math.inf, most: float = math.inf
) -> NDArray[np.float64]:
    """Return a column of finite numbers within bounds, or say that it is none."""
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
    """Return what is computed from files, kept in the user's cache while these and the version are the same."""
    digest = hashlib.sha256(version.encode())
    for source in sources:
        digest.update(hashlib.sha256(source.read_bytes()).digest())
    path = cache_folder().parent / "computed" / f"{name}-{digest.hexdigest()[:16]}.npy"
    try:
        return _array(_checked(path.read_bytes()))
    except Exception:  # not there, or damaged
        values = compute()
    body = io.BytesIO()
    np.save(body, values, allow_pickle=False)

    def write(file: BinaryIO) -> None:
        file.write(hashlib.sha256(body.getvalue()).digest() + body.getvalue())

    try:
        write_atomically(path, write)
    except ParetoNRPAError as error:
        logger.warning("%s will be computed again next time: %s", name, error)
    return values


def _checked(content: bytes) -> bytes:
    """Return what follows a checksum."""
    digest, body = content[:_DIGEST], content[_DIGEST:]
    if hashlib.sha256(body).digest() != digest:
        raise ValueError("damaged")
    return body
