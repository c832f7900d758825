"""Hypervolume (paper, equation 3): the size of what a front dominates, up to a reference point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._points import as_points, as_vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_MARGIN = 0.1
_MOST_STEPS = 500
_MOST_STEPS_MANY_OBJECTIVES = 100


def hypervolume(points: ArrayLike, *, reference_point: ArrayLike) -> float:
    """Return the hypervolume of points [n, m]; those not better than the reference everywhere add nothing."""
    import moocore

    array = as_points(points)
    reference = as_vector(reference_point, array.shape[1], "reference_point")
    inside = array[(array < reference).all(axis=1)]
    if len(inside) == 0:
        return 0.0
    if array.shape[1] == 1:
        return float(reference[0] - inside.min())
    return float(moocore.hypervolume(inside, ref=reference))


def worst_point(points: ArrayLike) -> NDArray[np.float64]:
    """Return a reference point for when none is known: the worst of each objective and a tenth of its range more."""
    array = as_points(points)
    worst, best = array.max(axis=0), array.min(axis=0)
    span = np.where(worst > best, worst - best, np.maximum(np.abs(worst), 1.0))
    reference: NDArray[np.float64] = worst + _MARGIN * span
    return reference


def hypervolume_history(log: NDArray[np.float64], reference_point: ArrayLike) -> NDArray[np.float64]:
    """Return [k, 2]: evaluation, and hypervolume of all that was feasible up to it.

    Parameters
    ----------
    log
        [n, 2 + m]: evaluation, violations and objectives of everything that ever entered the archive, in order.
    reference_point
        What the hypervolume is measured against.
    """
    if len(log) == 0:
        return np.zeros((0, 2))
    m = log.shape[1] - 2
    most = _MOST_STEPS if m <= 3 else _MOST_STEPS_MANY_OBJECTIVES
    rows = np.unique(np.linspace(0, len(log) - 1, min(len(log), most)).astype(int))
    feasible = log[:, 1] == 0
    values = []
    for row in rows:
        points = log[: row + 1, 2:][feasible[: row + 1]]
        values.append(hypervolume(points, reference_point=reference_point) if len(points) else 0.0)
    return np.column_stack([log[rows, 0], values])
