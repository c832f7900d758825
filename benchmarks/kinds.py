"""Problems of other kinds than official tours, on which the default search and its rivals are compared."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pareto_nrpa import Choices, Problem, load

if TYPE_CHECKING:
    from collections.abc import Callable

    from pareto_nrpa.problem.base import AnyProblem

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
import flow_shop as flow_shops
import nurse_roster as rosters


class Knapsack(Problem):
    """Half of the weight may be carried: two profits, maximised; what is too heavy is a violation of so much."""

    n_objectives = 2
    constrained = True
    maximise = (True, True)

    def __init__(self, n: int, seed: int) -> None:
        self.weights, *self.profits = np.random.default_rng(seed).integers(10, 100, (3, n))
        self.genotype = Choices([(0, 1)] * n)
        self.max_moves = n

    def initial_state(self):
        return ()

    def legal_moves(self, state):
        return (0, 1) if len(state) < self.max_moves else ()

    def play(self, state, move):
        return (*state, move)

    def move_code(self, state, move):
        return len(state), move

    def evaluate(self, state):
        taken = np.array(state)
        excess = max(0.0, float(self.weights @ taken - self.weights.sum() / 2))
        return [float(profit @ taken) for profit in self.profits], excess


class Roster(rosters.NurseRoster):
    """The roster of the examples, in which anybody may be given a duty: rivals that change whole solutions need it.

    A duty against the rules is a violation, as one that nobody takes. Playouts keep to the rules as they can.
    """

    genotype = Choices([(*range(10), None)] * len(rosters.DUTIES))

    def all_moves(self, state):
        return (*range(10), None) if len(state) < len(rosters.DUTIES) else ()

    def evaluate(self, state):
        objectives, unfilled = super().evaluate(state)
        taken = ((state[:i], nurse) for i, nurse in enumerate(state) if nurse is not None)
        return objectives, unfilled + sum(not self.is_free(*one) for one in taken)


def roster() -> Problem:
    example = rosters.make(seed=3)
    return Roster(example.wishes, example.wages)


def tsplib(*names: str) -> AnyProblem:
    """Return a tour of TSPLIB files, an objective each."""
    from pareto_nrpa.routing import read_problem

    folder = Path(os.environ.get("PARETO_NRPA_DATA", "."), "tsplib")
    return read_problem([folder / f"{name}.tsp" for name in names])


#: By the name that a comparison stores.
KINDS: dict[str, Callable[[], AnyProblem]] = {
    "kroAB100": partial(tsplib, "kroA100", "kroB100"),
    "kroAC100": partial(tsplib, "kroA100", "kroC100"),
    "knapsack, 50 items": partial(Knapsack, 50, 0),
    "knapsack, 200 items": partial(Knapsack, 200, 1),
    "flow shop, 20 jobs": partial(flow_shops.make, "place", 20, 5),
    "flow shop, 50 jobs": partial(flow_shops.make, "place", 50, 10),
    "nurse roster": roster,
}


def problem_of(name: str) -> AnyProblem:
    return KINDS[name]() if name in KINDS else load(name)
