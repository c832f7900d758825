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

    array = np.unique(as_points(points), axis=0)
    if array.shape[1] == 1:
        return array[:1]
    front: NDArray[np.float64] = array[moocore.is_nondominated(array)] if len(array) else array
    return front


def n_found(points: ArrayLike, front: ArrayLike) -> int:
    """Return how many points of a known front are among the points found."""
    found = {tuple(row) for row in as_points(points).tolist()}
    return sum(tuple(row) in found for row in as_points(front).tolist())
