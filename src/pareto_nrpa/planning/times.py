"""Times of day: numbers, or hours and minutes."""

from __future__ import annotations

import math
import re

_CLOCK = re.compile(r"([0-9]{1,2}):([0-5][0-9])(?::([0-5][0-9]))?")
_LAST_HOUR = 48  # a shift may end the day after


def minutes(text: str) -> float | None:
    """Return the minutes since midnight of a time such as 08:30 (26:00 is two at night), or None if it is none."""
    found = _CLOCK.fullmatch(text)
    if found is None:
        return None
    hours, rest, seconds = (int(part or 0) for part in found.groups())
    return 60.0 * hours + rest + seconds / 60 if hours < _LAST_HOUR else None


def shown_time(value: float, *, clock: bool) -> str:
    """Return a time as people read it."""
    if not clock or not math.isfinite(value):
        return f"{value:g}"
    hours, rest = divmod(math.ceil(value - 1e-9), 60)
    return f"{hours:02}:{rest:02}"
