"""What every algorithm promises, whatever it does inside."""

import itertools

import numpy as np
import pytest

from pareto_nrpa import MaxEvaluations, solve
from pareto_nrpa.algorithms.registry import NAMES, algorithm
from pareto_nrpa.errors import CheckpointError
from pareto_nrpa.routing import generate_tsp, generate_tsptw

from ...helpers.oracles import best_of, is_dominated
from ...helpers.problems import EVOLUTIONARY, TSP, TSPTW, Bits, RecordedBits, RecordedTour, replay, small

N = 120
everywhere = pytest.mark.parametrize("where", ["tsptw", "bits"])
every_algorithm = pytest.mark.parametrize("name", NAMES)


def problem_called(where):
    return TSPTW if where == "tsptw" else RecordedBits()


def outcome(search):
    front = search.front()
    return {
        "evaluations": search.evaluations,
        "objectives": front.objectives.tolist(),
        "violations": front.violations.tolist(),
        "solutions": front.solutions,
        "log": search.log().tolist(),
    }


def searched(name, problem, *, seed=1, slices=(N,)):
    search = small(name).start(problem, seed=seed, budget=N)
    for n in slices:
        search.advance(n)
    return search


@every_algorithm
@everywhere
def test_front_and_log_are_the_best_of_as_many_evaluations_as_asked_for(name, where):
    problem = problem_called(where)
    search = searched(name, problem)
    front, log = search.front(), search.log()
    assert search.evaluations == N
    assert len(front) >= 1
    for a, b in itertools.permutations(front.objectives.tolist(), 2):
        assert a != b
        assert not is_dominated(a, b)
    assert len(set(front.violations)) == 1
    for solution, objectives, violations in zip(front.solutions, front.objectives, front.violations, strict=True):
        again, count = replay(problem, solution)
        assert list(again) == objectives.tolist()
        assert count == violations
    assert (np.diff(log[:, 0]) > 0).all()
    assert log[0, 0] >= 1
    assert log[-1, 0] == search.last_improvement <= N
    in_front = {(v, tuple(o)) for v, o in zip(front.violations.tolist(), front.objectives.tolist(), strict=True)}
    assert best_of([(row[1], row[2:]) for row in log.tolist()]) == in_front
    objectives, violations = search.best()
    assert {(violations, tuple(row)) for row in objectives.tolist()} == in_front


@every_algorithm
def test_the_archive_never_loses_what_was_evaluated(name):
    problem = RecordedTour(generate_tsp(7, seed=1))
    search = small(name).start(problem, seed=4, budget=N)
    for _ in range(N):
        search.advance(1)
        # Evolution is judged from its first population on: what it samples before is evaluated then.
        if name not in EVOLUTIONARY or search.evaluations >= 20:
            found = {(0.0, tuple(row)) for row in search.front().objectives.tolist()}
            assert found == best_of([(0.0, value) for _, value in problem.diary])


@every_algorithm
def test_the_problem_is_asked_for_exactly_the_evaluations_that_are_counted(name):
    problem = RecordedBits()
    searched(name, problem)
    assert len(problem.diary) == N


@every_algorithm
@everywhere
def test_same_seed_same_result_whatever_happens_to_global_randomness(name, where):
    np.random.seed(1)  # noqa: NPY002 - disturbing it is the point
    first = outcome(searched(name, problem_called(where)))
    np.random.seed(2)  # noqa: NPY002 - disturbing it is the point
    assert outcome(searched(name, problem_called(where))) == first
    assert outcome(searched(name, problem_called(where), seed=2))["log"] != first["log"]


@every_algorithm
def test_a_number_of_evaluations_ends_a_solve(name):
    result = solve(TSPTW, small(name), stop=MaxEvaluations(N), seed=1)
    assert (result.algorithm, result.evaluations, result.stopped_by) == (name, N, "120 evaluations")
    assert outcome(searched(name, TSPTW))["solutions"] == result.front.solutions
    assert result.parameters.items() >= small(name).to_dict().items() - {("iterations", None)}
    assert result.cpu_seconds > 0


@every_algorithm
@pytest.mark.parametrize("where", ["tsptw", "bits"])
def test_a_resumed_solve_ends_like_one_never_stopped(name, where, tmp_path):
    problem = TSPTW if where == "tsptw" else Bits()
    path, stop = tmp_path / "search", MaxEvaluations(N)
    whole = solve(problem, small(name), stop=stop, seed=3)
    first = searched(name, problem, seed=3, slices=[13, 64])
    first.save(path)
    # The seed of the file counts, not the one given now; and so does the time spent before.
    second = solve(problem, small(name), stop=stop, seed=99, checkpoint=path, resume=True)
    assert (second.evaluations, second.seed) == (N, 3)
    assert second.parameters == whole.parameters
    assert second.wall_seconds > first.wall_seconds
    assert second.log.tolist() == whole.log.tolist()
    assert second.front.solutions == whole.front.solutions
    assert second.front.objectives.tolist() == whole.front.objectives.tolist()


CHANGES = {
    "polished-nrpa": {"alpha": 0.6},
    "pareto-nrpa": {"alpha": 0.6},
    "nsga-ii": {"offspring": 9},
    "nsga-iii": {"offspring": 9},
    "sms-emoa": {"population": 21},
    "moea-d": {"neighbours": 6},
    "pls": {"initial": 11},
    "pareto-mcts": {"exploration": 1.5},
    "nrpa": {"alpha": 0.6},
    "nmcs": {"weights": 4},
    "random": {"pruning": False},
}


@every_algorithm
def test_a_checkpoint_of_something_else_is_refused(name, tmp_path):
    path = tmp_path / "search"
    searched(name, TSPTW, slices=[5]).save(path)
    assert small(name).resume(TSPTW, path).evaluations == 5
    others = [
        (small("random" if name != "random" else "pls"), TSPTW),
        (small(name, **CHANGES[name]), TSPTW),
        (small(name), TSP),
        (small(name), generate_tsptw(10, seed=6, tightness=0.5)),
    ]
    for method, problem in others:
        with pytest.raises(CheckpointError, match="search"):
            solve(problem, method, stop=MaxEvaluations(N), checkpoint=path, resume=True)


class Profit(Bits):
    """The same knapsack, with a profit to maximise instead of a loss to minimise."""

    maximise = (False, True)

    def evaluate(self, state):
        load, lost = super().evaluate(state)
        return load, sum(self.profits) - lost


@every_algorithm
def test_what_is_maximised_comes_back_as_it_is(name):
    down, up = searched(name, Bits()), searched(name, Profit())
    total = sum(Bits().profits)
    if name not in ("nrpa", "nmcs"):
        # A weighted sum is the same but for a constant, which can change a comparison only in the last bit.
        assert up.front().solutions == down.front().solutions
    assert [[load, total - lost] for load, lost in down.front().objectives] == up.front().objectives.tolist()


@pytest.mark.parametrize(
    ("name", "parameter", "value", "message"),
    [
        ("nsga-ii", "population", 1, "at least 2"),
        ("nsga-ii", "population", True, "whole number"),
        ("nsga-ii", "offspring", 0, "at least 1"),
        ("nsga-iii", "population", 1, "at least 2"),
        ("nsga-iii", "offspring", 0, "at least 1"),
        ("sms-emoa", "population", 1, "at least 2"),
        ("moea-d", "subproblems", 1, "at least 2"),
        ("moea-d", "neighbours", 1, "at least 2"),
        ("pls", "initial", 0, "at least 1"),
        ("pls", "initial", 1.5, "whole number"),
        ("pareto-mcts", "playouts", 0, "at least 1"),
        ("pareto-mcts", "exploration", 0, "above 0"),
        ("nrpa", "level", 0, "at least 1"),
        ("nrpa", "level", 101, "at most 100"),
        ("nrpa", "weights", 0, "at least 1"),
        ("nrpa", "alpha", 0, "above 0"),
        ("nrpa", "alpha", float("nan"), "finite number"),
        ("nmcs", "level", 0, "at least 1"),
        ("nmcs", "level", 11, "at most 10"),
        ("nmcs", "weights", 0, "at least 1"),
        ("nmcs", "bias", "1", "finite number"),
        ("random", "pruning", 1, ""),
        ("pareto-nrpa", "level", 0, "at least 1"),
        ("pareto-nrpa", "level", True, "whole number"),
        ("pareto-nrpa", "n_policies", 0, "at least 1"),
        ("pareto-nrpa", "alpha", 10**400, "a finite number above 0"),
        ("pareto-nrpa", "temperature", 0, "above 0"),
        ("pareto-nrpa", "iterations", 0, "at least 1"),
        ("pareto-nrpa", "bias", float("inf"), "a finite number"),
        ("pareto-nrpa", "limited_repetitions", -1, "at least 0"),
        ("pareto-nrpa", "playouts_per_step", 0, "at least 1"),
        ("pareto-nrpa", "weighting", "crowd", "one of crowding, none"),
        ("pareto-nrpa", "adapt", "two", "one of all, one"),
        ("pareto-nrpa", "preferences", "papr", "one of paper, spread"),
        ("polished-nrpa", "playouts", 0, "a whole number"),
        ("polished-nrpa", "fresh", 1.5, "a share from 0 to 1"),
        ("polished-nrpa", "shake", 0, ""),
        ("polished-nrpa", "explore", -0.1, "a share"),
        ("polished-nrpa", "reach", 0, ""),
        ("polished-nrpa", "level", 0, ""),
        ("polished-nrpa", "alpha", -1, ""),
    ],
)
def test_bounds_of_parameters(name, parameter, value, message):
    with pytest.raises(ValueError, match=f"^{parameter} must be .*{message}.*, got {value!r:.20}"):
        algorithm(name, {parameter: value})
