"""A walk of a compiled problem from its first state to a judged solution, recorded step by step for Adapt.

There is one walk. What it plays is decided by a chooser, a kernel that is bound to it: `by_policy` (Algorithm 1),
`exactly` (a given solution) or `deviate` (a given solution, left at a step). A chooser returns a position among the
legal moves and how many there are, or minus a status.
"""

from __future__ import annotations

import numpy as np

from .arrays import (
    BAD_BIAS,
    CODE_OUT_OF_RANGE,
    DEPTH,
    EVALUATIONS,
    ILLEGAL_MOVE,
    KEY,
    N_DECISIONS,
    N_MOVES,
    NO_MOVE,
    POLICY,
    REPEATED_MOVE,
    TOO_LONG,
    TOO_MANY_CANDIDATES,
)
from .jit.bundles import borrowed, keep
from .jit.kernels import ZERO, bundle_kernel, engine_kernel, small_kernel, with_globals
from .softmax import add_up, is_safe, pick, power_scale, powers, safe_exponentials

# Left open here: the kernels of one problem, bound in `compiled.py`, and a chooser, bound to the walk.
initial_state = legal_moves = all_moves = play = move_code = bias = judge = identity = canonical = None
choose = recorded = walk = None

#: In the place of a step: the given moves are played as they are; also where pruning does not play them.
EXACT, UNPRUNED = -1, -2
#: The walk has left the given moves.
_HAS_DEVIATED = -3


def bound_walk(chooser, words):
    """Return the walk with a chooser and the kernels of a problem bound to it."""
    recorded = small_kernel(with_globals(record, **words))
    bound = small_kernel(with_globals(chooser, recorded=recorded, **words))
    return bundle_kernel(with_globals(walk_from, choose=bound, **words))


def playout(data, machine, settings, rng, policy, slot):
    """Play and evaluate one sequence with a policy of level 1, recording it in a slot; returns a status."""
    state = initial_state(data)
    status = walk(
        data,
        borrowed(state),
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
        machine.levels[0, :0],
        np.int64(EXACT),
    )
    keep(state)
    return status


def follow(data, machine, settings, rng, policy, slot, given, at):
    """Play and evaluate given moves, recording them in a slot; returns a status.

    In their canonical form (`at` is EXACT or UNPRUNED), or with another move at the first decision from step `at` on,
    and the given ones after it as far as they are legal.
    """
    if at < 0:
        canonical(data, given, given.size)
    state = initial_state(data)
    status = walk(
        data,
        borrowed(state),
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
    keep(state)
    return status


def walk_from(
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
    """Play from a state to the end, move by move with the chooser, then judge; returns a status."""
    max_moves = pool.moves.shape[1]
    moves = pool.moves[slot]
    codes = pool.codes[slot]
    biases = pool.biases[slot]
    ends = pool.ends[slot]
    chosen = pool.chosen[slot]
    checking = counters[EVALUATIONS] < settings.n_checked
    n_moves = ZERO
    n_decisions = 0
    begin = ZERO
    while True:
        count = np.int64(legal_moves(data, state, legal))
        counters[DEPTH] = n_moves
        if count == 0:
            break
        if n_moves == max_moves:
            return TOO_LONG
        if count < 0 or count > legal.size or begin + count > codes.size:
            return TOO_MANY_CANDIDATES
        if checking and has_repetition(legal, count):
            return REPEATED_MOVE
        position, count = choose(
            data,
            state,
            weights,
            starts,
            policy,
            preference,
            settings,
            legal,
            count,
            codes,
            biases,
            begin,
            room,
            rng,
            given,
            n_moves,
            at,
        )
        if position < 0:
            return -position
        if count > 1:
            if 0 <= at <= n_moves:
                at = _HAS_DEVIATED
            chosen[n_decisions] = begin + position
            begin += count
            ends[n_decisions] = begin
            n_decisions += 1
        moves[n_moves] = legal[position]
        n_moves += 1
        play(data, state, legal[position])
    if n_moves < given.size and _HAS_DEVIATED < at < 0:
        return ILLEGAL_MOVE
    pool.heads[slot, POLICY] = policy
    pool.heads[slot, N_MOVES] = n_moves
    pool.heads[slot, N_DECISIONS] = n_decisions
    if n_moves == 0:
        return NO_MOVE
    pool.heads[slot, KEY] = identity(data, state)
    return judge(data, state, pool.scores[slot], room)


@engine_kernel
def has_repetition(moves, count):
    """Tell whether a move occurs twice."""
    for i in range(count):
        for j in range(i):
            if moves[i] == moves[j]:
                return True
    return False


def by_policy(
    data,
    state,
    weights,
    starts,
    policy,
    preference,
    settings,
    legal,
    count,
    codes,
    biases,
    begin,
    room,
    rng,
    given,
    step,
    at,
):
    """Draw a move by softmax of weight and bias (Algorithm 1); weights are gathered where codes are computed."""
    if count == 1:
        return ZERO, count
    learned = weights[0, policy]
    n_codes = np.uint64(learned.size)
    scale = power_scale(settings.inverse_temperature)
    here = codes[begin : begin + count]
    extra = biases[begin : begin + count]
    for i in range(np.uint64(count)):
        code = np.uint64(move_code(data, state, legal[i]))  # a negative one becomes a huge one
        if code >= n_codes:
            return np.int64(-CODE_OUT_OF_RANGE), count
        here[i] = np.uint32(code)
        room[i] = learned[code] * scale
    if settings.has_bias:
        for i in range(np.uint64(count)):
            extra[i] = settings.bias_scale * bias(data, state, legal[i], preference)
            room[i] += extra[i] * scale
    powers(room, count)
    total = add_up(room, ZERO, count)
    if not is_safe(total):
        # The sum is also unsafe, namely NaN, when a code is met for the first time.
        if settings.bias_by_code:
            for i in range(count):
                if np.isnan(learned[here[i]]):
                    value = settings.bias_scale * bias(data, state, legal[i], preference)
                    set_start(value, here[i], policy, weights, starts)
        total = safe_exponentials(
            learned, here, extra, settings.has_bias, settings.inverse_temperature, ZERO, count, room
        )
        if not total >= 1.0:
            return np.int64(-BAD_BIAS), count
    return pick(room, count, rng.random() * total), count


def exactly(
    data,
    state,
    weights,
    starts,
    policy,
    preference,
    settings,
    legal,
    count,
    codes,
    biases,
    begin,
    room,
    rng,
    given,
    step,
    at,
):
    """Choose the given move, which must be legal; where `at` is UNPRUNED, pruning need not allow it."""
    position = position_of(given[step], legal, count) if step < given.size else np.int64(-1)
    if position < 0 and at == UNPRUNED and step < given.size:
        count = np.int64(all_moves(data, state, legal))
        if count < 0 or count > legal.size or begin + count > codes.size:
            return np.int64(-TOO_MANY_CANDIDATES), ZERO
        position = position_of(given[step], legal, count)
    if position < 0:
        return np.int64(-ILLEGAL_MOVE), count
    return recorded(
        data, state, weights, starts, policy, preference, settings, legal, count, codes, biases, begin, position
    )


def deviate(
    data,
    state,
    weights,
    starts,
    policy,
    preference,
    settings,
    legal,
    count,
    codes,
    biases,
    begin,
    room,
    rng,
    given,
    step,
    at,
):
    """Choose another move at the first decision from step `at` on, else the given one or the nearest to it."""
    if 0 <= at <= step and count > 1:
        position = another(given, step, legal, count, rng)
    else:
        position = nearest(given, step, legal, count, rng)
    return recorded(
        data, state, weights, starts, policy, preference, settings, legal, count, codes, biases, begin, position
    )


def record(data, state, weights, starts, policy, preference, settings, legal, count, codes, biases, begin, position):
    """Write down codes and biases of a decision, for Adapt; returns the position, or minus a status."""
    if count == 1:
        return position, count
    learned = weights[0, policy]
    for k in range(count):
        code = np.uint64(move_code(data, state, legal[k]))
        if code >= np.uint64(learned.size):
            return np.int64(-CODE_OUT_OF_RANGE), count
        codes[begin + k] = np.uint32(code)
        if settings.has_bias:
            biases[begin + k] = settings.bias_scale * bias(data, state, legal[k], preference)
        elif settings.bias_by_code and np.isnan(learned[code]):
            value = settings.bias_scale * bias(data, state, legal[k], preference)
            set_start(value, codes[begin + k], policy, weights, starts)
    return position, count


@engine_kernel
def set_start(value, code, policy, weights, starts):
    """Let the weight of a code start from its bias, at all levels: none of them has learned anything about it yet."""
    starts[policy, code] = value
    for level in range(weights.shape[0]):
        weights[level, policy, code] = value


@engine_kernel
def position_of(move, legal, count):
    """Return the position of a move among the legal ones, or -1."""
    for k in range(count):
        if legal[k] == move:
            return np.int64(k)
    return np.int64(-1)


@engine_kernel
def another(given, step, legal, count, rng):
    """Draw the position of a legal move other than the given one."""
    position = position_of(given[step], legal, count) if step < given.size else np.int64(-1)
    if position < 0:
        return np.int64(rng.random() * count)
    drawn = np.int64(rng.random() * (count - 1))
    return drawn + 1 if drawn >= position else drawn


@engine_kernel
def nearest(given, step, legal, count, rng):
    """Return the position of the given move, or of the first given one that is legal, or of any."""
    if step < given.size:
        position = position_of(given[step], legal, count)
        if position >= 0:
            return position
    for i in range(given.size):
        position = position_of(given[i], legal, count)
        if position >= 0:
            return position
    return np.int64(rng.random() * count)
