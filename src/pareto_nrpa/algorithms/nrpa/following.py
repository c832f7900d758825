"""A sequence that is given, played and recorded as a playout is, so that policies can learn from it."""

from __future__ import annotations

import numpy as np

from ...engine.archive import remember
from ...engine.arrays import (
    CODE_OUT_OF_RANGE,
    DEPTH,
    EVALUATIONS,
    ILLEGAL_MOVE,
    KEY,
    N_DECISIONS,
    N_MOVES,
    POLICY,
    TOO_LONG,
    TOO_MANY_CANDIDATES,
)
from ...engine.jit.kernels import ZERO, bundle_kernel, engine_kernel
from ...engine.walk import set_start
from .select import release

# The words of the problem: left open here, bound to the kernels of one problem in `play.compiled`.
initial_state = legal_moves = all_moves = play = move_code = bias = judge = identity = canonical = None
follow_out = data_class = None

#: In the place of a step: nowhere, the sequence is to be played as it is; also where pruning would not play it.
EXACTLY, EVEN_PRUNED = -1, -2


def follow(parts, machine, settings, rng, policy, slot, given, at):
    """Play and evaluate given moves, recording them in a slot; returns a status.

    In their canonical form (`at` is EXACTLY or EVEN_PRUNED), or with another move at the first decision from step `at`
    on, and the given ones after it as far as they are legal.
    """
    data = data_class(*parts)
    state = initial_state(data)
    return follow_out(
        data,
        state,
        machine.weights,
        machine.preferences[policy],
        machine.starts,
        machine.pool,
        machine.legal,
        machine.probabilities,
        machine.counters,
        settings,
        rng,
        slot,
        policy,
        given,
        at,
    )


def follow_from(
    data,
    state,
    weights,
    preference,
    starts,
    pool,
    legal,
    room,
    counters,
    settings,
    rng,
    slot,
    policy,
    given,
    at,
):
    """Play given moves from a state to the end."""
    learned = weights[0, policy]
    moves, codes, biases = pool.moves[slot], pool.codes[slot], pool.biases[slot]
    exactly = at < 0
    even_pruned = at == EVEN_PRUNED
    n_moves = ZERO
    n_decisions = 0
    begin = 0
    if exactly:
        canonical(data, given, given.size)
    while True:
        count = legal_moves(data, state, legal)
        if count == 0:
            break
        counters[DEPTH] = n_moves
        if n_moves == moves.size:
            return TOO_LONG
        if count < 0 or count > legal.size or begin + count > codes.size:
            return TOO_MANY_CANDIDATES
        if exactly:
            position = position_of(given[n_moves], legal, count) if n_moves < given.size else np.int64(-1)
            if position < 0 and even_pruned and n_moves < given.size:
                count = all_moves(data, state, legal)
                if count < 0 or count > legal.size or begin + count > codes.size:
                    return TOO_MANY_CANDIDATES
                position = position_of(given[n_moves], legal, count)
            if position < 0:
                return ILLEGAL_MOVE
        elif 0 <= at <= n_moves and count > 1:
            position = another(given, n_moves, legal, count, rng)
            at = np.int64(-1)
        else:
            position = nearest(given, n_moves, legal, count, rng)
        if count > 1:
            for k in range(count):
                code = np.uint64(move_code(data, state, legal[k]))
                if code >= np.uint64(learned.size):
                    return CODE_OUT_OF_RANGE
                codes[begin + k] = np.uint32(code)
                if settings.has_bias:
                    biases[begin + k] = settings.bias_scale * bias(data, state, legal[k], preference)
                elif settings.bias_by_code and np.isnan(learned[code]):
                    value = settings.bias_scale * bias(data, state, legal[k], preference)
                    set_start(value, codes[begin + k], policy, weights, starts)
            pool.chosen[slot, n_decisions] = begin + position
            begin += count
            pool.ends[slot, n_decisions] = begin
            n_decisions += 1
        moves[n_moves] = legal[position]
        n_moves += 1
        play(data, state, legal[position])
    if exactly and n_moves < given.size:
        counters[DEPTH] = n_moves
        return ILLEGAL_MOVE
    pool.heads[slot, POLICY] = policy
    pool.heads[slot, N_MOVES] = n_moves
    pool.heads[slot, N_DECISIONS] = n_decisions
    pool.heads[slot, KEY] = identity(data, state)
    return judge(data, state, pool.scores[slot], room)


@engine_kernel
def position_of(move, legal, count):
    """Return where a move stands among the legal ones, or -1."""
    for k in range(count):
        if legal[k] == move:
            return np.int64(k)
    return np.int64(-1)


@engine_kernel
def another(given, step, legal, count, rng):
    """Draw a legal move other than the given one; returns where it stands."""
    position = position_of(given[step], legal, count) if step < given.size else np.int64(-1)
    if position < 0:
        return np.int64(rng.random() * count)
    drawn = np.int64(rng.random() * (count - 1))
    return drawn + 1 if drawn >= position else drawn


@engine_kernel
def nearest(given, step, legal, count, rng):
    """Return where the given move stands among the legal ones, or the first given one that does, or any."""
    if step < given.size:
        position = position_of(given[step], legal, count)
        if position >= 0:
            return position
    for i in range(given.size):
        position = position_of(given[i], legal, count)
        if position >= 0:
            return position
    return np.int64(rng.random() * count)


@bundle_kernel
def note(machine, slot):
    """Count an evaluated sequence and let it into the archive if it is good enough; nothing is learned from it."""
    machine.counters[EVALUATIONS] += 1
    remember(machine.archive, machine.pool, slot, machine.counters)
    release(slot, machine.free, machine.counters)
