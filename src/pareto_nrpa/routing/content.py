"""The content of a file of an instance, read once, and the kind of a file that is not text."""

from __future__ import annotations

import os
from pathlib import Path

from .._util.files import check_file_name, read_bytes
from ..errors import InstanceError

#: The accepted formats, for messages.
ACCEPTED = "CSV, Excel (.xlsx, .xls, .ods), TSPLIB, VRPLIB, Solomon, TSPTW and VROOM files are read"
_WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_BINARIES = {
    b"%PDF": "a PDF document",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"\x93NUMPY": "an array of NumPy",
    b"\x1f\x8b": "a compressed file",
    b"\x7fELF": "a program",
    b"SQLite": "a database",
}


def read_content(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file, or raise with the reason."""
    check_file_name(path)
    if os.path.isdir(path):
        raise InstanceError(f"{path} is a folder; give a file in it: {ACCEPTED}.")
    return read_bytes(path, error=InstanceError)


def is_workbook(content: bytes) -> bool:
    """Tell whether a content is that of a workbook (or of another archive)."""
    return content.startswith(_WORKBOOKS)


def as_text(content: bytes, path: str | os.PathLike[str]) -> str:
    """Return a content as text, or raise with its kind."""
    kind = next((kind for begin, kind in _BINARIES.items() if content.startswith(begin)), "")
    try:
        if not kind:
            return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        kind = "a binary file" if b"\0" in content and not content.startswith(_UTF_16) else ""
    if kind:
        raise InstanceError(f"{path} is {kind}; {ACCEPTED}.")
    is_table = Path(path).suffix.lower() in (".csv", ".tsv")
    way_out = "save it as 'CSV UTF-8' in the spreadsheet" if is_table else "give a text file"
    raise InstanceError(f"{path} is not UTF-8 text; {way_out}.")
