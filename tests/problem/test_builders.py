"""Problems made of a genotype and a function."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from numba import njit

from pareto_nrpa import MaxEvaluations, PolishedNRPA, Problem, check_problem, solve
from pareto_nrpa.errors import ProblemError
from pareto_nrpa.problem.base import problem_fingerprint
from pareto_nrpa.problem.builders import ChoicesProblem

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


@njit
def compiled_lengths(order):
    total = 0
    for i in range(order.size - 1):
        total += abs(order[i] - order[i + 1])
    return total, order[0]


@njit
def uncompilable(order):
    total = 0
    total += order.nothing
    return total, 1


def test_a_compiled_function_is_taken_as_it_is():
    plain, compiled = (Problem.from_permutation(f, 7) for f in (distances, compiled_lengths))
    check_problem(compiled)
    one, other = (solve(problem, stop=MaxEvaluations(800), seed=1) for problem in (plain, compiled))
    assert one.log.tolist() == other.log.tolist()
    assert one.front.solutions == other.front.solutions
    sent = pickle.loads(pickle.dumps(compiled))
    assert sent.evaluate((0, 1, 2, 3, 4, 5, 6)) == (6, 0)
    assert problem_fingerprint(sent) == problem_fingerprint(compiled) != problem_fingerprint(plain)


def test_an_error_of_numba_names_the_line():
    problem = Problem.from_permutation(uncompilable, 4, name="wrong")
    here = uncompilable.py_func.__code__.co_firstlineno + 3
    for act in (lambda: solve(problem, stop=MaxEvaluations(5)), lambda: check_problem(problem)):
        with pytest.raises(ProblemError, match=rf"wrong does not compile, .*.py line {here}: Unknown") as found:
            act()
        assert "\n" not in str(found.value)


@njit
def importing(order):
    import os

    return os.getpid(), order[0]


def test_an_error_of_numba_of_another_kind_is_reported_too():
    with pytest.raises(ProblemError, match=r"does not compile, test_builders.py line .*: Use of unsupported opcode"):
        solve(Problem.from_permutation(importing, 4), stop=MaxEvaluations(5))


@njit
def past_the_end(order):
    return np.arange(3)[order[0]] + 0.0, order[1]


@njit
def of_two_arguments(order, other):
    return order[0], other


def test_check_problem_finds_an_index_past_the_end_that_compiled_code_does_not():
    line = past_the_end.py_func.__code__.co_firstlineno + 2
    with pytest.raises(ProblemError, match=rf"raised IndexError for .*, test_builders.py line {line}: index"):
        check_problem(Problem.from_permutation(past_the_end, 7))


def test_a_compiled_function_takes_one_argument():
    with pytest.raises(ProblemError, match=r"does not compile, test_builders.py line .*2 arguments"):
        solve(Problem.from_permutation(of_two_arguments, 4), stop=MaxEvaluations(5))


def test_the_number_of_items_may_be_one_of_numpy():
    assert Problem.from_permutation(distances, np.int64(3)).genotype.moves == (0, 1, 2)


@pytest.mark.parametrize("algorithm", [None, "pareto-nrpa", "nsga-ii"])
def test_an_item_may_be_there_several_times(algorithm):
    jobs = [0, 0, 0, 1, 1, 2]
    problem = Problem.from_permutation(distances, jobs, repeats=True)
    check_problem(problem)
    front = solve(problem, algorithm, stop=MaxEvaluations(400), seed=1).front
    assert all(sorted(solution) == jobs for solution in front.solutions)
    assert [2, 0] in front.objectives.tolist()


def test_a_problem_may_have_neighbours_of_its_own():
    asked = []

    def rotated(order):
        asked.append(order)
        return [order[1:] + order[:1], order[-1:] + order[:-1]]

    problem = Problem.from_permutation(distances, 6, neighbours=rotated)
    search = PolishedNRPA().start(problem, seed=1)
    search.advance(300)
    assert len(asked) > 10
    assert all(sorted(order) == list(range(6)) for order in asked)


@pytest.mark.parametrize(
    ("neighbours", "message"),
    [
        (lambda order: [order[1:]], r"neighbours\(\) of .* must return complete solutions .*, which is 5 moves long"),
        (lambda order: 1 / 0, r"neighbours\(\) of .* raised ZeroDivisionError"),
    ],
)
def test_wrong_neighbours_are_named(neighbours, message):
    problem = Problem.from_permutation(distances, 6, neighbours=neighbours)
    for act in (lambda: solve(problem, stop=MaxEvaluations(300)), lambda: check_problem(problem)):
        with pytest.raises(ProblemError, match=message):
            act()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Problem.from_choices(None, [(0, 1)]), "function must take a solution"),
        (lambda: Problem.from_choices(sum, [()]), "at least one move for each"),
        (lambda: Problem.from_choices(sum, 5), r"Choices need a list for each step, .*, got 5\."),
        (lambda: Problem.from_choices(sum, [([1], [2])]), r"that can be hashed .*, got \[\(\[1\], \[2\]\)\]"),
        (lambda: Problem.from_choices(sum, [(0, 1), (0, 0)]), r"all differ at each step, got \(0, 0\) for one"),
        (lambda: Problem.from_permutation(sum, 5.0), r"moves of a Permutation must be a list .*, got 5\.0\."),
        (lambda: Problem.from_permutation(sum, 0), "a number of at least 1, got 0"),
        (lambda: Problem.from_permutation(sum, 3, neighbours=[1]), r"neighbours must take a solution .*, got \[1\]"),
        (lambda: Problem.from_permutation(compiled_lengths, "abc"), r"array of whole numbers, .* got 'a'\."),
        (lambda: Problem.from_choices(compiled_lengths, [(0, 1), (0, 0.5)]), r"whole numbers, got 0\.5\."),
        (lambda: Problem.from_permutation(sum, [1, 1]), r"moves that all differ, .*; repeats=True allows"),
        (lambda: Problem.from_choices(sum, [(0, 1)], objectives=2), "has no attribute 'objectives'"),
    ],
)
def test_mistakes_are_said(make, message):
    with pytest.raises(ProblemError, match=message):
        make()


def test_many_choices_are_not_tried_one_by_one_before_the_search():
    calls = []

    class Counted(ChoicesProblem):
        def legal_moves(self, state):
            calls.append(state)
            return super().legal_moves(state)

    problem = Counted(lambda solution: (solution[0], -solution[1]), [range(1_000)] * 2)
    assert solve(problem, stop=MaxEvaluations(30)).evaluations == 30
    assert len(calls) < 200


@pytest.mark.parametrize("constrained", [False, True])
def test_a_set_of_objectives_is_refused_as_it_has_no_order(constrained):
    def evaluate(solution):
        objectives = {solution[0], 5 + solution[1]}
        return (objectives, 0) if constrained else objectives

    problem = Problem.from_choices(evaluate, [range(3)] * 2, constrained=constrained)
    with pytest.raises(ProblemError, match=r"must return .*2 objectives.*, got "):
        solve(problem, stop=MaxEvaluations(5))


def test_names_of_objectives_differ():
    with pytest.raises(ProblemError, match=r"objective_names of ChoicesProblem must all differ, got \('a', 'a'\)"):
        solve(Problem.from_choices(sum, [(0, 1)], objective_names=("a", "a")), stop=MaxEvaluations(5))
