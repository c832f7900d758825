"""The archive of everything evaluated, and the log of what ever entered it."""

from __future__ import annotations

from ._jit import ZERO, bundle_kernel, engine_kernel
from .bundles import EVALUATIONS, FOUND_AT, LAST_IMPROVEMENT, N_ARCHIVED, N_LOGGED, N_MOVES, POLICY
from .dominance import covers


@bundle_kernel
def remember(archive, pool, slot, counters):
    """Let a recorded sequence into the archive unless something there is at least as good."""
    size = counters[N_ARCHIVED]
    for i in range(size):
        if covers(archive.scores, i, pool.scores, slot):
            return
    n_kept = ZERO
    for i in range(size):
        if not covers(pool.scores, slot, archive.scores, i):
            if n_kept < i:
                _copy_row(archive.scores, i, archive.scores, n_kept)
                _copy_row(archive.moves, i, archive.moves, n_kept)
                _copy_row(archive.heads, i, archive.heads, n_kept)
            n_kept += 1
    _copy_row(pool.scores, slot, archive.scores, n_kept)
    _copy_row(pool.moves, slot, archive.moves, n_kept)
    archive.heads[n_kept, N_MOVES] = pool.heads[slot, N_MOVES]
    archive.heads[n_kept, POLICY] = pool.heads[slot, POLICY]
    archive.heads[n_kept, FOUND_AT] = counters[EVALUATIONS]
    counters[N_ARCHIVED] = n_kept + 1
    counters[LAST_IMPROVEMENT] = counters[EVALUATIONS]
    archive.log[counters[N_LOGGED], 0] = counters[EVALUATIONS]
    for k in range(pool.scores.shape[1]):
        archive.log[counters[N_LOGGED], 1 + k] = pool.scores[slot, k]
    counters[N_LOGGED] += 1


@engine_kernel
def _copy_row(source, row, target, to):
    """Copy a row; written out, because assigning slices would allocate."""
    for k in range(target.shape[1]):
        target[to, k] = source[row, k]
