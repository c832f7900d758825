"""The content of a file of an instance, read once: text, cells of a workbook, or the kind of another file."""

from __future__ import annotations

import io
import os
import re
import zipfile
from pathlib import Path
from typing import Any

from .._util.files import check_file_name, read_bytes
from .._util.lazy import needed
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
_MOST_CELLS = 20_000_000  # larger than a matrix of the largest number of stops
_MOST_BYTES = 1_000_000_000  # of all parts, unpacked
_REFERENCE = re.compile(rb'<(?:\w+:)?c [^>]*?\br="([A-Z]{1,3})([0-9]{1,7})"')


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


def sheets(content: bytes, source: str) -> dict[str, list[list[Any]]]:
    """Return the rows of each sheet by its name, from the first cell on: numbers, text, dates and times."""
    with needed(f"{source}, a workbook,", "python-calamine", "excel"):
        from python_calamine import CalamineError, CalamineWorkbook
    try:
        _check_size(content, source)
        book = CalamineWorkbook.from_filelike(io.BytesIO(content))
        return {name: book.get_sheet_by_name(name).to_python(skip_empty_area=False) for name in book.sheet_names}
    except InstanceError:
        raise
    except (CalamineError, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        reason = " ".join(str(error).split())[:100]
        raise InstanceError(f"{source} is not a workbook, or is damaged or protected: {reason}.") from error


def _check_size(content: bytes, source: str) -> None:
    """Raise if a sheet is so large that its empty cells would exhaust the memory: calamine would end the process."""
    if not content.startswith(b"PK"):
        return
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = archive.infolist()
        if sum(part.file_size for part in parts) > _MOST_BYTES:
            raise InstanceError(f"{source} has more than {_MOST_BYTES:,} bytes when it is unpacked.")
        for part in parts:
            if part.filename.endswith(".xml") and "sheet" in part.filename:
                cells = _REFERENCE.findall(archive.read(part))
                rows = max((int(row) for _, row in cells), default=0)
                columns = max((_column(letters) for letters, _ in cells), default=0)
                if rows * columns > _MOST_CELLS:
                    raise InstanceError(
                        f"{source} has a sheet of {rows:,} rows and {columns:,} columns; delete cells far from "
                        "the table."
                    )


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number
