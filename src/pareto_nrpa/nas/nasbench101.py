"""NAS-Bench-101 as a problem: cells built backwards, recognised by an isomorphism key, looked up in a table.

Cells are built backwards, from the output (vertex 6) to the input (vertex 0). For each vertex, the last first, the
moves choose its operation (the output has none), then the earlier vertices with an edge to it, the nearest first: 26
independent moves. A vertex that leads nowhere is left out, and its moves have no effect. Every other one has at least
one edge to it, from the input if no other is taken, so it is on a path from input to output. An edge is legal only if
the limit of 9 edges allows it and one for each vertex still without: there are no dead ends and no pruning. All 423,624
cells can be built. Any choice may be played at any step (`all_moves`): an illegal one is replaced by the nearest legal
one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..engine.jit.kernels import kernel, python_function
from ..problem.base import CompiledProblem
from ..problem.genotype import Choices
from ..result.reference import ReferenceFront
from .cells101 import MAX_EDGES, MAX_VERTICES, N_OPERATIONS, cell_text, graph_key
from .tables import Cells, Folder, read_official, read_surrogate

NAME, SURROGATE = "nas-bench-101", "nas-bench-101-surrogate"
PAPER_OBJECTIVES = ("error", "params")
SURROGATE_OBJECTIVES = ("surrogate_error", "params")

_LAST = MAX_VERTICES - 1
_IS_OPERATION = -1
#: The meaning of each move: vertex and, for an edge, its source.
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
    """The state of a playout."""

    numbers: np.ndarray  # [2] int64: moves made; edges taken and promised to vertices that have none yet
    sources: np.ndarray  # [7] int64, bit x of sources[y] is the edge from x to y
    is_used: np.ndarray  # [7] int64, whether a vertex leads to the output
    operations: np.ndarray  # [7] int64
    scratch: np.ndarray  # [5, 7] int64, working memory for the key of the cell


_DEPTH, _EDGES = 0, 1


@kernel
def initial_state(data):
    """Return a state with input and output, which requires an edge to it."""
    numbers = np.zeros(2, np.int64)
    numbers[_EDGES] = 1
    is_used = np.zeros(MAX_VERTICES, np.int64)
    is_used[0] = 1
    is_used[_LAST] = 1
    zeros = np.zeros((2, MAX_VERTICES), np.int64)
    return PartialCell(numbers, zeros[0], is_used, zeros[1], np.zeros((5, MAX_VERTICES), np.int64))


@kernel
def cost(state, target, source):
    """Return the number of edges that an edge uses: none if promised, one more for a new vertex."""
    return (state.sources[target] != 0) + (1 - state.is_used[source])


@kernel
def legal_moves(data, state, out):
    """Fill in the operations, or whether to take the edge; a single move if there is no choice."""
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
    """Fill in all choices of the step, also if only one is legal."""
    depth = state.numbers[_DEPTH]
    if depth == N_STEPS:
        return 0
    for choice in range(_CHOICES[depth]):
        out[choice] = choice
    return _CHOICES[depth]


@kernel
def play(data, state, move):
    """Play a move; an illegal one, of a changed whole solution, is replaced by the nearest legal one."""
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


class Table101(NamedTuple):
    """All cells in the order of their keys."""

    keys: np.ndarray  # [n] int64, rising
    values: np.ndarray  # [n, n_objectives] float64


@kernel
def compress(state, scratch):
    """Fill in sources and labels of the vertices in use, and return their number."""
    n = 0
    for vertex in range(MAX_VERTICES):
        if state.is_used[vertex]:
            bits = 0
            place = 0
            for source in range(vertex):
                if state.is_used[source]:
                    bits |= (state.sources[vertex] >> source & 1) << place
                    place += 1
            scratch[0, n] = bits
            scratch[1, n] = state.operations[vertex] + 1
            n += 1
    scratch[1, 0] = 0
    scratch[1, n - 1] = N_OPERATIONS + 1
    return n


@kernel
def identity(data, state):
    """Identify a cell by its key, shared by isomorphic ones."""
    n = compress(state, state.scratch)
    return graph_key(state.scratch[0], state.scratch[1], n, state.scratch[2:])


@kernel
def evaluate(data, state, out):
    """Look the cell up; one that is not in the table counts as a violation."""
    key = identity(data, state)
    row = min(np.searchsorted(data.keys, key), data.keys.size - 1)
    for k in range(out.size):
        out[k] = data.values[row, k]
    return data.keys[row] != key


def decode(moves: Sequence[int]) -> tuple[NDArray[np.int8], list[int]]:
    """Return the matrix of edges and the operations of the cell of some moves."""
    state = python_function(initial_state)(None)
    for move in moves:
        python_function(play)(None, state, move)
    n = python_function(compress)(state, state.scratch)
    sources, labels = state.scratch[0, :n], state.scratch[1, :n]
    matrix = (sources[None, :] >> np.arange(n)[:, None] & 1).astype(np.int8)
    return matrix, (labels[1:-1] - 1).tolist()


def encode(matrix: NDArray[np.int8], operations: Sequence[int]) -> list[int]:
    """Return moves that build a cell whose vertices are all on a path from input to output."""
    n = len(matrix)
    # Unused vertices are the first ones after the input.
    places = [0, *range(MAX_VERTICES - n + 1, MAX_VERTICES)]
    number = {place: vertex for vertex, place in enumerate(places)}
    moves = []
    for target, source in STEPS:
        vertex = number.get(target)
        if vertex is None or (source >= 0 and source not in number):
            moves.append(0)
        else:
            moves.append(int(operations[vertex - 1] if source < 0 else matrix[number[source], vertex]))
    return moves


def describe(moves: Sequence[int]) -> str:
    """Return a cell in a line."""
    return cell_text(*decode(moves))


def nas_bench_101(objectives: Sequence[str] = PAPER_OBJECTIVES, *, data: Folder = None) -> CompiledProblem:
    """Return NAS-Bench-101 with objectives by name, from the official file after its conversion."""
    names = tuple(objectives)
    return _problem(NAME if names == PAPER_OBJECTIVES else _spec(NAME, names), names, *read_official(names, data))


def nas_bench_101_surrogate(
    objectives: Sequence[str] = SURROGATE_OBJECTIVES, *, data: Folder = None
) -> CompiledProblem:
    """Return the space of NAS-Bench-101 with errors predicted by a model that was fitted to 30,001 real ones."""
    names = tuple(objectives)
    name = SURROGATE if names == SURROGATE_OBJECTIVES else _spec(SURROGATE, names)
    return _problem(name, names, *read_surrogate(names, data))


def _spec(name: str, objectives: Sequence[str]) -> str:
    return f"{name}:objectives={'+'.join(objectives)}"


def _problem(name: str, names: tuple[str, ...], cells: Cells, values: NDArray[np.float64]) -> CompiledProblem:
    order: Any = np.argsort(cells.keys)
    table = Table101(np.ascontiguousarray(cells.keys[order]), np.ascontiguousarray(values[order]))
    front = ReferenceFront.of(table.values, is_table=True)
    return CompiledProblem(
        data=table,
        initial_state=initial_state,
        legal_moves=legal_moves,
        all_moves=all_moves,
        play=play,
        move_code=move_code,
        evaluate=evaluate,
        identity=identity,
        n_objectives=len(names),
        n_codes=N_STEPS * N_OPERATIONS,
        max_moves=N_STEPS,
        max_legal=N_OPERATIONS,
        max_candidates=sum(CHOICES),
        distinct_codes=True,
        genotype=Choices([range(n) for n in CHOICES]),
        name=name,
        objective_names=names,
        reference_front=front,
        describe=describe,
        reference_point=front.reference_point.tolist(),
    )
