"""Several searches that work together: what executes them must not show in what they find."""

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pareto_nrpa import (
    MaxEvaluations,
    MaxRuntime,
    NoImprovement,
    ParetoNRPAError,
    PolishedNRPA,
    Problem,
    Result,
    solve,
)
from pareto_nrpa.algorithms.polished.search import PolishedSearch
from pareto_nrpa.errors import CheckpointError, ProblemError
from pareto_nrpa.parallel.islands import search as cooperating
from pareto_nrpa.parallel.islands.algorithm import Islands
from pareto_nrpa.parallel.islands.exchange import LAG, IslandRecord, Mailbox, Rounds
from pareto_nrpa.parallel.islands.executors import Crew, KeptProcesses, Tasks, Threads, crew_for
from pareto_nrpa.parallel.islands.task import Member, Report
from pareto_nrpa.routing import generate_tsp, generate_tsptw

from ...helpers.command_line import assert_refused, python
from ...helpers.problems import Knapsack

TSPTW = generate_tsptw(20, seed=3, tightness=0.2)
TSP = generate_tsp(15, seed=1)
PLAIN = Knapsack(12)


@pytest.fixture(autouse=True)
def short_rounds(monkeypatch):
    """Let tests see several rounds, and fronts exchanged however small they are."""
    monkeypatch.setattr(PolishedSearch, "alone_below", 0)
    monkeypatch.setattr(cooperating, "FIRST_ROUND", 2)
    monkeypatch.setattr(cooperating, "FIRST_PLAIN_ROUND", 40)


def assert_same(one, other):
    assert one.front.solutions == other.front.solutions
    np.testing.assert_array_equal(one.front.objectives, other.front.objectives)
    np.testing.assert_array_equal(one.log, other.log)
    np.testing.assert_array_equal(one.history, other.history)
    assert one.evaluations == other.evaluations
    assert one.unique_evaluations == other.unique_evaluations


def advance(search, n):
    """Let searches make n evaluations, however often they look up on the way."""
    end = search.evaluations + n
    while search.evaluations < end:
        search.advance(end - search.evaluations)


def solved(problem, n=701, algorithm=None, **how):
    return solve(problem, algorithm, stop=MaxEvaluations(n), seed=5, **how)


@pytest.mark.parametrize(
    ("problem", "budget", "crew"),
    [(TSPTW, None, KeptProcesses), (TSPTW, 1_000, Threads), (generate_tsp(300, seed=1), None, Threads)],
)
def test_processes_are_for_long_searches_with_small_policies(problem, budget, crew):
    team = Islands(PolishedNRPA(), 2, 2, None)
    try:
        assert type(team.start(problem, seed=0, budget=budget).crew) is crew
    finally:
        team.close()


@pytest.mark.slow
def test_a_script_is_not_run_a_second_time(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from pareto_nrpa import MaxEvaluations, solve; from pareto_nrpa.routing import generate_tsptw\n"
        "print('once')\n"
        "solve(generate_tsptw(10, seed=1), stop=MaxEvaluations(100), workers=2, executor='processes')\n"
    )
    assert python(script)[0] == "once\n"


@pytest.mark.parametrize("n", [1, 41, 200])
def test_slices_do_not_matter(n):
    searches = []
    for sizes in ([n], [1] * n):
        search = Islands(PolishedNRPA(), 2, 1, None).start(TSPTW, seed=0, budget=None)
        for size in sizes:
            advance(search, size)
        assert search.evaluations == n
        searches.append(search)
    np.testing.assert_array_equal(searches[0].log(), searches[1].log())
    assert searches[0].last_improvement == searches[1].last_improvement


def test_what_one_finds_reaches_the_others():
    search = Islands(PolishedNRPA(), 3, 1, None).start(TSP, seed=0, budget=None)
    advance(search, 3 * search.rounds.begin(1))
    found = [list(record.members.values()) for record in search.records]
    assert all(found)
    advance(search, 3 * (search.rounds.begin(LAG) - search.rounds.begin(1)) + 3)
    inboxes = [record.inbox for record in search.records]
    assert any(inboxes)
    for k, inbox in enumerate(inboxes):
        assert all(any(member in found[j] for j in range(3) if j != k) for member in inbox)
    advance(search, 3 * max(map(len, inboxes)))
    for k, one in enumerate(search.crew.searches):
        known = one.best()[0]  # what the others found, or better
        others = [member for j in range(3) if j != k for member in found[j]]
        assert all((known <= member.scores[1:]).all(axis=1).any() for member in others)


def record_of(members):
    alive = np.array([member.found_at for member in members])
    return IslandRecord(Report(10, 0, alive, members, np.zeros((0, 4)), np.zeros(0, np.int64), 0.0))


def test_nothing_is_sent_twice_nor_to_a_search_that_has_better():
    post = Mailbox(3, Rounds(10), 0)
    points = [[(1, 5), (2, 2)], [(2, 2), (5, 1), (4, 4)], [(9, 9)]]
    records = []
    for k, found in enumerate(points):
        members = [Member(i + 1, (0.0, *map(float, point)), 0, [k, i]) for i, point in enumerate(found)]
        records.append(record_of(members))
        assert not post.is_ready(LAG)
        post.hand_in(k, records[k])
    assert post.is_ready(LAG)
    sent = [[member.solution for member in post.inbox(LAG, k, record)] for k, record in enumerate(records)]
    assert sent == [[[1, 1]], [[0, 0]], [[0, 0], [1, 0], [1, 1]]]


@pytest.mark.parametrize(
    ("k", "alone_below", "found_at", "violations", "takes_in"),
    [
        (1, 2, 15, 0.0, False),  # its own way leads on
        (1, 2, 10, 0.0, True),  # nothing new for a round
        (1, 2, 15, 1.0, True),  # others are feasible
        (1, 1, 15, 0.0, True),  # a large front
        (0, 2, 10, 0.0, False),  # the first
        (0, 2, 10, 1.0, True),  # the first, others are feasible
        (0, 1, 10, 0.0, True),  # the first, a large front
    ],
)
def test_a_small_front_is_taken_in_by_a_search_without_progress(k, alone_below, found_at, violations, takes_in):
    post = Mailbox(2, Rounds(10), alone_below)
    other = Member(1, (0.0, 1.0, 5.0), 0, [1])
    post.hand_in(1 - k, record_of([other]))
    own = record_of([Member(found_at, (violations, 5.0, 1.0), 0, [0])])
    assert post.inbox(LAG, k, own) == ([other] if takes_in else [])


@pytest.mark.parametrize(
    ("problem", "workers"), [(TSPTW, 2), (TSPTW, 1), pytest.param(PLAIN, 2, marks=pytest.mark.slow)]
)
def test_a_search_that_was_saved_ends_in_the_same_front(problem, workers, tmp_path):
    for n in (95, 250)[: 3 - workers]:  # in the middle of what was sent, and of a round
        file = tmp_path / f"{n}.npz"
        solved(problem, n, searches=2, workers=workers, checkpoint=file)
        resumed = solved(problem, 400, searches=2, workers=3 - workers, checkpoint=file, resume=True)
        assert_same(resumed, solved(problem, 400, searches=2))


def test_checkpoints_of_other_searches_are_refused(tmp_path):
    one, two = tmp_path / "one.npz", tmp_path / "two.npz"
    solved(PLAIN, 50, checkpoint=one)
    solved(PLAIN, 50, searches=2, checkpoint=two)
    with pytest.raises(CheckpointError, match=r"one\.npz was made with searches=1, not 2; use that"):
        solved(PLAIN, 60, searches=2, checkpoint=one, resume=True)
    with pytest.raises(CheckpointError, match=r"two\.npz was made with searches=2, not 3; use that"):
        solved(PLAIN, 60, searches=3, checkpoint=two, resume=True)
    with pytest.raises(CheckpointError, match=r"two\.npz was made with searches=2, not 1; use that"):
        solved(PLAIN, 60, checkpoint=two, resume=True)
    with pytest.raises(CheckpointError, match="of another problem"):
        solved(Knapsack(9), 60, searches=2, checkpoint=two, resume=True)
    content = two.read_bytes()
    two.write_bytes(content[:4000] + bytes([content[4000] ^ 1]) + content[4001:])
    with pytest.raises(CheckpointError, match="is damaged"):
        solved(PLAIN, 60, searches=2, checkpoint=two, resume=True)


class Mortal(Knapsack):
    """Kills the process that evaluates it, once: the file says whether that has been."""

    def __init__(self, file):
        super().__init__(12)
        self.file = file
        self.home = os.getpid()

    def evaluate(self, state):
        if os.getpid() != self.home and sum(state) == 6 and not os.path.exists(self.file):
            open(self.file, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().evaluate(state)


@pytest.mark.parametrize(
    "searches", [2, pytest.param(3, marks=pytest.mark.slow)], ids=["that keeps its search", "that is sent states"]
)
def test_a_worker_that_dies_changes_nothing(searches, tmp_path, monkeypatch):
    monkeypatch.setattr(KeptProcesses, "spell_seconds", 0.01)
    monkeypatch.setattr(Tasks, "spell_seconds", 0.01)
    file = tmp_path / "died"
    result = solved(Mortal(str(file)), 200, searches=searches, workers=2)
    assert file.exists()
    assert_same(result, solved(Mortal("never"), 200, searches=searches))


@pytest.mark.parametrize("executor", ["threads", pytest.param("processes", marks=pytest.mark.slow)])
def test_stopping_by_time_and_without_improvement(executor):
    timed = solve(TSPTW, stop=MaxRuntime(0.2), workers=2, executor=executor)
    assert timed.stopped_by == "0.2 s"
    assert timed.evaluations == sum(timed.parameters["evaluations_of_each"]) > 2
    assert timed.log[-1, 0] <= timed.evaluations
    assert (np.diff(timed.log[:, 0]) > 0).all()
    alone = solve(PLAIN, stop=NoImprovement(100), searches=2)
    assert_same(alone, solve(PLAIN, stop=NoImprovement(100), searches=2, workers=2, executor=executor))


def test_the_front_keeps_to_a_limit():
    results = [solved(TSPTW, searches=2, workers=workers, max_archive=5) for workers in (1, 2)]
    assert_same(*results)
    assert len(results[0].front) <= 5
    assert results[0].discarded == results[1].discarded > 0


class Broken(Knapsack):
    """Raises at some solutions."""

    def evaluate(self, state):
        if sum(state) == 5:
            raise ArithmeticError("five")
        return super().evaluate(state)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_problem_that_raises_ends_the_search_with_a_sentence(workers):
    with pytest.raises(ProblemError, match=r"evaluate\(\) of Broken raised ArithmeticError: five"):
        solved(Broken(10), searches=2, workers=workers)


@pytest.mark.parametrize("executor", [None, "threads"])
def test_an_error_keeps_what_was_found_before_it_in_its_stretch(executor):
    calls = []

    def evaluate(items):
        calls.append(items)
        if len(calls) == 100:
            raise ArithmeticError("hundred")
        return items[0] - items[5], items[1] - items[4]

    problem = Problem.from_permutation(evaluate, 6)
    with pytest.raises(ProblemError, match="raised ArithmeticError: hundred") as caught:
        solve(problem, stop=MaxEvaluations(500), searches=2, workers=2 if executor else 1, executor=executor)
    assert caught.value.result.evaluations >= 90
    assert len(caught.value.result.front) > 0


def test_bad_input():
    for given in ({"workers": -1}, {"workers": 1.5}, {"workers": True}, {"searches": 0, "workers": 1}):
        with pytest.raises(ValueError, match=r"(workers|searches) must be a whole number of at least"):
            solved(PLAIN, **given)
    with pytest.raises(ValueError, match="workers must be a whole number, or \"all\", got 'many'"):
        solved(PLAIN, workers="many")
    with pytest.raises(ValueError, match=r"at most the number of searches \(2\).* searches=3 uses them"):
        solved(PLAIN, workers=3, searches=2)
    with pytest.raises(TypeError, match=r"executor must be a concurrent\.futures\.Executor, got list"):
        solved(PLAIN, executor=[], searches=2)
    with pytest.raises(ValueError, match="executor must be 'threads', 'processes' or an Executor, got 'fork'"):
        solved(PLAIN, executor="fork", workers=2)
    with ThreadPoolExecutor(1) as executor:
        with pytest.raises(ValueError, match="executor requires the number of cooperating searches"):
            solved(PLAIN, executor=executor)
        with pytest.raises(ValueError, match="workers and executor exclude each other"):
            solved(PLAIN, executor=executor, searches=2, workers=2)
    with pytest.raises(ValueError, match="require a PolishedNRPA or a ParetoNRPA as algorithm, got RandomSearch"):
        solved(PLAIN, algorithm="random", searches=2)

    class Local(Knapsack):
        """Cannot be loaded by its name."""

    with pytest.raises(ProblemError, match=r"Local cannot be sent to a process .* leave out workers"):
        solved(Local(), workers=2)


def test_the_command_line(tmp_path, run):
    fronts = []
    for workers in ("1", "2"):
        file = tmp_path / f"{workers}.json"
        options = ["--evaluations", "300", "--workers", workers, "--searches", "2", "--json", str(file), "--quiet"]
        assert run("solve", "tsptw:n=15,seed=3", *options).code == 0
        fronts.append(Result.load(file))
    assert fronts[0].front.solutions == fronts[1].front.solutions
    assert fronts[0].parameters["searches"] == 2
    assert_refused(run("solve", "--workers", "three"), "workers must be a whole number, or \"all\", got 'three'")
    assert_refused(run("solve", "--workers", "2", "--algorithm", "random"), "leave out workers and searches")
    assert_refused(run("solve", "--workers", "fork:2"), "executor must be 'threads', 'processes'")
    assert_refused(
        run("solve", "--workers", "threads:2", "--dask", "tcp://x"), "--workers threads:2 and --dask both choose"
    )


def test_an_executor_that_was_shut_down_is_named():
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(ParetoNRPAError, match=r"executor accepts no tasks \(.*\); give one that is not shut down"):
        solve(TSPTW, stop=MaxEvaluations(500), searches=2, executor=executor)


# --- what executes searches, what of a script it sees, and which searches a process keeps


COMPILED = generate_tsptw(10, seed=1)
MODULE = """
from pareto_nrpa import Problem
SCALE = 1

class Steps(Problem):
    n_objectives = 2
    def initial_state(self): return ()
    def legal_moves(self, state): return (0, 1, 2) if len(state) < 4 else ()
    def play(self, state, move): return (*state, move)
    def move_code(self, state, move): return len(state), move
    def evaluate(self, state): return SCALE * sum(state), -sum(i * move for i, move in enumerate(state))
"""
SCRIPT = """
import steps
from pareto_nrpa import MaxEvaluations, ParetoNRPA, solve
steps.SCALE = 3
class Mine(ParetoNRPA):
    pass
if __name__ == "__main__":
    fronts = [
        solve(steps.Steps(), Mine(level=1), stop=MaxEvaluations(200), seed=1, searches=2, workers=n).front.objectives
        for n in (1, 2)
    ]
    assert (fronts[0] == fronts[1]).all() and fronts[0].size, fronts
"""


@pytest.mark.slow
def test_processes_see_what_a_script_has_set_and_the_algorithm_that_it_defines(tmp_path):
    (tmp_path / "steps.py").write_text(MODULE)
    (tmp_path / "script.py").write_text(SCRIPT)
    python(tmp_path / "script.py", cwd=tmp_path)


@pytest.mark.parametrize(("name", "value"), [("frozen", True), ("executable", "")])
def test_a_program_with_python_inside_is_not_started_again_unasked(name, value, monkeypatch):
    searches = [PolishedNRPA().start(COMPILED, seed=seed) for seed in range(2)]
    usual = crew_for(searches, COMPILED, PolishedNRPA(), 2, None, None)
    assert isinstance(usual, KeptProcesses)
    usual.close()
    monkeypatch.setattr(sys, name, value, raising=False)
    assert isinstance(crew_for(searches, COMPILED, PolishedNRPA(), 2, None, None), Threads)


def test_one_worker_needs_no_executor():
    assert type(crew_for([], COMPILED, PolishedNRPA(), 1, None, None)) is Crew
    with pytest.raises(ValueError, match=r"executor='processes' requires workers: give a number, such as"):
        solve(COMPILED, stop=MaxEvaluations(10), searches=2, executor="processes")
