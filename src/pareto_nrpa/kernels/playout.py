"""A playout (Algorithm 1) of a compiled problem, recorded step by step for Adapt."""

from __future__ import annotations

import numpy as np

from ._jit import ZERO, engine_kernel, small_kernel
from .bundles import (
    BAD_BIAS,
    BAD_VIOLATIONS,
    CODE_OUT_OF_RANGE,
    DEPTH,
    EVALUATIONS,
    KEY,
    N_BRANCHINGS,
    N_MOVES,
    NO_MOVE,
    NOT_FINITE,
    OK,
    POLICY,
    REPEATED_MOVE,
    TOO_LONG,
    TOO_MANY_CANDIDATES,
    TOO_MANY_OBJECTIVES,
    VIOLATIONS,
)
from .softmax import PADDING, add_up, is_safe, pick, power_scale, powers, safe_exponentials

_OVERRUN = 4096

# The words of the problem: left open here, bound to the kernels of one problem in `play.compiled`.
initial_state = legal_moves = play = move_code = bias = evaluate = identity = play_out = data_class = None
#: -1 for each objective that the problem maximises, else 1; bound likewise.
signs = np.zeros(0)


@small_kernel
def no_bias(data, state, move, preference):
    """Stand in for the bias of a problem that has none."""
    return 0.0


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
    n_branchings = 0
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
            chosen[n_branchings] = begin + position
            ends[n_branchings] = end
            n_branchings += 1
            begin = end
        moves[n_moves] = legal[position]
        n_moves += 1
        play(data, state, legal[position])
    pool.heads[slot, POLICY] = policy
    pool.heads[slot, N_MOVES] = n_moves
    pool.heads[slot, N_BRANCHINGS] = n_branchings
    if n_moves == 0:
        return NO_MOVE
    pool.heads[slot, KEY] = identity(data, state)
    return judge(data, state, pool.scores[slot], probabilities)


def judge(data, state, scores, room):
    """Fill in violations and minimised objectives of a complete solution; returns a status."""
    clear_objectives(scores, room)
    scores[VIOLATIONS] = evaluate(data, state, room[: scores.size - 1])
    status = take_objectives(scores, room)
    for k in range(signs.size):
        scores[1 + k] *= signs[k]
    return status


@engine_kernel
def set_start(value, code, policy, weights, starts):
    """Let the weight of a code start from its bias, at all levels: none of them has learned anything about it yet."""
    starts[policy, code] = value
    for level in range(weights.shape[0]):
        weights[level, policy, code] = value


def new_room(n_candidates, n_objectives):
    """Return working memory for probabilities and objectives, with room behind the end for a problem that overruns."""
    size = max(n_candidates, n_objectives) + PADDING
    return np.zeros(size + _OVERRUN)[:size]


@small_kernel
def clear_objectives(scores, room):
    """Make room for the objectives of an evaluation: what is left out stays NaN, and so must the place behind them.

    Not among the scores, where one too many would end up in those of another sequence.
    """
    for k in range(scores.size):
        room[k] = np.nan


@small_kernel
def take_objectives(scores, room):
    """Move the objectives to the scores, of which the violations are there; returns the status of the evaluation."""
    if not np.isnan(room[scores.size - 1]):
        return TOO_MANY_OBJECTIVES
    for k in range(1, scores.size):
        scores[k] = room[k - 1]
    return check_scores(scores)


@small_kernel
def check_scores(scores):
    """Return the status of an evaluation: objectives must be finite, violations finite and not negative."""
    for k in range(1, scores.size):
        if not np.isfinite(scores[k]):
            return NOT_FINITE
    if not np.isfinite(scores[VIOLATIONS]) or scores[VIOLATIONS] < 0:
        return BAD_VIOLATIONS
    return OK
