"""Times of day: numbers, or hours and minutes."""

from __future__ import annotations

import math
import re

_CLOCK = re.compile(r"([0-9]{1,2}):([0-5][0-9])(?::([0-5][0-9]))?")
_LAST_HOUR = 48  # a shift may end the day after


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
