"""Evaluation of complete solutions: objectives, violations and their checks, for all algorithms."""

from __future__ import annotations

import numpy as np

from .archive import has_room
from .arrays import BAD_VIOLATIONS, HERE, NEEDS_ROOM, NOT_FINITE, OK, STATUS, TOO_MANY_OBJECTIVES, VIOLATIONS
from .jit.kernels import ZERO, small_kernel
from .softmax import PADDING
from .walk import SAMPLE, WHOLE

_OVERRUN = 4096

# Kernels of the problem, unbound here and bound in `compiled.py`. Signs: -1 for each maximised objective, else 1.
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
    """Prepare the working memory for objectives: missing ones stay NaN, and so must the place behind them.

    A surplus objective in the array of scores would overwrite those of another sequence.
    """
    for k in range(scores.size):
        room[k] = np.nan


@small_kernel
def take_objectives(scores, room):
    """Copy the objectives to the scores, which contain the violations; returns the status of the evaluation."""
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
    """Bias of a problem without one."""
    return 0.0


@small_kernel
def no_canonical(data, moves, n_moves):
    """Canonical form of a problem whose solutions are one list of moves each."""


def sample(parts, store, settings, rng, play, count, n):
    """Make up to n random playouts; returns their number and sets the status."""
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
    """Evaluate whole solutions, rows `begin` to `end`; returns the next row and sets the status."""
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
    """Return working memory for probabilities and objectives, with spare space behind the end to detect overruns."""
    size = max(n_candidates, n_objectives) + PADDING
    return np.zeros(size + _OVERRUN)[:size]
