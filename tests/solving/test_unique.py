"""What is counted and kept: evaluations once for each solution, and archives of limited size."""

import numpy as np
import pytest

from pareto_nrpa import MaxEvaluations, ParetoNRPA, Result, solve
from pareto_nrpa.algorithms import RandomSearch
from pareto_nrpa.algorithms.registry import NAMES, algorithm
from pareto_nrpa.engine.archive import far_apart
from pareto_nrpa.errors import CheckpointError
from pareto_nrpa.metrics import nondominated
from pareto_nrpa.routing import generate_tsp, generate_tsptw

from ..helpers.problems import Bits, Knapsack, RecordedBits, small

every_algorithm = pytest.mark.parametrize("name", NAMES)
SIXTY = MaxEvaluations(60, count="unique")


@every_algorithm
def test_a_repeated_solution_is_looked_up_not_evaluated(name):
    problem = RecordedBits(n=8, seed=1)
    result = solve(problem, small(name), stop=SIXTY, seed=2)
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


@every_algorithm
def test_a_resumed_search_continues_to_count(name, tmp_path):
    def make():
        return Bits(n=8, seed=1)

    whole = solve(make(), small(name), stop=SIXTY, seed=4)
    path = tmp_path / "search"
    half = MaxEvaluations(whole.evaluations // 2) | MaxEvaluations(60, count="unique")
    solve(make(), small(name), stop=half, seed=4, checkpoint=path)
    resumed = solve(make(), small(name), stop=SIXTY, seed=4, checkpoint=path, resume=True)
    if name not in ("pareto-nrpa", "nrpa", "nmcs"):  # the budget of the first part decides their N
        assert resumed.log.tolist() == whole.log.tolist()
    assert resumed.unique_evaluations == 60


def test_a_checkpoint_made_without_counting_is_refused(tmp_path):
    path = tmp_path / "search"
    problem = generate_tsptw(6, seed=1, tightness=0.0)
    solve(problem, stop=MaxEvaluations(20), checkpoint=path)
    with pytest.raises(CheckpointError, match="made without counting unique evaluations"):
        solve(problem, stop=SIXTY, checkpoint=path, resume=True)


def test_both_numbers_are_told_and_saved(tmp_path):
    result = solve(generate_tsptw(6, seed=1, tightness=0.0), RandomSearch(), stop=SIXTY, seed=1)
    assert f"{result.evaluations} evaluations, 60 of them unique, in" in result.summary()
    assert Result.load(result.save(tmp_path / "x.json")).unique_evaluations == 60
    plain = solve(generate_tsptw(6, seed=1, tightness=0.0), RandomSearch(), stop=MaxEvaluations(60), seed=1)
    assert "unique" not in plain.save(tmp_path / "y.json").read_text()


# --- archives of limited size


TOUR = generate_tsp(20, seed=1, n_objectives=3)
STOP = MaxEvaluations(2_000)


def test_the_farthest_are_kept():
    points = np.array([[0.0, 10.0], [10.0, 0.0], [5.0, 5.0], [5.1, 4.9], [2.0, 8.0]])
    assert far_apart(points, 1) == [0]
    assert far_apart(points, 3) == [0, 1, 2]
    assert far_apart(points, 4) == [0, 1, 2, 4]
    assert far_apart(points * [1.0, 1e9], 4) == [0, 1, 2, 4]  # units do not matter


@pytest.mark.parametrize("limit", [2, 7, 90])
def test_an_archive_is_never_larger_than_allowed(limit):
    search = ParetoNRPA(level=3).start(TOUR, seed=3, budget=2_000)
    search.limit_archive(limit)
    for _ in range(200):
        search.advance(10)
        assert 1 <= len(search.front()) <= limit
    assert search.discarded > 0


def test_what_was_lost_is_said_and_the_search_is_the_same(tmp_path):
    free = solve(TOUR, ParetoNRPA(level=3), stop=STOP, seed=3)
    limited = solve(TOUR, ParetoNRPA(level=3), stop=STOP, seed=3, max_archive=50)
    assert (free.discarded, len(free.front) > 50) == (0, True)
    assert 25 <= len(limited.front) <= 50
    assert f"{limited.discarded:,} more were found and discarded" in limited.summary()
    assert "discarded" not in free.summary()
    assert Result.load(limited.save(tmp_path / "x.json")).discarded == limited.discarded > 0
    # The same was evaluated, and the best in each objective was kept.
    np.testing.assert_array_equal(nondominated(limited.log[:, 2:]), nondominated(free.log[:, 2:]))
    np.testing.assert_array_equal(limited.front.objectives.min(axis=0), free.front.objectives.min(axis=0))


def test_a_limit_that_is_not_reached_changes_nothing():
    free = solve(Knapsack(), ParetoNRPA(level=2), stop=MaxEvaluations(300), seed=3)
    limited = solve(Knapsack(), ParetoNRPA(level=2), stop=MaxEvaluations(300), seed=3, max_archive=10_000)
    assert (limited.front.solutions, limited.discarded) == (free.front.solutions, 0)


@pytest.mark.parametrize(
    ("name", "problem", "limit", "stop_at"),
    [
        ("pareto-nrpa", TOUR, 20, 40),
        ("pareto-nrpa", generate_tsp(12, seed=1, n_objectives=5), 65, 700),
        ("pareto-nrpa", Knapsack(), 4, 40),
        ("random", Knapsack(), 4, 700),
    ],
)
def test_a_resumed_search_keeps_and_discards_the_same(name, problem, limit, stop_at, tmp_path):
    search = algorithm(name).start(problem, seed=5, budget=1_000)
    search.limit_archive(limit)
    search.advance(stop_at)
    search.save(tmp_path / "search")
    search.advance(1_000 - stop_at)
    resumed = algorithm(name).resume(problem, tmp_path / "search")
    resumed.advance(1_000 - stop_at)
    assert resumed.front().solutions == search.front().solutions
    assert (resumed.max_archive, resumed.discarded) == (limit, search.discarded)
    assert search.discarded > 0


def test_another_limit_is_another_search(tmp_path):
    path = tmp_path / "search.npz"
    solve(Knapsack(), stop=MaxEvaluations(20), checkpoint=path, max_archive=4)
    with pytest.raises(CheckpointError, match="was made with max_archive=4, not None; use that, or another file"):
        solve(Knapsack(), stop=MaxEvaluations(30), checkpoint=path, resume=True)
    assert len(solve(Knapsack(), stop=MaxEvaluations(30), checkpoint=path, resume=True, max_archive=4).front) <= 4


@pytest.mark.parametrize(
    ("value", "words"),
    [(1, "a whole number of at least 2"), (2.5, "a whole number of at least 2"), (10**30, "at most 1,000,000,000,000")],
)
def test_a_wrong_limit_is_named(value, words):
    with pytest.raises(ValueError, match=f"max_archive must be {words}"):
        solve(TOUR, stop=STOP, max_archive=value)
