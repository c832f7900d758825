"""Searches by several workers: the same result on any number of them, nothing evaluated twice, failures survived."""

import re
import threading
import time
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import pytest

from pareto_nrpa import MaxEvaluations, MaxRuntime, ParetoNRPAError
from pareto_nrpa.algorithms import NSGA2
from pareto_nrpa.errors import ProblemError
from pareto_nrpa.parallel import FromExecutor, Processes, solve_expensive, solve_parallel
from pareto_nrpa.parallel.evaluations import search as window_module
from pareto_nrpa.routing import generate_tsptw

from . import problems
from .problems import Here

FIFTY = MaxEvaluations(50)


def found(result):
    front = result.front
    numbers = (result.evaluations, result.failures, result.stopped_by)
    return front.objectives.tolist(), front.violations.tolist(), front.solutions, result.log.tolist(), numbers


def expensive(problem, algorithm=None, *, workers=None, executor=None, time_limit=None, **options):
    """Call `solve_expensive` with an evaluator made of what is given."""
    evaluator = Processes(workers, time_limit) if executor is None else FromExecutor(executor, time_limit)
    return solve_expensive(problem, algorithm, evaluator=evaluator, **options)


def solved(problem, **options):
    options = {"stop": FIFTY, "seed": 3, **options}
    if "workers" not in options and "executor" not in options:
        options["executor"] = Here()
    return expensive(problem, **options)


@pytest.mark.parametrize("workers", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_the_result_does_not_depend_on_the_number_of_workers(workers):
    expected = found(solved(problems.Raises(), executor=Here()))
    assert found(solved(problems.Raises(pause=0.005), workers=workers)) == expected
    assert expected[-1] == (50, expected[-1][1], "50 evaluations")
    assert expected[-1][1] > 0


def test_equal_solutions_are_evaluated_once_whatever_moves_lead_there(tmp_path):
    here = Here()
    result = solved(problems.Heap(), executor=here, journal=tmp_path / "c.jsonl")
    heaps = [tuple(sorted(solution)) for solution in here.submitted]
    assert len(heaps) == len(set(heaps)) == result.evaluations == 50
    again = Here()
    resumed = solved(problems.Heap(), executor=again, journal=tmp_path / "c.jsonl", resume=True)
    assert again.submitted == []
    assert found(resumed) == found(result)


def test_the_former_name_works_with_a_warning(tmp_path):
    options = {"stop": FIFTY, "seed": 3, "executor": Here(), "checkpoint": tmp_path / "x.jsonl"}
    with pytest.warns(DeprecationWarning, match=r"solve_parallel is deprecated .* use solve_expensive, with"):
        former = solve_parallel(problems.Row(), **options)
    assert found(former) == found(solved(problems.Row()))
    with pytest.warns(DeprecationWarning, match="solve_expensive"), pytest.raises(ValueError, match="give one of them"):
        solve_parallel(problems.Row(), workers=2, **options)


def test_a_search_that_has_met_everything_ends(monkeypatch):
    monkeypatch.setattr(window_module, "MAX_REPEATS", 500)
    here = Here()
    result = solved(problems.Tiny(), executor=here)
    assert result.evaluations == len(here.submitted) == 9
    assert result.stopped_by == "10,000 playouts in a row without a new solution"


FAULTS = {
    problems.Raises: "ValueError: three is one too many \\(problems.py line",
    problems.NotANumber: "an objective is NaN or infinite",
    problems.WrongShape: "must return 2 objectives",
    problems.Exits: "SystemExit: enough",
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_failed_evaluation_is_written_down_and_survived(kind, tmp_path):
    path = tmp_path / "journal.jsonl"
    result = solved(kind(), journal=path)
    assert result.failures > 0
    assert all(solution[0] != 3 for solution in result.front.solutions)
    assert len(re.findall(FAULTS[kind], path.read_text())) == result.failures
    assert f"{result.failures} of the evaluations failed" in result.summary()


@pytest.mark.parametrize(
    ("where", "time_limit"), [("executor", 0.3), pytest.param("workers", 1, marks=pytest.mark.slow)]
)
def test_a_hanging_evaluation_is_given_up(where, time_limit):
    with ThreadPoolExecutor(2) as pool:
        how = {"executor": {"executor": pool}, "workers": {"workers": 2}}[where]
        result = expensive(problems.Sleepy(), stop=MaxEvaluations(120), seed=1, time_limit=time_limit, **how)
    assert (result.evaluations, result.failures > 0) == (120, True)
    assert all(solution[:2] != [3, 3] for solution in result.front.solutions)
    deadline = time.monotonic() + 20
    while any("evaluate" in thread.name for thread in threading.enumerate()):
        assert time.monotonic() < deadline, "an evaluation that was given up still runs"
        time.sleep(0.05)


def test_a_worker_killed_from_outside_changes_nothing(tmp_path):
    result = expensive(problems.DiesOnce(str(tmp_path)), stop=FIFTY, seed=3, workers=2)
    assert any(tmp_path.iterdir())
    assert found(result)[:4] == found(solved(problems.Row()))[:4]
    assert result.failures == 0


def test_if_all_fails_from_the_start_the_search_ends_with_the_reason(tmp_path):
    path = tmp_path / "journal.jsonl"
    sentence = "the first 10 evaluations of AlwaysRaises all failed, the last one: ZeroDivisionError: always"
    with pytest.raises(ProblemError, match=sentence):
        solved(problems.AlwaysRaises(), journal=path)
    with pytest.raises(ProblemError, match=sentence):
        solved(problems.AlwaysRaises(), journal=path, resume=True)


def test_violations_and_maximised_objectives_arrive():
    result = solved(problems.Constrained(), stop=MaxEvaluations(200))
    assert result.front.is_feasible
    assert all(solution[0] == 0 for solution in result.front.solutions)
    for solution, (low, high) in zip(result.front.solutions, result.front.objectives.tolist(), strict=True):
        assert (low, -high) == problems.Row().objectives(tuple(solution))


def test_a_limit_of_time_ends_the_search_though_an_evaluation_is_in_hand():
    begin = time.monotonic()
    result = expensive(problems.Row(pause=60), stop=MaxRuntime(2), seed=1, workers=2)
    assert time.monotonic() - begin < 40
    assert (result.evaluations, result.stopped_by) == (0, "2 s")


def test_an_executor_that_breaks_ends_the_search_with_the_front_so_far(tmp_path):
    class Breaks(Here):
        def submit(self, fn, /, *args, **kwargs):
            future = super().submit(fn, *args, **kwargs)
            if len(self.submitted) == 30:
                future = Future()
                future.set_exception(BrokenExecutor("a process was terminated abruptly"))
            return future

    path = tmp_path / "journal.jsonl"
    with pytest.raises(ParetoNRPAError, match="the workers cannot continue: a process was terminated") as caught:
        solved(problems.Row(), executor=Breaks(), journal=path)
    assert caught.value.result.evaluations >= 29
    assert len(path.read_text().splitlines()) == 1 + caught.value.result.evaluations
    assert found(solved(problems.Row(), journal=path, resume=True)) == found(solved(problems.Row()))


def test_a_pool_of_the_standard_library_will_do():
    with ProcessPoolExecutor(2) as pool:
        result = expensive(problems.Row(), stop=FIFTY, seed=3, executor=pool, time_limit=30)
    assert found(result) == found(solved(problems.Row()))


def test_a_problem_that_cannot_be_sent_is_a_sentence():
    problem = problems.Row()
    problem.secret = lambda: 1
    with pytest.raises(ProblemError, match=r"Row cannot be sent to worker processes .* at the top level of a module"):
        expensive(problem, stop=FIFTY, workers=1)


WRONG = [
    ({"workers": 0}, ValueError, "n of Processes must be a whole number of at least 1, got 0"),
    ({"workers": 9}, ValueError, r"n of Processes must be at most the lookahead \(8\).*got 9; lookahead=9 uses them"),
    ({"executor": 3}, TypeError, r"executor must be a concurrent.futures.Executor, got int; .*get_executor\(\)"),
    ({"lookahead": 0}, ValueError, "lookahead must be a whole number of at least 1, got 0"),
    ({"time_limit": 0}, ValueError, "time_limit must be a finite number above 0, got 0"),
    ({"resume": True}, ValueError, "resume requires the file to continue from: give it as journal"),
    ({"resume": "yes"}, ValueError, "resume must be true or false, got 'yes'"),
    ({"algorithm": NSGA2()}, TypeError, "algorithm must be a ParetoNRPA.*got NSGA2.*use solve"),
    ({"problem": 7}, TypeError, "problem must be a Problem"),
    ({"problem": generate_tsptw(5, seed=1)}, TypeError, "problem must be a plain Problem, got a Compiled.*use solve"),
]


@pytest.mark.parametrize(("evaluator", "way_out"), [(4, r"Processes\(4\)"), (Here(), r"FromExecutor\(executor\)")])
def test_an_evaluator_of_another_kind_is_named(evaluator, way_out):
    with pytest.raises(TypeError, match=rf"evaluator must be a Processes or a FromExecutor, got \w+; give {way_out}"):
        solve_expensive(problems.Row(), stop=FIFTY, evaluator=evaluator)


@pytest.mark.parametrize(("options", "kind", "sentence"), WRONG, ids=[next(iter(case[0])) for case in WRONG])
def test_a_wrong_argument_is_a_sentence(options, kind, sentence):
    with pytest.raises(kind, match=sentence):
        expensive(**{"problem": problems.Row(), "stop": FIFTY, **options})
