"""The archive of non-dominated solutions, and the log of all that entered it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .arrays import (
    EVALUATIONS,
    FOUND_AT,
    LAST_IMPROVEMENT,
    MAX_ARCHIVED,
    N_ARCHIVED,
    N_DISCARDED,
    N_LOGGED,
    N_MOVES,
    POLICY,
    Archive,
)
from .evaluated import check_keys, count_once, larger_keys, needs_more_keys, no_keys
from .front_index import NEW, check_index, clear, compare, count_blocks, insert, new_index
from .jit.kernels import bundle_kernel, engine_kernel, python_function, small_kernel
from .state import need

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The largest limit of an archive: more than any memory holds, and within the range of compiled counters.
MOST_ARCHIVED = 10**12
_FIRST_ARCHIVE = 64
_FIRST_LOG = 1024


def new_archive(n_objectives, max_moves):
    """Return an empty archive."""
    keys, key_scores = no_keys(n_objectives)
    heads = np.zeros((_FIRST_ARCHIVE, 3), dtype=np.int64)
    return Archive(
        heads=heads,
        scores=np.zeros((_FIRST_ARCHIVE, 1 + n_objectives)),
        moves=np.zeros((_FIRST_ARCHIVE, max_moves), dtype=np.int64),
        log=np.zeros((_FIRST_LOG, 2 + n_objectives)),
        keys=keys,
        key_scores=key_scores,
        free=_unused_rows(heads),
        front_index=new_index(_FIRST_ARCHIVE, n_objectives),
    )


def _unused_rows(heads):
    """Return the stack of unused rows."""
    unused = np.flatnonzero(heads[:, FOUND_AT] == 0)[::-1]
    return np.pad(unused, (0, len(heads) - len(unused)))


def archived_rows(archive: Archive) -> NDArray[np.int64]:
    """Return the rows in use, in the order of discovery."""
    used = np.flatnonzero(archive.heads[:, FOUND_AT])
    return used[np.argsort(archive.heads[used, FOUND_AT])]


def check_archive(archive, counters):
    """Raise unless a restored archive is safe for compiled code."""
    used = np.flatnonzero(archive.heads[:, FOUND_AT])
    n_unused = len(archive.heads) - len(used)
    need(counters[N_ARCHIVED] == len(used), "as many archived solutions as it counts")
    unused = np.sort(archive.free[:n_unused])
    need(np.array_equal(unused, np.flatnonzero(archive.heads[:, FOUND_AT] == 0)), "all unused rows of the archive")
    limit = counters[MAX_ARCHIVED]
    need(limit == 0 or max(2, len(used)) <= limit <= MOST_ARCHIVED, "a limit of its archive that it keeps to")
    check_index(archive.front_index, used, len(archive.heads))
    check_keys(archive.keys, counters)


def enlarge(array, *shape):
    """Return an array with at least the given shape, zeros in the new places; unchanged if it is large enough."""
    shape = tuple(max(new, old) for new, old in zip(shape, array.shape, strict=True))
    if shape == array.shape:
        return array
    larger = np.zeros(shape, dtype=array.dtype)
    larger[tuple(slice(n) for n in array.shape)] = array
    return larger


def resized_archive(archive, size, log_size):
    """Return an archive with room for at least so many solutions and lines of the log."""
    heads = enlarge(archive.heads, size, archive.heads.shape[1])
    return archive._replace(
        heads=heads,
        scores=enlarge(archive.scores, size, archive.scores.shape[1]),
        moves=enlarge(archive.moves, size, archive.moves.shape[1]),
        log=enlarge(archive.log, log_size, archive.log.shape[1]),
        free=_unused_rows(heads),
        front_index=new_index(len(heads), archive.scores.shape[1] - 1),
    )


def counting_archive(archive):
    """Return an archive that counts every solution once."""
    keys, key_scores = larger_keys(archive.keys, archive.key_scores)
    return archive._replace(keys=keys, key_scores=key_scores)


def limited_archive(archive, counters, limit):
    """Return an archive of at most `limit` solutions; it must not hold more already."""
    counters[MAX_ARCHIVED] = limit
    rows = archived_rows(archive)
    used = archive._replace(heads=archive.heads[rows], scores=archive.scores[rows], moves=archive.moves[rows])
    return resized_archive(used, min(limit, len(archive.heads)), len(archive.log))


def _thinned_archive(archive, counters):
    """Return an archive with half of its solutions, those that lie farthest apart."""
    rows = archived_rows(archive)
    discarded = np.delete(rows, far_apart(archive.scores[rows, 1:], len(rows) // 2))
    archive.heads[discarded, FOUND_AT] = 0
    counters[N_ARCHIVED] -= len(discarded)
    counters[N_DISCARDED] += len(discarded)
    return resized_archive(archive, 0, 0)


def far_apart(points, n):
    """Return n of the points: the best in each objective, then again and again the one farthest from all chosen.

    Objectives are measured by their range, distances by the objective that differs most. No way of choosing n points
    leaves the others less than half as far from the nearest one chosen (Gonzalez 1985).
    """
    with np.errstate(over="ignore"):
        spans = np.minimum(np.ptp(points, axis=0), np.finfo(float).max)
    scaled = np.ascontiguousarray((points / np.where(spans > 0, spans, 1.0)).T)  # the longer axis last: faster
    chosen = list(dict.fromkeys(np.argmin(points, axis=0).tolist()))[:n]
    distances = np.min([np.abs(scaled - scaled[:, [i]]).max(axis=0) for i in chosen], axis=0)
    while len(chosen) < n:
        chosen.append(int(np.argmax(distances)))
        distances = np.minimum(distances, np.abs(scaled - scaled[:, chosen[-1:]]).max(axis=0))
    return chosen


def larger_archive(archive, counters):
    """Return an archive with room for at least one more evaluation; unchanged if there is room."""
    if python_function(needs_more_keys)(archive.keys, counters):
        archive = counting_archive(archive)
    size, log_size = archive.heads.shape[0], archive.log.shape[0]
    if counters[N_ARCHIVED] == size:
        if size == counters[MAX_ARCHIVED]:
            archive = _thinned_archive(archive, counters)
        else:
            size = min(2 * size, counters[MAX_ARCHIVED] or 2 * size)
    if counters[N_LOGGED] == log_size:
        log_size *= 2
    if (size, log_size) == (archive.heads.shape[0], archive.log.shape[0]):
        return archive
    return resized_archive(archive, size, log_size)


@bundle_kernel
def has_room(archive, counters):
    """Tell whether one more evaluation fits into archive, log and keys."""
    return (
        counters[N_ARCHIVED] < archive.heads.shape[0]
        and counters[N_LOGGED] < archive.log.shape[0]
        and not needs_more_keys(archive.keys, counters)
    )


def count(store, slot):
    """Count an evaluated sequence, and add it to the archive if nothing covers it."""
    store.counters[EVALUATIONS] += 1
    remember(store.archive, store.pool, slot, store.counters)


@bundle_kernel
def remember(archive, pool, slot, counters):
    """Add a recorded sequence to the archive unless a member is at least as good."""
    if archive.keys.size > 0:
        count_once(archive.keys, archive.key_scores, pool.heads, pool.moves, pool.scores, slot, counters)
    row = _admit(archive.front_index, archive.scores, archive.heads, archive.free, pool.scores, slot, counters)
    if row < 0:
        return
    _copy_row(pool.scores, slot, archive.scores, row)
    _copy_row(pool.moves, slot, archive.moves, row)
    archive.heads[row, N_MOVES] = pool.heads[slot, N_MOVES]
    archive.heads[row, POLICY] = pool.heads[slot, POLICY]
    archive.heads[row, FOUND_AT] = counters[EVALUATIONS]
    insert(archive.front_index, archive.scores, row)
    counters[LAST_IMPROVEMENT] = counters[EVALUATIONS]
    archive.log[counters[N_LOGGED], 0] = counters[EVALUATIONS]
    for k in range(pool.scores.shape[1]):
        archive.log[counters[N_LOGGED], 1 + k] = pool.scores[slot, k]
    counters[N_LOGGED] += 1


@small_kernel
def _admit(index, scores, heads, free, newcomers, new, counters):
    """Return an unused row for a new solution after dropping covered ones; or -1 if a member is at least as good."""
    size = heads.shape[0]
    n_blocks = count_blocks(index)
    if n_blocks == 0 or n_blocks == index.blocks.shape[0]:  # not built yet, or out of blocks
        _make_index(index, scores, heads)
    n_unused = size - counters[N_ARCHIVED]
    standing, n_free = compare(index, scores, newcomers, new, free, n_unused)
    if standing != NEW:
        return -1
    for i in range(n_unused, n_free):
        heads[free[i], FOUND_AT] = 0
    counters[N_ARCHIVED] = size - n_free + 1
    return free[n_free - 1]


@engine_kernel
def _make_index(index, scores, heads):
    """Index all rows in use."""
    clear(index)
    for row in range(heads.shape[0]):
        if heads[row, FOUND_AT] > 0:
            insert(index, scores, row)


@engine_kernel
def _copy_row(source, row, target, to):
    """Copy a row; written out, because assigning slices would allocate."""
    for k in range(target.shape[1]):
        target[to, k] = source[row, k]


@engine_kernel
def set_scale(scale, heads, scores):
    """Scale objectives by their range in the archive, where it is positive."""
    for k in range(scale.size):
        smallest = np.inf
        largest = -np.inf
        for row in range(heads.shape[0]):
            if heads[row, FOUND_AT] > 0:
                smallest = min(smallest, scores[row, 1 + k])
                largest = max(largest, scores[row, 1 + k])
        scale[k] = largest - smallest if largest > smallest else 1.0
