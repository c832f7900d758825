"""A playout (Algorithm 1) of a compiled problem, recorded step by step for Adapt."""

from __future__ import annotations

import numpy as np

from .arrays import (
    BAD_BIAS,
    CODE_OUT_OF_RANGE,
    DEPTH,
    EVALUATIONS,
    KEY,
    N_DECISIONS,
    N_MOVES,
    NO_MOVE,
    POLICY,
    REPEATED_MOVE,
    TOO_LONG,
    TOO_MANY_CANDIDATES,
)
from .jit.kernels import ZERO, engine_kernel
from .softmax import add_up, is_safe, pick, power_scale, powers, safe_exponentials

# The words of the problem: left open here, bound to the kernels of one problem in `play.compiled`.
initial_state = legal_moves = play = move_code = bias = judge = identity = play_out = data_class = None


@engine_kernel
def has_repetition(moves, count):
    """Tell whether a move occurs twice."""
    for i in range(count):
        for j in range(i):
            if moves[i] == moves[j]:
                return True
    return False


def playout(parts, machine, settings, rng, policy, slot):
    """Play and evaluate one sequence with a policy of level 1, recording it in a slot; returns a status."""
    data = data_class(*parts)
    # The state is the only thing that is allocated; all else happens in a kernel that counts no references.
    state = initial_state(data)
    return play_out(
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
    )


def play_from(
    data,
    state,
    weights,
    preference,
    starts,
    pool,
    legal,
    probabilities,
    counters,
    settings,
    rng,
    slot,
    policy,
):
    """Play from a state to the end; the moves with more than one alternative are drawn by the policy."""
    learned = weights[0, policy]
    n_codes = np.uint64(learned.size)
    scale = power_scale(settings.inverse_temperature)
    max_moves = pool.moves.shape[1]
    moves = pool.moves[slot]
    codes = pool.codes[slot]
    biases = pool.biases[slot]
    ends = pool.ends[slot]
    chosen = pool.chosen[slot]
    checking = counters[EVALUATIONS] < settings.n_checked
    n_moves = 0
    n_decisions = 0
    begin = 0
    while True:
        count = legal_moves(data, state, legal)
        if count == 0:
            break
        if count < 0:
            return TOO_MANY_CANDIDATES
        counters[DEPTH] = n_moves
        end = begin + count
        if n_moves == max_moves:
            return TOO_LONG
        if count > legal.size or end > codes.size:
            return TOO_MANY_CANDIDATES
        if checking and has_repetition(legal, count):
            return REPEATED_MOVE
        position = 0
        if count > 1:
            here = codes[begin:end]
            extra = biases[begin:end]
            for i in range(np.uint64(count)):
                code = np.uint64(move_code(data, state, legal[i]))  # a negative one becomes a huge one
                if code >= n_codes:
                    return CODE_OUT_OF_RANGE
                here[i] = np.uint32(code)
                probabilities[i] = learned[code] * scale
            if settings.has_bias:
                for i in range(np.uint64(count)):
                    extra[i] = settings.bias_scale * bias(data, state, legal[i], preference)
                    probabilities[i] += extra[i] * scale
            powers(probabilities, count)
            total = add_up(probabilities, ZERO, count)
            if not is_safe(total):
                # The sum is also unsafe, namely NaN, when a code is met for the first time.
                if settings.bias_by_code:
                    for i in range(count):
                        if np.isnan(learned[here[i]]):
                            value = settings.bias_scale * bias(data, state, legal[i], preference)
                            set_start(value, here[i], policy, weights, starts)
                total = safe_exponentials(
                    learned, here, extra, settings.has_bias, settings.inverse_temperature, ZERO, count, probabilities
                )
                if not total >= 1.0:
                    return BAD_BIAS
            position = pick(probabilities, count, rng.random() * total)
            chosen[n_decisions] = begin + position
            ends[n_decisions] = end
            n_decisions += 1
            begin = end
        moves[n_moves] = legal[position]
        n_moves += 1
        play(data, state, legal[position])
    pool.heads[slot, POLICY] = policy
    pool.heads[slot, N_MOVES] = n_moves
    pool.heads[slot, N_DECISIONS] = n_decisions
    if n_moves == 0:
        return NO_MOVE
    pool.heads[slot, KEY] = identity(data, state)
    return judge(data, state, pool.scores[slot], probabilities)


@engine_kernel
def set_start(value, code, policy, weights, starts):
    """Let the weight of a code start from its bias, at all levels: none of them has learned anything about it yet."""
    starts[policy, code] = value
    for level in range(weights.shape[0]):
        weights[level, policy, code] = value
