"""What a checkpoint survives and refuses; that it resumes exactly is tested for all algorithms in engine/test_state."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pareto_nrpa import MaxEvaluations, ParetoNRPA, solve
from pareto_nrpa.errors import CheckpointError
from pareto_nrpa.routing import generate_tsptw

from ...helpers.problems import Knapsack

_SCRIPT = """
import sys
from pareto_nrpa import ParetoNRPA, MaxEvaluations, solve
from pareto_nrpa.routing import generate_tsptw
import pareto_nrpa.solving.run as run_module
run_module._SECONDS_BETWEEN_CHECKPOINTS = 0.0
problem, stop = generate_tsptw(12, seed=5), MaxEvaluations(60_000)
solve(problem, ParetoNRPA(), stop=stop, seed=1, checkpoint=sys.argv[1], resume=True)
"""


def test_killed_at_any_moment_and_resumed_it_ends_in_the_same_front(tmp_path):
    path = tmp_path / "search.npz"
    command = [sys.executable, "-c", _SCRIPT, str(path)]
    for _ in range(2):
        before = path.stat().st_mtime_ns if path.exists() else 0
        process = subprocess.Popen(command, env=os.environ)
        while process.poll() is None and not (path.exists() and path.stat().st_mtime_ns > before):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
    problem, stop = generate_tsptw(12, seed=5), MaxEvaluations(60_000)
    resumed = solve(problem, ParetoNRPA(), stop=stop, seed=1, checkpoint=path, resume=True)
    whole = solve(problem, ParetoNRPA(), stop=stop, seed=1)
    assert resumed.front.objectives.tolist() == whole.front.objectives.tolist()
    assert resumed.front.solutions == whole.front.solutions
    assert resumed.history.tolist() == whole.history.tolist()


@pytest.fixture
def saved(tmp_path):
    search = ParetoNRPA(level=2).start(Knapsack(), seed=1, budget=50)
    search.advance(20)
    search.save(tmp_path / "search.npz")
    return tmp_path / "search.npz"


def test_another_problem_is_refused(saved):
    with pytest.raises(CheckpointError, match="is of another problem"):
        ParetoNRPA(level=2).resume(Knapsack(seed=5), saved)
    with pytest.raises(CheckpointError, match=r"is of another problem \(Knapsack\), or the data or code of tsptw:n=9"):
        ParetoNRPA(level=2).resume(generate_tsptw(9), saved)


def test_other_parameters_are_refused(saved):
    with pytest.raises(CheckpointError, match=r"was made with alpha=0.5, not 0.7"):
        ParetoNRPA(level=2, alpha=0.7).resume(Knapsack(), saved)


_TELL = """
import sys
from pareto_nrpa import ParetoNRPA
from tests.helpers.problems import Knapsack
search = ParetoNRPA(level=2).resume(Knapsack(), sys.argv[1])
search.tell(list(search.pending), [Knapsack().evaluate(c.state) for c in search.pending])
print(search.evaluations)
"""


def test_a_new_process_may_tell_what_an_older_one_asked_for(tmp_path):
    search = ParetoNRPA(level=2).start(Knapsack(), seed=4, budget=50)
    search.ask(2)
    search.save(tmp_path / "search.npz")
    root = Path(__file__).parent.parent.parent.parent
    command = [sys.executable, "-c", _TELL, str(tmp_path / "search.npz")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root)
    assert done.stdout == "2\n", done.stderr


def test_an_existing_checkpoint_is_never_overwritten_by_a_new_search(saved):
    before = saved.read_bytes()
    with pytest.raises(CheckpointError, match="already exists; resume to continue from it"):
        solve(Knapsack(), ParetoNRPA(level=2), stop=MaxEvaluations(50), checkpoint=saved)
    assert saved.read_bytes() == before


def test_a_checkpoint_that_cannot_be_written_costs_no_result(tmp_path):
    class Odd(Knapsack):
        def move_code(self, state, move):
            return frozenset([len(state), move])

    with pytest.raises(CheckpointError, match="codes and moves made of") as caught:
        solve(Odd(), ParetoNRPA(level=1), stop=MaxEvaluations(30), checkpoint=tmp_path / "search.npz")
    assert caught.value.result.evaluations == 30
