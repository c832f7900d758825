"""The arrays of a search in named bundles, so that its whole state can be saved, grown and compared.

Shapes use L levels, P policies, M objectives, C codes, R slots for recorded sequences, V moves of a sequence and K
candidates. A field that is annotated with a form (see state.py) is part of the state; the others are working memory.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from .jit.bundles import bundle

# Positions in Store.counters.
EVALUATIONS, N_FREE, N_ARCHIVED, N_LOGGED, LAST_IMPROVEMENT, N_CODES, STATUS, DEPTH, RESTARTS, N_UNIQUE = range(10)
# Limit of the archive (0: none), and number of solutions discarded by it.
MAX_ARCHIVED, N_DISCARDED = 10, 11
N_COUNTERS = 12

# Values of counters[STATUS]: how the last call of compiled code ended.
OK, NEEDS_ROOM, NO_MOVE, TOO_LONG, TOO_MANY_CANDIDATES, CODE_OUT_OF_RANGE = range(6)
REPEATED_MOVE, NOT_FINITE, BAD_VIOLATIONS, BAD_BIAS = range(6, 10)
# For whole solutions, if the genotype does not fit the problem.
ILLEGAL_MOVE, INCOMPLETE, WRONG_LENGTH = range(10, 13)
TOO_MANY_OBJECTIVES = 13
# For a plain problem: a method raised, or the call was interrupted.
RAISED = 14

# Columns of Pool.heads and Archive.heads. FOUND_AT is used in the archive only, the number of decisions and the
# identity in the pool only.
N_MOVES, POLICY, N_DECISIONS, KEY = range(4)
FOUND_AT = 2
N_HEADS = 4
#: The slot of a search with a single one.
HERE = 0
#: Instead of an identity: the moves decide.
NO_IDENTITY = -1

# Columns of Store.levels.
SIZE, ITERATIONS, REPETITIONS, N_FRONT = range(4)

# A row of scores is the number of violations, then the (minimised) objectives.
VIOLATIONS = 0

# Instead of a move, in segments: before the first move, and after the last one.
START, END = -1, -2

#: Penalty per violation on every objective for algorithms without constraints, as in the paper.
PENALTY = 1e6


@bundle
class Pool(NamedTuple):
    """Recorded playouts, one per slot, with the input of Adapt.

    Steps with a single legal move teach nothing and are not recorded, except in `moves`.
    """

    # Number of moves, policy that sampled them, number of decisions, identity.
    heads: Annotated[np.ndarray, "i8 [R, 4] < V+1 P V+1 *"]
    scores: Annotated[np.ndarray, "f8 [R, 1+M]"]
    moves: Annotated[np.ndarray, "i8 [R, V] < moves"]
    ends: Annotated[np.ndarray, "i8 [R, V] < K+1"]  # where the candidates of each decision step end
    chosen: Annotated[np.ndarray, "i8 [R, V] < K"]  # the candidate chosen at each decision step
    codes: Annotated[np.ndarray, "u4 [R, K] < C"]  # legal codes, step after step
    biases: Annotated[np.ndarray, "f8 [R, B]"]  # B is K, or 1 where there is no bias


@bundle
class FrontIndex(NamedTuple):
    """The rows of a table of scores that are its front, in blocks; see front_index.py."""

    blocks: Annotated[np.ndarray, "i8 [I, 33] < 33 A"]  # number of rows in a block, and the rows
    # The first of two children and the objective of the split, or 0 and a block; the last node is unused and counts
    # the blocks (0: the index is not built yet).
    nodes: Annotated[np.ndarray, "i8 [2*I, 2] < 2*I 0:"]
    # The smallest and the largest objectives of each block, then the start of the second child of each node. The
    # first number is the violations of all rows, infinite without rows.
    bounds: Annotated[np.ndarray, "f8 [4*I, 1+M]"]


@bundle
class Archive(NamedTuple):
    """The front of all evaluations: least violated, mutually non-dominated, in rows of any order."""

    # Number of moves, policy that sampled them, found at evaluation (0: unused).
    heads: Annotated[np.ndarray, "i8 [A, 3] < V+1 P 0:"]
    scores: Annotated[np.ndarray, "f8 [A, 1+M]"]
    moves: Annotated[np.ndarray, "i8 [A, V] < moves"]
    log: Annotated[np.ndarray, "f8 [G, 2+M]"]  # evaluation and scores of all solutions that entered
    # Keys and scores of all solutions evaluated, see evaluated.py; empty unless unique ones are counted.
    keys: Annotated[np.ndarray, "i8 [Q]"]
    key_scores: Annotated[np.ndarray, "f8 [Q, 1+M]"]
    free: Annotated[np.ndarray, "i8 [A] < A"]  # a stack of unused rows: as many as are not archived
    front_index: FrontIndex


@bundle
class FrontObjectives(NamedTuple):
    """The objectives of a front, to test what it covers; see `is_covered_by_front`."""

    objectives: np.ndarray  # [A, M] float64, minimised
    floors: np.ndarray  # [ceil(A / CHUNK), M] float64, the smallest of each objective in a chunk of rows


@bundle
class Selection(NamedTuple):
    """Working memory for selecting the set of a level; only `distances` is used afterwards."""

    distances: np.ndarray  # [R] float64, crowding distance of each kept sequence
    front_distances: np.ndarray  # [R] float64
    kept: np.ndarray  # [R] int64
    rest: np.ndarray  # [R] int64
    front: np.ndarray  # [R] int64
    order: np.ndarray  # [R] int64
    standing: np.ndarray  # [R] int64, result of the comparison of each slot with the others
    represented: np.ndarray  # [P] bool
    front_index: FrontIndex


@bundle
class Store(NamedTuple):
    """All arrays of a search: recorded, found and learned. Level l of the paper is row l - 1.

    A search without policies has one slot, `HERE`, and uses the first half.
    """

    pool: Pool
    archive: Archive
    counters: Annotated[np.ndarray, "i8 [12] < 0: R+1 A+1 G+1 0: C+1 0:"]
    preferences: np.ndarray  # [P, M] float64, the preference of each policy's bias
    # [max_legal] int64, working memory of a walk: legal moves, or the steps of a plain problem that were just played
    legal: np.ndarray
    n_legal: np.ndarray  # [1] int64, number of entries in use
    room: np.ndarray  # [max_candidates + PADDING] float64, or more: working memory of walk and adapt
    weights: Annotated[np.ndarray, "f8 [L, P, C]"]  # the policies of each level; NaN: bias by code, not computed yet
    # Known biases by code, the initial weights of a new search: S is C, or 1 without them.
    starts: Annotated[np.ndarray, "f8 [P, S]"]
    members: Annotated[np.ndarray, "i8 [L, R] < R"]  # slots of the set S* of each level
    # Size of the set, iterations done (level 1: playouts), results in a row without a new solution, size of the first
    # front.
    levels: Annotated[np.ndarray, "i8 [L, 4] < R+1 0: 0: R+1"]
    free: Annotated[np.ndarray, "i8 [R] < R"]  # a stack of unused slots
    factors: np.ndarray  # [max_moves] float64, working memory of adapt
    objective_weights: np.ndarray  # [W, M] float64, weighted sums to search for in turn; empty: dominance decides
    # Divisors of objectives before they are weighted.
    objective_scale: Annotated[np.ndarray, "f8 [M]"]
    selection: Annotated[Selection, None]


@bundle
class Settings(NamedTuple):
    """The parameters of an algorithm in compiled code; without policies only the first three are used."""

    has_bias: bool  # candidates have a bias of their own, which is recorded
    bias_scale: float
    n_checked: int  # playouts at the start that are checked for repeated moves
    inverse_temperature: float = 1.0
    bias_by_code: bool = False  # the bias depends on the code only, and is the initial weight of the code
    n_iterations: int = 1
    alpha: float = 1.0
    weigh_by_crowding: bool = True
    adapt_all: bool = True
    limited_repetitions: int = 0  # 0: off
    playouts_per_step: int = 1  # playouts of level 1 with the same policies
    block: int = 1  # number of candidates that Adapt computes before it writes, see adapt.py
