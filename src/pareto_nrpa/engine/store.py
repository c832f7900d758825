"""The arrays of a search: created small, and grown when compiled code needs room."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .archive import check_archive, enlarge, larger_archive, new_archive
from .arrays import (
    ITERATIONS,
    N_CODES,
    N_COUNTERS,
    N_DECISIONS,
    N_FREE,
    N_FRONT,
    N_HEADS,
    SIZE,
    Pool,
    Selection,
    Settings,
    Store,
)
from .evaluation import new_room
from .front_index import new_index
from .softmax import PADDING
from .state import need

_FIRST_SLOTS = 16
_OVERRUN = 4096


def new_store(
    *,
    level: int = 1,
    preferences: NDArray[np.float64],
    max_moves: int,
    max_legal: int,
    max_candidates: int,
    n_codes: int = 1,
    slots: int = _FIRST_SLOTS,
    has_bias: bool = False,
    bias_by_code: bool = False,
    objective_weights: NDArray[np.float64] | None = None,
) -> Store:
    """Return the arrays of a new search: weights 0 or to be set by the bias, sets empty."""
    n_policies, m = preferences.shape
    r = slots
    counters = np.zeros(N_COUNTERS, dtype=np.int64)
    counters[N_FREE] = r
    counters[N_CODES] = n_codes
    return Store(
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
        n_legal=np.zeros(1, dtype=np.int64),
        room=new_room(max_candidates, m),
        factors=np.zeros(max_moves),
    )


def with_overrun(store: Store) -> Store:
    """Return the store with spare room behind arrays that a problem fills in, so that an overrun is detected.

    Copies of a store do not have it.
    """
    n_legal, (_, m) = store.legal.size, store.preferences.shape
    return store._replace(
        legal=np.zeros(n_legal + _OVERRUN, dtype=np.int64)[:n_legal],
        room=new_room(store.room.size - PADDING, m),
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


def grow(store: Store, *, slots: int = 0, codes: int = 0, moves: int = 0, candidates: int = 0, legal: int = 0) -> Store:
    """Return the store with at least the given sizes and the same contents."""
    pool, archive = store.pool, store.archive
    n_levels, n_policies, n_codes = store.weights.shape
    n_slots, length = max(slots, store.free.size), max(moves, pool.moves.shape[1])
    width, has_bias = max(candidates, pool.codes.shape[1]), pool.biases.shape[1] > 1
    free = store.free
    if n_slots > free.size:
        n_free, old = store.counters[N_FREE], free.size
        free = enlarge(free, n_slots)
        free[n_free : n_free + n_slots - old] = np.arange(old, n_slots)
        store.counters[N_FREE] += n_slots - old
        store = store._replace(
            members=enlarge(store.members, n_levels, n_slots),
            selection=_new_selection(n_slots, *store.preferences.shape),
        )
    widths = {"moves": length, "ends": length, "chosen": length, "codes": width, "biases": width if has_bias else 1}
    m = store.preferences.shape[1]
    return store._replace(
        pool=Pool(**{n: enlarge(a, n_slots, widths.get(n, a.shape[1])) for n, a in pool._asdict().items()}),
        archive=archive._replace(moves=enlarge(archive.moves, len(archive.moves), length)),
        free=free,
        weights=enlarge(store.weights, n_levels, n_policies, max(codes, n_codes)),
        legal=enlarge(store.legal, legal),
        room=store.room if store.room.size >= width + PADDING else new_room(width, m),
        factors=enlarge(store.factors, length),
    )


def checked_store(store: Store, settings: Settings, asked: list[int]) -> Store:
    """Return a restored store with new working memory, or raise if it is unsafe for compiled code."""
    levels, pool = store.levels, store.pool
    check_archive(store.archive, store.counters)
    members = [row[:size] for row, size in zip(store.members, levels[:, SIZE], strict=True)]
    slots = np.concatenate([*members, np.array(asked, dtype=np.int64)])
    free = store.free[: store.counters[N_FREE]]
    need(len(np.unique([*slots, *free])) == len(slots) + len(free), "each slot in one place")
    n_waiting = levels[0, ITERATIONS] % settings.playouts_per_step
    need((levels[:, N_FRONT] <= levels[:, SIZE]).all(), "fronts within the sets of its levels")
    need(n_waiting + levels[0, N_FRONT] <= levels[0, SIZE], "the playouts to learn from")
    for slot in slots:
        ends, n = pool.ends[slot], pool.heads[slot, N_DECISIONS]
        need((np.diff(ends[:n], prepend=0) > 0).all(), "decisions that follow each other")
    n_slots, (n_policies, m) = len(store.free), store.preferences.shape
    return store._replace(
        selection=_new_selection(n_slots, n_policies, m),
        room=new_room(pool.codes.shape[1], m),
        factors=np.zeros(pool.moves.shape[1]),
    )


def make_room(store: Store) -> Store:
    """Return the store with room for at least one more evaluation; unchanged if there is room."""
    if store.counters[N_FREE] == 0:
        # A sequence of a thousand cities takes megabytes: grow by half instead of doubling.
        store = grow(store, slots=store.free.size + max(_FIRST_SLOTS, store.free.size // 2))
    archive = larger_archive(store.archive, store.counters)
    return store if archive is store.archive else store._replace(archive=archive)
