"""What executes searches, what of a script it sees, and which searches a process keeps."""

import subprocess
import sys

import numpy as np
import pytest

from pareto_nrpa import MaxEvaluations, ParetoNRPA, PolishedNRPA, solve
from pareto_nrpa.parallel.islands import task as work
from pareto_nrpa.parallel.islands.exchange import LAG, IslandRecord, Mailbox, Rounds
from pareto_nrpa.parallel.islands.executors import Crew, Processes, Threads, crew_for, pickled
from pareto_nrpa.routing import generate_tsptw

from ...helpers.problems import Knapsack

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
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("name", "value"), [("frozen", True), ("executable", "")])
def test_a_program_with_python_inside_is_not_started_again_unasked(name, value, monkeypatch):
    searches = [PolishedNRPA().start(COMPILED, seed=seed) for seed in range(2)]
    usual = crew_for(searches, COMPILED, PolishedNRPA(), 2, None, None)
    assert isinstance(usual, Processes)
    usual.close()
    monkeypatch.setattr(sys, name, value, raising=False)
    assert isinstance(crew_for(searches, COMPILED, PolishedNRPA(), 2, None, None), Threads)


def test_one_worker_needs_nobody():
    assert type(crew_for([], COMPILED, PolishedNRPA(), 1, None, None)) is Crew
    with pytest.raises(ValueError, match=r"executor='processes' requires workers: give a number, such as"):
        solve(COMPILED, stop=MaxEvaluations(10), searches=2, executor="processes")


def test_a_process_keeps_all_searches_of_a_run_and_few_of_others():
    problem, algorithm = Knapsack(6), ParetoNRPA(level=1, iterations=5)
    state = work.to_bytes(algorithm.start(problem, seed=0, budget=50))
    stretch = work.Stretch(0, 2, 0, 20, [], 10.0)
    for run, n in (("another run", 5), ("run", 20), ("a third run", 1)):
        for k in range(n):
            task = work.Task((run, k), stretch, pickled(problem), algorithm, state, False)
            assert work.carry_out(task).evaluations == 2
        assert sum(key[0] == run for key in work._live) == n
    assert {key[0] for key in work._live} == {"run", "a third run"}
    work._live.clear()


def test_what_a_search_has_discarded_is_not_sent_back():
    post = Mailbox(2, Rounds(10), 0)
    members = [work.Member(i + 1, (0.0, *point), 0, [i]) for i, point in enumerate([(1.0, 5.0), (5.0, 1.0)])]
    nothing = np.zeros((0, 4)), np.zeros(0, np.int64), 0.0
    records = [
        IslandRecord(work.Report(10, 0, np.arange(1, len(found) + 1), found, *nothing)) for found in (members, [])
    ]
    for k, record in enumerate(records):
        post.hand_in(k, record)
    records[0].update(work.Report(20, 1, np.array([1]), [], *nothing))
    assert post.inbox(LAG, 0, records[0]) == []
    assert post.inbox(LAG, 1, records[1]) == members
