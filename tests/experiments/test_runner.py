"""The runner: the same result however it is carried out, and nothing lost whatever is killed."""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pareto_nrpa import MaxEvaluations, load, solve
from pareto_nrpa.algorithms.registry import algorithm
from pareto_nrpa.errors import ParetoNRPAError
from pareto_nrpa.experiments import worker
from pareto_nrpa.experiments.plan import Run, load_plan
from pareto_nrpa.experiments.runner import run_missing
from pareto_nrpa.experiments.runs import RunStore
from pareto_nrpa.experiments.worker import fingerprints, load_once, make_run, thinned
from pareto_nrpa.problem.base import data_fingerprint

from ..helpers.command_line import PATIENCE, wait_until
from .helpers import MANY, OTHER, TINY, TSPTW, a_plan, a_record, found_in, journals, n_lines, save, stored


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """The tiny plan, and what it comes to in one process without interruption."""
    folder = tmp_path_factory.mktemp("tiny")
    plan = load_plan(save(folder, TINY))
    run_missing(plan.runs(), RunStore(folder))
    return plan, found_in(folder)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """The plan of thirty short runs, and what it comes to without interruption."""
    folder = tmp_path_factory.mktemp("many")
    path = save(folder, MANY, "many")
    run_missing(load_plan(path).runs(), RunStore(folder))
    return path, found_in(folder)


# --- in this process


def test_every_run_becomes_a_line_and_each_problem_is_loaded_once(tmp_path, monkeypatch):
    loaded = []
    load = worker.load

    def counted(name, data=None):
        loaded.append(name)
        return load(name, data=data)

    monkeypatch.setattr(worker, "load", counted)
    plan = load_plan(save(tmp_path, TINY))
    run_missing(plan.runs(), RunStore(tmp_path), fingerprints=fingerprints(plan.problems, None))
    assert set(found_in(tmp_path)) == {run.key for run in plan.runs()}
    assert n_lines(tmp_path) == 8
    assert loaded == list(plan.problems)


def test_processes_find_the_same_as_one(tiny, tmp_path):
    plan, found = tiny
    status = run_missing(plan.runs(), RunStore(tmp_path), jobs=2)
    assert (status.total, status.done, status.made, status.failures) == (8, 8, 8, 0)
    assert found_in(tmp_path) == found


def test_nothing_is_made_twice_and_the_order_of_runs_does_not_matter(tiny, tmp_path):
    plan, found = tiny
    run_missing(plan.runs()[:4:-1], RunStore(tmp_path))
    before = journals(tmp_path)[0].read_bytes()
    seen = []
    status = run_missing(
        plan.runs(), RunStore(tmp_path), on_progress=lambda s: seen.append((s.done, s.made, s.seconds_left))
    )
    assert (status.done, status.made) == (8, 5)
    assert [(done, made) for done, made, _ in seen] == [(3 + i, i) for i in range(6)]
    assert (seen[0][2], seen[-1][2]) == (None, 0)  # at first nothing to judge by
    assert journals(tmp_path)[0].read_bytes().startswith(before)
    assert run_missing(plan.runs(), RunStore(tmp_path)).made == 0
    assert found_in(tmp_path) == found


# --- runs that fail


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_run_that_fails_becomes_a_record_and_the_others_are_made(tmp_path, jobs):
    runs = load_plan(save(tmp_path, TINY)).restricted(problems=["no_such_problem", OTHER], seeds=1).runs()
    store = RunStore(tmp_path)
    status = run_missing(runs, store, jobs=jobs)
    assert (status.done, status.failures) == (4, 2)
    errors = [store.get(run).error for run in runs]
    assert all("InstanceError: unknown instance 'no_such_problem'" in error for error in errors[:2])
    assert errors[2:] == ["", ""]


DEADLY = """
import os, signal
from tests.helpers.problems import Knapsack

class Deadly(Knapsack):
    def evaluate(self, state):
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_run_that_kills_its_process_every_time_becomes_a_failed_run(tmp_path):
    """As for want of memory: it must not be tried for ever."""
    (tmp_path / "deadly_run.py").write_text(DEADLY)
    problem = f"{tmp_path / 'deadly_run.py'}:Deadly"
    runs = load_plan(save(tmp_path, TINY)).restricted(problems=[problem], seeds=1, labels=["Random"]).runs()
    assert run_missing(runs, store := RunStore(tmp_path), jobs=2).failures == 1
    assert "process died" in store.get(runs[0]).error


# --- processes that are killed


@contextmanager
def started(*arguments):
    """Start the command line in a process group of its own; whatever happens, nothing of it stays."""
    command = [sys.executable, "-m", "pareto_nrpa", *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, start_new_session=True, **pipes) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_experiment_is_resumed(many, tmp_path, jobs):
    path, found = many
    with started("experiment", "run", path, "--results", tmp_path, "--jobs", jobs):
        wait_until(lambda: n_lines(tmp_path) >= 5, "five runs")
    before = journals(tmp_path)[0].read_bytes()
    n_before = n_lines(tmp_path)
    assert 5 <= n_before < 30
    assert all(found[key] == content for key, content in found_in(tmp_path).items())
    assert run_missing(load_plan(path).runs(), RunStore(tmp_path, "many")).made == 30 - n_before
    assert journals(tmp_path)[0].read_bytes().startswith(before)
    assert found_in(tmp_path) == found


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_keeps_what_is_finished(many, tmp_path, jobs):
    path, found = many
    with started("experiment", "run", path, "--results", tmp_path, "--jobs", jobs, "--quiet") as process:
        wait_until(lambda: n_lines(tmp_path) >= 4, "four runs")
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all processes
        out, err = process.communicate(timeout=PATIENCE)
    kept = f"Finished runs are kept in {tmp_path}; the same command makes the others."
    assert (process.returncode, out, err) == (130, "", f"{kept}\nInterrupted.\n")
    assert 4 <= n_lines(tmp_path) < 30
    assert all(found[key] == content for key, content in found_in(tmp_path).items())


# --- stored runs: written and read again, whatever the folder holds; and what thinning a log keeps


RUN = Run(TSPTW, "pls", {}, 300, None, 1)


@pytest.fixture(scope="module")
def made():
    """The line of a real run."""
    line, error = make_run(RUN, None)
    assert error == ""
    return line


def written(folder, *lines, name="runs"):
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    (folder / "runs" / f"{name}.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
    return RunStore(folder)


def test_a_stored_run_is_what_solve_finds(tmp_path, made):
    result = solve(load(TSPTW), algorithm("pls"), stop=MaxEvaluations(300), seed=1)
    record = written(tmp_path, made).get(RUN)
    assert record.run == RUN
    assert record.objectives == result.front.objectives.tolist()  # not rounded
    assert json.loads(bytes(record.solutions)) == [list(solution) for solution in result.front.solutions]
    assert (record.evaluations, record.violations, record.versions["numpy"]) == (300, 0.0, np.__version__)
    np.testing.assert_allclose(record.log, result.log, rtol=1e-8)
    np.testing.assert_array_equal(record.feasible, result.front.objectives)


def test_a_failed_run_has_its_error_and_an_infeasible_front_no_feasible_points(tmp_path):
    other = Run(TSPTW, "pls", {}, 300, None, 2)
    text = "ValueError: half a character \ud800" + "x" * 10_000
    store = stored(tmp_path, (RUN, text), a_record(other, [[1, 2], [2, 1]], violations=3.0))
    assert len(store.get(RUN).error) == 1_000
    assert store.get(RUN).feasible.shape == store.get(other).feasible.shape == (0, 2)


def test_missing_runs(tmp_path):
    runs = a_plan(problems=["p"]).runs()
    store = stored(tmp_path, a_record(runs[0], [[1, 2]]), (runs[1], "broken"))
    assert list(store.missing(runs)) == runs[2:]
    assert list(store.missing(runs, retry_failed=True)) == runs[1:]
    assert store.runs_on("p") == runs[:2]
    assert store.runs_on("q") == []


def test_journals_in_one_folder_are_read_together_and_the_last_line_of_a_run_counts(tmp_path):
    one, two, three = a_plan(problems=["p"], seeds=2).runs()[:3]
    stored(tmp_path, (one, "broken"), a_record(one, [[1, 2]]))
    (tmp_path / "runs" / "runs.jsonl").rename(tmp_path / "runs" / "another.jsonl")
    store = stored(tmp_path, a_record(two, [[3, 4]]))
    store = RunStore(tmp_path)
    assert [store.get(run).objectives for run in (one, two)] == [[[1, 2]], [[3, 4]]]
    assert store.get(three) is None


def test_a_journal_that_is_cut_anywhere_loses_its_last_run_only(tmp_path, made):
    line = msgspec.json.encode(a_record(Run("p", "pls", {}, 9, None, 0), [[1, 2]]))
    written(tmp_path, line, made)
    path = tmp_path / "runs" / "runs.jsonl"
    whole = path.read_bytes()
    for length in range(len(line) + 1, len(whole) - 1, len(whole) // 40):
        path.write_bytes(whole[:length])
        store = RunStore(tmp_path)
        assert store.get(RUN) is None
        with store.opened():
            store.put(made)
        assert path.read_bytes() == whole


WRONG = {"no JSON": b"hello", "no text": b"\xff\xfe\x00\x01", "lists in lists": b'{"run": ' + b"[" * 100_000}
WRONG_VALUES = {"run": None, "objectives": [[1, "a"]], "policies": []}


@pytest.mark.parametrize("damage", [*WRONG, *WRONG_VALUES])
def test_a_damaged_line_counts_as_not_made_and_the_others_stay(tmp_path, made, caplog, damage):
    changed = json.dumps({**json.loads(made), damage: WRONG_VALUES.get(damage)}).encode()
    other = a_record(Run("p", "pls", {}, 9, None, 0), [[1, 2]])
    store = written(tmp_path, WRONG.get(damage, changed), msgspec.json.encode(other))
    assert list(store.missing([RUN, other.run])) == [RUN]
    assert "line 1 of" in caplog.text


def test_runs_on_other_data_of_the_same_name_are_refused(tmp_path, made):
    store = written(tmp_path, made)
    now = store.get(RUN).fingerprint
    assert list(store.missing([RUN], fingerprints={TSPTW: now})) == []
    with pytest.raises(ParetoNRPAError, match=f"holds runs of {TSPTW} on other data"):
        list(store.missing([RUN], fingerprints={TSPTW: "another"}))
    failed = stored(tmp_path / "failed", (RUN, "broken"))
    assert list(failed.missing([RUN], fingerprints={TSPTW: "another"})) == []


def test_changed_code_of_a_users_own_problem_is_another_problem(tmp_path):
    """Regression: runs with the old objectives were shown as those of the new."""
    file = tmp_path / "priced_anew.py"

    def fingerprint(price):
        sys.modules.pop(file.stem, None)
        text = "from pareto_nrpa import Problem\ndef value(moves): return {0} * moves[0], -moves[1]\n"
        file.write_text(text.format(price) + "def make(): return Problem.from_choices(value, [(0, 1)] * 2)\n")
        return load_once(f"{file}:make", None)[1]

    assert fingerprint("1.5") == fingerprint("1.5") != fingerprint("2.5 + 0")
    assert load_once(OTHER, None)[1] == data_fingerprint(load(OTHER))


# --- thinning


def front_of(log, evaluation):
    """Return what was best after so many evaluations, the slow and obvious way."""
    rows = [tuple(row[1:]) for row in log.tolist() if row[0] <= evaluation]
    fewest = min((row[0] for row in rows), default=0)
    points = {row[1:] for row in rows if row[0] == fewest}
    return {p for p in points if not any(q != p and np.less_equal(q, p).all() for q in points)}


@st.composite
def logs(draw):
    """A log as a search writes it: what enters an archive, in order, on a small grid so that all cases occur."""
    m = draw(st.integers(1, 3))
    steps = draw(st.lists(st.integers(1, 40), min_size=1, max_size=60))
    rows, evaluation = [], 0
    for step in steps:
        evaluation += step
        row = (float(draw(st.integers(0, 2))), *(float(draw(st.integers(0, 6))) for _ in range(m)))
        weakly_better = [r for r in rows if r[1] < row[0] or (r[1] == row[0] and all(np.less_equal(r[2:], row[1:])))]
        if not weakly_better:
            rows.append((float(evaluation), *row))
    return np.array(rows)


@given(logs())
def test_thinning_keeps_lines_in_order_and_the_exact_front_at_every_checkpoint(log):
    thin, last = thinned(log), int(log[-1, 0])
    for checkpoint in {round(last ** (i / 149)) for i in range(150)}:
        assert front_of(thin, checkpoint) == front_of(log, checkpoint), checkpoint
    lines = [tuple(line) for line in log.tolist()]
    places = [lines.index(tuple(line)) for line in thin.tolist()]
    assert places == sorted(set(places))
