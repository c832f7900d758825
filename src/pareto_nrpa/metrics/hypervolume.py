"""Hypervolume (paper, equation 3): the size of what a front dominates, up to a reference point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._points import as_points, as_vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_MARGIN = 0.1
_LARGEST = float(np.finfo(float).max)

#: The cost of a hypervolume grows steeply with the number of objectives; from here on it is not measured unasked.
MANY_OBJECTIVES = 8
# How many steps of a history are measured, by the number of objectives.
_MOST_STEPS = {1: 500, 2: 500, 3: 500, 4: 100, 5: 50, 6: 10, 7: 5}


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
    return min(float(moocore.hypervolume(inside, ref=reference)), _LARGEST)


def worst_point(points: ArrayLike) -> NDArray[np.float64]:
    """Return a reference point for when none is known: the worst of each objective and a tenth of its range more."""
    array = as_points(points)
    worst, best = array.max(axis=0), array.min(axis=0)
    with np.errstate(over="ignore"):
        span = np.where(worst > best, worst - best, np.maximum(np.abs(worst), 1.0))
        reference: NDArray[np.float64] = np.minimum(worst + _MARGIN * span, _LARGEST)
    return reference


def hypervolume_history(log: NDArray[np.float64], reference_point: ArrayLike) -> NDArray[np.float64]:
    """Return [k, 2]: evaluation, and hypervolume of all that was feasible up to it; empty from 8 objectives on.

    Parameters
    ----------
    log
        [n, 2 + m]: evaluation, violations and objectives of everything that ever entered the archive, in order.
    reference_point
        What the hypervolume is measured against.
    """
    m = log.shape[1] - 2
    if len(log) == 0 or m >= MANY_OBJECTIVES:
        return np.zeros((0, 2))
    rows = np.unique(np.linspace(0, len(log) - 1, min(len(log), _MOST_STEPS[m])).astype(int))
    feasible = log[:, 1] == 0
    values = []
    for row in rows:
        points = log[: row + 1, 2:][feasible[: row + 1]]
        values.append(hypervolume(points, reference_point=reference_point) if len(points) else 0.0)
    return np.column_stack([log[rows, 0], values])
