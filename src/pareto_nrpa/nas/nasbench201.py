"""NAS-Bench-201 as a problem: six moves, each the operation of an edge; cells are looked up in a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..engine.jit.kernels import kernel
from ..problem.base import CompiledProblem
from ..problem.genotype import Choices
from ..result.reference import ReferenceFront
from .cells201 import N_EDGES, N_OPERATIONS, cell_string
from .tables import Folder, read_201

NAME = "nas-bench-201"
#: The paper's: validation error on CIFAR-10 in per cent, and the number of parameters.
PAPER_OBJECTIVES = ("c10_error", "params")


class Table201(NamedTuple):
    """All cells; the moves of a cell are the digits of its row."""

    values: np.ndarray  # [15625, n_objectives] float64
    missing: np.ndarray  # [15625] int64, objectives without a value


class Cell201(NamedTuple):
    """The state of a playout."""

    numbers: np.ndarray  # [2] int64: edges decided, their operations as a number of base 5


_DEPTH, _ROW = 0, 1


@kernel
def initial_state(data):
    """Return a state without edges."""
    return Cell201(np.zeros(2, np.int64))


@kernel
def legal_moves(data, state, out):
    """Fill in all operations, on every edge."""
    if state.numbers[_DEPTH] == N_EDGES:
        return 0
    for operation in range(N_OPERATIONS):
        out[operation] = operation
    return N_OPERATIONS


@kernel
def play(data, state, move):
    """Put an operation on the next edge."""
    state.numbers[_ROW] = N_OPERATIONS * state.numbers[_ROW] + move
    state.numbers[_DEPTH] += 1


@kernel
def move_code(data, state, move):
    """Learn a weight for each operation on each edge."""
    return state.numbers[_DEPTH] * N_OPERATIONS + move


@kernel
def evaluate(data, state, out):
    """Look the cell up; an objective without a value counts as a violation."""
    for k in range(out.size):
        out[k] = data.values[state.numbers[_ROW], k]
    return data.missing[state.numbers[_ROW]]


@kernel
def identity(data, state):
    """Identify a cell by its row."""
    return state.numbers[_ROW]


def nas_bench_201(objectives: Sequence[str] = PAPER_OBJECTIVES, *, data: Folder = None) -> CompiledProblem:
    """Return NAS-Bench-201 with objectives by name, all minimised; see `tables.OBJECTIVES_201`.

    Parameters
    ----------
    objectives
        One or more names, such as `("c10_error", "params", "hw_edgegpu_latency")`.
    data
        The folder of the table, instead of `$PARETO_NRPA_DATA` and the user's cache.
    """
    names = tuple(objectives)
    values, missing = read_201(names, data)
    front = ReferenceFront.of(values[missing == 0], is_table=True)
    return CompiledProblem(
        data=Table201(values, missing),
        initial_state=initial_state,
        legal_moves=legal_moves,
        play=play,
        move_code=move_code,
        evaluate=evaluate,
        identity=identity,
        n_objectives=len(names),
        n_codes=N_EDGES * N_OPERATIONS,
        max_moves=N_EDGES,
        max_legal=N_OPERATIONS,
        max_candidates=N_EDGES * N_OPERATIONS,
        distinct_codes=True,
        genotype=Choices([range(N_OPERATIONS)] * N_EDGES),
        name=NAME if names == PAPER_OBJECTIVES else f"{NAME}:objectives={'+'.join(names)}",
        objective_names=names,
        reference_front=front,
        describe=cell_string,
        reference_point=front.reference_point.tolist(),
    )
