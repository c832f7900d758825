"""Spacing (Schott 1995; paper, equation 5): how evenly a front is filled; 0 is perfectly even."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._points import as_points

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def spacing(points: ArrayLike) -> float:
    """Return the standard deviation of the Manhattan distances to the nearest other point; NaN below two points."""
    array = as_points(points)
    if len(array) < 2:
        return float("nan")
    distances = np.abs(array[:, None, :] - array[None, :, :]).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    return float(np.std(distances.min(axis=1), ddof=1))
