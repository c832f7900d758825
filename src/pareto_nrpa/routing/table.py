"""Spreadsheets as tables of text: CSV files with any usual separator, workbooks, pandas DataFrames."""

from __future__ import annotations

import csv
import datetime
import io
import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from .._util.checks import shown
from .._util.csv_text import unguarded
from ..errors import InstanceError
from .content import as_text, is_workbook, read_content, sheets

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

_LONGEST_CELL = 500
_LARGEST = 1e12
_DAY_ZERO, _DAYS_OF_A_TIME = datetime.datetime(1899, 12, 31), 2  # as spreadsheets count
# In this order, as numbers may have commas where columns are separated by others.
_SEPARATORS = (";", "\t", ",")
_QUOTED = re.compile(r'(^|[;,\t]) *"(?:[^"]|"")*"')
_NUMBER = re.compile(r"[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]{1,3})?")


@dataclass
class Table:
    """Rows of text, and the place of each.

    Attributes
    ----------
    source
        Name in messages.
    rows
        Cells without surrounding spaces.
    lines
        The line of the file that each row begins in.
    """

    source: str
    rows: list[list[str]]
    lines: list[int]
    decimal_commas: bool = False  # allowed, as commas do not separate columns
    word: str = "line"
    labels: tuple[bool, bool] | None = None  # of a DataFrame: whether the first row and the first column are labels
    _decimal: dict[str, str] = field(default_factory=dict)  # the first number with a comma or a point, and its place

    def place(self, row: int, column: str | int | None = None) -> str:
        """Return the place of a row or a cell as text."""
        where = f"{self.source}, {self.word} {self.lines[row]}"
        if column is None:
            return where
        return f"{where}, column {column}" if isinstance(column, int) else f"{where}, column {shown(column)}"

    def wrong(self, row: int, column: str | int, expected: str, got: str) -> NoReturn:
        """Raise with a message for a cell."""
        raise InstanceError(f"{self.place(row, column)}: expected {expected}, got {shown(got)[:60]}.")

    def number(self, row: int, column: str | int, text: str, expected: str = "a number") -> float:
        """Return the number in a cell, or raise with a message."""
        if not _NUMBER.fullmatch(text):
            self.wrong(row, column, expected, text)
        if "," in text and not self.decimal_commas:
            self.wrong(row, column, f"{expected} (a decimal comma needs ; between columns)", text)
        for mark, other in (",.", ".,"):
            if mark in text:
                self._decimal.setdefault(mark, self.place(row, column))
                if other in self._decimal:
                    self.wrong(row, column, f"a decimal {_MARKS[other]} as in {self._decimal[other]}", text)
        value = float(text.replace(",", "."))
        if abs(value) > _LARGEST:
            self.wrong(row, column, f"a number up to {_LARGEST:g}", text)
        return value


_MARKS = {",": "comma", ".": "point"}


def read_table(path: str | os.PathLike[str]) -> Table:
    """Return the cells of a CSV file, or of the first sheet of a workbook."""
    source, content = Path(path).name, read_content(path)
    if is_workbook(content):
        return next(iter(sheet_tables(content, source).values()))
    return table_of_text(as_text(content, path), source)


def table_of_text(text: str, source: str) -> Table:
    """Return the cells of CSV: columns separated by comma, semicolon or tab; empty rows are left out."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    announced = re.fullmatch(r"sep=([;,\t])", first)  # Excel's declaration of the separator
    bare = _QUOTED.sub(r"\1", first)
    separator = announced[1] if announced else next((mark for mark in _SEPARATORS if mark in bare), ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True, skipinitialspace=True)
    rows, lines, begin = [], [], 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                rows.append([unguarded(cell.strip()).strip() for cell in cells])
                lines.append(begin)
            begin = reader.line_num + 1
    except csv.Error as error:
        raise InstanceError(f"{source}, line {begin}: {error}; is a quote missing?") from error
    if announced:
        rows, lines = rows[1:], lines[1:]
    return _checked(Table(source, rows, lines, decimal_commas=separator != ","))


def sheet_tables(content: bytes, source: str) -> dict[str, Table]:
    """Return the cells of each non-empty sheet of a workbook (.xlsx, .xls, .ods), by its name."""
    tables: dict[str, Table] = {}
    for name, cells in sheets(content, source).items():
        rows = [(line, [_text(cell) for cell in row]) for line, row in enumerate(cells, 1)]
        there = [(line, row) for line, row in rows if any(row)]
        if there:
            called = source if not tables else f"{source}, sheet {shown(name)}"
            lines, texts = map(list, zip(*there, strict=True))
            tables[name] = _checked(Table(called, texts, lines, decimal_commas=True, word="row"))
    if not tables:
        raise InstanceError(f"{source} is empty.")
    return tables


def check_cell(table: Table, row: int, column: int, cell: str) -> None:
    """Raise if a cell has invalid content."""
    if len(cell) > _LONGEST_CELL:
        raise InstanceError(f"{table.place(row, column)}: has {len(cell):,} letters; {_LONGEST_CELL} are allowed.")
    if not cell.isprintable():
        odd = next(letter for letter in cell if not letter.isprintable())
        is_break = odd in "\r\n"
        reason = "a line break; is a quote missing, or one too many?" if is_break else f"{odd!r}, which is invisible."
        raise InstanceError(f"{table.place(row, column)}: has {reason}")


def frame_table(frame: Any, source: str) -> Table:
    """Return the cells of a pandas DataFrame, its columns named in the first row; a named index is a column."""
    has_names = not _is_default(frame.index) and frame.index.name is not None
    rows = _frame_rows(frame, with_index=has_names)
    rows.insert(0, _labels([frame.index.name] if has_names else []) + _labels(frame.columns))
    return _checked(Table(source, rows, list(range(len(rows))), word="row"))


def matrix_table(frame: Any, source: str, n: int) -> Table:
    """Return the cells of a pandas DataFrame for n stops, with its labels if they are not the default ones."""
    height, width = frame.shape
    # A frame with a row (column) more than stops has the names in it; numbers beyond are those of pandas.
    has_top = not (_is_default(frame.columns) or (height > n and _counts(frame.columns)))
    has_left = not (_is_default(frame.index) or (width > n and _counts(frame.index)))
    rows = _frame_rows(frame, with_index=has_left)
    if has_top:
        rows.insert(0, [""] * has_left + _labels(frame.columns))
    first = 0 if has_top else 1
    lines = list(range(first, first + len(rows)))
    return _checked(Table(source, rows, lines, word="row", labels=(has_top, has_left)))


def _frame_rows(frame: Any, *, with_index: bool) -> list[list[str]]:
    columns = [[_text(cell) for cell in frame.iloc[:, i].tolist()] for i in range(len(frame.columns))]
    if with_index:
        columns.insert(0, _labels(frame.index))
    return [list(cells) for cells in zip(*columns, strict=True)]


def _labels(labels: Any) -> list[str]:
    return [_text(label) for label in labels]


def _is_default(labels: Any) -> bool:
    """Tell whether labels are the default ones of pandas, from 0."""
    return type(labels).__name__ == "RangeIndex" and labels.start == 0 and labels.step == 1 and labels.name is None


def _counts(labels: Any) -> bool:
    return list(labels) == list(range(len(labels)))


def _checked(table: Table) -> Table:
    if not table.rows:
        raise InstanceError(f"{table.source} is empty.")
    for row, cells in enumerate(table.rows):
        for column, cell in enumerate(cells, 1):
            check_cell(table, row, column, cell)
    return table


def is_frame(value: Any) -> bool:
    """Tell whether a value is a pandas DataFrame, without importing pandas."""
    return hasattr(value, "columns") and hasattr(value, "iloc")


def _text(cell: Any) -> str:
    if cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, datetime.datetime) and 0 <= (cell.replace(tzinfo=None) - _DAY_ZERO).days < _DAYS_OF_A_TIME:
        cell = cell.replace(tzinfo=None) - _DAY_ZERO  # a time of day of a spreadsheet; 26:00 is on the next day
    if isinstance(cell, datetime.time):
        return cell.replace(microsecond=0).isoformat()
    if isinstance(cell, datetime.timedelta):
        whole = round(cell.total_seconds())
        return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(" ")
    if isinstance(cell, float) and cell.is_integer():  # a column of whole numbers with gaps or text
        return str(int(cell))
    return str(cell).strip()


def column_names(table: Table, known: Sequence[str], synonyms: dict[str, str]) -> list[str]:
    """Return the names of the columns in the first row, known ones in small letters and by their usual name."""
    names: list[str] = []
    for cell in table.rows[0]:
        plain = cell.lower()
        plain = synonyms.get(plain, plain)
        names.append(plain if plain in known else cell)
    for i, name in enumerate(names):
        if (name and not any(letter.isalpha() for letter in name)) or name.lower() in ("nan", "inf"):
            table.wrong(0, i + 1, "the name of a column", name)
        if name and name in names[:i]:
            raise InstanceError(f"{table.place(0)}: two columns are named {shown(name)}; rename one.")
    return names
