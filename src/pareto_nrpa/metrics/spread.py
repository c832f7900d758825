"""Overall spread (Wu & Azarm 2001; paper, equation 4): how far a front extends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._points import as_points, as_vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def overall_spread(points: ArrayLike, *, ideal: ArrayLike, maximal: ArrayLike) -> float:
    """Return the share of the box from `ideal` to `maximal` that the extremes of the points span; 0 for no points."""
    array = as_points(points)
    m = array.shape[1]
    box = np.abs(as_vector(ideal, m, "ideal") - as_vector(maximal, m, "maximal"))
    if (box == 0).any():
        raise ValueError("ideal and maximal must differ in every objective.")
    if len(array) == 0:
        return 0.0
    return float(np.prod((array.max(axis=0) - array.min(axis=0)) / box))
