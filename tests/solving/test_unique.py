"""Evaluations counted once each: repeated solutions are looked up, and do not count against the budget."""

import pytest

from pareto_nrpa import MaxEvaluations, ParetoNRPA, Result, solve
from pareto_nrpa.algorithms import RandomSearch
from pareto_nrpa.algorithms.registry import NAMES
from pareto_nrpa.errors import CheckpointError, ProblemError
from pareto_nrpa.routing import generate_tsptw

from ..helpers.problems import Bits, RecordedBits, small

every_algorithm = pytest.mark.parametrize("name", NAMES)
STOP = MaxEvaluations(60, count="unique")


@every_algorithm
def test_a_repeated_solution_is_looked_up_not_evaluated(name):
    problem = RecordedBits(n=8, seed=1)
    result = solve(problem, small(name), stop=STOP, seed=2)
    states = [state for state, _ in problem.diary]
    assert len(states) == len(set(states)) == result.unique_evaluations == 60
    assert result.evaluations >= 60
    assert result.stopped_by == "60 unique evaluations"


def test_a_search_that_runs_out_of_solutions_ends():
    result = solve(generate_tsptw(4, seed=1, tightness=0.0), RandomSearch(), stop=MaxEvaluations(10, count="unique"))
    assert (result.unique_evaluations, result.evaluations) == (6, 1000)  # 3! tours


class Sums(Bits):
    """Bits whose order does not matter: solutions with the same number of ones are the same."""

    evaluated = 0

    def identity(self, state):
        return sum(state)

    def evaluate(self, state):
        self.evaluated += 1
        return sum(state), -sum(state)


@pytest.mark.parametrize("name", ["pareto-nrpa", "random", "nsga-ii", "pls"])
def test_a_problem_may_say_what_is_the_same(name):
    problem = Sums(n=6)
    problem.maximise = False
    result = solve(problem, small(name), stop=MaxEvaluations(20, count="unique"), seed=1)
    assert result.unique_evaluations == problem.evaluated <= 7


@pytest.mark.parametrize("wrong", [-1, 1.5, True, 2**62])
def test_an_identity_that_is_no_number_is_named(wrong):
    problem = Bits(n=4)
    problem.identity = lambda state: wrong
    for algorithm in (ParetoNRPA(level=1), RandomSearch()):
        with pytest.raises(ProblemError, match=r"identity.* of Bits must be a whole number"):
            solve(problem, algorithm, stop=STOP)


@every_algorithm
def test_a_resumed_search_continues_to_count(name, tmp_path):
    def make():
        return Bits(n=8, seed=1)

    whole = solve(make(), small(name), stop=STOP, seed=4)
    path = tmp_path / "search"
    half = MaxEvaluations(whole.evaluations // 2) | MaxEvaluations(60, count="unique")
    solve(make(), small(name), stop=half, seed=4, checkpoint=path)
    resumed = solve(make(), small(name), stop=STOP, seed=4, checkpoint=path, resume=True)
    if name not in ("pareto-nrpa", "nrpa", "nmcs"):  # the budget of the first part decides their N
        assert resumed.log.tolist() == whole.log.tolist()
    assert resumed.unique_evaluations == 60


def test_a_checkpoint_made_without_counting_is_refused(tmp_path):
    path = tmp_path / "search"
    problem = generate_tsptw(6, seed=1, tightness=0.0)
    solve(problem, stop=MaxEvaluations(20), checkpoint=path)
    with pytest.raises(CheckpointError, match="made without counting unique evaluations"):
        solve(problem, stop=STOP, checkpoint=path, resume=True)


def test_both_numbers_are_told_and_saved(tmp_path):
    result = solve(generate_tsptw(6, seed=1, tightness=0.0), RandomSearch(), stop=STOP, seed=1)
    assert f"{result.evaluations} evaluations, 60 of them unique, in" in result.summary()
    assert Result.load(result.save(tmp_path / "x.json")).unique_evaluations == 60
    plain = solve(generate_tsptw(6, seed=1, tightness=0.0), RandomSearch(), stop=MaxEvaluations(60), seed=1)
    assert "unique" not in plain.save(tmp_path / "y.json").read_text()
