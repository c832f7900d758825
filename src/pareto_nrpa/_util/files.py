"""Atomic writing, locking and names of files, and append-only files of lines."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import tempfile
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING

from ..errors import CheckpointError, ParetoNRPAError
from .checks import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

# A writer locks its file directly after creating it; an older file without a lock has no writer.
_SECONDS_UNTIL_STALE = 60


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """Write a text atomically, with a newline at its end; returns the path."""
    whole = text if text.endswith("\n") else f"{text}\n"
    return write_atomically(path, lambda file: file.write(whole.encode()))


def write_atomically(path: str | os.PathLike[str], write: Callable[[BinaryIO], object]) -> Path:
    """Write a temporary file and move it to its place when it is complete; returns the path."""
    target = _real_place(path)
    part = _beside(target, f"-{secrets.token_hex(6)}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # Opened like any new file, so that the user's umask sets its permissions.
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    except OSError as error:
        raise unwritable(target, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            try_lock(file)
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise unwritable(target, error) from error
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    _remove_stale_parts(target)
    return Path(path)


def read_bytes(
    path: str | os.PathLike[str], *, error: type[Exception] = ParetoNRPAError, most_bytes: int = 100_000_000
) -> bytes:
    """Return the content of a file, opened once. Raises `error` if it cannot be read or is longer than `most_bytes`."""
    check_file_name(path)
    try:
        with open(path, "rb") as file:
            content = file.read(most_bytes + 1)
    except OSError as reason:
        raise error(f"cannot read {path}: {reason.strerror or reason}.") from reason
    if len(content) > most_bytes:
        raise error(f"cannot read {path}: it has more than {most_bytes:,} bytes.")
    return content


def _beside(target: Path, ending: str) -> Path:
    """Return the path of a hidden companion file, short enough for any file system."""
    digest = hashlib.sha256(target.name.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return target.with_name(f".pareto-nrpa-{digest}{ending}")


def _remove_stale_parts(target: Path) -> None:
    """Remove temporary files of killed writers: no process holds a lock on them."""
    for part in target.parent.glob(_beside(target, "-*.part").name):
        with contextlib.suppress(OSError), open(part, "rb") as file:
            is_old = time.time() - part.stat().st_mtime > _SECONDS_UNTIL_STALE
            if is_old and try_lock(file):
                part.unlink(missing_ok=True)


def try_lock(file: IO[bytes]) -> bool:
    """Lock a file until it is closed; False if another process, or another caller in this one, has locked it."""
    try:
        import fcntl
    except ImportError:  # Windows
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # some file systems do not support locks
        return True
    return True


@contextlib.contextmanager
def locked(path: str | os.PathLike[str]) -> Iterator[None]:
    """Lock a checkpoint, which is replaced at each write, for one search."""
    target = _real_place(path)
    lock = _beside(target, ".lock")
    try:
        file = _open_locked(lock)
    except OSError as error:
        raise unwritable(target, error) from error
    if file is None:
        raise CheckpointError(in_use(path))
    with file:
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                lock.unlink(missing_ok=True)


def _open_locked(path: Path) -> IO[bytes] | None:
    """Return a locked file that still exists: the previous owner of the lock removes its file."""
    while True:
        file = open(path, "ab")  # noqa: SIM115
        if not try_lock(file):
            file.close()
            return None
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                return file
        file.close()


def in_use(path: str | os.PathLike[str]) -> str:
    """Return the sentence for a checkpoint that another search writes to."""
    return f"another process is writing to the checkpoint {path}; wait for it, or name another file."


def check_file_name(path: object) -> None:
    """Raise unless a value is a path; `open` would take an integer for a file descriptor."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"a file must be named by text or a path, got {shown(path)}.")
    if "\0" in str(path):
        raise ParetoNRPAError(f"the name of a file cannot contain the character \\0, got {shown(str(path))}.")


def _real_place(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file with links resolved; a device or a pipe must not be replaced by a file."""
    check_file_name(path)
    target = Path(os.path.realpath(path))
    if os.path.isdir(target):
        raise ParetoNRPAError(f"cannot write {path}: it is a folder; give the name of a file.")
    if os.path.exists(target) and not os.path.isfile(target):
        raise ParetoNRPAError(f"cannot write {path}: it is not a regular file; give another name.")
    return target


def file_name(text: str) -> str:
    """Return a text as a valid (part of a) file name on any system."""
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


class LineFile:
    """A file open for appending, locked so that no other process appends to it.

    An incomplete last line, left by a killed process, is removed by the first append.

    Parameters
    ----------
    in_use
        Raised if another process has the file open.
    """

    def __init__(self, path: str | os.PathLike[str], *, in_use: Exception) -> None:
        self.path = Path(path)
        check_writable(path)
        try:
            self._file: BinaryIO = open(path, "a+b", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise unwritable(self.path, error) from error
        if not try_lock(self._file):
            self._file.close()
            raise in_use
        self._file.seek(0)
        #: The content of the file when it was opened.
        self.content = self._file.read()
        self._cut: int | None = len(whole_lines(self.content))

    def append(self, line: bytes) -> None:
        """Write and sync a line."""
        text = line + b"\n"
        if self._cut is not None:
            self._file.truncate(self._cut)
            self._cut = None
        self._file.seek(0, os.SEEK_END)
        try:
            if self._file.write(text) != len(text):
                raise OSError("the disk is full")
            os.fsync(self._file.fileno())
        except OSError as error:
            raise unwritable(self.path, error) from error

    def close(self) -> None:
        """Unlock the file."""
        self._file.close()


def whole_lines(content: bytes) -> bytes:
    """Return content up to the end of its last whole line."""
    return content[: content.rfind(b"\n") + 1]
