"""Playouts without a policy: moves given so far, then moves drawn by the bias alone. What all baselines stand on."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from ...engine.archive import remember
from ...engine.arrays import (
    BAD_BIAS,
    DEPTH,
    EVALUATIONS,
    FOUND_AT,
    ILLEGAL_MOVE,
    INCOMPLETE,
    KEY,
    N_ARCHIVED,
    N_LOGGED,
    N_MOVES,
    NEEDS_ROOM,
    NO_MOVE,
    OK,
    STATUS,
    TOO_LONG,
    TOO_MANY_CANDIDATES,
    Archive,
)
from ...engine.dominance import covers
from ...engine.evaluated import needs_more_keys
from ...engine.jit.bundles import borrowed, bundle, keep
from ...engine.jit.kernels import ZERO, bundle_kernel, engine_kernel, small_kernel
from ...engine.softmax import add_up, is_safe, pick, power_scale, powers

# The words of the problem: left open here, bound to the kernels of one problem in `play.compiled`.
initial_state = legal_moves = all_moves = play = bias = judge = identity = canonical = None
roll_out = check_moves = play_to_end = None

#: Where the one sequence of an arena is.
HERE = 0
#: What a rollout is for: to see the legal moves after the given ones, to play on to the end, to evaluate that too, to
#: evaluate given moves that are a whole solution, put together elsewhere, or only to check that these can be played.
LOOK, PLAY, EVALUATE, WHOLE, CHECK = np.int64(0), np.int64(1), np.int64(2), np.int64(3), np.int64(4)
#: So many evaluations are checked before they are made, should a move that is not legal be played: it might do harm.
N_CHECKED = 1000


@bundle
class Arena(NamedTuple):
    """One sequence at work, and the archive of all that was evaluated."""

    moves: Annotated[np.ndarray, "i8 [1, V] < moves"]
    heads: Annotated[np.ndarray, "i8 [1, 4] < V+1 *"]  # as in a pool
    scores: Annotated[np.ndarray, "f8 [1, 1+M]"]  # violations and minimised objectives
    legal: np.ndarray  # [max_legal] int64, what could be played after the given moves
    probabilities: np.ndarray  # [max_legal + PADDING] float64, or more; objectives are filled in here too
    n_legal: np.ndarray  # [1] int64
    preference: np.ndarray  # [M] float64, what the bias should care for
    bias_scale: np.ndarray  # [1] float64; 0: all moves alike
    counters: Annotated[np.ndarray, "i8 [12] < 0: 0: A+1 G+1 0:"]
    archive: Archive


def rollout(data, arena, rng, n_given, purpose):
    """Play the first n_given moves of the arena, and go on from there as far as the purpose asks."""
    checks_first = arena.counters[EVALUATIONS] < N_CHECKED
    if purpose in (WHOLE, CHECK):
        canonical(data, arena.moves[HERE], n_given)
    if purpose == CHECK or (purpose == WHOLE and checks_first):
        state = initial_state(data)
        status = check_moves(data, borrowed(state), arena, n_given)
        keep(state)
        if status != OK or purpose == CHECK:
            return status
    state = initial_state(data)
    status = roll_out(data, borrowed(state), arena, rng, n_given, purpose)
    keep(state)
    if status != OK or purpose != WHOLE or checks_first:
        return status
    # From now on it is enough to look at what would enter the archive, which few do.
    if is_welcome(arena.archive.heads, arena.archive.scores, arena.scores):
        state = initial_state(data)
        status = check_moves(data, borrowed(state), arena, n_given)
        keep(state)
    return status


@bundle_kernel
def check_nothing(data, state, arena, n_given):
    """Stand in for `check_from` where nobody puts solutions together."""
    return OK


def check_from(data, state, arena, n_given):
    """Tell whether given moves can be played and are complete then; what is not worth trying is legal here too."""
    moves = arena.moves[HERE]
    legal = arena.legal
    for depth in range(n_given + 1):
        arena.counters[DEPTH] = depth
        count = all_moves(data, state, legal)
        if count < 0 or count > legal.size:
            return TOO_MANY_CANDIDATES
        if depth == n_given:
            return OK if count == 0 else INCOMPLETE
        is_legal = False
        for i in range(count):
            is_legal = is_legal or legal[i] == moves[depth]
        if not is_legal:
            return ILLEGAL_MOVE
        play(data, state, moves[depth])
    return OK


def roll_from(data, state, arena, rng, n_given, purpose):
    """Play from a state; moves beyond the given ones are drawn by the bias."""
    moves = arena.moves[HERE]
    legal = arena.legal
    weights = arena.probabilities
    scale = arena.bias_scale[0] * power_scale(1.0)
    for i in range(n_given):
        play(data, state, moves[i])
    n_moves = n_given
    while True:
        count = legal_moves(data, state, legal)
        arena.counters[DEPTH] = n_moves
        if count < 0 or count > legal.size:
            return TOO_MANY_CANDIDATES
        if n_moves == n_given:
            arena.n_legal[0] = count
            if purpose == LOOK:
                return OK
        if count == 0:
            break
        if purpose == WHOLE:
            return INCOMPLETE
        if n_moves == moves.size:
            return TOO_LONG
        position = 0
        if count > 1:
            for i in range(np.uint64(count)):
                weights[i] = scale * bias(data, state, legal[i], arena.preference) if scale != 0.0 else 0.0
            position = draw(weights, count, rng)
            if position < 0:
                return BAD_BIAS
        moves[n_moves] = legal[position]
        n_moves += 1
        play(data, state, moves[n_moves - 1])
    if n_moves == 0:
        return NO_MOVE
    arena.heads[HERE, N_MOVES] = n_moves
    if purpose == PLAY:
        return OK
    arena.heads[HERE, KEY] = identity(data, state)
    return judge(data, state, arena.scores[HERE], arena.probabilities)


@small_kernel
def draw(exponents, count, rng):
    """Return a position drawn with probabilities proportional to 2^exponent, or -1 if there are none such."""
    largest = exponents[0]
    for i in range(1, count):
        largest = max(largest, exponents[i])
    for i in range(count):
        exponents[i] -= largest
    powers(exponents, count)
    total = add_up(exponents, ZERO, count)
    if not is_safe(total):
        return -1
    return pick(exponents, count, rng.random() * total)


@bundle_kernel
def count_evaluation(arena):
    """Count the sequence in the arena as evaluated, and let it into the archive if it is good enough."""
    arena.counters[EVALUATIONS] += 1
    remember(arena.archive, arena, HERE, arena.counters)


@engine_kernel
def is_welcome(heads, archived, scores):
    """Tell whether the sequence in the arena might enter the archive: what is in it, or was, does not cover it."""
    for i in range(heads.shape[0]):  # noqa: SIM110 - compiled code has no all()
        if heads[i, FOUND_AT] > 0 and covers(archived, i, scores, HERE):
            return False
    return True


@bundle_kernel
def is_full(arena):
    """Tell whether one more evaluation might not fit into archive or log."""
    archive = arena.archive
    return (
        arena.counters[N_ARCHIVED] == archive.heads.shape[0]
        or arena.counters[N_LOGGED] == archive.log.shape[0]
        or needs_more_keys(archive.keys, arena.counters)
    )


def evaluate_rows(parts, arena, rng, rows, scores, begin, end):
    """Evaluate whole solutions, rows `begin` to `end`; returns how far it came, leaving a status."""
    for i in range(begin, end):
        if is_full(arena):
            arena.counters[STATUS] = NEEDS_ROOM
            return i
        for k in range(rows.shape[1]):
            arena.moves[HERE, k] = rows[i, k]
        arena.counters[STATUS] = play_to_end(parts, arena, rng, rows.shape[1], WHOLE)
        if arena.counters[STATUS] != OK:
            return i
        count_evaluation(arena)
        for k in range(scores.shape[1]):
            scores[i, k] = arena.scores[HERE, k]
    return end


def sample(parts, arena, rng, play_to_end, n):
    """Make up to n random playouts, the floor of every comparison; returns how many, leaving a status."""
    for done in range(n):
        if is_full(arena):
            arena.counters[STATUS] = NEEDS_ROOM
            return done
        arena.counters[STATUS] = play_to_end(parts, arena, rng, ZERO, EVALUATE)
        if arena.counters[STATUS] != OK:
            return done
        count_evaluation(arena)
    return n
