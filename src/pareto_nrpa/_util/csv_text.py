"""Tables as CSV whose text cells cannot run as formulas in a spreadsheet, and are read back unchanged.

Rules of OWASP for CSV injection: text that may begin a formula, at its start or behind a separator that cuts a cell in
a spreadsheet of another locale, gets an apostrophe before it. Numbers stay numbers. list.js has the same rules.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Times of day are harmless as well.
_NUMBER = re.compile(r"[+-]?([0-9]+([.,:][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]{1,3})?")
# Includes the full-width and small forms; apostrophes too, so that an original one survives reading.
_FORMULA = re.compile(
    r"""['"\s\0-\x20\ufeff\u200b-\u200f\u2060]*[=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b]"""
)
_BREAK = re.compile(r"""['"]*[\t\r\n]""")
_SEPARATOR = re.compile(r"([;\t\r\n])")
_NEEDS_QUOTES = re.compile(r"""[",;\t\r\n]|^[\s']|\s$""")


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Return rows as CSV."""
    return "".join(f"{','.join(map(_cell, row))}\n" for row in rows)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return repr(float(value))
    text = "" if value is None else guarded(str(value))
    return '"{}"'.format(text.replace('"', '""')) if _NEEDS_QUOTES.search(text) else text


def guarded(text: str) -> str:
    """Return text with an apostrophe before it if a spreadsheet may take it for a formula."""
    if _NUMBER.fullmatch(text):
        return text
    return "'" * bool(_BREAK.match(text)) + _changed(text, lambda part: f"'{part}" if _is_formula(part) else part)


def unguarded(text: str) -> str:
    """Return text without the apostrophe that `guarded` added."""
    if text.startswith("'") and _BREAK.match(text[1:]):
        text = text[1:]
    return _changed(text, lambda part: part[1:] if part.startswith("'") and _is_formula(part[1:]) else part)


def _changed(text: str, change: Callable[[str], str]) -> str:
    parts = _SEPARATOR.split(text)
    parts[::2] = map(change, parts[::2])
    return "".join(parts)


def _is_formula(part: str) -> bool:
    return _FORMULA.match(part) is not None and not _NUMBER.fullmatch(part.strip())
