"""Which of two solutions is better: fewer violations first, then Pareto dominance."""

from __future__ import annotations

from ._jit import engine_kernel, small_kernel
from .bundles import VIOLATIONS


@small_kernel
def covers(scores_a, a, scores_b, b):
    """Tell whether row `a` of one table is as good as row `b` of another in every respect, or better."""
    if scores_a[a, VIOLATIONS] != scores_b[b, VIOLATIONS]:
        return scores_a[a, VIOLATIONS] < scores_b[b, VIOLATIONS]
    for k in range(1, scores_a.shape[1]):  # noqa: SIM110 - compiled code has no all()
        if scores_a[a, k] > scores_b[b, k]:
            return False
    return True


@small_kernel
def equals(scores, a, b):
    """Tell whether two rows have the same violations and objectives."""
    for k in range(scores.shape[1]):  # noqa: SIM110 - compiled code has no all()
        if scores[a, k] != scores[b, k]:
            return False
    return True


@small_kernel
def dominates(scores, a, b):
    """Tell whether row `a` dominates row `b`; this is what the paper's penalty of 10^6 per violation amounts to."""
    return covers(scores, a, scores, b) and not equals(scores, a, b)


@engine_kernel
def split_front(scores, rest, n_rest, front):
    """Move the non-dominated of rest[:n_rest] to `front`, both in their old order; returns the size of the front."""
    for i in range(n_rest):
        front[i] = rest[i]
        for j in range(n_rest):
            if dominates(scores, rest[j], rest[i]):
                front[i] = -1  # `rest` must stay readable until all are decided
                break
    n_front = 0
    n_left = 0
    for i in range(n_rest):
        if front[i] < 0:
            rest[n_left] = rest[i]
            n_left += 1
        else:
            front[n_front] = front[i]
            n_front += 1
    return n_front
