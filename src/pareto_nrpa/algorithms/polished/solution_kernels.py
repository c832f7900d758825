"""Compiled evaluation of complete solutions without their legal moves."""

from __future__ import annotations

import numpy as np

from ...engine.arrays import KEY, N_DECISIONS, N_MOVES, NO_IDENTITY, POLICY, VIOLATIONS
from ...engine.evaluation import clear_objectives, take_objectives
from ...engine.jit.bundles import borrowed, keep

# Unbound here: the kernels of one problem, and its signs.
initial_state = play = canonical = evaluate_solution = judge = judge_moves = identity = None
signs = np.zeros(0)


def evaluate_moves(data, store, policy, slot, moves):
    """Evaluate moves in their canonical form and write them into a slot; returns a status."""
    canonical(data, moves, moves.size)
    heads = store.pool.heads[slot]
    heads[POLICY] = policy
    heads[N_MOVES] = moves.size
    heads[N_DECISIONS] = 0
    heads[KEY] = NO_IDENTITY
    for i in range(moves.size):
        store.pool.moves[slot, i] = moves[i]
    return judge_moves(data, store.pool.scores[slot], store.pool.heads[slot], moves, store.room)


def judge_at_once(data, scores, heads, moves, room):
    """Evaluate moves by `evaluate_solution` of the problem."""
    clear_objectives(scores, room)
    scores[VIOLATIONS] = evaluate_solution(data, moves, room[: scores.size - 1])
    status = take_objectives(scores, room)
    for k in range(signs.size):
        scores[1 + k] *= signs[k]
    return status


def judge_by_playing(data, scores, heads, moves, room):
    """Play moves one after the other, and evaluate the final state."""
    state = initial_state(data)
    lent = borrowed(state)
    for i in range(moves.size):
        play(data, lent, moves[i])
    heads[KEY] = identity(data, lent)
    status = judge(data, lent, scores, room)
    keep(state)
    return status
