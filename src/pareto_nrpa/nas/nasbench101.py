"""NAS-Bench-101 as a problem: cells built backwards, recognised by an isomorphism key, looked up in a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..engine.jit.kernels import kernel, python_function
from ..problem.base import CompiledProblem
from ..problem.genotype import Choices
from ..result.reference import ReferenceFront
from .building101 import CHOICES, N_STEPS, STEPS, all_moves, initial_state, legal_moves, move_code, play
from .cells101 import MAX_VERTICES, N_OPERATIONS, cell_text
from .graphs101 import graph_key
from .table101 import read_official, read_surrogate

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .table101 import Cells

NAME, SURROGATE = "nas-bench-101", "nas-bench-101-surrogate"
PAPER_OBJECTIVES = ("error", "params")
SURROGATE_OBJECTIVES = ("surrogate_error", "params")


class Table101(NamedTuple):
    """All cells in the order of their keys."""

    keys: np.ndarray  # [n] int64, rising
    values: np.ndarray  # [n, n_objectives] float64


@kernel
def compress(state, scratch):
    """Fill in sources and labels of the vertices in use, and return how many they are."""
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
    """Tell cells apart by their key: isomorphic ones share it."""
    n = compress(state, state.scratch)
    return graph_key(state.scratch[0], state.scratch[1], n, state.scratch[2:])


@kernel
def evaluate(data, state, out):
    """Look the cell up; one that is not in the table, as no cell of the space should be, counts as a violation."""
    key = identity(data, state)
    row = min(np.searchsorted(data.keys, key), data.keys.size - 1)
    for k in range(out.size):
        out[k] = data.values[row, k]
    return data.keys[row] != key


def decode(moves: Sequence[int]) -> tuple[NDArray[np.int8], list[int]]:
    """Return the matrix of edges and the operations of the cell that moves build."""
    state = python_function(initial_state)(None)
    for move in moves:
        python_function(play)(None, state, move)
    n = python_function(compress)(state, state.scratch)
    sources, labels = state.scratch[0, :n], state.scratch[1, :n]
    matrix = (sources[None, :] >> np.arange(n)[:, None] & 1).astype(np.int8)
    return matrix, (labels[1:-1] - 1).tolist()


def encode(matrix: NDArray[np.int8], operations: Sequence[int]) -> list[int]:
    """Return moves that build a cell whose vertices are all on a way from input to output."""
    n = len(matrix)
    # Vertices that the cell does not have are the first ones after the input.
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


def nas_bench_101(
    objectives: Sequence[str] = PAPER_OBJECTIVES, *, data: str | os.PathLike[str] | None = None
) -> CompiledProblem:
    """Return NAS-Bench-101 with objectives by name, from the official file after its conversion."""
    names = tuple(objectives)
    return _problem(NAME if names == PAPER_OBJECTIVES else _spec(NAME, names), names, *read_official(names, data))


def nas_bench_101_surrogate(
    objectives: Sequence[str] = SURROGATE_OBJECTIVES, *, data: str | os.PathLike[str] | None = None
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
