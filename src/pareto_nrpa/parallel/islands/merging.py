"""The common log of several searches: evaluations counted in turns, and the common front."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import moocore
import numpy as np

from ...engine.arrays import VIOLATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def share_of(total: int, k: int, n_searches: int) -> int:
    """Return the number of evaluations of search k among a total number, counted in turns."""
    return (total + n_searches - 1 - k) // n_searches


def complete(evaluations: Sequence[int]) -> int:
    """Return the number of evaluations of all searches without a gap, counted in turns."""
    n = len(evaluations)
    return min(made * n + k for k, made in enumerate(evaluations))


def in_turns(own: NDArray[np.int64], k: int, evaluations: Sequence[int]) -> NDArray[np.int64]:
    """Return the common numbers of the evaluations of search k: the first of each search, the second of each, ...

    Where other searches have made fewer, their evaluations so far count.
    """
    numbers = np.zeros(len(own), dtype=np.int64)
    for j, made in enumerate(evaluations):
        numbers += np.minimum(own if j <= k else own - 1, made)
    return numbers


class CommonLog:
    """All solutions that entered the common front, up to the last evaluation without a gap before it.

    The content does not depend on how far single searches are ahead.
    """

    def __init__(self, n_searches: int, n_objectives: int) -> None:
        self._waiting: list[NDArray[np.float64]] = [np.zeros((0, 2 + n_objectives)) for _ in range(n_searches)]
        self.lines: list[NDArray[np.float64]] = []  # number, violations, objectives
        self.front = np.zeros((0, 2 + n_objectives))

    def add(self, k: int, lines: NDArray[np.float64]) -> None:
        """Add new lines of the log of search k."""
        self._waiting[k] = np.concatenate([self._waiting[k], lines])

    def go_on(self, evaluations: Sequence[int], upto: int) -> None:
        """Merge the lines up to the evaluation reached; `evaluations` are the numbers made by each search."""
        due = []
        for k, waiting in enumerate(self._waiting):
            numbers = in_turns(waiting[:, 0].astype(np.int64), k, evaluations)
            is_due = numbers <= upto
            due.append(np.column_stack([numbers[is_due], waiting[is_due, 1:]]))
            self._waiting[k] = waiting[~is_due]
        lines = np.concatenate(due)
        for line in lines[np.argsort(lines[:, 0])]:
            self._offer(line)

    def _offer(self, line: NDArray[np.float64]) -> None:
        front = self.front
        least = front[0, 1] if len(front) else np.inf
        if line[1] > least or (line[1] == least and (front[:, 2:] <= line[2:]).all(axis=1).any()):
            return
        stays = (front[:, 1] == line[1]) & ~(line[2:] <= front[:, 2:]).all(axis=1)
        self.front = np.vstack([front[stays], line])
        self.lines.append(line)

    @property
    def last_improvement(self) -> int:
        """The evaluation at which the common front last changed."""
        return int(self.lines[-1][0]) if self.lines else 0

    def ahead(self, evaluations: Sequence[int]) -> CommonLog:
        """Return the log of all evaluations, also beyond a gap."""
        whole = copy.deepcopy(self)
        whole.go_on(evaluations, sum(evaluations))
        return whole


def first_front(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the non-dominated rows with the fewest violations, the first of equal ones, in their order."""
    _, first = np.unique(scores, axis=0, return_index=True)
    rows: NDArray[np.int64] = np.sort(first)
    rows = rows[scores[rows, VIOLATIONS] == scores[:, VIOLATIONS].min(initial=np.inf)]
    if len(rows):
        rows = rows[moocore.is_nondominated(scores[rows, 1:])]
    return rows
