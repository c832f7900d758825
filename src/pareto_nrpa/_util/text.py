"""Tables as lines of text, and times of day, for results, plans and commands."""

from __future__ import annotations

import math
import re

from .checks import printable

ROWS_SHOWN = 20
_LEAST_WORDS = 12
_CLOCK = re.compile(r"([0-9]{1,2}):([0-5][0-9])(?::([0-5][0-9]))?")
_LAST_HOUR = 48  # a shift may end the day after


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


def minutes(text: str) -> float | None:
    """Return the minutes since midnight of a time such as 08:30 (26:00 is two at night), or None."""
    found = _CLOCK.fullmatch(text)
    if found is None:
        return None
    hours, rest, seconds = (int(part or 0) for part in found.groups())
    return 60.0 * hours + rest + seconds / 60 if hours < _LAST_HOUR else None


def shown_time(value: float, *, clock: bool) -> str:
    """Return a time as text: hh:mm where times are minutes of the day, hh:mm:ss if seconds are not 0, else a number.

    Errors, plans, lists and pages all write times by this rule (`clock` in report/templates/elements.js is the same).
    Whole minutes cannot be exact for every time: rounded up, a stop seems to close later than it does; rounded down,
    a vehicle seems to arrive earlier; rounded to the nearest, a lateness of 20 seconds disappears. With seconds, a time
    that a file can give is shown as `minutes` reads it, and a computed one is at most half a second off.
    """
    if not clock or not math.isfinite(value):
        return f"{value:g}"
    whole = math.floor(abs(value) * 60 + 0.5)
    sign = "-" if value < 0 and whole else ""
    rest, seconds = divmod(whole, 60)
    text = f"{sign}{rest // 60:02d}:{rest % 60:02d}"
    return f"{text}:{seconds:02d}" if seconds else text
