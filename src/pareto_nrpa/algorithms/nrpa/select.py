"""The set S* of a level: the non-dominated sequences, and one representative of each policy missing among them."""

from __future__ import annotations

from ...engine.arrays import N_FREE, POLICY
from ...engine.front_index import NEW, split_front
from ...engine.jit.kernels import ZERO, bundle_kernel, small_kernel
from .crowding import crowding_distances


@bundle_kernel
def select(members, size, n_before, n_front, pool, selection, free, counters):
    """Reduce a set to S* (Algorithm 2, line 9, and the paper's text on missing policies).

    The first `n_before` members are old, of which `n_front` are the first front; the others are new. Afterwards the set
    holds the first front, then the representatives, and selection.distances has the crowding distance of each within
    its own front. Returns the new size, that of the first front, and whether a new member is in it.
    """
    scores, heads, kept, represented = pool.scores, pool.heads, selection.kept, selection.represented
    for i in range(size):
        selection.rest[i] = members[i]
    n_front, n_rest = _next_front(size, n_front, scores, selection, free, counters)
    for k in range(represented.size):
        represented[k] = False
    for i in range(n_front):
        kept[i] = selection.front[i]
        represented[heads[kept[i], POLICY]] = True
    improved = False
    for i in range(n_before, size):
        improved = improved or selection.standing[members[i]] == NEW
    _measure(n_front, scores, selection, selection.distances)
    n_kept = _add_representatives(n_front, n_rest, scores, heads, selection, free, counters)
    for i in range(n_kept):
        members[i] = kept[i]
    return n_kept, n_front, improved


@small_kernel
def _next_front(n_rest, n_known, scores, selection, free, counters):
    """Remove the first front from selection.rest, and free its duplicates; returns its size and that of the rest."""
    rest = selection.rest
    n_front, n_left = split_front(
        scores, rest, n_rest, n_known, selection.front, selection.front_index, selection.standing, selection.order
    )
    for i in range(n_left, n_rest - n_front):
        release(rest[i], free, counters)
    return n_front, n_left


@small_kernel
def _measure(n_front, scores, selection, distances):
    """Fill in the crowding distances of selection.front; results of comparisons are overwritten."""
    crowding_distances(scores, selection.front, n_front, selection.order, selection.standing, distances)


@bundle_kernel
def _add_representatives(n_kept, n_rest, scores, heads, selection, free, counters):
    """Find in later fronts the first sequence of each policy missing in the first one; free the others."""
    represented, rest, front = selection.represented, selection.rest, selection.front
    n_missing = 0
    for k in range(represented.size):
        n_missing += not represented[k]
    while n_rest > 0 and n_missing > 0:
        n_front, n_rest = _next_front(n_rest, ZERO, scores, selection, free, counters)
        _measure(n_front, scores, selection, selection.front_distances)
        for i in range(n_front):
            policy = heads[front[i], POLICY]
            if represented[policy]:
                release(front[i], free, counters)
            else:
                represented[policy] = True
                selection.kept[n_kept] = front[i]
                selection.distances[n_kept] = selection.front_distances[i]
                n_kept += 1
                n_missing -= 1
    for i in range(n_rest):
        release(rest[i], free, counters)
    return n_kept


@small_kernel
def release(slot, free, counters):
    """Return a slot to the stack of unused ones."""
    free[counters[N_FREE]] = slot
    counters[N_FREE] += 1
