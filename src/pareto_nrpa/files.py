"""Files that are never half written, and names for them."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from .exceptions import ParetoNRPAError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO


def write_atomically(path: str | os.PathLike[str], write: Callable[[BinaryIO], None]) -> Path:
    """Write a file beside its place and move it there when it is complete; returns the path."""
    target = _real_place(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=".pareto-nrpa-", suffix=".part")
    except OSError as error:
        raise unwritable(target, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise unwritable(target, error) from error
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return Path(path)


def _real_place(path: str | os.PathLike[str]) -> Path:
    """Return where a file really goes, through links; a device or a pipe must not be replaced by a file."""
    target = Path(os.path.realpath(path))
    if os.path.isdir(target):
        raise ParetoNRPAError(f"cannot write {path}: it is a folder; give the name of a file.")
    if os.path.exists(target) and not os.path.isfile(target):
        raise ParetoNRPAError(f"cannot write {path}: it is not a regular file; give another name.")
    return target


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def file_name(text: str) -> str:
    """Return a text as (part of) the name of a file, on any machine."""
    return "".join(c if c.isalnum() or c in "._-" else "-" for c in text)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise now, not after hours of search, if a file could not be written at `path`."""
    target = _real_place(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=target.parent), contextlib.suppress(FileNotFoundError):
            target.stat()  # a name that is too long raises here
    except OSError as error:
        raise unwritable(target, error) from error


def unwritable(path: Path, error: OSError) -> ParetoNRPAError:
    """Return the error for a file that cannot be written."""
    reason = error.strerror or str(error)
    return ParetoNRPAError(f"cannot write {path}: {reason}; choose a folder that you may write to.")
