"""The cells of workbooks (.xlsx, .xls, .ods), read by python-calamine."""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any

from ..errors import InstanceError

_MOST_CELLS = 20_000_000  # larger than a matrix of the largest number of stops
_MOST_BYTES = 1_000_000_000  # of all parts, unpacked
_REFERENCE = re.compile(rb'<(?:\w+:)?c [^>]*?\br="([A-Z]{1,3})([0-9]{1,7})"')


def sheets(content: bytes, source: str) -> dict[str, list[list[Any]]]:
    """Return the rows of each sheet by its name, from the first cell on: numbers, text, dates and times."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError as error:
        message = f'{source} is a workbook, which needs python-calamine: pip install "pareto-nrpa[excel]".'
        raise InstanceError(message) from error
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
