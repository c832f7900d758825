"""A genotype that does not fit is named before anything is made of it, and no illegal solution is returned."""

from dataclasses import replace

import numpy as np
import pytest

from pareto_nrpa import Choices, MaxEvaluations, Permutation, check_problem, kernel, solve
from pareto_nrpa.algorithms.baselines.variation import cross_in_order
from pareto_nrpa.engine import walk
from pareto_nrpa.engine.jit.kernels import njit, python_function
from pareto_nrpa.errors import ProblemError
from pareto_nrpa.problem.genotype import check_genotype
from pareto_nrpa.problem.stepper import first_illegal
from pareto_nrpa.routing import generate_tsp

from ...helpers.problems import EVOLUTIONARY, TSPTW, Bits, Moves, PlainWindows, small
from .test_errors import FINE, compiled, legal_moves

WHOLE = ("pls", *EVOLUTIONARY)


class Order(Moves):
    """Five moves in any order."""

    n = 5

    def __init__(self, genotype):
        self.genotype = genotype

    def legal_moves(self, state):
        return [move for move in range(self.n) if move not in state]

    def evaluate(self, state):
        return sum(k * move for k, move in enumerate(state)), -sum(k * k * move for k, move in enumerate(state))


class Ended(Order):
    """Solutions may end early: with move 4."""

    def legal_moves(self, state):
        return () if 4 in state else super().legal_moves(state)


class Row(Order):
    """Eight choices between 0 and 1."""

    n = 8

    def legal_moves(self, state):
        return (0, 1) if len(state) < self.n else ()


class Dependent(Row):
    """After a 1 there is nothing to choose."""

    def legal_moves(self, state):
        moves = super().legal_moves(state)
        return moves[:1] if state and state[-1] == 1 else moves


MISFITS = {
    "too many moves": (Order(Permutation(range(50))), "a Permutation of 50 moves, and a playout gave .*5 moves long"),
    "too few moves": (Order(Permutation(range(3))), "Permutation of 3 moves, .* in which move . at depth . is not one"),
    "other moves": (Order(Permutation("abcde")), "Permutation of 5 moves, .* at depth 0 is not one of them"),
    "ends early": (Ended(Permutation(range(5))), "Permutation of 5 moves, and a playout gave .*4], which is . moves"),
    "repeated moves": (Row(Permutation(range(8))), "Permutation of 8 moves, .* in which move . occurs twice"),
    "a step too many": (Row(Choices([(0, 1)] * 9)), "Choices of 9 steps, and a playout gave .* 8 moves long"),
    "a hundred steps": (Row(Choices([(0, 1)] * 100)), "Choices of 100 steps, and a playout gave .* 8 moves long"),
    "steps missing": (Row(Choices([(0, 1)] * 5)), "Choices of 5 steps, and a playout gave .* 8 moves long"),
    "a move missing": (Row(Choices([(0, 2)] * 8)), "Choices of 8 steps, .* move 1 at depth . is not one of them"),
    "a move never legal": (Row(Choices([(0, 1, 2)] * 8)), r"makes \[2, .*move 2 at depth 0 is not in legal_moves\(\)"),
    "dependent": (Dependent(Choices([(0, 1)] * 8)), r"makes \[1, .*move 1 at depth 1 .* or return it from all_moves"),
    "of a compiled one": (
        replace(generate_tsp(8), genotype=Permutation(range(6)), segments=None),
        "Permutation of 6 moves, and a",
    ),
    "with the depot": (
        replace(generate_tsp(8, seed=2), genotype=Choices([range(8)] * 7), segments=None),
        r"Choices of 7 steps, which makes .* move 0 at depth 0 is not in legal_moves\(\)",
    ),
}


@pytest.mark.parametrize(
    "misfit", ["too many moves", "ends early", "repeated moves", "a move never legal", "dependent"]
)
@pytest.mark.parametrize("name", WHOLE)
def test_a_genotype_that_does_not_fit_is_named_by_every_algorithm_that_uses_it(name, misfit):
    problem, message = MISFITS[misfit]
    with pytest.raises(ProblemError, match=f"^genotype of .* is .*{message}") as caught:
        solve(problem, small(name), stop=MaxEvaluations(300), seed=1)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("misfit", MISFITS)
def test_a_genotype_that_does_not_fit_is_named_by_check_problem(misfit):
    problem, message = MISFITS[misfit]
    with pytest.raises(ProblemError, match=message):
        check_problem(problem)


def test_what_is_left_out_by_pruning_may_be_played():
    problem = PlainWindows(TSPTW)
    check_problem(problem)
    check_genotype(problem, [list(range(1, 10))])
    assert first_illegal(problem, list(range(9, 0, -1))) is None
    assert first_illegal(problem, [1, 2, 2]) == 2
    assert first_illegal(problem, [1, 2]) == 2


class Trap(Bits):
    """Looks like independent choices in the first playouts and in most children, but 0110 at the end is not legal.

    It would be the best solution, and playing it does no harm: only a look at the legal moves tells.
    """

    def legal_moves(self, state):
        moves = super().legal_moves(state)
        return moves[1:] if state[4:] == (0, 1, 1) else moves

    def evaluate(self, state):
        load, lost = super().evaluate(state)
        return (-1, -1) if state[4:] == (0, 1, 1, 0) else (load, lost)


def is_legal(problem, solution):
    return first_illegal(problem, solution) is None


@pytest.mark.parametrize("name", WHOLE)
def test_no_illegal_child_ever_enters_a_front(name):
    problem = Trap()
    with pytest.raises(ProblemError, match=r"makes \[.*0, 1, 1, 0\], but move 0 at depth 7 is not in") as caught:
        solve(problem, small(name), stop=MaxEvaluations(5_000), seed=1)
    front = caught.value.result.front
    assert len(front) > 1
    assert all(is_legal(problem, solution) for solution in front.solutions)


@kernel
def legal_after(data, state, out):
    """All bits may be chosen, but not 1 after 00001, though nothing dominates that."""
    n = legal_moves(data, state, out)
    return 1 if state.depth[0] == 5 and state.bits[4] == 1 and state.bits[:4].sum() == 0 else n


@pytest.mark.slow
@pytest.mark.parametrize("n_checked", [0, 1000])
@pytest.mark.parametrize("name", ["pls", "nsga-ii", "moea-d"])
def test_no_illegal_child_of_a_compiled_problem_enters_a_front(name, n_checked, monkeypatch):
    monkeypatch.setattr(walk, "N_CHECKED", n_checked)  # checked before they are played, or when they would enter
    problem = replace(compiled(FINE), legal_moves=legal_after)
    with pytest.raises(ProblemError, match=r"makes \[0, 0, 0, 0, 1, 1\], but move 1 at depth 5 is not") as caught:
        solve(problem, small(name), stop=MaxEvaluations(5_000), seed=1)
    front = caught.value.result.front
    assert len(front) > 1
    assert all(is_legal(problem, solution) for solution in front.solutions)


class Brittle(Trap):
    """The same, but `play` does not survive it."""

    def play(self, state, move):
        return {**dict.fromkeys((0, 1), (*state, move)), (0, 1, 1, 0): 1 / (state[4:] != (0, 1, 1) or move)}[move]


def test_crossing_writes_within_the_child_whatever_the_parents_are():
    """Regression: parents that are no permutations made it write past the end, and the process crashed later."""
    memory = np.full(12, -7)
    child, given = memory[:6], np.zeros(6, dtype=bool)
    njit(python_function(cross_in_order))(np.zeros(6, dtype=int), np.full(6, 5), 1, 3, child, given)
    assert (memory[6:] == -7).all()
