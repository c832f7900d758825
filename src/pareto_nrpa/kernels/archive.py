"""The archive of everything evaluated, and the log of what ever entered it."""

from __future__ import annotations

import numpy as np

from ._jit import ZERO, bundle_kernel, engine_kernel, python_function
from .bundles import EVALUATIONS, FOUND_AT, LAST_IMPROVEMENT, N_ARCHIVED, N_LOGGED, N_MOVES, POLICY, Archive
from .dominance import covers
from .seen import count_once, larger_keys, needs_more_keys, no_keys

_FIRST_ARCHIVE = 64
_FIRST_LOG = 1024


def new_archive(n_objectives, max_moves):
    """Return an empty archive."""
    keys, key_scores = no_keys(n_objectives)
    return Archive(
        heads=np.zeros((_FIRST_ARCHIVE, 3), dtype=np.int64),
        scores=np.zeros((_FIRST_ARCHIVE, 1 + n_objectives)),
        moves=np.zeros((_FIRST_ARCHIVE, max_moves), dtype=np.int64),
        log=np.zeros((_FIRST_LOG, 2 + n_objectives)),
        keys=keys,
        key_scores=key_scores,
    )


def enlarge(array, *shape):
    """Return a copy with at least the given shape, zeros in the new places."""
    shape = tuple(max(new, old) for new, old in zip(shape, array.shape, strict=True))
    larger = np.zeros(shape, dtype=array.dtype)
    larger[tuple(slice(n) for n in array.shape)] = array
    return larger


def resized_archive(archive, size, log_size):
    """Return an archive with room for at least so many solutions, and lines in the log."""
    return archive._replace(
        heads=enlarge(archive.heads, size, archive.heads.shape[1]),
        scores=enlarge(archive.scores, size, archive.scores.shape[1]),
        moves=enlarge(archive.moves, size, archive.moves.shape[1]),
        log=enlarge(archive.log, log_size, archive.log.shape[1]),
    )


def counting_archive(archive):
    """Return an archive that counts every solution once."""
    keys, key_scores = larger_keys(archive.keys, archive.key_scores)
    return archive._replace(keys=keys, key_scores=key_scores)


def larger_archive(archive, counters):
    """Return an archive with room for at least one more evaluation, itself where there is room."""
    if python_function(needs_more_keys)(archive.keys, counters):
        archive = counting_archive(archive)
    size, log_size = archive.heads.shape[0], archive.log.shape[0]
    full, log_full = counters[N_ARCHIVED] == size, counters[N_LOGGED] == log_size
    if not full and not log_full:
        return archive
    return resized_archive(archive, 2 * size if full else size, 2 * log_size if log_full else log_size)


@bundle_kernel
def remember(archive, pool, slot, counters):
    """Let a recorded sequence into the archive unless something there is at least as good."""
    if archive.keys.size > 0:
        count_once(archive.keys, archive.key_scores, pool.heads, pool.moves, pool.scores, slot, counters)
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


@engine_kernel
def set_scale(scale, scores, size):
    """Measure objectives by their range in the archive, as far as it has one."""
    for k in range(scale.size):
        smallest = np.inf
        largest = -np.inf
        for i in range(size):
            smallest = min(smallest, scores[i, 1 + k])
            largest = max(largest, scores[i, 1 + k])
        scale[k] = largest - smallest if largest > smallest else 1.0
