"""The problems of the golden runs: every kind that is searched in a way of its own, and none of it random."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pareto_nrpa import Choices, CompiledProblem, Permutation, Problem, kernel
from pareto_nrpa.routing import generate_tsp, generate_tsptw, generate_vrptw, mo_tsptw

from ..helpers.problems import Digits, Knapsack, Moves, Word


class Load:
    """Weight and value of what is taken; a class, as processes and fingerprints need a function by its name."""

    def __init__(self, n, capacity=None, lost=True):
        rng = np.random.default_rng(n)
        self.weights, self.values = rng.integers(1, 60, (2, n)).tolist()
        self.capacity, self.lost = capacity, lost

    def __call__(self, taken):
        weight = sum(w for w, one in zip(self.weights, taken, strict=True) if one)
        value = sum(v for v, one in zip(self.values, taken, strict=True) if one)
        objectives = weight, sum(self.values) - value if self.lost else value
        return objectives if self.capacity is None else (objectives, max(0, weight - self.capacity))


class Split:
    """What is taken costs by two measures, what is left by two others: hardly anything dominates anything."""

    def __init__(self, n):
        self.costs = np.random.default_rng(n).random((4, n)).tolist()

    def __call__(self, taken):
        whether = taken, taken, [not one for one in taken], [not one for one in taken]
        return [
            sum(cost for cost, one in zip(costs, ones, strict=True) if one)
            for costs, ones in zip(self.costs, whether, strict=True)
        ]


class Lengths:
    """The lengths of a round trip by several measures that have no digits to round."""

    def __init__(self, n, n_objectives=2):
        self.costs = np.random.default_rng(n).random((n_objectives, n, n)).tolist()

    def __call__(self, order):
        return [sum(matrix[a][b] for a, b in zip(order, order[1:] + order[:1], strict=True)) for matrix in self.costs]


class Lateness:
    """Jobs in a row: how late they are together, what their setups cost, and how many miss their deadline."""

    def __init__(self, n, slack):
        rng = np.random.default_rng(n)
        self.times, self.due = rng.integers(1, 20, n).tolist(), rng.integers(25, 11 * n, n).tolist()
        self.setups, self.slack = rng.integers(0, 50, (n, n)).tolist(), slack

    def __call__(self, order):
        time = late = setup = missed = 0
        for before, job in zip([order[0], *order], order, strict=False):
            time += self.times[job]
            setup += self.setups[before][job]
            late += max(0, time - self.due[job])
            missed += time > self.due[job] + self.slack
        return (late, setup), missed


class Heap(Moves):
    """Five digits in any order: the same heap is reached in many ways, and says so by its identity."""

    def legal_moves(self, state):
        return range(5) if len(state) < 5 else ()

    def identity(self, state):
        return sum(6**digit for digit in state)

    def evaluate(self, state):
        return sum(state), sum((4 - digit) ** 2 for digit in state)


class Near(Moves):
    """A tour that goes to one of the three nearest places left unless pruning is off, with a bias towards them."""

    def __init__(self, n):
        self.lengths = Lengths(n)
        self.genotype = Permutation(range(1, n))

    def initial_state(self):
        return (0,)

    def all_moves(self, state):
        return [place for place in self.genotype.moves if place not in state]

    def legal_moves(self, state):
        here = self.lengths.costs[0][state[-1]]
        return sorted(self.all_moves(state), key=lambda place: here[place])[:3]

    def move_code(self, state, move):
        return state[-1], move

    def bias(self, state, move, preference):
        return -sum(share * costs[state[-1]][move] for share, costs in zip(preference, self.lengths.costs, strict=True))

    def evaluate(self, state):
        return self.lengths(list(state))


class CellData(NamedTuple):
    cost: np.ndarray  # [edges, operations]
    gain: np.ndarray  # [operations]


class CellState(NamedTuple):
    chosen: np.ndarray  # [edges]
    depth: np.ndarray  # [1]


@kernel
def initial_state(data):
    return CellState(np.zeros(data.cost.shape[0], np.int64), np.zeros(1, np.int64))


@kernel
def legal_moves(data, state, out):
    if state.depth[0] == state.chosen.size:
        return 0
    for move in range(data.gain.size):
        out[move] = move
    return data.gain.size


@kernel
def play(data, state, move):
    state.chosen[state.depth[0]] = move
    state.depth[0] += 1


@kernel
def move_code(data, state, move):
    return state.depth[0] * data.gain.size + move


@kernel
def evaluate(data, state, out):
    out[0] = 0.0
    out[1] = 0.0
    for edge in range(state.chosen.size):
        out[0] += data.cost[edge, state.chosen[edge]]
        out[1] += data.gain[state.chosen[edge]] * (1 + edge // 2)
    return 0


@kernel
def identity(data, state):
    # Edges 0 and 1 are alike, as are 2 and 3: which of two has which operation makes no difference.
    number = 0
    for pair in range(state.chosen.size // 2):
        first, second = state.chosen[2 * pair], state.chosen[2 * pair + 1]
        number = number * 64 + 8 * min(first, second) + max(first, second)
    return number


def cells(**declared):
    """A compiled problem like a search for architectures: a choice per edge, cells that are the same by symmetry."""
    cost = np.repeat(np.random.default_rng(5).random((3, 5)), 2, axis=0)
    return CompiledProblem(
        CellData(cost, np.array([0.0, 1.0, 2.5, 0.3, 4.0])),
        initial_state,
        legal_moves,
        play,
        move_code,
        evaluate,
        n_objectives=2,
        n_codes=30,
        max_moves=6,
        max_legal=5,
        identity=identity,
        genotype=Choices([range(5)] * 6),
        name="cells",
        **declared,
    )


def missed_windows():
    """Ten places whose windows all close before most of them can be reached."""
    costs = np.round(np.random.default_rng(2).random((2, 10, 10)) * 100)
    for matrix in costs:
        np.fill_diagonal(matrix, 0.0)
    return mo_tsptw(costs, np.zeros(10), np.r_[np.inf, np.full(9, 60.0)], name="missed windows")


TSPTW = generate_tsptw(12, seed=1)
PROBLEMS = {
    "tsptw": TSPTW,
    "tsptw of 46": generate_tsptw(46, seed=1),
    "tsptw of 46, narrow": generate_tsptw(46, seed=1, tightness=0.95),
    "tsptw, three objectives": generate_tsptw(9, seed=2, n_objectives=3),
    "tsptw without segments": replace(TSPTW, segments=None),
    "tsptw, infeasible": missed_windows(),
    "mo-tsp": generate_tsp(12, seed=1),
    "mo-tsp of 10": generate_tsp(10, seed=3),
    "mo-tsp of 25": generate_tsp(25, seed=2),
    "mo-tsp, three objectives": generate_tsp(10, seed=2, n_objectives=3),
    "mo-tsp of 15, three objectives": generate_tsp(15, seed=2, n_objectives=3),
    "vrptw": generate_vrptw(12, seed=1, vehicles=3),
    "vrptw of 25": generate_vrptw(25, seed=1),
    "cells": cells(),
    "cells, one maximised": cells(maximise=(False, True)),
    "choices": Problem.from_choices(Load(16), [(0, 1)] * 16, name="choices"),
    "choices, one maximised": Problem.from_choices(
        Load(14, lost=False), [(0, 1)] * 14, maximise=(False, True), name="choices, one maximised"
    ),
    "choices, constrained": Problem.from_choices(
        Load(15, 150, lost=False), [(1, 0)] * 15, constrained=True, maximise=(False, True), name="choices, constrained"
    ),
    "choices, infeasible": Problem.from_choices(
        Load(12, -1), [(0, 1)] * 12, constrained=True, name="choices, infeasible"
    ),
    "choices, four objectives": Problem.from_choices(
        Split(15), [(0, 1)] * 15, n_objectives=4, name="choices, four objectives"
    ),
    "permutation": Problem.from_permutation(Lengths(9), range(9), name="permutation"),
    "permutation, three objectives": Problem.from_permutation(
        Lengths(8, 3), range(8), n_objectives=3, name="permutation, three objectives"
    ),
    "permutation, constrained": Problem.from_permutation(
        Lateness(9, 15), range(9), code="position", constrained=True, name="permutation, constrained"
    ),
    "permutation, more than 512 codes": Problem.from_permutation(
        Lengths(30), range(30), name="permutation, more than 512 codes"
    ),
    "without genotype": Knapsack(12),
    "without genotype, constrained": Word(),
    "one objective": Digits(),
    "identity": Heap(),
    "pruned": Near(9),
}
