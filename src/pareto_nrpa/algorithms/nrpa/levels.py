"""Pareto-NRPA (Algorithm 2) without recursion: the whole search is arrays, and stops after any evaluation."""

from __future__ import annotations

from ...engine.archive import remember, set_scale
from ...engine.arrays import (
    EVALUATIONS,
    ITERATIONS,
    N_ARCHIVED,
    N_CODES,
    N_DECISIONS,
    N_FREE,
    N_FRONT,
    N_LOGGED,
    NEEDS_ROOM,
    OK,
    POLICY,
    REPETITIONS,
    RESTARTS,
    SIZE,
    STATUS,
)
from ...engine.evaluated import needs_more_keys
from ...engine.jit.kernels import ZERO, bundle_kernel, engine_kernel, small_kernel
from .adapt import adapt, pareto_adapt
from .select import release, select


def advance(data, machine, settings, rng, play, learn, n):
    """Make up to n evaluations of a compiled problem; returns how many, and leaves a status where it stopped early.

    `play` and `learn` are pointers to a playout and to `tell`: compiled apart, so that a new problem compiles no more
    than its own playout and this loop.
    """
    counters = machine.counters
    for done in range(n):
        if not has_room(machine.archive, counters):
            counters[STATUS] = NEEDS_ROOM
            return done
        slot = take(machine.free, counters)
        policy = choose_policy(machine.weights.shape[1], rng)
        counters[STATUS] = play(data, machine, settings, rng, policy, slot)
        if counters[STATUS] != OK:
            release(slot, machine.free, counters)
            return done
        learn(machine, settings, slot)
    return n


def play_once(data, machine, settings, rng, policy, slot, play):
    """Play one sequence into a slot, for `ask`; returns a status."""
    return play(data, machine, settings, rng, policy, slot)


def tell_once(machine, settings, slot, learn):
    """Learn from a slot, for `tell` and `add`, or count it only."""
    learn(machine, settings, slot)


@small_kernel
def choose_policy(n_policies, rng):
    """Draw a policy uniformly (Algorithm 2, line 2); a single one needs no draw."""
    if n_policies == 1:
        return 0
    return int(rng.random() * n_policies)


@small_kernel
def has_room(archive, counters):
    """Tell whether one more evaluation fits into pool, archive and log."""
    return (
        counters[N_FREE] > 0
        and counters[N_ARCHIVED] < archive.heads.shape[0]
        and counters[N_LOGGED] < archive.log.shape[0]
        and not needs_more_keys(archive.keys, counters)
    )


@small_kernel
def take(free, counters):
    """Take an unused slot."""
    counters[N_FREE] -= 1
    return free[counters[N_FREE]]


@bundle_kernel
def tell(machine, settings, slot):
    """Let the search learn from an evaluated sequence, up through all levels that end with it.

    Given ~slot it is only counted, which needs the same long code for the archive.
    """
    if slot < 0:
        note(machine, ~slot)
        return
    levels = machine.levels
    members = machine.members
    _enter(machine, slot)
    members[0, levels[0, SIZE]] = slot
    levels[0, SIZE] += 1
    levels[0, ITERATIONS] += 1
    if levels[0, ITERATIONS] % settings.playouts_per_step > 0:
        return  # the policies stay as they are for the next playout
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
            machine.pool,
            machine.selection,
            machine.free,
            machine.counters,
        )
        ended = _has_ended(levels[level], n_iterations, improved, settings)
        if not ended:
            # The policies of a level end with it, so that its last iteration has nobody to adapt for.
            pareto_adapt(
                machine.weights[level],
                members[level],
                levels[level, SIZE],
                machine.selection.distances,
                machine.pool,
                settings,
                machine.probabilities,
                machine.factors,
            )
            break
        if level + 1 == levels.shape[0]:
            _restart(
                machine.weights[level],
                machine.starts,
                members[level],
                levels[level],
                settings,
                machine.free,
                machine.counters,
            )
            set_scale(machine.objective_scale, machine.archive.heads, machine.archive.scores)
            break
        n_before = levels[level + 1, SIZE]
        _hand_up(level, members, levels)
        level += 1
        levels[level, ITERATIONS] += 1
        n_iterations = settings.n_iterations
    _hand_down(level, machine.weights, levels, machine.counters[N_CODES])


@bundle_kernel
def note(machine, slot):
    """Count an evaluated sequence and let it into the archive if it is good enough; nothing is learned from it."""
    machine.counters[EVALUATIONS] += 1
    remember(machine.archive, machine.pool, slot, machine.counters)
    release(slot, machine.free, machine.counters)


@bundle_kernel
def tell_root(machine, settings, slot):
    """Let the highest level have an evaluated sequence that was made elsewhere, as if the level below had returned it.

    It joins the set of that level, whose policies make one step towards it if it is in the first front. No iteration
    is counted. Searches of the levels below that are under way end first; where there are none, they begin with this.
    """
    levels = machine.levels
    top = levels.shape[0] - 1
    members = machine.members[top]
    size = levels[top, SIZE]
    # Playouts of a single level that wait to be learned from join the set with it, and their step begins anew.
    n_waiting = levels[top, ITERATIONS] % settings.playouts_per_step if top == 0 else ZERO
    levels[top, ITERATIONS] -= n_waiting
    _enter(machine, slot)
    members[size] = slot
    levels[top, SIZE], levels[top, N_FRONT], improved = select(
        members,
        size + 1,
        size - n_waiting,
        levels[top, N_FRONT],
        machine.pool,
        machine.selection,
        machine.free,
        machine.counters,
    )
    if not improved:
        return
    pool = machine.pool
    for i in range(levels[top, N_FRONT]):
        if members[i] == slot:
            adapt(
                machine.weights[top, pool.heads[slot, POLICY]],
                pool.codes[slot],
                pool.biases[slot],
                pool.ends[slot],
                pool.chosen[slot],
                pool.heads[slot, N_DECISIONS],
                settings.alpha * machine.selection.distances[i] if settings.weigh_by_crowding else settings.alpha,
                settings,
                machine.probabilities,
                machine.factors,
            )
    under_way = 0
    for below in range(top):
        under_way += levels[below, ITERATIONS]
    if under_way == 0:
        _hand_down(top, machine.weights, levels, machine.counters[N_CODES])


@bundle_kernel
def _enter(machine, slot):
    """Count an evaluation, and let it into the archive if it is good enough."""
    machine.counters[EVALUATIONS] += 1
    remember(machine.archive, machine.pool, slot, machine.counters)
    if machine.objective_weights.shape[0] > 0:
        which = machine.counters[RESTARTS] % machine.objective_weights.shape[0]
        _scalarise(machine.pool.scores[slot], machine.objective_weights[which], machine.objective_scale)


@engine_kernel
def _scalarise(scores, weights, scale):
    """Let the weighted sum alone decide from here on; the archive has the objectives themselves."""
    total = 0.0
    for k in range(weights.size):
        total += weights[k] * scores[1 + k] / scale[k]
        scores[1 + k] = 0.0
    scores[1] = total


@small_kernel
def _has_ended(row, n_iterations, improved, settings):
    """Tell whether the iteration of a level that has just been made was the last one."""
    row[REPETITIONS] = 0 if improved else row[REPETITIONS] + 1
    return row[ITERATIONS] >= n_iterations or 0 < settings.limited_repetitions <= row[REPETITIONS]


@engine_kernel
def _hand_up(level, members, levels):
    """Return the set of a level to the one that called it."""
    for i in range(levels[level, SIZE]):
        members[level + 1, levels[level + 1, SIZE]] = members[level, i]
        levels[level + 1, SIZE] += 1


@engine_kernel
def _hand_down(level, weights, levels, n_codes):
    """Call the levels below anew, each with a copy of the policies above it and an empty set."""
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
    """Begin a new search after the last iteration of the highest level; only the archive lives on."""
    counters[RESTARTS] += 1
    for i in range(row[SIZE]):
        release(members[i], free, counters)
    for policy in range(policies.shape[0]):
        for code in range(policies.shape[1]):
            policies[policy, code] = starts[policy, code] if settings.bias_by_code else 0.0
    for k in range(row.size):
        row[k] = 0
