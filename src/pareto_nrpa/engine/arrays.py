"""What a search is made of: named bundles of arrays, so that all of its state can be saved, grown and compared.

Shapes use L levels, P policies, M objectives, C codes, R slots for recorded sequences.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Positions in SearchState.counters.
EVALUATIONS, N_FREE, N_ARCHIVED, N_LOGGED, LAST_IMPROVEMENT, N_CODES, STATUS, DEPTH, RESTARTS, N_UNIQUE = range(10)
# The most that the archive may hold (0: no limit), and how many it had to discard for it.
MAX_ARCHIVED, N_DISCARDED = 10, 11
N_COUNTERS = 12

# Values of counters[STATUS]: how the last call of compiled code ended.
OK, NEEDS_ROOM, NO_MOVE, TOO_LONG, TOO_MANY_CANDIDATES, CODE_OUT_OF_RANGE = range(6)
REPEATED_MOVE, NOT_FINITE, BAD_VIOLATIONS, BAD_BIAS = range(6, 10)
# Of whole solutions, where the genotype of a problem promises too much.
ILLEGAL_MOVE, INCOMPLETE, WRONG_LENGTH = range(10, 13)
TOO_MANY_OBJECTIVES = 13

# Columns of Pool.heads and Archive.heads. What is found at an evaluation counts only in the archive, what branches
# only in the pool, as does what the problem says by which equal solutions are known.
N_MOVES, POLICY, N_DECISIONS, KEY = range(4)
FOUND_AT = 2
N_HEADS = 4
#: In the place of a key: the problem does not say, the moves decide.
NO_IDENTITY = -1

# Columns of SearchState.levels.
SIZE, ITERATIONS, REPETITIONS, N_FRONT = range(4)

# A row of scores is the number of violations, then the (minimised) objectives.
VIOLATIONS = 0

# In the place of a move, where a problem judges segments: what lies before the first one, and after the last.
START, END = -1, -2

#: What a violation adds to every objective where an algorithm takes no constraints, as in the paper.
PENALTY = 1e6


class Pool(NamedTuple):
    """Recorded playouts, one per slot, with all that Adapt needs to know of them.

    Steps with a single legal move teach nothing and are not recorded, except in `moves`.
    """

    heads: np.ndarray  # [R, 4] int64: number of moves, policy that sampled them, number of decisions, identity
    scores: np.ndarray  # [R, 1 + M] float64
    moves: np.ndarray  # [R, max_moves] int64
    ends: np.ndarray  # [R, max_moves] int64, where the candidates of each decision step end
    chosen: np.ndarray  # [R, max_moves] int64, the candidate chosen at each decision step
    codes: np.ndarray  # [R, max_candidates] uint32, legal codes, step after step
    biases: np.ndarray  # [R, max_candidates] float64, or [R, 1] where there is no bias


class FrontIndex(NamedTuple):
    """Which rows of a table of scores are its front, ordered so that few must be compared; see front_index.py.

    Bundles are passed by value, at every evaluation: the fewer arrays the better.
    """

    blocks: np.ndarray  # [K, 1 + block] int64: how many rows there are in a block, and which
    # [2 K, 2] int64: the first of two children and the objective that parts them, or 0 and a block; the last node is
    # never one, and counts the blocks (0: the index is still to be made).
    nodes: np.ndarray
    # [4 K, 1 + M] float64: the smallest and the largest objectives of each block, then where the second child of each
    # node begins. The first number is the violations of all rows, infinite if there are none.
    bounds: np.ndarray


class Archive(NamedTuple):
    """The best of all that was evaluated: least violated, mutually non-dominated, in rows of no particular order."""

    heads: np.ndarray  # [A, 3] int64: number of moves, policy that sampled them, found at evaluation (0: unused)
    scores: np.ndarray  # [A, 1 + M] float64
    moves: np.ndarray  # [A, max_moves] int64
    log: np.ndarray  # [G, 2 + M] float64: evaluation and scores of all that ever entered
    keys: np.ndarray  # [K] int64, a table of all solutions evaluated, see evaluated.py; empty unless they are counted
    key_scores: np.ndarray  # [K, 1 + M] float64, their scores
    free: np.ndarray  # [A] int64, a stack of unused rows: as many as are not archived
    front_index: FrontIndex


class FrontObjectives(NamedTuple):
    """The objectives of a front, for telling what it covers; see `is_covered_by_front`."""

    objectives: np.ndarray  # [A, M] float64, minimised
    floors: np.ndarray  # [ceil(A / CHUNK), M] float64, the smallest of each objective in a chunk of rows


class Selection(NamedTuple):
    """Working memory for choosing the set of a level; only `distances` means something afterwards."""

    distances: np.ndarray  # [R] float64, crowding distance of each kept sequence
    front_distances: np.ndarray  # [R] float64
    kept: np.ndarray  # [R] int64
    rest: np.ndarray  # [R] int64
    front: np.ndarray  # [R] int64
    order: np.ndarray  # [R] int64
    standing: np.ndarray  # [R] int64, how each slot compares with the others
    represented: np.ndarray  # [P] bool
    front_index: FrontIndex


class SearchState(NamedTuple):
    """A search between two evaluations. Level l of the paper is row l - 1."""

    weights: np.ndarray  # [L, P, C] float64, the policies of each level; NaN: bias by code, not met yet
    preferences: np.ndarray  # [P, M] float64, what each policy's bias should care for
    starts: np.ndarray  # [P, C] float64, biases by code as far as met, which a new search starts from; else [P, 1]
    members: np.ndarray  # [L, R] int64, slots of the set S* of each level
    # [L, 4] int64: size of the set, iterations done (level 1: playouts), results in a row that brought nothing new,
    # size of the first front
    levels: np.ndarray
    free: np.ndarray  # [R] int64, a stack of unused slots
    counters: np.ndarray  # [N_COUNTERS] int64
    legal: np.ndarray  # [max_legal] int64, working memory of a playout
    probabilities: np.ndarray  # [max_candidates + PADDING] float64, or more: working memory of playout and adapt
    factors: np.ndarray  # [max_moves] float64, working memory of adapt
    objective_weights: np.ndarray  # [W, M] float64, weighted sums to search for in turn; none: dominance decides
    objective_scale: np.ndarray  # [M] float64, what objectives are divided by before they are weighed
    pool: Pool
    archive: Archive
    selection: Selection


class Settings(NamedTuple):
    """The parameters of the algorithm as compiled code sees them."""

    n_iterations: int
    alpha: float
    inverse_temperature: float
    bias_scale: float
    has_bias: bool  # candidates are recorded with a bias of their own
    bias_by_code: bool  # the bias depends on the code alone: it is what the weight of a code starts from
    weigh_by_crowding: bool
    adapt_all: bool
    limited_repetitions: int  # 0: off
    playouts_per_step: int  # of level 1, all with the same policies
    block: int  # how many candidates Adapt may work on before it writes, see adapt.py
    n_checked: int  # playouts at the start that are checked for repeated moves
