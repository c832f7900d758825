"""The set S* of a level: the non-dominated sequences, and one representative of each policy missing among them."""

from __future__ import annotations

from ._jit import bundle_kernel, engine_kernel, small_kernel
from .bundles import N_FREE, POLICY
from .crowding import crowding_distances
from .dominance import equals, split_front


@bundle_kernel
def select(members, size, n_before, pool, selection, free, counters):
    """Reduce a set to what the paper keeps (Algorithm 2, line 9, and the text on missing policies).

    The first `n_before` members were there before, the others have just come. Afterwards the set holds the first
    front, then the representatives, and selection.distances has the crowding distance of each within its own front.
    Returns the new size, and whether a newcomer reached the first front.
    """
    scores, heads, kept, represented = pool.scores, pool.heads, selection.kept, selection.represented
    n_rest = _drop_equals(members, size, scores, selection.rest, free, counters)
    n_front = split_front(scores, selection.rest, n_rest, selection.front)
    crowding_distances(scores, selection.front, n_front, selection.order, selection.distances)
    for k in range(represented.size):
        represented[k] = False
    improved = False
    for i in range(n_front):
        kept[i] = selection.front[i]
        represented[heads[kept[i], POLICY]] = True
        for j in range(n_before, n_rest):
            improved = improved or members[j] == kept[i]
    n_kept = _add_representatives(n_front, n_rest - n_front, scores, heads, selection, free, counters)
    for i in range(n_kept):
        members[i] = kept[i]
    return n_kept, improved


@engine_kernel
def _drop_equals(members, size, scores, rest, free, counters):
    """Copy members[:size] to `rest` without those equal to an older one, compacting `members` alike."""
    n_rest = 0
    for i in range(size):
        duplicate = False
        for j in range(n_rest):
            if equals(scores, rest[j], members[i]):
                duplicate = True
                break
        if duplicate:
            release(members[i], free, counters)
        else:
            rest[n_rest] = members[i]
            members[n_rest] = members[i]
            n_rest += 1
    return n_rest


@bundle_kernel
def _add_representatives(n_kept, n_rest, scores, heads, selection, free, counters):
    """Go through the later fronts for the first sequence of each policy that the first one lacks; free the others."""
    represented, rest, front = selection.represented, selection.rest, selection.front
    n_missing = 0
    for k in range(represented.size):
        n_missing += not represented[k]
    while n_rest > 0 and n_missing > 0:
        n_front = split_front(scores, rest, n_rest, front)
        crowding_distances(scores, front, n_front, selection.order, selection.front_distances)
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
        n_rest -= n_front
    for i in range(n_rest):
        release(rest[i], free, counters)
    return n_kept


@small_kernel
def release(slot, free, counters):
    """Give a slot back to the stack of unused ones."""
    free[counters[N_FREE]] = slot
    counters[N_FREE] += 1
