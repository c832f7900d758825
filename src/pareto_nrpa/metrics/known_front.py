"""Fronts that are known beforehand, and how much of one was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._points import as_points

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def nondominated(points: ArrayLike) -> NDArray[np.float64]:
    """Return the points that no other dominates, each once, in the order of their objectives."""
    import moocore

    array = as_points(points)
    if len(array) == 0 or array.shape[1] == 1:
        return array[:0] if len(array) == 0 else array.min(axis=0, keepdims=True)
    front: NDArray[np.float64] = np.unique(array[moocore.is_nondominated(array)], axis=0)
    return front


def n_found(points: ArrayLike, front: ArrayLike) -> int:
    """Return how many points of a known front are among the points found."""
    found = {tuple(row) for row in as_points(points).tolist()}
    return sum(tuple(row) in found for row in as_points(front).tolist())
