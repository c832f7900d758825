"""A walk of a compiled problem from a state to an evaluated solution, recorded step by step for Adapt.

There is one walk. A chooser, a kernel bound to it, selects moves: `by_policy` (Algorithm 1), `by_bias` (without a
policy), `exactly` (a given solution) or `deviate` (a given solution, left at a step). A chooser returns a position
among the legal moves and their number, or minus a status.

Loops call functions of one signature to play: `sample_by_policy`, `sample_by_bias` and, for plain problems,
`call_player`.
"""

from __future__ import annotations

import numpy as np

from .arrays import (
    BAD_BIAS,
    CODE_OUT_OF_RANGE,
    DEPTH,
    EVALUATIONS,
    FOUND_AT,
    ILLEGAL_MOVE,
    INCOMPLETE,
    KEY,
    N_DECISIONS,
    N_MOVES,
    NO_MOVE,
    OK,
    POLICY,
    RAISED,
    REPEATED_MOVE,
    STATUS,
    TOO_LONG,
    TOO_MANY_CANDIDATES,
)
from .dominance import covers
from .jit.bundles import borrowed, keep
from .jit.callback import call_python
from .jit.kernels import ZERO, bundle_kernel, engine_kernel, small_kernel, with_globals
from .softmax import add_up, is_safe, pick, power_scale, powers, safe_exponentials

# Unbound here: the kernels of one problem, bound in `compiled.py`, and a chooser, bound to the walk.
initial_state = legal_moves = all_moves = play = move_code = bias = judge = identity = canonical = None
choose = recorded = walk = walk_on = look = check_moves = None

#: Instead of a policy: one is drawn.
ANY_POLICY = np.int64(-1)
#: The purpose of a playout: complete the given moves, list the legal moves after them, or evaluate given moves that
#: are a whole solution.
SAMPLE, LOOK, WHOLE = np.int64(0), np.int64(1), np.int64(2)
#: Instead of a step: the given moves are played unchanged; also if pruning forbids them.
EXACT, UNPRUNED = -1, -2
#: The walk has left the given moves, and must not add any.
_HAS_DEVIATED, _IS_WHOLE = -3, -4
#: Number of first evaluations whose moves are checked beforehand, as an illegal one may corrupt memory.
N_CHECKED = 1000


def bound_walk(chooser, words):
    """Return the walk with a chooser and the kernels of a problem bound to it."""
    recorded = small_kernel(with_globals(record, **words))
    choose = small_kernel(with_globals(chooser, recorded=recorded, **words))
    walk_on = bundle_kernel(with_globals(walk_from, choose=choose, **words))
    return bundle_kernel(with_globals(walk_from_start, walk_on=walk_on, **words))


def sample_by_policy(data, store, settings, rng, policy, slot, n_given, purpose):
    """Play and evaluate one sequence with a policy of level 1, recording it in a slot; returns a status."""
    if policy < 0:
        policy = choose_policy(store.weights.shape[1], rng)
    return walk(data, store, settings, rng, policy, slot, store.levels[0, :0], np.int64(EXACT), ZERO)


def sample_by_bias(data, store, settings, rng, policy, slot, n_given, purpose):
    """Play the first moves in a slot and, as the purpose asks, others drawn by the bias; returns a status."""
    if purpose == LOOK:
        return look(data, store, slot, n_given)
    is_whole = purpose == WHOLE
    checks_first = store.counters[EVALUATIONS] < N_CHECKED
    if is_whole:
        canonical(data, store.pool.moves[slot], n_given)
        if checks_first:
            status = check_moves(data, store, slot, n_given)
            if status != OK:
                return status
    at = np.int64(_IS_WHOLE if is_whole else EXACT)
    status = walk(data, store, settings, rng, ZERO, slot, store.levels[0, :0], at, n_given)
    if status != OK or not is_whole or checks_first:
        return status
    # Later, only solutions that would enter the archive are checked.
    if would_enter(store.archive.heads, store.archive.scores, store.pool.scores, slot):
        return check_moves(data, store, slot, n_given)
    return status


def play_once(parts, store, settings, rng, policy, slot, n_given, purpose, play):
    """Play once for a caller in Python; returns a status."""
    return play(parts, store, settings, rng, policy, slot, n_given, purpose)


def call_player(parts, store, settings, rng, policy, slot, n_given, purpose):
    """Call the player of a plain problem at the address `parts` to play into a slot; returns a status."""
    store.counters[STATUS] = RAISED
    call_python(parts[0], policy, slot, n_given, purpose)
    status = store.counters[STATUS]
    if status == OK and purpose != LOOK:
        pool = store.pool
        unpack_steps(pool.heads, pool.moves, pool.codes, pool.ends, pool.chosen, store.legal, store.n_legal[0], slot)
    return status


def unpack(heads, moves, codes, ends, chosen, steps, n, slot):
    """Record the sequence that a player has written to the working memory.

    For each step with a choice the number of moves, their codes and the choice; then all moves, identity, policy and
    the number of moves.
    """
    n_moves = steps[n - 1]
    first_move = n - 3 - n_moves
    at = 0
    end = 0
    n_decisions = 0
    while at < first_move:
        count = steps[at]
        for i in range(count):
            codes[slot, end + i] = steps[at + 1 + i]
        chosen[slot, n_decisions] = end + steps[at + 1 + count]
        end += count
        at += count + 2
        ends[slot, n_decisions] = end
        n_decisions += 1
    for i in range(n_moves):
        moves[slot, i] = steps[first_move + i]
    heads[slot, N_MOVES] = n_moves
    heads[slot, POLICY] = steps[n - 2]
    heads[slot, KEY] = steps[n - 3]
    heads[slot, N_DECISIONS] = n_decisions


unpack_steps = engine_kernel(unpack)


def follow(data, store, settings, rng, policy, slot, given, at):
    """Play and evaluate given moves, recording them in a slot; returns a status.

    In their canonical form (`at` is EXACT or UNPRUNED), or with another move at the first decision from step `at` on,
    and the given ones after it as far as they are legal.
    """
    if at < 0:
        canonical(data, given, given.size)
    return walk(data, store, settings, rng, policy, slot, given, at, ZERO)


@small_kernel
def choose_policy(n_policies, rng):
    """Draw a policy uniformly (Algorithm 2, line 2); a single one needs no draw."""
    if n_policies == 1:
        return 0
    return int(rng.random() * n_policies)


@engine_kernel
def would_enter(heads, archived, scores, slot):
    """Tell whether a sequence might enter the archive: no present or earlier member covers it."""
    for i in range(heads.shape[0]):  # noqa: SIM110 - compiled code has no all()
        if heads[i, FOUND_AT] > 0 and covers(archived, i, scores, slot):
            return False
    return True


def look_from(data, store, slot, n_given):
    """Fill in the legal moves after the first ones in a slot; returns a status."""
    made = initial_state(data)
    state = borrowed(made)
    for i in range(n_given):
        play(data, state, store.pool.moves[slot, i])
    store.counters[DEPTH] = n_given
    store.n_legal[0] = legal_moves(data, state, store.legal)
    keep(made)
    return OK if 0 <= store.n_legal[0] <= store.legal.size else TOO_MANY_CANDIDATES


def check_from(data, store, slot, n_given):
    """Tell whether the moves in a slot can be played and are complete; pruning need not allow them."""
    made = initial_state(data)
    state = borrowed(made)
    moves = store.pool.moves[slot]
    legal = store.legal
    status = OK
    for depth in range(n_given + 1):
        store.counters[DEPTH] = depth
        count = all_moves(data, state, legal)
        if count < 0 or count > legal.size:
            status = TOO_MANY_CANDIDATES
        elif depth == n_given:
            status = OK if count == 0 else INCOMPLETE
        elif position_of(moves[depth], legal, count) < 0:
            status = ILLEGAL_MOVE
        if status != OK or depth == n_given:
            break
        play(data, state, moves[depth])
    keep(made)
    return status


def walk_from_start(data, store, settings, rng, policy, slot, given, at, n_moves):
    """Play the first `n_moves` in the slot, the others move by move with the chooser, then judge; returns a status."""
    state = initial_state(data)
    status = walk_on(data, borrowed(state), store, settings, rng, policy, slot, given, at, n_moves)
    keep(state)
    return status


def walk_from(data, state, store, settings, rng, policy, slot, given, at, n_moves):
    """Walk from a borrowed state; see `walk_from_start`."""
    pool = store.pool
    counters = store.counters
    legal = store.legal
    max_moves = pool.moves.shape[1]
    moves = pool.moves[slot]
    ends = pool.ends[slot]
    chosen = pool.chosen[slot]
    n_candidates = pool.codes.shape[1]
    checking = counters[EVALUATIONS] < settings.n_checked
    n_decisions = 0
    begin = ZERO
    for i in range(n_moves):
        play(data, state, moves[i])
    while True:
        count = np.int64(legal_moves(data, state, legal))
        counters[DEPTH] = n_moves
        if count == 0:
            break
        if n_moves == max_moves:
            return TOO_LONG
        if count < 0 or count > legal.size or begin + count > n_candidates:
            return TOO_MANY_CANDIDATES
        if checking and has_repetition(legal, count):
            return REPEATED_MOVE
        position, count = choose(data, state, store, settings, rng, policy, slot, count, begin, given, n_moves, at)
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
    return judge(data, state, pool.scores[slot], store.room)


@engine_kernel
def has_repetition(moves, count):
    """Tell whether a move occurs twice."""
    for i in range(count):
        for j in range(i):
            if moves[i] == moves[j]:
                return True
    return False


def by_policy(data, state, store, settings, rng, policy, slot, count, begin, given, step, at):
    """Draw a move by softmax of weight and bias (Algorithm 1); weights are gathered where codes are computed."""
    if count == 1:
        return ZERO, count
    learned = store.weights[0, policy]
    preference = store.preferences[policy]
    legal = store.legal
    room = store.room
    here = store.pool.codes[slot, begin : begin + count]
    extra = store.pool.biases[slot, begin : begin + count]
    n_codes = np.uint64(learned.size)
    scale = power_scale(settings.inverse_temperature)
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
        # The sum is also unsafe (NaN) if a code occurs for the first time.
        if settings.bias_by_code:
            for i in range(count):
                if np.isnan(learned[here[i]]):
                    value = settings.bias_scale * bias(data, state, legal[i], preference)
                    set_start(value, here[i], policy, store.weights, store.starts)
        total = safe_exponentials(
            learned, here, extra, settings.has_bias, settings.inverse_temperature, ZERO, count, room
        )
        if not total >= 1.0:
            return np.int64(-BAD_BIAS), count
    return pick(room, count, rng.random() * total), count


def by_bias(data, state, store, settings, rng, policy, slot, count, begin, given, step, at):
    """Draw a move by softmax of the bias alone, or alike where there is none; nothing is recorded."""
    if at == _IS_WHOLE:
        return np.int64(-INCOMPLETE), count
    if count == 1:
        return ZERO, count
    room = store.room
    scale = settings.bias_scale * power_scale(1.0)
    largest = -np.inf
    for i in range(np.uint64(count)):
        room[i] = scale * bias(data, state, store.legal[i], store.preferences[0]) if settings.has_bias else 0.0
        largest = max(largest, room[i])
    for i in range(np.uint64(count)):
        room[i] -= largest
    powers(room, count)
    total = add_up(room, ZERO, count)
    if not is_safe(total):
        return np.int64(-BAD_BIAS), count
    return pick(room, count, rng.random() * total), np.int64(1)


def exactly(data, state, store, settings, rng, policy, slot, count, begin, given, step, at):
    """Choose the given move, which must be legal; where `at` is UNPRUNED, pruning need not allow it."""
    legal = store.legal
    position = position_of(given[step], legal, count) if step < given.size else np.int64(-1)
    if position < 0 and at == UNPRUNED and step < given.size:
        count = np.int64(all_moves(data, state, legal))
        if count < 0 or count > legal.size or begin + count > store.pool.codes.shape[1]:
            return np.int64(-TOO_MANY_CANDIDATES), ZERO
        position = position_of(given[step], legal, count)
    if position < 0:
        return np.int64(-ILLEGAL_MOVE), count
    return recorded(data, state, store, settings, policy, slot, count, begin, position)


def deviate(data, state, store, settings, rng, policy, slot, count, begin, given, step, at):
    """Choose another move at the first decision from step `at` on, else the given one or the nearest to it."""
    if 0 <= at <= step and count > 1:
        position = another(given, step, store.legal, count, rng)
    else:
        position = nearest(given, step, store.legal, count, rng)
    return recorded(data, state, store, settings, policy, slot, count, begin, position)


def record(data, state, store, settings, policy, slot, count, begin, position):
    """Write down codes and biases of a decision, for Adapt; returns the position, or minus a status."""
    if count == 1:
        return position, count
    learned = store.weights[0, policy]
    preference = store.preferences[policy]
    codes = store.pool.codes[slot]
    for k in range(count):
        move = store.legal[k]
        code = np.uint64(move_code(data, state, move))
        if code >= np.uint64(learned.size):
            return np.int64(-CODE_OUT_OF_RANGE), count
        codes[begin + k] = np.uint32(code)
        if settings.has_bias:
            store.pool.biases[slot, begin + k] = settings.bias_scale * bias(data, state, move, preference)
        elif settings.bias_by_code and np.isnan(learned[code]):
            value = settings.bias_scale * bias(data, state, move, preference)
            set_start(value, codes[begin + k], policy, store.weights, store.starts)
    return position, count


@engine_kernel
def set_start(value, code, policy, weights, starts):
    """Initialise the weight of a new code with its bias, at all levels."""
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
