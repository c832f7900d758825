"""Nested Monte-Carlo Search (Cazenave 2009) for a weighted sum of the objectives, as a stack of levels."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from ...engine.archive import has_room, set_scale
from ...engine.arrays import HERE, N_MOVES, NEEDS_ROOM, OK, STATUS, VIOLATIONS
from ...engine.jit.bundles import bundle
from ...engine.jit.kernels import ZERO, bundle_kernel, engine_kernel, small_kernel
from ...engine.walk import LOOK, SAMPLE

# Columns of Nest.levels: depth at which a level chooses, number of candidates, the next of them to try, and the
# length of its best sequence (0: none yet).
DEPTH, N_CANDIDATES, NEXT, BEST_LENGTH = range(4)
N_COLUMNS = 4
# Positions in Nest.numbers.
TOP, WEIGHT, N_GIVEN = range(3)
# A level whose legal moves at its depth are not listed yet.
UNKNOWN = -1
NO_LEVEL = -1
# Instead of the number of given moves: they are not determined yet.
NOT_CHOSEN = -1


@bundle
class Nest(NamedTuple):
    """The levels of a nested search; level l of the literature is row l - 1. All share the moves of the store."""

    levels: Annotated[np.ndarray, "i8 [=, 4] < D+1 -1:H+1 H+1 D+1"]
    candidates: Annotated[np.ndarray, "i8 [=, H] < moves"]
    best_moves: Annotated[np.ndarray, "i8 [=, =] < moves"]
    best_scores: Annotated[np.ndarray, "f8 [=, 2]"]  # violations, weighted sum
    given: Annotated[np.ndarray, "i8 [=] < moves"]  # the moves chosen by the active levels
    weights: np.ndarray  # [W, M] float64, one search for each row, in turn
    scale: Annotated[np.ndarray, "f8 [M]"]  # divisors of objectives before they are weighted
    value: np.ndarray  # [1, 2] float64, violations and weighted sum of the last playout
    numbers: Annotated[np.ndarray, "i8 [3] < -1:N -1:W -1:D+1"]


def nested_search(parts, store, settings, rng, play, count, nest, n):
    """Make up to n evaluations; returns their number and sets the status."""
    done = 0
    while done < n:
        if not has_room(store.archive, store.counters):
            store.counters[STATUS] = NEEDS_ROOM
            return done
        if nest.numbers[N_GIVEN] == NOT_CHOSEN:
            if nest.numbers[TOP] == NO_LEVEL:
                begin(nest.levels, nest.numbers, nest.weights)
                set_scale(nest.scale, store.archive.heads, store.archive.scores)
            store.counters[STATUS] = to_next_playout(parts, store, settings, rng, play, nest)
            if store.counters[STATUS] != OK:
                return done
            if nest.numbers[TOP] == NO_LEVEL:
                continue  # this search has ended
        level = nest.numbers[TOP]
        store.counters[STATUS] = play(parts, store, settings, rng, ZERO, HERE, nest.numbers[N_GIVEN], SAMPLE)
        if store.counters[STATUS] != OK:
            return done
        nest.numbers[N_GIVEN] = NOT_CHOSEN
        count(store, HERE)
        done += 1
        weigh(store.pool.scores, nest.weights, nest.numbers[WEIGHT], nest.scale, nest.value)
        if is_better(nest.value, 0, nest.best_scores, level, nest.levels[level, BEST_LENGTH]):
            take_over(
                nest.levels[level],
                nest.best_moves[level],
                nest.best_scores[level],
                store.pool.moves[HERE],
                store.pool.heads[HERE, N_MOVES],
                nest.value[0],
            )
    return n


@engine_kernel
def begin(levels, numbers, weights):
    """Begin a search from the start, for the next weight vector."""
    top = levels.shape[0] - 1
    open_level(levels[top], 0)
    numbers[TOP] = top
    numbers[WEIGHT] = (numbers[WEIGHT] + 1) % weights.shape[0]


@small_kernel
def open_level(row, depth):
    """Start a level at a depth, without a best sequence."""
    row[DEPTH] = depth
    row[N_CANDIDATES] = UNKNOWN
    row[NEXT] = 0
    row[BEST_LENGTH] = 0


@bundle_kernel
def to_next_playout(parts, store, settings, rng, play, nest):
    """Continue until the top level has a sequence to evaluate: its moves are then in the store.

    That is a candidate of level 1 to complete by a playout, or a sequence that was complete when its level began.
    """
    levels = nest.levels
    numbers = nest.numbers
    while numbers[TOP] != NO_LEVEL:
        level = numbers[TOP]
        row = levels[level]
        if row[N_CANDIDATES] == UNKNOWN:
            copy_moves(nest.given, store.pool.moves[HERE], row[DEPTH])
            status = play(parts, store, settings, rng, ZERO, HERE, row[DEPTH], LOOK)
            if status != OK:
                return status
            count = store.n_legal[0]
            if count > nest.candidates.shape[1]:
                return NEEDS_ROOM
            copy_moves(store.legal, nest.candidates[level], count)
            row[N_CANDIDATES] = count
            row[NEXT] = 0
        if row[N_CANDIDATES] == 0 and row[BEST_LENGTH] == 0:
            numbers[N_GIVEN] = row[DEPTH]
            return OK
        if row[N_CANDIDATES] == 0:
            numbers[TOP] = hand_up(level, levels, nest.best_moves, nest.best_scores)
        elif row[NEXT] == row[N_CANDIDATES]:
            # All candidates were tried: play the move of the best sequence.
            nest.given[row[DEPTH]] = nest.best_moves[level, row[DEPTH]]
            row[DEPTH] += 1
            row[N_CANDIDATES] = UNKNOWN
        else:
            nest.given[row[DEPTH]] = nest.candidates[level, row[NEXT]]
            row[NEXT] += 1
            if level == 0:
                numbers[N_GIVEN] = row[DEPTH] + 1
                copy_moves(nest.given, store.pool.moves[HERE], numbers[N_GIVEN])
                return OK
            open_level(levels[level - 1], row[DEPTH] + 1)
            numbers[TOP] = level - 1
    return OK


@engine_kernel
def copy_moves(source, target, count):
    """Copy the first moves of a sequence."""
    for i in range(count):
        target[i] = source[i]


@engine_kernel
def hand_up(level, levels, best_moves, best_scores):
    """End a level and return its best sequence to the one above; returns the level that continues."""
    above = level + 1
    if above == levels.shape[0]:
        return NO_LEVEL
    length = levels[level, BEST_LENGTH]
    if length > 0 and is_better(best_scores, level, best_scores, above, levels[above, BEST_LENGTH]):
        take_over(levels[above], best_moves[above], best_scores[above], best_moves[level], length, best_scores[level])
    return above


@small_kernel
def is_better(scores, row, others, other, length):
    """Tell whether a sequence is better than the best one, or the first: fewer violations, then the weighted sum."""
    if length == 0 or scores[row, 0] != others[other, 0]:
        return length == 0 or scores[row, 0] < others[other, 0]
    return scores[row, 1] < others[other, 1]


@engine_kernel
def take_over(row, best_moves, best_scores, moves, length, scores):
    """Store a sequence as the best one of a level."""
    for i in range(length):
        best_moves[i] = moves[i]
    row[BEST_LENGTH] = length
    for k in range(scores.size):
        best_scores[k] = scores[k]


@engine_kernel
def weigh(scores, weights, which, scale, value):
    """Fill in violations and weighted sum of the sequence in the store."""
    value[0, 0] = scores[HERE, VIOLATIONS]
    value[0, 1] = 0.0
    for k in range(scale.size):
        value[0, 1] += weights[which, k] * scores[HERE, 1 + k] / scale[k]
