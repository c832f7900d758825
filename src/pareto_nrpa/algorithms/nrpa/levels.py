"""Pareto-NRPA (Algorithm 2) without recursion: the whole search is arrays, and stops after any evaluation."""

from __future__ import annotations

from ...engine.archive import has_room, set_scale
from ...engine.arrays import (
    ITERATIONS,
    N_CODES,
    N_DECISIONS,
    N_FREE,
    N_FRONT,
    NEEDS_ROOM,
    OK,
    POLICY,
    REPETITIONS,
    RESTARTS,
    SIZE,
    STATUS,
)
from ...engine.jit.kernels import ZERO, bundle_kernel, engine_kernel, small_kernel
from ...engine.walk import ANY_POLICY, SAMPLE
from .adapt import adapt, pareto_adapt
from .select import release, select


def advance(parts, store, settings, rng, play, count, learn, n):
    """Make up to n evaluations; returns their number, and sets a status if it stopped early.

    `play`, `count` and `learn` are function pointers, compiled separately, so that a new problem compiles only its
    playout and this loop.
    """
    counters = store.counters
    for done in range(n):
        if counters[N_FREE] == 0 or not has_room(store.archive, counters):
            counters[STATUS] = NEEDS_ROOM
            return done
        slot = store.free[counters[N_FREE] - 1]
        counters[STATUS] = play(parts, store, settings, rng, ANY_POLICY, slot, ZERO, SAMPLE)
        if counters[STATUS] != OK:
            return done
        counters[N_FREE] -= 1  # after the playout: an error leaves the slot free
        count(store, slot)
        learn(store, settings, slot)
    return n


def learn(store, settings, slot):
    """Learn from an evaluated sequence, up through all levels that end with it."""
    if store.objective_weights.shape[0] > 0:
        which = store.counters[RESTARTS] % store.objective_weights.shape[0]
        _scalarise(store.pool.scores[slot], store.objective_weights[which], store.objective_scale)
    levels = store.levels
    members = store.members
    members[0, levels[0, SIZE]] = slot
    levels[0, SIZE] += 1
    levels[0, ITERATIONS] += 1
    if levels[0, ITERATIONS] % settings.playouts_per_step > 0:
        return  # the next playout uses the same policies
    n_before = levels[0, SIZE] - settings.playouts_per_step
    n_iterations = settings.n_iterations * settings.playouts_per_step
    level = ZERO
    while True:
        # Algorithm 2, lines 8 to 10: unite, keep the non-dominated, adapt.
        levels[level, SIZE], levels[level, N_FRONT], improved = select(
            members[level],
            levels[level, SIZE],
            n_before,
            levels[level, N_FRONT],
            store.pool,
            store.selection,
            store.free,
            store.counters,
        )
        ended = _has_ended(levels[level], n_iterations, improved, settings)
        if not ended:
            # The policies of a level end with it, so its last iteration does not adapt them.
            pareto_adapt(
                store.weights[level],
                members[level],
                levels[level, SIZE],
                store.selection.distances,
                store.pool,
                settings,
                store.room,
                store.factors,
            )
            break
        if level + 1 == levels.shape[0]:
            _restart(
                store.weights[level],
                store.starts,
                members[level],
                levels[level],
                settings,
                store.free,
                store.counters,
            )
            set_scale(store.objective_scale, store.archive.heads, store.archive.scores)
            break
        n_before = levels[level + 1, SIZE]
        _return_to_parent(level, members, levels)
        level += 1
        levels[level, ITERATIONS] += 1
        n_iterations = settings.n_iterations
    _start_children(level, store.weights, levels, store.counters[N_CODES])


def learn_at_top(store, settings, slot):
    """Add an evaluated sequence of other origin to the highest level, as if the level below had returned it.

    It joins the set of that level, whose policies make one step towards it if it is in the first front. It does not
    count as an iteration. Running searches of the levels below end first; if there are none, they begin afterwards.
    """
    levels = store.levels
    top = levels.shape[0] - 1
    members = store.members[top]
    size = levels[top, SIZE]
    # Waiting playouts of a single level join the set with it, and their step begins again.
    n_waiting = levels[top, ITERATIONS] % settings.playouts_per_step if top == 0 else ZERO
    levels[top, ITERATIONS] -= n_waiting
    members[size] = slot
    levels[top, SIZE], levels[top, N_FRONT], improved = select(
        members,
        size + 1,
        size - n_waiting,
        levels[top, N_FRONT],
        store.pool,
        store.selection,
        store.free,
        store.counters,
    )
    if not improved:
        return
    pool = store.pool
    for i in range(levels[top, N_FRONT]):
        if members[i] == slot:
            adapt(
                store.weights[top, pool.heads[slot, POLICY]],
                pool.codes[slot],
                pool.biases[slot],
                pool.ends[slot],
                pool.chosen[slot],
                pool.heads[slot, N_DECISIONS],
                settings.alpha * store.selection.distances[i] if settings.weigh_by_crowding else settings.alpha,
                settings,
                store.room,
                store.factors,
            )
    under_way = 0
    for below in range(top):
        under_way += levels[below, ITERATIONS]
    if under_way == 0:
        _start_children(top, store.weights, levels, store.counters[N_CODES])


@engine_kernel
def _scalarise(scores, weights, scale):
    """Replace the objectives by their weighted sum; the archive has the objectives themselves."""
    total = 0.0
    for k in range(weights.size):
        total += weights[k] * scores[1 + k] / scale[k]
        scores[1 + k] = 0.0
    scores[1] = total


@small_kernel
def _has_ended(row, n_iterations, improved, settings):
    """Tell whether the last iteration of a level has been made."""
    row[REPETITIONS] = 0 if improved else row[REPETITIONS] + 1
    return row[ITERATIONS] >= n_iterations or 0 < settings.limited_repetitions <= row[REPETITIONS]


@engine_kernel
def _return_to_parent(level, members, levels):
    """Return the set of a level to the level above."""
    for i in range(levels[level, SIZE]):
        members[level + 1, levels[level + 1, SIZE]] = members[level, i]
        levels[level + 1, SIZE] += 1


@engine_kernel
def _start_children(level, weights, levels, n_codes):
    """Start the levels below again, each with a copy of the policies above it and an empty set."""
    for below in range(level - 1, -1, -1):
        for policy in range(weights.shape[1]):
            target = weights[below, policy]
            source = weights[below + 1, policy]
            for code in range(n_codes):
                target[code] = source[code]
        for k in range(levels.shape[1]):
            levels[below, k] = 0


@bundle_kernel
def _restart(policies, starts, members, row, settings, free, counters):
    """Begin a new search after the last iteration of the highest level; only the archive is kept."""
    counters[RESTARTS] += 1
    for i in range(row[SIZE]):
        release(members[i], free, counters)
    for policy in range(policies.shape[0]):
        for code in range(policies.shape[1]):
            policies[policy, code] = starts[policy, code] if settings.bias_by_code else 0.0
    for k in range(row.size):
        row[k] = 0
