"""Checks of parameters: one sentence that names the parameter, the expected value and the given one."""

from __future__ import annotations

import difflib
import math
import unicodedata
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST_VALUE, _LONGEST_NAME = 100, 60
# Control characters, and those that change the direction or the lines of text, except the two that join emoji.
_OBEYED, _JOINERS = ("Cc", "Cf", "Cs", "Zl", "Zp"), "\u200c\u200d"


def printable(text: str) -> str:
    """Return text as one printable line: control characters become escapes of Python."""
    if text.isprintable():
        return text
    obeyed = {c for c in text if unicodedata.category(c) in _OBEYED and c not in _JOINERS}
    return "".join(c.encode("unicode_escape").decode() if c in obeyed else c for c in text)


def shown(value: Any) -> str:
    """Return a value as short text for a message."""
    try:
        text = repr(value) if not isinstance(value, str) or len(value) < _LONGEST_VALUE else repr(value[:1000])
    except Exception:  # a __repr__ of the user, or a number with too many digits for Python to write
        text = f"something of type {type(value).__name__}"
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."


def short(name: Any) -> str:
    """Return a name as printable text for a message."""
    return str(name)[:_LONGEST_NAME]


def nearest_name(name: str, known: Iterable[str], alike: float = 0.6) -> str | None:
    """Return the known name most similar to another, or None; `alike` is the least similarity, from 0 to 1."""
    return next(iter(difflib.get_close_matches(name, list(known), 1, alike)), None)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint at the known name nearest to a wrong one, or an empty text."""
    near = nearest_name(name, known)
    return "" if near is None else f" (did you mean {near!r}?)"


def is_number(value: Any) -> bool:
    """Tell whether something is a finite number that a float holds."""
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


def check_number(name: str, value: Any) -> None:
    """Raise unless a value is a finite number."""
    if not is_number(value):
        raise ValueError(f"{name} must be a finite number (0 for none), got {shown(value)}.")


def check_whole(name: str, value: Any, least: int, most: int | None = None) -> None:
    """Raise unless a value is a whole number within bounds."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {shown(value)}.")
    if most is not None and int(value) > most:
        raise ValueError(f"{name} must be at most {most:,}, got {shown(value)}.")


def check_positive(name: str, value: Any) -> None:
    """Raise unless a value is a finite number above 0."""
    if not is_number(value) or value <= 0:
        raise ValueError(f"{name} must be a finite number above 0, got {shown(value)}.")


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise unless a value is one of the choices."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {shown(value)}.")


def check_flag(name: str, value: Any) -> None:
    """Raise unless a value is True or False."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be true or false, got {shown(value)}.")


def check_seed(seed: object) -> int:
    """Return a seed as a whole number of at least 0."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise ValueError(f"seed must be a whole number of at least 0, got {seed!r}.")
    return int(seed)
