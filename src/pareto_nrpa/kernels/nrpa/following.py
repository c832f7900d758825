"""A sequence that is given, played and recorded as a playout is, so that policies can learn from it."""

from __future__ import annotations

import numpy as np

from .._jit import engine_kernel
from ..bundles import (
    CODE_OUT_OF_RANGE,
    DEPTH,
    ILLEGAL_MOVE,
    INCOMPLETE,
    KEY,
    N_BRANCHINGS,
    N_MOVES,
    POLICY,
    TOO_MANY_CANDIDATES,
)
from .playout import set_start

# The words of the problem: left open here, bound to the kernels of one problem in `play.compiled`.
initial_state = legal_moves = all_moves = play = move_code = bias = judge = identity = follow_out = data_class = None


def follow(parts, machine, settings, policy, slot, n_given):
    """Play and evaluate the moves that stand in a slot; returns a status."""
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
        slot,
        policy,
        n_given,
    )


def follow_from(data, state, weights, preference, starts, pool, legal, room, counters, settings, slot, policy, n_given):
    """Play the moves of a slot from a state; each must be legal, or at least among all moves, and the last the end."""
    learned = weights[0, policy]
    n_codes = np.uint64(learned.size)
    moves, codes, biases = pool.moves[slot], pool.codes[slot], pool.biases[slot]
    n_branchings = 0
    begin = 0
    for depth in range(n_given):
        counters[DEPTH] = depth
        count = legal_moves(data, state, legal)
        position = position_of(moves[depth], legal, count)
        if position < 0:
            # Pruning would not play it; that does not make it wrong.
            count = all_moves(data, state, legal)
            position = position_of(moves[depth], legal, count)
        if count < 0 or count > legal.size or begin + count > codes.size:
            return TOO_MANY_CANDIDATES
        if position < 0:
            return ILLEGAL_MOVE
        if count > 1:
            for i in range(count):
                code = np.uint64(move_code(data, state, legal[i]))  # a negative one becomes a huge one
                if code >= n_codes:
                    return CODE_OUT_OF_RANGE
                codes[begin + i] = np.uint32(code)
                if settings.has_bias:
                    biases[begin + i] = settings.bias_scale * bias(data, state, legal[i], preference)
                elif settings.bias_by_code and np.isnan(learned[code]):
                    set_start(
                        settings.bias_scale * bias(data, state, legal[i], preference), code, policy, weights, starts
                    )
            pool.chosen[slot, n_branchings] = begin + position
            begin += count
            pool.ends[slot, n_branchings] = begin
            n_branchings += 1
        play(data, state, moves[depth])
    if legal_moves(data, state, legal) != 0:
        return INCOMPLETE
    pool.heads[slot, POLICY] = policy
    pool.heads[slot, N_MOVES] = n_given
    pool.heads[slot, N_BRANCHINGS] = n_branchings
    pool.heads[slot, KEY] = identity(data, state)
    return judge(data, state, pool.scores[slot], room)


@engine_kernel
def position_of(move, legal, count):
    """Return where a move is among the legal ones, or -1."""
    for i in range(min(count, legal.size)):
        if legal[i] == move:
            return i
    return -1
