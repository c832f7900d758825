"""The runner: the same result however it is carried out, and nothing lost whatever is killed."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from pareto_nrpa import MaxEvaluations
from pareto_nrpa.experiments.plan import Run, load_plan
from pareto_nrpa.experiments.runner import Status, execute, shard
from pareto_nrpa.experiments.store import Store
from pareto_nrpa.experiments.worker import make_run

from .helpers import (
    ENDLESS,
    MANY,
    OTHER,
    PATIENCE,
    TINY,
    TSPTW,
    command,
    end,
    finish,
    found_in,
    run_files,
    save,
    stamps,
    start,
    wait_until,
)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """The tiny plan, and what it comes to in one process without interruption."""
    folder = tmp_path_factory.mktemp("tiny")
    plan = load_plan(save(folder, TINY))
    execute(plan.runs(), Store(folder / "results"))
    return plan, found_in(folder / "results")


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """The plan of thirty short runs, and what it comes to without interruption."""
    folder = tmp_path_factory.mktemp("many")
    path = save(folder, MANY, "many")
    execute(load_plan(path).runs(), Store(folder / "results"))
    return path, found_in(folder / "results")


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


def test_every_run_becomes_a_file(tiny):
    plan, found = tiny
    assert set(found) == {f"{run.key}.json" for run in plan.runs()}
    assert len(found) == 8


@pytest.mark.long
def test_two_processes_find_the_same_as_one(tiny, tmp_path):
    plan, found = tiny
    status = execute(plan.runs(), Store(tmp_path), jobs=2)
    assert (status.total, status.done, status.made, status.failures) == (8, 8, 8, 0)
    assert found_in(tmp_path) == found


@pytest.mark.slow
def test_more_processes_than_runs(tiny, tmp_path):
    plan, found = tiny
    execute(plan.runs()[:1], Store(tmp_path), jobs=3)
    assert list(found_in(tmp_path).items()) == [(f"{plan.runs()[0].key}.json", found[f"{plan.runs()[0].key}.json"])]


def test_the_order_of_runs_does_not_matter(tiny, tmp_path):
    plan, found = tiny
    execute(plan.runs()[::-1], Store(tmp_path))
    assert found_in(tmp_path) == found


def test_nothing_is_made_twice(tiny, tmp_path):
    plan, found = tiny
    store = Store(tmp_path)
    execute(plan.runs()[:3], store)
    before = stamps(tmp_path)
    status = execute(plan.runs(), store)
    after = stamps(tmp_path)
    assert (status.done, status.made) == (8, 5)
    assert {name: after[name] for name in before} == before
    assert execute(plan.runs(), store).made == 0
    assert stamps(tmp_path) == after
    assert found_in(tmp_path) == found


def test_a_damaged_file_is_made_again_and_no_other(tiny, tmp_path):
    plan, found = tiny
    store = Store(tmp_path)
    execute(plan.runs(), store)
    before = stamps(tmp_path)
    damaged = store.path(plan.runs()[4])
    damaged.write_bytes(damaged.read_bytes()[:100])
    assert execute(plan.runs(), store).made == 1
    after = stamps(tmp_path)
    assert {name for name in after if after[name] != before[name]} == {damaged.name}
    assert found_in(tmp_path) == found


def test_more_seeds_add_runs_to_those_there(tiny, tmp_path):
    plan, _ = tiny
    store = Store(tmp_path)
    assert execute(plan.restricted(seeds=1).runs(), store).made == 4
    assert execute(plan.restricted(seeds=2).runs(), store).made == 4
    assert execute(plan.restricted(seeds=1).runs(), store).done == 4


def test_plans_share_runs(tiny, tmp_path):
    plan, _ = tiny
    renamed = load_plan(save(tmp_path, TINY.replace('"Random"', '"Dice"').replace("A tiny", "Another"), "renamed"))
    store = Store(tmp_path / "results")
    execute(plan.runs(), store)
    assert execute(renamed.runs(), store).made == 0


def test_shards_together_make_the_whole(tiny, tmp_path):
    plan, found = tiny
    made = [execute(shard(plan.runs(), f"{i}/3"), Store(tmp_path)).made for i in (1, 2, 3)]
    assert sum(made) == 8
    assert found_in(tmp_path) == found


def test_one_run_under_two_labels_is_made_once(tmp_path):
    twice = TINY + '\n[[algorithm]]\nlabel = "PLS again"\nname = "pls"\n'
    plan = load_plan(save(tmp_path, twice))
    status = execute(plan.runs(), Store(tmp_path / "results"))
    assert len(run_files(tmp_path / "results")) == 8
    assert status.made == 8


def test_progress_is_told_after_every_run(tiny, tmp_path):
    plan, _ = tiny
    seen = []
    execute(plan.runs()[:3], Store(tmp_path))
    execute(plan.runs(), Store(tmp_path), on_progress=lambda s: seen.append((s.done, s.made, s.seconds_left)))
    assert [(done, made) for done, made, _ in seen] == [(3 + i, i) for i in range(6)]
    assert seen[0][2] is None  # nothing to judge by yet
    assert all(left > 0 for *_, left in seen[1:-1])
    assert seen[-1][2] == 0


def test_the_time_left():
    assert Status(total=10, done=4).seconds_left is None
    assert Status(total=10, done=4, made=2, seconds=6.0).seconds_left == 18.0


@pytest.mark.slow
def test_what_is_found_does_not_depend_on_where_the_code_was_compiled(tmp_path, monkeypatch):
    """Two processes with an empty cache make one run each; a third makes both from what they left there.

    Kernels of one name, compiled by two processes, were once taken for the same: pruning was on where it was off.
    """
    text = TINY.replace('name = "pls"', 'name = "random"\nparameters = { pruning = false }')
    text = text.replace(f'"{TSPTW}", "{OTHER}"', '"tsptw:n=30,seed=3,tightness=1.0"').replace("seeds = 2", "seeds = 1")
    path = save(tmp_path, text, "pruning")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    for arguments in (["--shard", "1/2"], ["--shard", "2/2"]):
        made = command("experiment", "run", path, "--results", tmp_path / "apart", *arguments, "--quiet")
        assert made.code == 0, made.err
    assert command("experiment", "run", path, "--results", tmp_path / "together", "--quiet").code == 0
    assert len(run_files(tmp_path / "apart")) == 2
    assert found_in(tmp_path / "together") == found_in(tmp_path / "apart")


# --- runs that fail


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_run_that_fails_becomes_a_row_and_the_others_go_on(tmp_path, jobs):
    plan = load_plan(save(tmp_path, TINY))
    runs = plan.restricted(problems=["no_such_problem", OTHER], seeds=1).runs()
    store = Store(tmp_path / "results")
    status = execute(runs, store, jobs=jobs)
    assert (status.done, status.failures) == (4, 2)
    errors = [store.get(run).error for run in runs]
    assert all("InstanceError: unknown instance 'no_such_problem'" in error for error in errors[:2])
    assert errors[2:] == ["", ""]


def test_failed_runs_are_repeated_only_when_asked(tmp_path):
    instance = tmp_path / "later.txt"
    runs = load_plan(save(tmp_path, TINY)).restricted(problems=[str(instance)]).runs()
    store = Store(tmp_path / "results")
    assert execute(runs, store).failures == 4
    assert execute(runs, store).made == 0
    assert execute(runs, store, retry_failed=True).failures == 4
    instance.write_text(SMALL_INSTANCE)
    status = execute(runs, store, retry_failed=True)
    assert (status.made, status.failures) == (4, 0)
    assert [store.get(run).error for run in runs] == [""] * 4
    assert execute(runs, store, retry_failed=True).made == 0


# Four cities in the Solomon-Potvin-Bengio format: number, x, y, demand, opening, closing, service.
SMALL_INSTANCE = """4
1 0 0 0 0 100 0
2 0 3 0 0 100 0
3 4 3 0 0 100 0
4 4 0 0 0 100 0
"""


# --- processes that are killed


@pytest.mark.long
def test_a_killed_experiment_goes_on_where_it_was(many, tmp_path):
    path, found = many
    results = tmp_path / "results"
    process = start("experiment", "run", path, "--results", results)
    try:
        wait_until(lambda: len(run_files(results)) >= 5, "five runs")
        os.kill(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)
    finally:
        end(process)
    before = stamps(results)
    assert 5 <= len(before) < 30
    assert all(found[name] == content for name, content in found_in(results).items())
    status = execute(load_plan(path).runs(), Store(results))
    assert status.made == 30 - len(before)
    after = stamps(results)
    assert {name: after[name] for name in before} == before
    assert found_in(results) == found


@pytest.mark.slow
def test_a_killed_experiment_with_two_processes_goes_on_where_it_was(many, tmp_path):
    path, found = many
    results = tmp_path / "results"
    process = start("experiment", "run", path, "--results", results, "--jobs", 2)
    try:
        wait_until(lambda: len(run_files(results)) >= 3, "three runs")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)
    finally:
        end(process)
    before = stamps(results)
    assert 3 <= len(before) < 30
    execute(load_plan(path).runs(), Store(results))
    after = stamps(results)
    assert {name: after[name] for name in before} == before
    assert found_in(results) == found


@pytest.mark.long
@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_ctrl_c_keeps_what_is_finished(many, tmp_path, jobs):
    path, found = many
    results = tmp_path / "results"
    process = start("experiment", "run", path, "--results", results, "--jobs", jobs, "--quiet")
    try:
        wait_until(lambda: len(run_files(results)) >= 3, "three runs")
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: all processes of the group
        outcome = finish(process)
    finally:
        end(process)
    assert (outcome.code, outcome.out) == (130, "")
    assert "Traceback" not in outcome.err
    assert 3 <= len(run_files(results)) < 30
    assert all(found[name] == content for name, content in found_in(results).items())


class LastMoment(MaxEvaluations):
    """Presses Ctrl-C just before it ends the run."""

    def __call__(self, progress):
        is_over = super().__call__(progress)
        if is_over:
            signal.raise_signal(signal.SIGINT)
        return is_over


class InterruptedRun(Run):
    @property
    def stop(self):
        return LastMoment(self.evaluations)


def test_ctrl_c_in_the_last_moment_of_a_run_is_not_lost():
    with pytest.raises(KeyboardInterrupt):
        make_run(InterruptedRun(TSPTW, "random", {}, 100, None, 0), None)


@pytest.mark.long
def test_ctrl_c_ends_with_a_sentence_and_does_not_wait_for_a_long_run(tmp_path):
    process = start("experiment", "run", save(tmp_path, ENDLESS), "--results", tmp_path / "results", "--quiet")
    try:
        # On a busy machine, which makes all code slower, imports alone take half of it.
        wait_until(lambda: cpu_seconds(psutil.Process(process.pid)) > 5, "a run under way")
        begin = time.monotonic()
        os.kill(process.pid, signal.SIGINT)
        outcome = finish(process)
    finally:
        end(process)
    assert time.monotonic() - begin < 120  # the run goes on for ten minutes
    assert run_files(tmp_path / "results") == []
    kept = f"Finished runs are kept in {tmp_path / 'results'}; the same command goes on with the others."
    assert (outcome.code, outcome.err) == (130, f"{kept}\nInterrupted.\n")


@pytest.mark.long
def test_ctrl_c_while_processes_start(tmp_path):
    process = start("experiment", "run", save(tmp_path, ENDLESS), "--results", tmp_path, "--jobs", 2, "--quiet")
    try:
        wait_until(lambda: len(workers_of(process)) == 2, "all workers")
        wait_until(lambda: all(cpu_seconds(worker) > 0.2 for worker in workers_of(process)), "their first steps")
        os.killpg(process.pid, signal.SIGINT)
        outcome = finish(process)
    finally:
        end(process)
    assert "Traceback" not in outcome.err


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_process_outlives_the_one_that_started_it(tmp_path, number):
    """As when a job is cancelled: the signal reaches the first process only."""
    process = start("experiment", "run", save(tmp_path, ENDLESS), "--results", tmp_path / "results", "--jobs", 2)
    try:
        wait_until(lambda: len(workers_of(process)) == 2, "all workers")
        workers = workers_of(process)
        wait_until(lambda: all(cpu_seconds(worker) > 2 for worker in workers), "runs under way")
        os.kill(process.pid, number)
        _, alive = psutil.wait_procs([psutil.Process(process.pid), *workers], timeout=60)
        assert alive == []
    finally:
        end(process)


@pytest.mark.slow
def test_a_worker_that_dies_is_replaced_and_its_run_repeated(many, tmp_path):
    path, found = many
    results = tmp_path / "results"
    process = start("experiment", "run", path, "--results", results, "--jobs", 2, "--quiet")
    try:
        wait_until(lambda: len(run_files(results)) >= 3, "three runs")
        workers = workers_of(process)
        assert len(workers) == 2
        workers[0].kill()
        outcome = finish(process)
    finally:
        end(process)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    assert found_in(results) == found


# One run of some seconds, and one that is over at once: its process then waits for more, with the lock of the queue.
ONE_BUSY_ONE_IDLE = """
import sys
from pareto_nrpa.experiments.plan import Run
from pareto_nrpa.experiments.runner import execute
from pareto_nrpa.experiments.store import Store

if __name__ == "__main__":
    problems = ("tsptw:n=10,seed=1,tightness=0.4", "no_such_problem")
    runs = [Run(problem, "random", {}, None, 6.0, 0) for problem in problems]
    execute(runs, Store(sys.argv[1]), jobs=2)
"""


@pytest.mark.slow
def test_an_idle_process_that_dies_does_not_stop_the_experiment(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(ONE_BUSY_ONE_IDLE)
    process = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path / "results")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        wait_until(lambda: len(run_files(tmp_path / "results")) == 1, "the short run")
        wait_until(
            lambda: any(cpu_seconds(worker) > 3 for worker in workers_of(process)), "the long run to be under way"
        )
        idle, _busy = sorted(workers_of(process), key=cpu_seconds)
        idle.kill()
        outcome = finish(process)
    finally:
        end(process)
    assert (outcome.code, outcome.err) == (0, "")
    assert len(run_files(tmp_path / "results")) == 2


@pytest.mark.slow
def test_a_run_whose_process_keeps_dying_becomes_a_row(tmp_path):
    """What kills its process every time, as for want of memory, must not be tried for ever."""
    path = save(tmp_path, ENDLESS.replace("seeds = 2", "seeds = 1"), "endless")
    results = tmp_path / "results"
    process = start("experiment", "run", path, "--results", results, "--jobs", 2)
    killed = set()
    try:
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None and time.monotonic() < deadline:
            for worker in workers_of(process) if process.poll() is None else []:
                if worker.pid not in killed and cpu_seconds(worker) > 1.5:
                    worker.kill()
                    killed.add(worker.pid)
            time.sleep(0.02)
        outcome = finish(process)
    finally:
        end(process)
    assert outcome.code == 0
    assert "1 runs failed" in outcome.err
    (run,) = load_plan(path).runs()
    assert "process died" in Store(results).get(run).error
    assert len(killed) >= 2
