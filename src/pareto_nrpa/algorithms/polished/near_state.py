"""A solution and the working memory for judging neighbours in which near moves are adjacent.

Moves have numbers from 1 on here; 0 is START and END, at both ends of the order.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from ...engine.jit.bundles import bundle

# Positions in NearState.numbers.
N_FOUND, N_JUDGED, PLACE_NOW, HEAD, SIZE, N_KICKS, LOW, HIGH, N_COVERERS = range(9)
# Positions in NearState.flags: whether to look round instead of descending, whether a descent notes what does not lead
# it on, whether costs are the same both ways, whether lists are sorted by the weights, how many kinds of neighbours.
LOOKS_ROUND, NOTES, IS_SYMMETRIC, IS_SORTED, N_KINDS = range(5)
# Positions in NearState.terms.
PRICE, MOST_GAIN, FARTHEST = range(3)
#: Whether a stretch of a neighbour is reversed: no.
FORWARD = np.int64(0)
#: Largest difference of sums of the same numbers in another order.
NOISE = 1e-10
#: Number of recent coverers that are compared with a neighbour first.
N_LAST_COVERERS = 8
#: Rows of working memory for stretches: the joined part (two), a stretch, one move, the whole.
PART, STRETCH, ONE, WHOLE = map(np.int64, (0, 2, 3, 4))
_N_ROWS = 5
# Number of neighbours to evaluate that are collected before their evaluation.
_ROOM = 256


@bundle
class Rows(NamedTuple):
    """Rows for all stretches of an order, each the join of at most two of them; empty if nothing is joined.

    Level l has blocks of 2^(l+1) places, each cut in the middle. The row of a place is the stretch between it and the
    middle of its block. Blocks are filled when they are first needed.
    """

    heads: np.ndarray  # [n + 2, W] float64, the stretch before a place
    tails: np.ndarray  # [n + 2, W] float64, the stretch from a place on
    table: np.ndarray  # [2, levels, n + 2, W] float64, stretches forward and reversed
    is_filled: np.ndarray  # [2, levels, n + 2] bool, by block
    work: np.ndarray  # [_N_ROWS, W] float64


@bundle
class NearState(NamedTuple):
    """A solution, its candidate lists, and working memory. Everything is minimised."""

    order: Annotated[np.ndarray, "i8 [n+2] < n+1"]  # the solution
    where: np.ndarray  # [n + 1] int64, the place of each move
    moves: np.ndarray  # [n + 1] int64, the moves of the numbers
    other: np.ndarray  # [n + 2] int64, a part of a neighbour written out
    queue: Annotated[np.ndarray, "i8 [n+1] < n+1"]  # a ring buffer of moves to examine
    is_queued: Annotated[np.ndarray, "b1 [n+1]"]
    kept: Annotated[np.ndarray, "i8 [n+2] < n+1"]  # the solution before the last kick
    kept_current: Annotated[np.ndarray, "f8 [1+M]"]  # its scores
    is_closing: np.ndarray  # [n + 1] bool, whether a move is like START and END
    ends: np.ndarray  # [2, n + 2] int64, the next closing from a place on, and the last up to it
    arcs: np.ndarray  # [(n + 1) * (n + 1), M] float64, costs of arcs; [1, M] with joins
    edges: np.ndarray  # [n + 2, M] float64, the arc behind each place, 0 behind the last
    turned: np.ndarray  # [n + 2, M] float64, cost difference of the arcs before a place if reversed
    pool: np.ndarray  # [2, n + 1, Q] int64, moves near to each for any weights: to stand behind it, and before it
    near: np.ndarray  # [2, n + 1, K] int64, those for the weights at hand
    weights: Annotated[np.ndarray, "f8 [M]"]  # of the sum that a descent minimises; 0 in explorations
    current: np.ndarray  # [1 + M] float64, distance from feasibility, and objectives of the solution
    slack: np.ndarray  # [M] float64, insignificant differences of sums
    delta: np.ndarray  # [M] float64, cost difference of a neighbour
    point: np.ndarray  # [M] float64, objectives of a neighbour
    best: np.ndarray  # [6] int64, the best neighbour
    best_value: np.ndarray  # [2] float64, its distance from feasibility, and its cost difference with the penalty
    terms: Annotated[np.ndarray, "f8 [3]"]
    found: np.ndarray  # [F, n] int64, neighbours that the archive does not cover
    predicted: np.ndarray  # [F, M] float64, their objectives
    coverers: np.ndarray  # [N_LAST_COVERERS, M] float64
    numbers: Annotated[np.ndarray, "i8 [9] < 257 0: n+2 n+1 n+2 -1: n+3 n+2 0:"]
    flags: np.ndarray  # [5] int64
    signs: np.ndarray  # [M] float64, signs of the problem's objectives
    costs: Annotated[Rows, None]
    limits: Annotated[Rows, None]


def new_rows(n: int, width: int) -> Rows:
    """Return rows for orders of n moves; of width 0 there are none."""
    places, levels = (n + 2, max(1, (n + 1).bit_length())) if width else (1, 1)
    width = max(width, 1)
    return Rows(
        heads=np.zeros((places, width)),
        tails=np.zeros((places, width)),
        table=np.zeros((2, levels, places, width)),
        is_filled=np.zeros((2, levels, places), dtype=bool),
        work=np.zeros((_N_ROWS, width)),
    )


def new_near_state(moves, signs, arcs, pool, n_near, cost_width, limit_width):
    """Return working memory for orders of `moves`, of which the first is START."""
    n, m = len(moves) - 1, len(signs)
    return NearState(
        order=np.zeros(n + 2, np.int64),
        where=np.zeros(n + 1, np.int64),
        moves=moves,
        other=np.zeros(n + 2, np.int64),
        queue=np.zeros(n + 1, np.int64),
        is_queued=np.zeros(n + 1, dtype=bool),
        kept=np.zeros(n + 2, np.int64),
        kept_current=np.zeros(1 + m),
        is_closing=np.zeros(n + 1, dtype=bool),
        ends=np.array([np.full(n + 2, n + 1), np.zeros(n + 2)], dtype=np.int64),
        arcs=arcs.reshape(-1, m) if arcs.size else np.zeros((1, m)),
        edges=np.zeros((n + 2, m)),
        turned=np.zeros((n + 2, m)),
        # Writable, and of one layout for all problems: machine code depends on both.
        pool=np.array(np.broadcast_to(pool, (2, *pool.shape[1:])), order="C"),
        near=np.array(np.broadcast_to(pool[:, :, :n_near], (2, n + 1, min(n_near, pool.shape[2]))), order="C"),
        weights=np.zeros(m),
        current=np.zeros(1 + m),
        slack=np.zeros(m),
        delta=np.zeros(m),
        point=np.zeros(m),
        best=np.zeros(6, np.int64),
        best_value=np.zeros(2),
        terms=np.zeros(3),
        found=np.zeros((_ROOM, n), np.int64),
        predicted=np.zeros((_ROOM, m)),
        coverers=np.zeros((N_LAST_COVERERS, m)),
        numbers=np.zeros(9, np.int64),
        flags=np.zeros(5, np.int64),
        signs=np.array(signs, dtype=float),
        costs=new_rows(n, cost_width),
        limits=new_rows(n, limit_width),
    )
