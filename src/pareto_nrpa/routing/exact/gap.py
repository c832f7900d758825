"""Results of an unfinished proof: the region of better tours, and a bound on their contribution."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ...metrics import hypervolume, nondominated, worst_point

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .region import Interval, KnownFront

#: Weights of the objectives, and a lower bound on their sum.
LowerBound = tuple["NDArray[np.float64]", float]
_PIECES = 64  # parts of an open interval to follow the lower bounds


def open_boxes(front: KnownFront, intervals: list[Interval], bounds: list[LowerBound]) -> NDArray[np.float64]:
    """Return lower and upper corner of each open box, [b, 2, m]."""
    m = front.objectives.shape[1]
    if m == 1:
        corners = (
            [[[_least(bounds, 0, 1)], corner] for corner in front.local_upper_bounds().tolist()] if intervals else []
        )
        return np.array(corners).reshape(-1, 2, m)
    boxes = []
    for begin, end in intervals:
        start = begin
        for corner in front.local_upper_bounds((begin, end)).tolist():
            low = [max(start, _least(bounds, 0, m)), _envelope(bounds, corner[0])]
            start = corner[0]
            if low[0] < corner[0] and low[1] < corner[1]:
                boxes.append([low, corner])
    return np.array(boxes).reshape(-1, 2, m)


def lower_bound_set(front: KnownFront, intervals: list[Interval], bounds: list[LowerBound]) -> NDArray[np.float64]:
    """Return points such that every feasible tour is covered by one of them."""
    m = front.objectives.shape[1]
    if m == 1:
        return np.array([[_least(bounds, 0, 1)]]) if intervals else front.objectives
    points = front.objectives.tolist()
    for begin, end in intervals:
        start = max(begin, _least(bounds, 0, m))
        stop = end if np.isfinite(end) else max([start, *front.objectives[:, 0].tolist()])
        if start < stop:
            edges = np.linspace(start, stop, _PIECES + 1)
            points += [[a, _envelope(bounds, b)] for a, b in pairwise(edges)]
        if not np.isfinite(end):
            points.append([stop, _least(bounds, 1, m)])
    return nondominated(np.array(points).reshape(-1, m))


def remaining_gap(
    front: KnownFront, lower_bounds: NDArray[np.float64], reference_point: NDArray[np.float64] | None
) -> float:
    """Return the largest missing share of the hypervolume, by the lower bounds.

    With one objective: the relative gap of the best tour.
    """
    if not len(front):
        return 1.0
    if front.objectives.shape[1] == 1:
        least, best = max(lower_bounds.min(), 0.0), front.objectives.min()
        return float(max(1 - least / best, 0.0)) if best > 0 else 0.0
    if reference_point is None or not (front.objectives.max(axis=0) < reference_point).all():
        reference_point = worst_point(front.objectives)
    possible = hypervolume(lower_bounds, reference_point=reference_point)
    return max(0.0, float(1 - hypervolume(front.objectives, reference_point=reference_point) / possible))


def _least(bounds: list[LowerBound], objective: int, m: int) -> float:
    """Return the best bound on a single objective."""
    alone = np.eye(m)[objective]
    return max((bound for weights, bound in bounds if np.array_equal(weights, alone)), default=0.0)


def _envelope(bounds: list[LowerBound], first: float) -> float:
    """Return a lower bound on the second objective if the first one is at most `first`."""
    values = [
        (bound - (weights[0] * first if weights[0] else 0.0)) / weights[1]
        for weights, bound in bounds
        if weights[1] > 0 and (weights[0] == 0 or np.isfinite(first))
    ]
    return max(values, default=0.0)
