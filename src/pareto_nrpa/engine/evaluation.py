"""What a problem says of a complete solution, written down and checked; all algorithms go through here."""

from __future__ import annotations

import numpy as np

from .archive import has_room
from .arrays import BAD_VIOLATIONS, HERE, NEEDS_ROOM, NOT_FINITE, OK, STATUS, TOO_MANY_OBJECTIVES, VIOLATIONS
from .jit.kernels import ZERO, small_kernel
from .softmax import PADDING
from .walk import SAMPLE, WHOLE

_OVERRUN = 4096

# The problem's: left open here, bound in `compiled.py`. Signs are -1 for each objective that is maximised, else 1.
evaluate = None
signs = np.zeros(0)


def judge(data, state, scores, room):
    """Fill in violations and minimised objectives of a complete solution; returns a status."""
    clear_objectives(scores, room)
    scores[VIOLATIONS] = evaluate(data, state, room[: scores.size - 1])
    status = take_objectives(scores, room)
    for k in range(signs.size):
        scores[1 + k] *= signs[k]
    return status


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


@small_kernel
def no_bias(data, state, move, preference):
    """Stand in for the bias of a problem that has none."""
    return 0.0


@small_kernel
def no_canonical(data, moves, n_moves):
    """Stand in where each solution is one list of moves."""


def sample(parts, store, settings, rng, play, count, n):
    """Make up to n random playouts; returns how many, leaving a status."""
    for done in range(n):
        if not has_room(store.archive, store.counters):
            store.counters[STATUS] = NEEDS_ROOM
            return done
        store.counters[STATUS] = play(parts, store, settings, rng, ZERO, HERE, ZERO, SAMPLE)
        if store.counters[STATUS] != OK:
            return done
        count(store, HERE)
    return n


def evaluate_rows(parts, store, settings, rng, play, count, rows, scores, begin, end):
    """Evaluate whole solutions, rows `begin` to `end`; returns how far it came, leaving a status."""
    for i in range(begin, end):
        if not has_room(store.archive, store.counters):
            store.counters[STATUS] = NEEDS_ROOM
            return i
        for k in range(rows.shape[1]):
            store.pool.moves[HERE, k] = rows[i, k]
        store.counters[STATUS] = play(parts, store, settings, rng, ZERO, HERE, rows.shape[1], WHOLE)
        if store.counters[STATUS] != OK:
            return i
        count(store, HERE)
        for k in range(scores.shape[1]):
            scores[i, k] = store.pool.scores[HERE, k]
    return end


def new_room(n_candidates, n_objectives):
    """Return working memory for probabilities and objectives, with room behind the end for a problem that overruns."""
    size = max(n_candidates, n_objectives) + PADDING
    return np.zeros(size + _OVERRUN)[:size]
