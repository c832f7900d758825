import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from pareto_nrpa import MaxEvaluations, ParetoNRPA, solve
from pareto_nrpa.errors import CheckpointError
from pareto_nrpa.routing import generate_tsptw

from ...helpers.problems import Knapsack, Word


@pytest.mark.parametrize("problem", [Knapsack(), Word(), generate_tsptw(9, seed=1)], ids=["knapsack", "word", "tsptw"])
@pytest.mark.parametrize("stop_at", [1, 7, 100, 299])
def test_a_resumed_search_ends_in_the_same_state_as_one_never_stopped(problem, stop_at, tmp_path):
    algorithm = ParetoNRPA(level=3, n_policies=3)
    whole = algorithm.start(problem, seed=9, budget=300)
    whole.advance(300)
    first = algorithm.start(problem, seed=9, budget=300)
    first.advance(stop_at)
    first.save(tmp_path / "search.npz")
    second = algorithm.resume(problem, tmp_path / "search.npz")
    assert second.evaluations == stop_at
    second.advance(300 - stop_at)
    assert second.front().objectives.tolist() == whole.front().objectives.tolist()
    assert second.front().solutions == whole.front().solutions
    np.testing.assert_array_equal(second.log(), whole.log())
    n = min(second.machine.weights.shape[2], whole.machine.weights.shape[2])
    np.testing.assert_array_equal(second.machine.weights[:, :, :n], whole.machine.weights[:, :, :n])


def test_saving_does_not_disturb_the_search(tmp_path):
    plain = ParetoNRPA(level=2).start(Knapsack(), seed=9, budget=200)
    plain.advance(200)
    saved = ParetoNRPA(level=2).start(Knapsack(), seed=9, budget=200)
    for _ in range(20):
        saved.advance(10)
        saved.save(tmp_path / "search.npz")
    assert saved.front().objectives.tolist() == plain.front().objectives.tolist()


def test_candidates_asked_for_and_not_told_survive(tmp_path):
    algorithm = ParetoNRPA(level=2)
    search = algorithm.start(Knapsack(), seed=4, budget=50)
    search.advance(20)
    asked = search.ask(3)
    search.save(tmp_path / "search.npz")
    resumed = algorithm.resume(Knapsack(), tmp_path / "search.npz")
    assert [c.solution for c in resumed.pending] == [c.solution for c in asked]
    assert [c.state for c in resumed.pending] == [c.state for c in asked]
    for one in (search, resumed):
        pending = list(one.pending)
        one.tell(pending, [Knapsack().evaluate(c.state) for c in pending])
        one.advance(27)
    assert resumed.front().objectives.tolist() == search.front().objectives.tolist()


_SCRIPT = """
import sys
from pareto_nrpa import ParetoNRPA, MaxEvaluations, solve
from pareto_nrpa.routing import generate_tsptw
import pareto_nrpa.solving.run as run_module
run_module._SECONDS_BETWEEN_CHECKPOINTS = 0.0
problem, stop = generate_tsptw(12, seed=5), MaxEvaluations(200_000)
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
    problem, stop = generate_tsptw(12, seed=5), MaxEvaluations(200_000)
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


def test_moves_that_no_file_can_hold_are_named():
    class Odd(Knapsack):
        def move_code(self, state, move):
            return frozenset([len(state), move])

    search = ParetoNRPA(level=1).start(Odd(), seed=1, budget=5)
    search.advance(2)
    with pytest.raises(CheckpointError, match="codes and moves made of numbers, text, None and tuples"):
        search.save("never-written.npz")


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


def test_candidates_pending_over_a_restart_leave_the_weights_alone():
    problem = generate_tsptw(6, seed=1)
    search = ParetoNRPA(level=1, n_policies=1, iterations=4).start(problem, seed=1)
    batch = search.ask(10)
    search.tell(batch, [problem.replay(c.solution)[0] for c in batch])
    met = np.isfinite(search.machine.starts)
    assert met.any()
    assert np.isfinite(search.machine.weights[0][met]).all()
