"""An append-only file of lines, each synced to disk before the next one is written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from .files import check_writable, try_lock, unwritable

if TYPE_CHECKING:
    from typing import BinaryIO


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

    def append(self, line: bytes) -> int:
        """Write and sync a line; return its offset."""
        text = line + b"\n"
        if self._cut is not None:
            self._file.truncate(self._cut)
            self._cut = None
        begin = self._file.seek(0, os.SEEK_END)
        try:
            if self._file.write(text) != len(text):
                raise OSError("the disk is full")
            os.fsync(self._file.fileno())
        except OSError as error:
            raise unwritable(self.path, error) from error
        return begin

    def close(self) -> None:
        """Unlock the file."""
        self._file.close()


def whole_lines(content: bytes) -> bytes:
    """Return content up to the end of its last whole line."""
    return content[: content.rfind(b"\n") + 1]
