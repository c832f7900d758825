"""The runner: the same result however it is carried out, and nothing lost whatever is killed."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress

import pytest

from pareto_nrpa.experiments import worker
from pareto_nrpa.experiments.plan import load_plan
from pareto_nrpa.experiments.runner import run_missing
from pareto_nrpa.experiments.runs import RunStore
from pareto_nrpa.experiments.worker import fingerprints

from ..helpers.command_line import PATIENCE, wait_until
from .helpers import MANY, OTHER, TINY, found_in, journals, n_lines, save


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
