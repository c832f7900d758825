"""Processes that are ended and replaced, whatever their tasks do."""

import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor
from pathlib import Path

import pytest

from pareto_nrpa.parallel.pool import ProcessWorkers, TaskOverdue, WorkerDied

from ..helpers.command_line import is_running, wait_until
from .evaluations import problems

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def workers():
    made = ProcessWorkers(2, time_limit=5)
    yield made
    made.kill_workers()


def test_a_task_that_raises_says_so(workers):
    with pytest.raises(RuntimeError, match="ValueError: not today"):
        workers.submit(problems.raise_value_error).result()


def test_libraries_in_workers_use_one_thread_unless_told_otherwise(workers, monkeypatch):
    monkeypatch.setenv("MKL_NUM_THREADS", "3")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    assert workers.submit(problems.thread_limits).result() == ["1", "1", "3"]
    assert problems.thread_limits() == [None, None, "3"]


def test_a_task_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path):
    workers = ProcessWorkers(1, time_limit=2)
    try:
        slow = workers.submit(problems.write_pid_and_sleep, str(tmp_path / "pids"))
        begin = time.monotonic()
        with pytest.raises(TaskOverdue, match="the task took longer than 2 s"):
            slow.result(60)
        assert time.monotonic() - begin < 30
        pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
        wait_until(lambda: not any(map(is_running, pids)))
        assert workers.submit(problems.double, 4).result(60) == 8
    finally:
        workers.kill_workers()


def test_a_task_is_tried_again_when_its_process_dies(workers, tmp_path):
    assert workers.submit(problems.die_once, str(tmp_path / "mark")).result() == "alive"


def test_a_task_that_kills_its_process_twice_has_failed_and_others_continue(workers):
    with pytest.raises(WorkerDied, match=r"its worker process died twice \(SIGKILL\)"):
        workers.submit(problems.die).result()
    assert workers.submit(problems.double, 4).result() == 8


def test_what_cannot_be_loaded_is_no_fault_of_the_task(workers, tmp_path, monkeypatch):
    (tmp_path / "vanishing.py").write_text("def function(): return 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    import vanishing

    monkeypatch.undo()  # processes inherit the path
    with pytest.raises(BrokenExecutor, match=r"cannot load its task \(ModuleNotFoundError.*can be imported"):
        workers.submit(vanishing.function).result()


def test_workers_end_with_the_process_that_started_them_even_when_it_is_killed(tmp_path):
    code = (
        "from pareto_nrpa.parallel.pool import ProcessWorkers; from tests.parallel.evaluations import problems\n"
        f"ProcessWorkers(1).submit(problems.write_pid_and_sleep, {str(tmp_path / 'pids')!r}).result()"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    try:
        wait_until(lambda: (tmp_path / "pids").exists() and (tmp_path / "pids").read_text())
    finally:
        process.kill()
        process.wait()
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    wait_until(lambda: not any(map(is_running, pids)))


LINUX = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process has no /proc to find its family in")


@pytest.mark.slow
@LINUX
@pytest.mark.parametrize("task", [problems.start_apart_and_sleep, problems.start_orphan_and_sleep])
def test_what_a_task_started_in_a_session_of_its_own_ends_with_it(tmp_path, task):
    workers = ProcessWorkers(1, time_limit=2)
    try:
        with pytest.raises(TaskOverdue):
            workers.submit(task, str(tmp_path / "pids")).result(60)
        pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
        wait_until(lambda: not any(map(is_running, pids)))
    finally:
        workers.kill_workers()


@LINUX
def test_nothing_is_left_when_workers_are_ended(tmp_path):
    workers = ProcessWorkers(1)
    pid = workers.submit(problems.own_pid).result()

    def in_session():
        stats = [file.read_text() for file in Path("/proc").glob("[0-9]*/stat") if file.exists()]
        return [stat for stat in stats if stat.rpartition(")")[2].split()[3] == str(pid)]

    assert len(in_session()) == 1
    workers.kill_workers()
    wait_until(lambda: not in_session())


def test_a_script_without_a_guard_is_told_about_it(tmp_path):
    (tmp_path / "script.py").write_text(
        "from pareto_nrpa.parallel.pool import ProcessWorkers\nprint(ProcessWorkers(1).submit(abs, -1).result())\n"
    )
    done = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    told = 'a script needs its calls under if __name__ == "__main__":, as processes import it'
    assert f"no worker process could be started: {told}\n" in done.stderr, "by the worker, which imports the script"
    assert f"ended before it could begin (exit code 1); its message is above; {told}.\n" in done.stderr
