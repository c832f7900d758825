"""The same words as kernels over arrays: a tour through all cities, short by two measures, at native speed."""

from typing import NamedTuple

import numpy as np

from pareto_nrpa import CompiledProblem, MaxEvaluations, ParetoNRPA, kernel, solve


class TourData(NamedTuple):  # read-only instance
    costs: np.ndarray  # [n_objectives, n, n] float64


class TourState(NamedTuple):  # what one playout writes to
    tour: np.ndarray  # [n] int64
    visited: np.ndarray  # [n] bool
    depth: np.ndarray  # [1] int64


@kernel
def initial_state(data):
    n = data.costs.shape[1]
    return TourState(np.zeros(n, np.int64), np.arange(n) == 0, np.zeros(1, np.int64))


@kernel
def legal_moves(data, state, out):  # fills out, returns how many
    count = 0
    for city in range(state.visited.size):
        if not state.visited[city]:
            out[count] = city
            count += 1
    return count


@kernel
def play(data, state, move):  # changes the state in place
    state.depth[0] += 1
    state.tour[state.depth[0]] = move
    state.visited[move] = True


@kernel
def move_code(data, state, move):  # an integer below n_codes
    return state.tour[state.depth[0]] * state.tour.size + move


@kernel
def evaluate(data, state, out):  # fills the objectives, returns the number of violations
    out[:] = 0.0
    for i in range(state.tour.size):
        out += data.costs[:, state.tour[i - 1], state.tour[i]]
    return 0


def tour(costs):
    n = costs.shape[1]
    words = {f.__name__: f for f in (initial_state, legal_moves, play, move_code, evaluate)}
    return CompiledProblem(TourData(costs), **words, n_objectives=len(costs), n_codes=n * n, max_moves=n - 1)


if __name__ == "__main__":
    costs = np.random.default_rng(1).random((2, 20, 20))
    result = solve(tour(costs), ParetoNRPA(), stop=MaxEvaluations(50_000), seed=1)
    print(result.summary())
