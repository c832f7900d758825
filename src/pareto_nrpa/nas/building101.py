"""How a cell of NAS-Bench-101 is built move by move, so that every complete sequence is a valid cell.

Cells grow backwards, from the output (vertex 6) to the input (vertex 0). For each vertex, the last first, the moves say
which operation it has (the output has none), then from which earlier vertices an edge leads to it, the nearest first:
26 moves in all, each a choice of its own. A vertex that leads nowhere is left out, and its moves mean nothing. So every
vertex leads to the output, and from the input, as each has at least one edge to it: if no other was taken, the one from
the input is. An edge is taken only where 9 edges are enough for it and one more for each vertex still without: there
is no dead end, and nothing is ever pruned. All 423,624 cells can be built. Any choice at any step may be played all the
same (`all_moves`): one that cannot be had does the nearest thing that can.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..engine.jit.kernels import kernel
from .cells101 import MAX_EDGES, MAX_VERTICES, N_OPERATIONS

_LAST = MAX_VERTICES - 1
_IS_OPERATION = -1
#: Vertex and, for an edge, where it comes from: the meaning of each move.
STEPS = [
    (target, source)
    for target in range(_LAST, 0, -1)
    for source in ([_IS_OPERATION] if target < _LAST else []) + list(range(target - 1, -1, -1))
]
N_STEPS = len(STEPS)
#: The number of choices at each step.
CHOICES = [N_OPERATIONS if source == _IS_OPERATION else 2 for _, source in STEPS]
_TARGETS = np.array([target for target, _ in STEPS])
_SOURCES = np.array([source for _, source in STEPS])
_CHOICES = np.array(CHOICES)


class PartialCell(NamedTuple):
    """What one playout writes to."""

    numbers: np.ndarray  # [2] int64: moves made; edges taken and promised to vertices that have none yet
    sources: np.ndarray  # [7] int64, bit x of sources[y] is the edge from x to y
    is_used: np.ndarray  # [7] int64, whether a vertex leads to the output
    operations: np.ndarray  # [7] int64
    scratch: np.ndarray  # [5, 7] int64, working memory for the key of the cell


_DEPTH, _EDGES = 0, 1


@kernel
def initial_state(data):
    """Begin with the output, which needs an edge to it, and the input."""
    numbers = np.zeros(2, np.int64)
    numbers[_EDGES] = 1
    is_used = np.zeros(MAX_VERTICES, np.int64)
    is_used[0] = 1
    is_used[_LAST] = 1
    zeros = np.zeros((2, MAX_VERTICES), np.int64)
    return PartialCell(numbers, zeros[0], is_used, zeros[1], np.zeros((5, MAX_VERTICES), np.int64))


@kernel
def cost(state, target, source):
    """Return how many more edges it takes to add one: none for the one promised, one more for a new vertex."""
    return (state.sources[target] != 0) + (1 - state.is_used[source])


@kernel
def legal_moves(data, state, out):
    """Fill in the operations, or whether to take the edge; a single move where there is nothing to decide."""
    depth = state.numbers[_DEPTH]
    if depth == N_STEPS:
        return 0
    target = _TARGETS[depth]
    source = _SOURCES[depth]
    out[0] = 0
    if state.is_used[target] == 0:
        return 1
    if source == _IS_OPERATION:
        for operation in range(N_OPERATIONS):
            out[operation] = operation
        return N_OPERATIONS
    if source == 0 and state.sources[target] == 0:
        out[0] = 1
        return 1
    if state.numbers[_EDGES] + cost(state, target, source) > MAX_EDGES:
        return 1
    out[1] = 1
    return 2


@kernel
def all_moves(data, state, out):
    """Fill in all choices of the step, also where there is nothing to decide."""
    depth = state.numbers[_DEPTH]
    if depth == N_STEPS:
        return 0
    for choice in range(_CHOICES[depth]):
        out[choice] = choice
    return _CHOICES[depth]


@kernel
def play(data, state, move):
    """Make a move; one that is not legal here, in a solution put together elsewhere, does the nearest legal thing."""
    depth = state.numbers[_DEPTH]
    target = _TARGETS[depth]
    source = _SOURCES[depth]
    state.numbers[_DEPTH] += 1
    if state.is_used[target] == 0:
        return
    if source == _IS_OPERATION:
        state.operations[target] = move
        return
    edges = state.numbers[_EDGES] + cost(state, target, source)
    is_needed = source == 0 and state.sources[target] == 0
    if is_needed or (move == 1 and edges <= MAX_EDGES):
        state.sources[target] |= 1 << source
        state.is_used[source] = 1
        state.numbers[_EDGES] = edges


@kernel
def move_code(data, state, move):
    """Learn a weight for each choice at each step."""
    return state.numbers[_DEPTH] * N_OPERATIONS + move
