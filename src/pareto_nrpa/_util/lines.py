"""A file that grows by whole lines, each on disk before the next one is made."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ParetoNRPAError
from .files import check_writable, try_lock, unwritable

if TYPE_CHECKING:
    from typing import BinaryIO


class LineFile:
    """A file open for appending, locked so that no other process appends to it.

    A last line without its end was cut off when a process or the machine stopped; the first append removes it.
    """

    def __init__(self, path: str | os.PathLike[str], *, in_use: str) -> None:
        self.path = Path(path)
        check_writable(path)
        try:
            self._file: BinaryIO = open(path, "a+b", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise unwritable(self.path, error) from error
        if not try_lock(self._file):
            self._file.close()
            raise ParetoNRPAError(in_use)
        self._file.seek(0)
        self._file.truncate(len(whole_lines(self._file.read())))

    def append(self, line: bytes) -> None:
        """Write a line; it is on disk when this returns."""
        text = line + b"\n"
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
