"""What a search is made of: named bundles of arrays, so that all of its state can be saved, grown and compared.

Shapes use L levels, P policies, M objectives, C codes, R slots for recorded sequences, V moves of a sequence and K
candidates. A field that is annotated with a form (see state.py) is part of the state; the others are working memory.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from .jit.bundles import bundle

# Positions in Store.counters.
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
# Of a plain problem: a method raised, or the call was interrupted before it could say anything.
RAISED = 14

# Columns of Pool.heads and Archive.heads. What is found at an evaluation counts only in the archive, what branches
# only in the pool, as does what the problem says by which equal solutions are known.
N_MOVES, POLICY, N_DECISIONS, KEY = range(4)
FOUND_AT = 2
N_HEADS = 4
#: The slot of a search that has one only.
HERE = 0
#: In the place of a key: the problem does not say, the moves decide.
NO_IDENTITY = -1

# Columns of Store.levels.
SIZE, ITERATIONS, REPETITIONS, N_FRONT = range(4)

# A row of scores is the number of violations, then the (minimised) objectives.
VIOLATIONS = 0

# In the place of a move, where a problem judges segments: what lies before the first one, and after the last.
START, END = -1, -2

#: What a violation adds to every objective where an algorithm takes no constraints, as in the paper.
PENALTY = 1e6


@bundle
class Pool(NamedTuple):
    """Recorded playouts, one per slot, with all that Adapt needs to know of them.

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
    """Which rows of a table of scores are its front, ordered so that few must be compared; see front_index.py."""

    blocks: Annotated[np.ndarray, "i8 [I, 33] < 33 A"]  # how many rows there are in a block, and which
    # The first of two children and the objective that parts them, or 0 and a block; the last node is never one, and
    # counts the blocks (0: the index is still to be made).
    nodes: Annotated[np.ndarray, "i8 [2*I, 2] < 2*I 0:"]
    # The smallest and the largest objectives of each block, then where the second child of each node begins. The first
    # number is the violations of all rows, infinite if there are none.
    bounds: Annotated[np.ndarray, "f8 [4*I, 1+M]"]


@bundle
class Archive(NamedTuple):
    """The best of all that was evaluated: least violated, mutually non-dominated, in rows of no particular order."""

    # Number of moves, policy that sampled them, found at evaluation (0: unused).
    heads: Annotated[np.ndarray, "i8 [A, 3] < V+1 P 0:"]
    scores: Annotated[np.ndarray, "f8 [A, 1+M]"]
    moves: Annotated[np.ndarray, "i8 [A, V] < moves"]
    log: Annotated[np.ndarray, "f8 [G, 2+M]"]  # evaluation and scores of all that ever entered
    # A table of all solutions evaluated, see evaluated.py; empty unless they are counted. Then their scores.
    keys: Annotated[np.ndarray, "i8 [Q]"]
    key_scores: Annotated[np.ndarray, "f8 [Q, 1+M]"]
    free: Annotated[np.ndarray, "i8 [A] < A"]  # a stack of unused rows: as many as are not archived
    front_index: FrontIndex


@bundle
class FrontObjectives(NamedTuple):
    """The objectives of a front, for telling what it covers; see `is_covered_by_front`."""

    objectives: np.ndarray  # [A, M] float64, minimised
    floors: np.ndarray  # [ceil(A / CHUNK), M] float64, the smallest of each objective in a chunk of rows


@bundle
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


@bundle
class Store(NamedTuple):
    """All that a search has recorded, found and learned. Level l of the paper is row l - 1.

    A search without policies has one slot, `HERE`, and uses the first half.
    """

    pool: Pool
    archive: Archive
    counters: Annotated[np.ndarray, "i8 [12] < 0: R+1 A+1 G+1 0: C+1 0:"]
    preferences: np.ndarray  # [P, M] float64, what each policy's bias should care for
    # [max_legal] int64, working memory of a walk: legal moves, or the steps of a plain problem that were just played
    legal: np.ndarray
    n_legal: np.ndarray  # [1] int64, how much of it
    room: np.ndarray  # [max_candidates + PADDING] float64, or more: working memory of walk and adapt
    weights: Annotated[np.ndarray, "f8 [L, P, C]"]  # the policies of each level; NaN: bias by code, not met yet
    # Biases by code as far as met, which a new search starts from: S is C, or 1 where there are none.
    starts: Annotated[np.ndarray, "f8 [P, S]"]
    members: Annotated[np.ndarray, "i8 [L, R] < R"]  # slots of the set S* of each level
    # Size of the set, iterations done (level 1: playouts), results in a row that brought nothing new, size of the first
    # front.
    levels: Annotated[np.ndarray, "i8 [L, 4] < R+1 0: 0: R+1"]
    free: Annotated[np.ndarray, "i8 [R] < R"]  # a stack of unused slots
    factors: np.ndarray  # [max_moves] float64, working memory of adapt
    objective_weights: np.ndarray  # [W, M] float64, weighted sums to search for in turn; none: dominance decides
    # What objectives are divided by before they are weighed.
    objective_scale: Annotated[np.ndarray, "f8 [M]"]
    selection: Annotated[Selection, None]


@bundle
class Settings(NamedTuple):
    """The parameters of an algorithm as compiled code sees them; without policies the first three matter."""

    has_bias: bool  # candidates have a bias of their own, which is recorded
    bias_scale: float
    n_checked: int  # playouts at the start that are checked for repeated moves
    inverse_temperature: float = 1.0
    bias_by_code: bool = False  # the bias depends on the code alone: it is what the weight of a code starts from
    n_iterations: int = 1
    alpha: float = 1.0
    weigh_by_crowding: bool = True
    adapt_all: bool = True
    limited_repetitions: int = 0  # 0: off
    playouts_per_step: int = 1  # of level 1, all with the same policies
    block: int = 1  # how many candidates Adapt may work on before it writes, see adapt.py
