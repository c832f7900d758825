"""The runner: the same result however it is carried out, and nothing lost whatever is killed."""

import os
import signal
import time

import psutil
import pytest

from pareto_nrpa.experiments import worker
from pareto_nrpa.experiments.plan import load_plan
from pareto_nrpa.experiments.runner import run_missing
from pareto_nrpa.experiments.runs import RunStore
from pareto_nrpa.experiments.worker import fingerprints

from ..helpers.command_line import PATIENCE, wait_until
from .helpers import (
    ENDLESS,
    MANY,
    OTHER,
    TINY,
    end,
    finish,
    found_in,
    journals,
    n_lines,
    save,
    start,
)


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


def workers_of(process):
    """The processes that a command started to do its work."""
    try:
        children = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    return [child for child in children if is_worker(child)]


def is_worker(process):
    try:
        return "spawn_main" in " ".join(process.cmdline())
    except psutil.NoSuchProcess:  # zombies too
        return False


def cpu_seconds(process):
    try:
        return process.cpu_times().user
    except psutil.NoSuchProcess:
        return 0.0


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


# --- processes that are killed


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_experiment_is_resumed(many, tmp_path, jobs):
    path, found = many
    process = start("experiment", "run", path, "--results", tmp_path, "--jobs", jobs)
    try:
        wait_until(lambda: n_lines(tmp_path) >= 5, "five runs")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)
    finally:
        end(process)
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
    process = start("experiment", "run", path, "--results", tmp_path, "--jobs", jobs, "--quiet")
    try:
        wait_until(lambda: n_lines(tmp_path) >= 4, "four runs")
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all processes
        outcome = finish(process)
    finally:
        end(process)
    kept = f"Finished runs are kept in {tmp_path}; the same command makes the others."
    assert (outcome.code, outcome.out, outcome.err) == (130, "", f"{kept}\nInterrupted.\n")
    assert 4 <= n_lines(tmp_path) < 30
    assert all(found[key] == content for key, content in found_in(tmp_path).items())


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_process_outlives_the_one_that_started_it(tmp_path, number):
    """As when a job is cancelled: the signal reaches the first process only, and long runs are cut short."""
    process = start("experiment", "run", save(tmp_path, ENDLESS), "--results", tmp_path, "--jobs", 2)
    try:
        wait_until(lambda: len(workers_of(process)) == 2, "all workers")
        workers = workers_of(process)
        wait_until(lambda: all(cpu_seconds(worker) > 2 for worker in workers), "runs under way")
        os.kill(process.pid, number)
        _, alive = psutil.wait_procs([psutil.Process(process.pid), *workers], timeout=60)
        assert alive == []
    finally:
        end(process)
    assert n_lines(tmp_path) == 0


@pytest.mark.slow
def test_a_worker_that_dies_is_replaced_and_its_run_repeated(many, tmp_path):
    path, found = many
    process = start("experiment", "run", path, "--results", tmp_path, "--jobs", 2, "--quiet")
    try:
        wait_until(lambda: n_lines(tmp_path) >= 3, "three runs")
        workers_of(process)[0].kill()
        outcome = finish(process)
    finally:
        end(process)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    assert found_in(tmp_path) == found


@pytest.mark.slow
def test_a_run_whose_process_keeps_dying_becomes_a_failed_run(tmp_path):
    """What kills its process every time, as for want of memory, must not be tried for ever."""
    path = save(tmp_path, ENDLESS.replace("seeds = 2", "seeds = 1"), "endless")
    process = start("experiment", "run", path, "--results", tmp_path, "--jobs", 2)
    killed = set()
    try:
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None and time.monotonic() < deadline:
            for one in workers_of(process) if process.poll() is None else []:
                if one.pid not in killed and cpu_seconds(one) > 1.5:
                    one.kill()
                    killed.add(one.pid)
            time.sleep(0.02)
        outcome = finish(process)
    finally:
        end(process)
    assert outcome.code == 0
    assert "1 runs failed" in outcome.err
    (run,) = load_plan(path).runs()
    assert "process died" in RunStore(tmp_path).get(run).error
    assert len(killed) == 2
