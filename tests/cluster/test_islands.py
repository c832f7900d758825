"""Searches that work together on a Dask cluster: two worker processes on this machine, one of them killed."""

import logging
import os
import signal
import threading
from functools import partial

import pytest

from pareto_nrpa import Callbacks, MaxEvaluations, solve
from pareto_nrpa.routing import generate_tsptw

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
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",  # any free port
        silence_logs=logging.CRITICAL,
    ) as made:
        yield made


def found(n=3_000, **how):
    result = solve(generate_tsptw(20, seed=3, tightness=0.2), stop=MaxEvaluations(n), seed=1, searches=2, **how)
    return result.front.objectives.tolist(), result.front.solutions


def test_a_worker_killed_in_mid_search_changes_nothing(cluster):
    class Kill(Callbacks):
        done = False

        def on_progress(self, progress):
            if progress.evaluations >= 500 and not self.done:
                self.done = True
                pid = next(nanny.process.pid for nanny in cluster.workers.values() if nanny.process is not None)
                threading.Thread(target=os.kill, args=(pid, signal.SIGKILL)).start()

    kill = Kill()
    with distributed.Client(cluster) as client:
        assert found(executor=client.get_executor(), callbacks=kill) == found()
    assert kill.done


def test_a_solve_inside_a_task(cluster):
    with distributed.Client(cluster) as client:
        assert client.submit(partial(found, 500, workers=2)).result() == found(500)
