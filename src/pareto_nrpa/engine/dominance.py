"""Comparison of solutions: fewer violations first, then Pareto dominance.

This is equivalent to the paper's penalty of 10^6 per violation.
"""

from __future__ import annotations

from .arrays import VIOLATIONS
from .jit.kernels import engine_kernel, small_kernel

#: Number of rows of a front that share a floor. Rows found one after the other are mostly similar neighbours of one
#: solution: of 16,000 rows with 5 or 8 objectives, a point is compared with one in fifty.
CHUNK = 16


@small_kernel
def is_at_most(table_a, a, table_b, b):
    """Tell whether no objective of one row is larger than that of another."""
    for k in range(1, table_a.shape[1]):  # noqa: SIM110 - compiled code has no all()
        if table_a[a, k] > table_b[b, k]:
            return False
    return True


@small_kernel
def covers(scores_a, a, scores_b, b):
    """Tell whether row `a` of one table covers row `b` of another: as good or better in violations and objectives."""
    if scores_a[a, VIOLATIONS] != scores_b[b, VIOLATIONS]:
        return scores_a[a, VIOLATIONS] < scores_b[b, VIOLATIONS]
    return is_at_most(scores_a, a, scores_b, b)


@small_kernel
def is_covered(front, n, objectives, slack):
    """Tell whether one of the first n rows is as good in all objectives, or worse by no more than a slack."""
    for i in range(n):
        covers = True
        for k in range(objectives.size):
            if front[i, k] > objectives[k] + slack[k]:
                covers = False
                break
        if covers:
            return True
    return False


@engine_kernel
def is_covered_by_front(front, floors, objectives, slack):
    """Tell the same of all rows, testing only chunks whose floor, the smallest value of each objective, covers it."""
    for chunk in range(floors.shape[0]):
        covers = True
        for k in range(objectives.size):
            if floors[chunk, k] > objectives[k] + slack[k]:
                covers = False
                break
        if covers:
            begin = chunk * CHUNK
            rows = front[begin : min(begin + CHUNK, front.shape[0])]
            if is_covered(rows, rows.shape[0], objectives, slack):
                return True
    return False
