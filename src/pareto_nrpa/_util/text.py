"""Tables as lines of text, for results, plans and commands."""

from __future__ import annotations

from .checks import printable

ROWS_SHOWN = 20
_LEAST_WORDS = 12


def rows_to_show(n: int) -> list[int]:
    """Return which rows of a long table to print: all of a short one, else evenly spaced ones with both ends."""
    most = min(n, ROWS_SHOWN)
    return [round(i * (n - 1) / (most - 1)) for i in range(most)] if most > 1 else list(range(n))


def aligned(header: list[str], rows: list[list[str]], width: int | None = None) -> list[str]:
    """Return a table as lines: numbers to the right, the last column to the left and cut where there is a width."""
    table = [list(map(printable, row)) for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)][:-1]
    room = None if width is None else max(_LEAST_WORDS, width - sum(widths) - 2 * len(widths))
    return [
        "".join(f"{cell:>{w}}  " for cell, w in zip(row[:-1], widths, strict=True)) + cut(row[-1], room)
        for row in table
    ]


def cut(text: str, longest: int | None) -> str:
    """Return a text, or its beginning where it is too long."""
    return text if longest is None or len(text) <= longest else f"{text[: longest - 3]}..."
