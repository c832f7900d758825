"""The same call on a Dask cluster: two worker processes on this machine, one of them killed."""

import logging
import os
import signal
import threading

import pytest

from pareto_nrpa import Callbacks, MaxEvaluations, ParetoNRPAError

from ..parallel.evaluations import problems
from ..parallel.evaluations.test_solve_expensive import expensive, found, solved
from .test_experiments import cluster_of_processes, free_address

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


@pytest.fixture
def executor(cluster):
    with distributed.Client(cluster) as client:
        yield client.get_executor()


def test_a_cluster_finds_the_same_as_this_process(executor, tmp_path):
    options = {"stop": MaxEvaluations(50), "seed": 3, "checkpoint": tmp_path / "journal.jsonl"}
    result = expensive(problems.Raises(pause=0.005), executor=executor, **options)
    assert found(result) == found(solved(problems.Raises()))
    again = expensive(problems.Raises(pause=0.005), executor=executor, resume=True, **options)
    assert found(again) == found(result)


def test_an_evaluation_that_hangs_is_given_up(executor):
    result = expensive(Endless(), executor=executor, stop=MaxEvaluations(120), seed=1, time_limit=0.5)
    assert result.evaluations == 120
    assert result.failures > 0


def test_a_worker_killed_in_mid_search_changes_nothing(cluster, executor):
    class Kill(Callbacks):
        done = False

        def on_progress(self, progress):
            if progress.evaluations >= 10 and not self.done:
                self.done = True
                pid = next(nanny.process.pid for nanny in cluster.workers.values() if nanny.process is not None)
                threading.Thread(target=os.kill, args=(pid, signal.SIGKILL)).start()

    kill = Kill()
    stop = MaxEvaluations(50)
    result = expensive(problems.Row(pause=0.05), executor=executor, stop=stop, seed=3, callbacks=kill)
    assert kill.done
    assert found(result) == found(solved(problems.Row()))


def test_a_cluster_that_is_lost_is_a_sentence_and_another_goes_on(executor, tmp_path):
    path = tmp_path / "journal.jsonl"
    options = {"stop": MaxEvaluations(50), "seed": 3, "checkpoint": path}
    address = free_address()
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


class Endless(problems.Row):
    def objectives(self, state):
        while state[:2] == (3, 3):
            pass
        return super().objectives(state)
