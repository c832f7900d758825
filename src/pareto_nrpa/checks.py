"""Checks of parameters: one sentence that names the parameter, what was expected and what came."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def is_number(value: Any) -> bool:
    """Tell whether something is a finite number."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and math.isfinite(value)


def check_number(name: str, value: Any) -> None:
    """Raise unless a value is a finite number."""
    if not is_number(value):
        raise ValueError(f"{name} must be a finite number (0 for none), got {value!r}.")


def check_whole(name: str, value: Any, least: int, most: int | None = None) -> None:
    """Raise unless a value is a whole number within bounds."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}.")
    if most is not None and value > most:
        raise ValueError(f"{name} must be at most {most:,}, got {value}.")


def check_positive(name: str, value: Any) -> None:
    """Raise unless a value is a finite number above 0."""
    if not is_number(value) or value <= 0:
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}.")


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise unless a value is one of the choices."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}.")


def check_flag(name: str, value: Any) -> None:
    """Raise unless a value is True or False."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be true or false, got {value!r}.")
