import json
import os
import signal
import subprocess
import sys
import time
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from pareto_nrpa import MaxEvaluations, ParetoNRPA, solve
from pareto_nrpa.algorithms.nrpa.checkpoint import sum_of
from pareto_nrpa.engine.arrays import N_CODES, N_DECISIONS, N_UNIQUE, POLICY
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


@pytest.mark.parametrize("keep", [0, 10, 500, -20])
def test_a_truncated_checkpoint_is_refused(saved, keep):
    saved.write_bytes(saved.read_bytes()[:keep])
    with pytest.raises(CheckpointError, match="is not a checkpoint of pareto-nrpa, or is damaged"):
        ParetoNRPA(level=2).resume(Knapsack(), saved)


def test_a_pickle_is_refused(saved):
    np.save(saved.with_suffix(".npy"), np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(CheckpointError, match="is not a checkpoint"):
        ParetoNRPA(level=2).resume(Knapsack(), saved.with_suffix(".npy"))


def rewrite(path, change, *, fix_sum, save=np.savez):
    """Change the arrays of a checkpoint, with or without a sum that fits."""
    with np.load(path) as file:
        arrays = dict(file)
    total = arrays.pop("sum")
    change(arrays)
    save(path, **arrays, sum=sum_of(arrays) if fix_sum else total)


def change_meta(**changes):
    def change(arrays):
        meta = {**json.loads(arrays["meta"].tobytes()), **changes}
        arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)

    return change


def set_number(name, place, value):
    def change(arrays):
        arrays[name][place] = value

    return change


@pytest.mark.parametrize("change", [change_meta(seed=2), set_number("counters", 0, 21)], ids=["meta", "array"])
def test_whatever_is_changed_does_not_fit_the_sum(saved, change):
    rewrite(saved, change, fix_sum=False)
    with pytest.raises(CheckpointError, match="is damaged"):
        ParetoNRPA(level=2).resume(Knapsack(), saved)
    rewrite(saved, change, fix_sum=True)
    ParetoNRPA(level=2).resume(Knapsack(), saved)


# Each of these made compiled code read or write where it must not, loop for ever, or Python run out of memory.
FORGED = {
    "a policy that is not there": set_number("pool_heads", (0, POLICY), 99),
    "a policy below 0": set_number("archive_heads", (0, POLICY), -1),
    "a longer sequence": set_number("pool_heads", (0, N_DECISIONS), 2**40),
    "an end before its beginning": set_number("pool_ends", (0, 1), 0),
    "a choice elsewhere": set_number("pool_chosen", (0, 0), 2**50),
    "a code that is not there": set_number("pool_codes", (0, 0), 2**31),
    "a move that is not there": set_number("archive_moves", (0, 0), -5),
    "more members than sequences": set_number("levels", (1, 0), 2**40),
    "iterations that never end": set_number("levels", (0, 1), -(2**62)),
    "evaluations that overflow": set_number("counters", 0, 2**63 - 1),
    "codes that take all memory": set_number("counters", N_CODES, 2**60),
    "unique solutions without a table": set_number("counters", N_UNIQUE, 3),
    "a table that is full": lambda arrays: arrays.update(
        archive_keys=np.arange(1, 1025), archive_key_scores=np.zeros((1024, 3))
    ),
    "weights that are none": set_number("weights", (0, 0, 0), np.nan),
    "an infinite score": set_number("archive_scores", (0, 1), np.inf),
    "numbers of another type": lambda arrays: arrays.update(levels=arrays["levels"].astype(float)),
    "nothing, but very wide": lambda arrays: arrays.update(pool_moves=np.zeros((0, 10**15), dtype=np.int64)),
    "a missing array": lambda arrays: arrays.pop("starts"),
    "other iterations": change_meta(iterations=0),
    "iterations for ever": change_meta(iterations=2**80),
    "a seed below 0": change_meta(seed=-1),
    "time that is none": change_meta(cpu_seconds=float("nan")),
    "a random state of nothing": change_meta(random_state={}),
    "moves that are alike": change_meta(moves=[0, 0]),
    "moves in moves in moves": lambda arrays: arrays.update(meta=np.frombuffer(b"[" * 100_000, dtype=np.uint8)),
}


@pytest.mark.parametrize("change", FORGED.values(), ids=FORGED)
def test_a_forged_checkpoint_is_refused(saved, change):
    rewrite(saved, change, fix_sum=True)
    with pytest.raises(CheckpointError, match="is not a checkpoint of pareto-nrpa, or is damaged"):
        ParetoNRPA(level=2).resume(Knapsack(), saved)


def test_a_file_larger_inside_than_outside_is_refused_unread(saved):
    def add_zeros(arrays):
        arrays["bomb"] = np.zeros(10**7)

    rewrite(saved, add_zeros, fix_sum=True, save=np.savez_compressed)
    assert saved.stat().st_size < 10**6
    tracemalloc.start()
    with pytest.raises(CheckpointError, match="is not a checkpoint"):
        ParetoNRPA(level=2).resume(Knapsack(), saved)
    assert tracemalloc.get_traced_memory()[1] < 10**7
    tracemalloc.stop()


@pytest.mark.parametrize("junk", [b"{'descr': (", b"9" * 40, b"(" * 60], ids=["open", "number", "brackets"])
def test_an_array_with_a_broken_header_is_refused(saved, junk):
    with zipfile.ZipFile(saved) as file:
        parts = {part.filename: file.read(part) for part in file.infolist()}
    parts["levels.npy"] = parts["levels.npy"][:10] + junk + parts["levels.npy"][10 + len(junk) :]
    with zipfile.ZipFile(saved, "w") as file:
        for name, content in parts.items():
            file.writestr(name, content)
    with pytest.raises(CheckpointError, match="is not a checkpoint"):
        ParetoNRPA(level=2).resume(Knapsack(), saved)


def test_a_checkpoint_of_an_older_version_says_so(saved):
    rewrite(saved, change_meta(format="pareto-nrpa checkpoint 1"), fix_sum=True)
    with pytest.raises(CheckpointError, match="was made by an older version of pareto-nrpa"):
        ParetoNRPA(level=2).resume(Knapsack(), saved)


@pytest.mark.parametrize("part", ["instance", "algorithm", "parameters"])
def test_a_message_is_short_whatever_a_checkpoint_says(saved, part):
    said = {"instance": "x" * 10_000, "algorithm": "x" * 10_000, "parameters": {"x" * 10_000: "y" * 10_000}}
    other = {"problem": ["another"]} if part == "instance" else {}
    rewrite(saved, change_meta(**{part: said[part]}, **other), fix_sum=True)
    with pytest.raises(CheckpointError) as refused:
        ParetoNRPA(level=2).resume(Knapsack(), saved)
    assert len(str(refused.value).replace(str(saved), "")) < 300


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
