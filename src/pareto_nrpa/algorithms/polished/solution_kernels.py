"""Compiled code that judges a complete solution without its legal moves."""

from __future__ import annotations

import numpy as np

from ...engine.arrays import KEY, N_DECISIONS, N_MOVES, NO_IDENTITY, POLICY, VIOLATIONS
from ...engine.evaluation import clear_objectives, take_objectives

# Left open here: the kernels of one problem, and its signs.
data_class = initial_state = play = canonical = evaluate_solution = judge = judge_moves = identity = None
signs = np.zeros(0)


def evaluate_moves(parts, machine, policy, slot, moves):
    """Judge moves in their canonical form and write them into a slot; returns a status."""
    data = data_class(*parts)
    canonical(data, moves, moves.size)
    heads = machine.pool.heads[slot]
    heads[POLICY] = policy
    heads[N_MOVES] = moves.size
    heads[N_DECISIONS] = 0
    heads[KEY] = NO_IDENTITY
    for i in range(moves.size):
        machine.pool.moves[slot, i] = moves[i]
    return judge_moves(data, machine.pool.scores[slot], machine.pool.heads[slot], moves, machine.probabilities)


def judge_at_once(data, scores, heads, moves, room):
    """Judge moves by the kernel of the problem that does."""
    clear_objectives(scores, room)
    scores[VIOLATIONS] = evaluate_solution(data, moves, room[: scores.size - 1])
    status = take_objectives(scores, room)
    for k in range(signs.size):
        scores[1 + k] *= signs[k]
    return status


def judge_by_playing(data, scores, heads, moves, room):
    """Play moves one after the other, and judge what comes of it."""
    state = initial_state(data)
    for i in range(moves.size):
        play(data, state, moves[i])
    heads[KEY] = identity(data, state)
    return judge(data, state, scores, room)
