"""The multi-objective travelling salesman problem: one closed tour, two or more costs, no windows.

A solution is the order of the cities after city 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..engine.jit.kernels import kernel
from ..problem.base import CompiledProblem
from ..problem.genotype import Permutation
from ..problem.segments import Segments
from .matrices import BIAS_FACTOR, ENDS, arc_of, checked_matrices, cost_of, join_costs, normalised, rounded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike


class Costs(NamedTuple):
    """A read-only instance of n cities."""

    costs: np.ndarray  # [n_objectives, n, n] float64
    distances: np.ndarray  # [n_objectives, n, n] float64, each divided by its largest entry, for the bias


class TSPTour(NamedTuple):
    """The state of a playout."""

    unvisited: np.ndarray  # [n - 1] int64, in rising order
    numbers: np.ndarray  # [2] int64: number of unvisited cities, current city
    sums: np.ndarray  # [n_objectives] float64


_LEFT, _CITY = 0, 1


@kernel
def initial_state(data):
    """Return a state in city 0."""
    numbers = np.zeros(2, np.int64)
    numbers[_LEFT] = data.costs.shape[1] - 1
    return TSPTour(np.arange(1, data.costs.shape[1]), numbers, np.zeros(data.costs.shape[0]))


@kernel
def legal_moves(data, state, out):
    """Fill in all cities not visited yet."""
    left = state.numbers[_LEFT]
    for i in range(left):
        out[i] = state.unvisited[i]
    return left


@kernel
def play(data, state, move):
    """Travel to a city."""
    city = state.numbers[_CITY]
    for k in range(state.sums.size):
        state.sums[k] += data.costs[k, city, move]
    left = state.numbers[_LEFT] - 1
    # In order, so that the weights of the remaining cities are read from consecutive memory.
    for i in range(np.searchsorted(state.unvisited[: left + 1], move), left):
        state.unvisited[i] = state.unvisited[i + 1]
    state.numbers[_CITY] = move
    state.numbers[_LEFT] = left


@kernel
def move_code(data, state, move):
    """Return a code for each pair of cities."""
    return state.numbers[_CITY] * data.costs.shape[1] + move


@kernel
def bias(data, state, move, preference):
    """Prefer near cities: -10 times the normalised distance, weighted by the preference of the policy."""
    distance = 0.0
    for k in range(preference.size):
        distance += preference[k] * data.distances[k, state.numbers[_CITY], move]
    return BIAS_FACTOR * distance


@kernel
def evaluate(data, state, out):
    """Close the tour."""
    for k in range(out.size):
        out[k] = rounded(state.sums[k] + data.costs[k, state.numbers[_CITY], 0])
    return 0


@kernel
def evaluate_solution(data, moves, out):
    """Return the result of `evaluate` for a complete tour."""
    for k in range(out.size):
        cost, city = 0.0, 0
        for move in moves:
            cost += data.costs[k, city, move]
            city = move
        out[k] = rounded(cost + data.costs[k, city, 0])
    return 0


def mo_tsp(
    costs: ArrayLike, *, name: str = "mo-tsp", reference_point: Sequence[float] | None = None
) -> CompiledProblem:
    """Return a travelling salesman problem with the given cost matrices [n_objectives, n, n].

    The paper does not state which cost its bias uses here; it is the mean of all, as they have equal rank.
    """
    matrices = checked_matrices(costs, "costs")
    m, n = matrices.shape[:2]
    return CompiledProblem(
        data=Costs(matrices, normalised(matrices)),
        initial_state=initial_state,
        legal_moves=legal_moves,
        play=play,
        move_code=move_code,
        evaluate=evaluate,
        evaluate_solution=evaluate_solution,
        bias=bias,
        n_objectives=m,
        n_codes=n * n,
        max_moves=n - 1,
        max_candidates=n * (n - 1) // 2,
        distinct_codes=True,
        bias_by_code=True,
        genotype=Permutation(range(1, n)),
        segments=Segments(cost_of, join_costs, cost_width=ENDS + m, arc_of=arc_of),
        preference=(1 / m,) * m,
        name=name,
        reference_point=reference_point,
    )
