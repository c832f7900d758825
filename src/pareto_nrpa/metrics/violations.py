"""Constraint violations (CV in the paper): those of the best solutions found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def constraint_violations(violations: ArrayLike) -> float:
    """Return the mean number of violations of the solutions of a front, 0 if all are feasible."""
    values = np.asarray(violations, dtype=float)
    if values.size == 0:
        raise ValueError("violations must have at least one entry, got none.")
    return float(values.mean())
