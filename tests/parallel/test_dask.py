"""Searches, evaluations and plans on a Dask cluster: two worker processes on this machine, one of them killed."""

import contextlib
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from pareto_nrpa import Callbacks, MaxEvaluations, ParetoNRPAError, solve
from pareto_nrpa.experiments.plan import load_plan
from pareto_nrpa.experiments.runner import run_missing
from pareto_nrpa.experiments.runs import RunStore
from pareto_nrpa.routing import generate_tsptw

from ..experiments.helpers import MANY, TINY, found_in, n_lines, save
from ..helpers.command_line import PATIENCE, assert_refused, wait_until
from .evaluations import problems
from .evaluations.test_solve_expensive import expensive, found, solved

distributed = pytest.importorskip("distributed", reason="needs Dask: pip install pareto-nrpa[cluster]")

# Dask leaves sockets and loops to the garbage collector, in its own time.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


@pytest.fixture(scope="module")
def cluster():
    """Processes that do one task at a time each; one that dies is started again."""
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",  # any free port: None takes 8787 and warns where that is taken
        silence_logs=logging.CRITICAL,
    ) as made:
        yield made


@pytest.fixture
def executor(cluster):
    with distributed.Client(cluster) as client:
        yield client.get_executor()


class KillAWorker(Callbacks):
    """Kill a worker of a cluster after some evaluations."""

    def __init__(self, cluster, after):
        self.cluster, self.after, self.done = cluster, after, False

    def on_progress(self, progress):
        if progress.evaluations >= self.after and not self.done:
            self.done = True
            pid = next(nanny.process.pid for nanny in self.cluster.workers.values() if nanny.process is not None)
            threading.Thread(target=os.kill, args=(pid, signal.SIGKILL)).start()


def cooperate(**how):
    problem = generate_tsptw(20, seed=3, tightness=0.2)
    result = solve(problem, stop=MaxEvaluations(3_000), seed=1, searches=2, **how)
    return result.front.objectives.tolist(), result.front.solutions


def test_cooperating_searches_survive_the_death_of_a_worker(cluster, executor):
    kill = KillAWorker(cluster, 500)
    assert cooperate(executor=executor, callbacks=kill) == cooperate()
    assert kill.done


def test_evaluations_are_those_of_this_process_though_a_worker_is_killed(cluster, executor, tmp_path):
    kill = KillAWorker(cluster, 10)
    options = {"stop": MaxEvaluations(50), "seed": 3, "journal": tmp_path / "journal.jsonl"}
    result = expensive(problems.Row(pause=0.05), executor=executor, callbacks=kill, **options)
    assert kill.done
    assert found(result) == found(solved(problems.Row()))
    again = expensive(problems.Row(pause=0.05), executor=executor, resume=True, **options)
    assert found(again) == found(result)


@contextlib.contextmanager
def cluster_of_processes(address):
    """A scheduler and a worker as an administrator starts them; yields the scheduler."""
    host, port = address.removeprefix("tcp://").split(":")
    started = []
    try:
        for module, *options in (
            ("dask_scheduler", "--host", host, "--port", port, "--no-dashboard"),
            ("dask_worker", address, "--nthreads", "1", "--no-dashboard"),
        ):
            program = [sys.executable, "-m", f"distributed.cli.{module}", *options]
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            started.append(subprocess.Popen(program, start_new_session=True, **quiet))
        wait_until(lambda: answers(host, port), "the scheduler")
        yield started[0]
    finally:
        for process in started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(PATIENCE)


def answers(host, port):
    with socket.socket() as connection:
        return connection.connect_ex((host, int(port))) == 0


def free_address():
    with socket.socket() as connection:
        connection.bind(("127.0.0.1", 0))
        return f"tcp://127.0.0.1:{connection.getsockname()[1]}"


def test_a_cluster_that_is_lost_is_a_sentence_and_another_continues(executor, tmp_path):
    address = free_address()
    options = {"stop": MaxEvaluations(50), "seed": 3, "journal": tmp_path / "journal.jsonl"}
    with cluster_of_processes(address) as scheduler, distributed.Client(address) as client:

        class Lose(Callbacks):
            def on_progress(self, progress):
                if progress.evaluations >= 10:
                    scheduler.kill()

        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        with pytest.raises(ParetoNRPAError, match=r"the workers cannot continue: .* resume it") as caught:
            expensive(problems.Row(pause=0.05), executor=client.get_executor(), callbacks=Lose(), **options)
    assert 10 <= caught.value.result.evaluations < 50
    assert caught.value.result.failures == 0
    result = expensive(problems.Row(pause=0.05), executor=executor, resume=True, **options)
    assert found(result) == found(solved(problems.Row()))


def test_a_plan_makes_the_same_runs_though_a_worker_is_killed(cluster, tmp_path):
    plan = load_plan(save(tmp_path, MANY, "many"))
    run_missing(plan.runs(), RunStore(tmp_path / "here"))
    pid = next(nanny.process.pid for nanny in cluster.workers.values() if nanny.process is not None)
    made = []

    def kill(status):
        made.append(status.made)
        if status.made == 4:
            os.kill(pid, signal.SIGKILL)

    status = run_missing(plan.runs(), RunStore(tmp_path / "there"), dask=cluster.scheduler_address, on_progress=kill)
    assert (status.made, status.failures) == (30, 0)
    assert made == list(range(31))  # every run came once
    assert found_in(tmp_path / "there") == found_in(tmp_path / "here")


def test_a_run_that_fails_on_a_cluster_becomes_a_row(cluster, tmp_path):
    runs = load_plan(save(tmp_path, TINY)).restricted(problems=["no_such_problem"], seeds=1).runs()
    store = RunStore(tmp_path / "results")
    assert run_missing(runs, store, dask=cluster.scheduler_address).failures == 2
    assert all("unknown instance 'no_such_problem'" in store.get(run).error for run in runs)


@pytest.mark.parametrize("address", ["nonsense", "127.0.0.1:9"])
def test_a_wrong_address_is_a_sentence_in_reasonable_time(run, tmp_path, address):
    begin = time.monotonic()
    options = ("--dask", address, "--results", tmp_path / "results", "--quiet")
    refused = run("experiment", "run", save(tmp_path, TINY), *options)
    assert time.monotonic() - begin < 60
    assert_refused(refused, f"no Dask scheduler answers at '{address}'")
    assert n_lines(tmp_path / "results") == 0
