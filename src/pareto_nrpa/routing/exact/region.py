"""The region of the objective space that may contain efficient tours: below the front, in open intervals."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

#: An interval of the first objective, its end excluded.
Interval = tuple[float, float]
EVERYTHING: Interval = (-np.inf, np.inf)


class KnownFront:
    """The best tours known, sorted by the first objective; with one objective, the best one."""

    def __init__(self, n_objectives: int) -> None:
        self.objectives: NDArray[np.float64] = np.empty((0, n_objectives))
        self.tours: list[list[int]] = []

    def __len__(self) -> int:
        return len(self.tours)

    def copy(self) -> KnownFront:
        """Return a front of the same tours."""
        other = KnownFront(self.objectives.shape[1])
        other.objectives, other.tours = self.objectives, self.tours
        return other

    def add(self, points: Iterable[tuple[NDArray[np.float64], list[int]]]) -> int:
        """Add tours with their objectives; returns the number of new points of the front."""
        known = [(tuple(values), 0, tour) for values, tour in zip(self.objectives.tolist(), self.tours, strict=True)]
        offered = [(tuple(map(float, values)), 1, tour) for values, tour in points]
        kept: list[tuple[tuple[float, ...], int, list[int]]] = []
        for entry in sorted(known + offered):
            if not kept or entry[0][-1] < kept[-1][0][-1]:
                kept.append(entry)
        objectives = np.array([values for values, _, _ in kept]).reshape(-1, self.objectives.shape[1])
        tours = [tour for _, _, tour in kept]
        self.objectives, self.tours = objectives, tours  # atomic with respect to Ctrl-C
        return sum(is_new for _, is_new, _ in kept)

    def is_new(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Tell which points no known one covers."""
        if not len(self):
            return np.ones(len(points), bool)
        is_better = np.any(self.objectives[None] > points[:, None], axis=2)
        return np.asarray(np.all(is_better, axis=1))

    def local_upper_bounds(self, interval: Interval = EVERYTHING) -> NDArray[np.float64]:
        """Return the corners of the boxes of new tours, which are strictly below one corner in each objective.

        With two objectives, those that a tour whose first one is in the interval can be in.
        """
        if self.objectives.shape[1] == 1:
            return self.objectives if len(self) else np.array([[np.inf]])
        first, second = self.objectives.T
        ends, heights = np.append(first, np.inf), np.concatenate([[np.inf], second])
        begins = np.concatenate([[-np.inf], first])
        inside = (ends > interval[0]) & (begins < interval[1])
        return np.column_stack([np.minimum(ends, interval[1]), heights])[inside]


def complement(proved: list[Interval]) -> list[Interval]:
    """Return all open intervals, merged."""
    left, begin = [], -np.inf
    for start, end in sorted(proved):
        if start > begin:
            left.append((begin, start))
        begin = max(begin, end)
    return [*left, (begin, np.inf)] if begin < np.inf else left


def partition(intervals: list[Interval], front: KnownFront, parts: int) -> list[Interval]:
    """Cut intervals at the ends of the front, where one objective decides, and so that the front has about `parts`."""
    if front.objectives.shape[1] == 1 or not len(front):
        return intervals
    borders = front.objectives[:, 0]
    pieces = []
    for interval in intervals:
        edges = [interval[0], *_within(interval, borders[[0, -1]]), interval[1]]
        for piece in pairwise(edges):
            share = round(parts * (len(_within(piece, borders)) + 1) / (len(front) + 1))
            pieces += _cut(piece, borders, max(1, share))
    return pieces


def _within(interval: Interval, borders: NDArray[np.float64]) -> list[float]:
    inside: list[float] = np.unique(borders[(borders > interval[0]) & (borders < interval[1])]).tolist()
    return inside


def _cut(interval: Interval, borders: NDArray[np.float64], parts: int) -> list[Interval]:
    """Cut an interval at borders within it, into parts with about equal numbers of boxes."""
    inner = _within(interval, borders)
    parts = min(parts, len(inner) + 1)
    cuts = [inner[round((len(inner) + 1) * k / parts) - 1] for k in range(1, parts)]
    edges = [interval[0], *cuts, interval[1]]
    return list(pairwise(edges))
