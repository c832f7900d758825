"""The arrays of a search: made small, and grown when compiled code says that it needs room."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...engine.archive import check_archive, enlarge, larger_archive, new_archive, resized_archive
from ...engine.arrays import (
    ITERATIONS,
    N_CODES,
    N_COUNTERS,
    N_DECISIONS,
    N_FREE,
    N_FRONT,
    N_HEADS,
    SIZE,
    Pool,
    SearchState,
    Selection,
    Settings,
)
from ...engine.evaluation import new_room
from ...engine.front_index import new_index
from ...engine.softmax import PADDING
from ...engine.state import need

_FIRST_SLOTS = 16
_OVERRUN = 4096


def new_machine(
    *,
    level: int,
    preferences: NDArray[np.float64],
    n_codes: int,
    max_moves: int,
    max_legal: int,
    max_candidates: int,
    has_bias: bool,
    bias_by_code: bool,
    objective_weights: NDArray[np.float64] | None = None,
) -> SearchState:
    """Return a search at its very beginning: all weights 0 or to be set by the bias, all sets empty."""
    n_policies, m = preferences.shape
    r = _FIRST_SLOTS
    counters = np.zeros(N_COUNTERS, dtype=np.int64)
    counters[N_FREE] = r
    counters[N_CODES] = n_codes
    return SearchState(
        weights=np.full((level, n_policies, n_codes), np.nan if bias_by_code else 0.0),
        preferences=np.ascontiguousarray(preferences, dtype=float),
        starts=np.full((n_policies, n_codes if bias_by_code else 1), np.nan),
        members=np.zeros((level, r), dtype=np.int64),
        levels=np.zeros((level, 4), dtype=np.int64),
        free=np.arange(r, dtype=np.int64),
        counters=counters,
        pool=_new_pool(r, m, max_moves, max_candidates, has_bias),
        archive=new_archive(m, max_moves),
        selection=_new_selection(r, n_policies, m),
        objective_weights=np.zeros((0, m)) if objective_weights is None else objective_weights,
        objective_scale=np.ones(m),
        legal=np.zeros(max_legal, dtype=np.int64),
        probabilities=new_room(max_candidates, m),
        factors=np.zeros(max_moves),
    )


def with_overrun(machine: SearchState) -> SearchState:
    """Return the machine with room behind the end of what a problem fills in: too much is noticed, and crashes nothing.

    Copies of a search, pickled or not, have lost it.
    """
    n_legal, (_, m) = machine.legal.size, machine.preferences.shape
    return machine._replace(
        legal=np.zeros(n_legal + _OVERRUN, dtype=np.int64)[:n_legal],
        probabilities=new_room(machine.probabilities.size - PADDING, m),
    )


def _new_pool(r: int, m: int, max_moves: int, max_candidates: int, has_bias: bool) -> Pool:
    return Pool(
        heads=np.zeros((r, N_HEADS), dtype=np.int64),
        scores=np.zeros((r, 1 + m)),
        moves=np.zeros((r, max_moves), dtype=np.int64),
        ends=np.zeros((r, max_moves), dtype=np.int64),
        chosen=np.zeros((r, max_moves), dtype=np.int64),
        codes=np.zeros((r, max_candidates), dtype=np.uint32),
        biases=np.zeros((r, max_candidates if has_bias else 1)),
    )


def _new_selection(r: int, n_policies: int, m: int) -> Selection:
    return Selection(
        distances=np.zeros(r),
        front_distances=np.zeros(r),
        kept=np.zeros(r, dtype=np.int64),
        rest=np.zeros(r, dtype=np.int64),
        front=np.zeros(r, dtype=np.int64),
        order=np.zeros(r, dtype=np.int64),
        standing=np.zeros(r, dtype=np.int64),
        represented=np.zeros(n_policies, dtype=np.bool_),
        front_index=new_index(r, m),
    )


def with_slots(machine: SearchState, n_slots: int) -> SearchState:
    """Return the machine with room for more recorded sequences."""
    old = machine.free.size
    pool = Pool(*(enlarge(array, n_slots, *array.shape[1:]) for array in machine.pool))
    free = enlarge(machine.free, n_slots)
    n_free = machine.counters[N_FREE]
    free[n_free : n_free + n_slots - old] = np.arange(old, n_slots)
    machine.counters[N_FREE] += n_slots - old
    members = enlarge(machine.members, machine.members.shape[0], n_slots)
    selection = _new_selection(n_slots, *machine.preferences.shape)
    return machine._replace(pool=pool, free=free, members=members, selection=selection)


def with_archive(machine: SearchState, size: int, log_size: int) -> SearchState:
    """Return the machine with room for more archived solutions and more lines in the log."""
    return machine._replace(archive=resized_archive(machine.archive, size, log_size))


def with_codes(machine: SearchState, n_codes: int) -> SearchState:
    """Return the machine with room for more codes, whose weights are 0."""
    return machine._replace(weights=enlarge(machine.weights, *machine.weights.shape[:2], n_codes))


def with_longer_sequences(machine: SearchState, max_moves: int, max_candidates: int) -> SearchState:
    """Return the machine with room for longer sequences."""
    pool, archive = machine.pool, machine.archive
    r, width = pool.heads.shape[0], pool.biases.shape[1]
    pool = pool._replace(
        moves=enlarge(pool.moves, r, max_moves),
        ends=enlarge(pool.ends, r, max_moves),
        chosen=enlarge(pool.chosen, r, max_moves),
        codes=enlarge(pool.codes, r, max_candidates),
        biases=enlarge(pool.biases, r, max_candidates) if width > 1 else pool.biases,
    )
    archive = archive._replace(moves=enlarge(archive.moves, archive.moves.shape[0], max_moves))
    return machine._replace(
        pool=pool,
        archive=archive,
        probabilities=new_room(pool.codes.shape[1], machine.preferences.shape[1]),
        factors=np.zeros(pool.moves.shape[1]),
    )


def checked_machine(machine: SearchState, settings: Settings, asked: list[int]) -> SearchState:
    """Return a restored search with working memory of its size, or raise if compiled code may not trust it."""
    levels, pool = machine.levels, machine.pool
    check_archive(machine.archive, machine.counters)
    members = [row[:size] for row, size in zip(machine.members, levels[:, SIZE], strict=True)]
    slots = np.concatenate([*members, np.array(asked, dtype=np.int64)])
    free = machine.free[: machine.counters[N_FREE]]
    need(len(np.unique([*slots, *free])) == len(slots) + len(free), "each slot in one place")
    n_waiting = levels[0, ITERATIONS] % settings.playouts_per_step
    need((levels[:, N_FRONT] <= levels[:, SIZE]).all(), "fronts within the sets of its levels")
    need(n_waiting + levels[0, N_FRONT] <= levels[0, SIZE], "the playouts to learn from")
    for slot in slots:
        ends, n = pool.ends[slot], pool.heads[slot, N_DECISIONS]
        need((np.diff(ends[:n], prepend=0) > 0).all(), "decisions that follow each other")
    n_slots, (n_policies, m) = len(machine.free), machine.preferences.shape
    return machine._replace(
        selection=_new_selection(n_slots, n_policies, m),
        probabilities=new_room(pool.codes.shape[1], m),
        factors=np.zeros(pool.moves.shape[1]),
    )


def make_room(machine: SearchState) -> SearchState:
    """Return the machine with room for at least one more evaluation wherever it was full, itself where it was not."""
    if machine.counters[N_FREE] == 0:
        # A sequence of a thousand cities takes megabytes: grow by half, not twofold.
        machine = with_slots(machine, machine.free.size + max(_FIRST_SLOTS, machine.free.size // 2))
    archive = larger_archive(machine.archive, machine.counters)
    return machine if archive is machine.archive else machine._replace(archive=archive)
