"""What some points come to beside a front that is known beforehand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._points import as_points
from .hypervolume import quick_hypervolume

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


def n_found(points: ArrayLike, front: ArrayLike, *, tolerance: float = 0.0) -> int:
    """Return how many points of a known front are among the points found, up to a tolerance in each objective."""
    found, known = as_points(points), as_points(front)
    if tolerance:
        # Only those near in the first objective are looked at: fronts of three objectives have tens of thousands.
        found = found[np.argsort(found[:, 0])]
        begins = np.searchsorted(found[:, 0], known[:, 0] - 2 * tolerance, side="left")
        ends = np.searchsorted(found[:, 0], known[:, 0] + 2 * tolerance, side="right")
        near = (np.abs(found[a:b] - row) <= tolerance for a, b, row in zip(begins, ends, known, strict=True))
        return sum(bool(is_near.all(axis=1).any()) for is_near in near)
    rows = {tuple(row) for row in found.tolist()}
    return sum(tuple(row) in rows for row in known.tolist())


def share_of_hypervolume(points: ArrayLike, front: ArrayLike, *, reference_point: ArrayLike) -> float:
    """Return how much of the hypervolume of a known front the points found have; NaN where that is 0.

    A number instead of the front is its hypervolume, for those who measure many sets of points against the same one.
    """
    whole = (
        float(front) if isinstance(front, int | float) else quick_hypervolume(front, reference_point=reference_point)
    )
    array = as_points(points)
    if whole == 0:
        return float("nan")
    return quick_hypervolume(array, reference_point=reference_point) / whole if len(array) else 0.0


def igd_plus(points: ArrayLike, front: ArrayLike) -> float:
    """Return IGD+ (Ishibuchi et al. 2015): how far the points of a known front are from being dominated, on average.

    0 if all are found; infinite without points. Objectives of different units should be scaled before.
    """
    import moocore

    array, reference = as_points(points), as_points(front)
    if len(reference) == 0:
        raise ValueError("front must have at least one point, got none.")
    return float(moocore.igd_plus(array, ref=reference)) if len(array) else float("inf")
