"""The same plan on a Dask cluster: two worker processes on this machine, one of them killed."""

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

from pareto_nrpa.errors import ParetoNRPAError
from pareto_nrpa.experiments.plan import load_plan
from pareto_nrpa.experiments.runner import run_missing
from pareto_nrpa.experiments.runs import RunStore

from ..experiments.helpers import (
    ENDLESS,
    MANY,
    PATIENCE,
    TINY,
    command,
    end,
    finish,
    found_in,
    journals,
    n_lines,
    save,
    start,
    wait_until,
)

distributed = pytest.importorskip("distributed", reason="needs Dask: pip install pareto-nrpa[cluster]")

# Dask leaves sockets and loops to the garbage collector, in its own time.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def local_cluster(n_workers):
    """Processes that do one run at a time each; one that dies is started again."""
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",  # any free port: None takes 8787 and warns where that is taken
        silence_logs=logging.CRITICAL,
    )


@pytest.fixture(scope="module")
def cluster():
    with local_cluster(2) as made:
        yield made


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Thirty short runs, and what they come to in this process."""
    folder = tmp_path_factory.mktemp("many")
    plan = load_plan(save(folder, MANY, "many"))
    run_missing(plan.runs(), RunStore(folder / "results"))
    return plan, found_in(folder / "results")


def worker_pids(cluster):
    return [nanny.process.pid for nanny in cluster.workers.values() if nanny.process is not None and nanny.process.pid]


@pytest.mark.slow
def test_a_cluster_finds_the_same_as_this_process(cluster, tmp_path):
    plan = load_plan(save(tmp_path, TINY))
    run_missing(plan.runs(), RunStore(tmp_path / "here"))
    outcome = command(
        "experiment",
        "run",
        tmp_path / "tiny.toml",
        "--dask",
        cluster.scheduler_address,
        "--results",
        tmp_path / "there",
    )
    assert outcome.code == 0, outcome.err
    assert "8 of 8 runs of tiny are in" in outcome.out
    assert "Traceback" not in outcome.err
    assert found_in(tmp_path / "there") == found_in(tmp_path / "here")


@pytest.mark.slow
def test_a_worker_killed_in_mid_run_loses_nothing(cluster, many, tmp_path):
    plan, found = many
    before = worker_pids(cluster)
    assert len(before) == 2
    seen = []
    reached = threading.Event()

    def watch(status):
        seen.append(status.made)
        if status.made >= 4:
            reached.set()

    def kill():
        if reached.wait(PATIENCE):
            os.kill(before[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    status = run_missing(plan.runs(), RunStore(tmp_path), dask=cluster.scheduler_address, on_progress=watch)
    killer.join()
    assert (status.made, status.failures) == (30, 0)
    assert seen == list(range(31))  # every run came once
    assert found_in(tmp_path) == found
    wait_until(lambda: len(worker_pids(cluster)) == 2, "a new worker")
    assert before[0] not in worker_pids(cluster)


@pytest.mark.slow
def test_only_what_is_missing_goes_to_the_cluster(cluster, many, tmp_path):
    plan, found = many
    run_missing(plan.runs()[:20], RunStore(tmp_path))
    before = journals(tmp_path)[0].read_bytes()
    status = run_missing(plan.runs(), RunStore(tmp_path), dask=cluster.scheduler_address)
    assert status.made == 10
    assert journals(tmp_path)[0].read_bytes().startswith(before)
    assert found_in(tmp_path) == found


@pytest.mark.slow
def test_a_run_that_fails_on_a_cluster_becomes_a_row(cluster, tmp_path):
    plan = load_plan(save(tmp_path, TINY))
    runs = plan.restricted(problems=["no_such_problem"], seeds=1).runs()
    store = RunStore(tmp_path / "results")
    assert run_missing(runs, store, dask=cluster.scheduler_address).failures == 2
    assert all("unknown instance 'no_such_problem'" in store.get(run).error for run in runs)


@pytest.mark.slow
def test_a_run_that_keeps_killing_workers_becomes_a_row_and_the_others_go_on(tmp_path):
    dask = pytest.importorskip("dask")
    runs = load_plan(save(tmp_path, ENDLESS.replace("600", "20"), "endless")).runs()[:1]
    short = load_plan(save(tmp_path, TINY)).runs()
    store = RunStore(tmp_path / "results")
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),  # the first death is one too many
        local_cluster(1) as fragile,
    ):
        (pid,) = worker_pids(fragile)
        killer = threading.Timer(3.0, os.kill, (pid, signal.SIGKILL))
        killer.start()
        try:
            run_missing([*runs, *short], store, dask=fragile.scheduler_address)
        finally:
            killer.cancel()
    assert "died" in store.get(runs[0]).error
    assert all(store.get(run) is not None for run in short)


@contextlib.contextmanager
def cluster_of_processes(address):
    """A scheduler and a worker as an administrator starts them; yields the scheduler."""
    host, port = address.removeprefix("tcp://").split(":")
    started = []
    try:
        for program in (
            ("dask_scheduler", "--host", host, "--port", port, "--no-dashboard"),
            ("dask_worker", address, "--nthreads", "1", "--no-dashboard"),
        ):
            module, *options = program
            started.append(
                subprocess.Popen(
                    [sys.executable, "-m", f"distributed.cli.{module}", *options],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            )
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


@pytest.mark.slow
def test_a_cluster_that_is_lost_is_a_sentence_and_the_same_command_goes_on(many, tmp_path):
    _, found = many
    address, results = free_address(), tmp_path / "results"
    path = save(tmp_path, MANY, "many")
    arguments = ("experiment", "run", path, "--dask", address, "--results", results, "--quiet")
    with cluster_of_processes(address) as scheduler:
        process = start(*arguments)
        try:
            wait_until(lambda: n_lines(results) >= 3, "three runs")
            scheduler.kill()
            outcome = finish(process)
        finally:
            end(process)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"Error: the Dask cluster at {address} was lost; ")
    assert len(outcome.err.splitlines()) == 1, outcome.err
    stored = found_in(results)
    assert 3 <= len(stored) < 30
    assert all(found[name] == content for name, content in stored.items())  # in particular, none has failed
    with cluster_of_processes(address):
        outcome = command(*arguments)
    assert (outcome.code, outcome.err) == (0, "")
    assert found_in(results) == found


WRONG = [
    "nonsense",
    *(pytest.param(a, marks=pytest.mark.slow) for a in ("127.0.0.1:9", "tcp://no-such-host.invalid:1")),
]


@pytest.mark.parametrize("address", WRONG)
def test_a_wrong_address_is_a_sentence_in_reasonable_time(tmp_path, address):
    runs = load_plan(save(tmp_path, TINY)).runs()
    begin = time.monotonic()
    with pytest.raises(ParetoNRPAError, match="no Dask scheduler answers at"):
        run_missing(runs, RunStore(tmp_path / "results"), dask=address)
    assert time.monotonic() - begin < 60
    assert n_lines(tmp_path / "results") == 0


@pytest.mark.parametrize("address", ["nonsense", pytest.param("tcp://127.0.0.1:9", marks=pytest.mark.slow)])
def test_a_wrong_address_on_the_command_line_is_one_sentence(tmp_path, address):
    outcome = command(
        "experiment", "run", save(tmp_path, TINY), "--dask", address, "--results", tmp_path / "results", "--quiet"
    )
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"Error: no Dask scheduler answers at '{address}'")
    assert len(outcome.err.splitlines()) == 1, outcome.err
