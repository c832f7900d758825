"""Problems made of a genotype and a function."""

import pickle
from itertools import pairwise

import pytest

from pareto_nrpa import MaxEvaluations, Problem, check_problem, solve
from pareto_nrpa.errors import ProblemError

WEIGHTS, PROFITS = (3, 5, 2, 8, 4, 6), (4, 4, 1, 9, 6, 2)


def load_and_loss(taken):
    return sum(w for w, t in zip(WEIGHTS, taken, strict=True) if t), sum(
        p for p, t in zip(PROFITS, taken, strict=True) if not t
    )


def distances(order):
    return sum(abs(a - b) for a, b in pairwise(order)), order[0]


@pytest.mark.parametrize("algorithm", ["pareto-nrpa", "nsga-ii", "pls"])
def test_choices_and_orders_are_problems_for_all_algorithms(algorithm):
    knapsack = Problem.from_choices(load_and_loss, [(0, 1)] * 6, name="knapsack")
    line = Problem.from_permutation(distances, range(5), n_objectives=2)
    for problem in (knapsack, line, Problem.from_permutation(distances, range(5), code="position")):
        check_problem(problem)
        found = solve(problem, algorithm, stop=MaxEvaluations(600), seed=1).front
        assert len(found) > 0
        if problem is knapsack:
            assert [0, sum(PROFITS)] in found.objectives.tolist()
        else:
            assert [4, 0] in found.objectives.tolist()


def test_they_can_be_sent_to_another_process():
    problem = pickle.loads(pickle.dumps(Problem.from_choices(load_and_loss, [(0, 1)] * 6, maximise=[False, True])))
    assert problem.maximise == [False, True]
    assert problem.evaluate((0,) * 6) == (0, sum(PROFITS))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Problem.from_choices(None, [(0, 1)]), "function must take a solution"),
        (lambda: Problem.from_choices(sum, [()]), "at least one move for each"),
        (lambda: Problem.from_choices(sum, 5), r"Choices need a list for each step, .*, got 5\."),
        (lambda: Problem.from_choices(sum, [5, 6]), r"Choices need a list for each step, .*, got \[5, 6\]"),
        (lambda: Problem.from_choices(sum, [([1], [2])]), r"that can be hashed .*, got \[\(\[1\], \[2\]\)\]"),
        (lambda: Problem.from_choices(sum, [(0, 1), (0, 0)]), r"all differ at each step, got \(0, 0\) for one"),
        (lambda: Problem.from_permutation(sum, 5), r"moves of a Permutation must be a list .*, got 5\."),
        (lambda: Problem.from_permutation(sum, [[1], [2]]), r"that can be hashed .*, got \[\[1\], \[2\]\]"),
        (lambda: Problem.from_permutation(sum, [1, 1]), "moves that all differ"),
        (lambda: Problem.from_choices(sum, [(0, 1)], objectives=2), "declares nothing called 'objectives'"),
    ],
)
def test_mistakes_are_said(make, message):
    with pytest.raises(ProblemError, match=message):
        make()
