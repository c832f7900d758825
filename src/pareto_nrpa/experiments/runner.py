"""Makes the missing runs of a plan: in this process, in several processes, or on a Dask cluster."""

from __future__ import annotations

import logging
import time
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from .._util.lazy import needed
from ..errors import ParetoNRPAError
from ..parallel.pool import ProcessWorkers
from .worker import failed, forget_problems, make_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from .plan import Run
    from .runs import RunStore

    Made = tuple[bytes, str]
    Keep = Callable[[Made], None]

# Attempts of a cluster at a run whose worker died, and number of runs submitted at once.
_RETRIES = 2
_AT_ONCE = 1_000
# Seconds between two checks that a silent cluster is still running.
_PATIENCE = 5.0


class ClusterLostError(ParetoNRPAError):
    """The scheduler of a cluster stopped; its unfinished runs are lost."""


@dataclass
class Status:
    """The progress of an experiment."""

    total: int  # runs of the plan (or of this shard)
    done: int  # finished among these
    made: int = 0  # made since the start
    failures: int = 0
    seconds: float = 0.0

    @property
    def seconds_left(self) -> float | None:
        """Estimated remaining seconds."""
        return self.seconds / self.made * (self.total - self.done) if self.made else None


def run_missing(
    runs: Sequence[Run],
    store: RunStore,
    *,
    jobs: int = 1,
    dask: str | None = None,
    data: Path | None = None,
    retry_failed: bool = False,
    fingerprints: Mapping[str, str] | None = None,
    on_progress: Callable[[Status], None] = lambda status: None,
) -> Status:
    """Make the runs missing in the store, and store each as soon as it has ended.

    Stored runs on problems whose data have another fingerprint than given are refused.
    """
    with store.opened():
        missing = list(store.missing(runs, retry_failed=retry_failed, fingerprints=fingerprints))
        status = Status(total=len(runs), done=len(runs) - len(missing))
        on_progress(status)
        begin = time.perf_counter()

        def keep(made: Made) -> None:
            line, error = made
            store.put(line)
            status.done += 1
            status.made += 1
            status.failures += bool(error)
            status.seconds = time.perf_counter() - begin
            on_progress(status)

        try:
            if not missing:
                return status
            if dask is not None:
                _on_cluster(missing, dask, data, keep)
            elif jobs == 1:
                for run in missing:
                    keep(make_run(run, data))
            else:
                _on_processes(missing, jobs, data, keep)
        finally:
            forget_problems()
    return status


def _on_processes(runs: list[Run], jobs: int, data: Path | None, keep: Keep) -> None:
    workers = ProcessWorkers(jobs, imports_main=False)
    try:
        _work_off(runs, workers, jobs, data, keep)
    except BaseException:
        workers.kill_workers()
        raise
    workers.shutdown()


def _on_cluster(runs: list[Run], address: str, data: Path | None, keep: Keep) -> None:
    with dask_client(address) as client:
        executor = client.get_executor(pure=False, retries=_RETRIES)
        try:
            _work_off(runs, executor, _AT_ONCE, data, keep, is_lost=lambda: client.status == "closed")
        except ClusterLostError as error:
            raise ClusterLostError(
                f"the Dask cluster at {address} was lost; finished runs are stored, "
                "and the same command makes the others."
            ) from error


def _work_off(
    runs: list[Run],
    executor: Executor,
    at_once: int,
    data: Path | None,
    keep: Keep,
    is_lost: Callable[[], bool] = lambda: False,
) -> None:
    """Submit runs, a few at a time, and keep each that has ended."""
    waiting = iter(runs)
    in_hand: dict[Future[Made], Run] = {}
    try:
        while True:
            if is_lost():
                raise ClusterLostError
            for run in islice(waiting, at_once - len(in_hand)):
                in_hand[executor.submit(make_run, run, data)] = run
            if not in_hand:
                return
            done, _ = wait(in_hand, timeout=_PATIENCE, return_when=FIRST_COMPLETED)
            # Finished runs first, so that an error of the cluster does not lose them.
            for future in sorted(done, key=lambda f: f.cancelled() or f.exception() is not None):
                keep(_outcome(future, in_hand.pop(future)))
    except BaseException:
        for future in in_hand:
            future.cancel()
        raise


def _outcome(future: Future[Made], run: Run) -> Made:
    try:
        return future.result()
    except (CancelledError, OSError) as error:  # tasks are not cancelled here, and runs do not raise
        raise ClusterLostError from error
    except Exception as error:  # its worker died
        return failed(run, f"{type(error).__name__}: {error}")


@contextmanager
def dask_client(address: str) -> Iterator[Any]:
    """Provide a client of a Dask cluster; an address without a cluster is an error of one sentence."""
    with needed("--dask", "Dask", "cluster"):
        from distributed import Client
    try:
        client = Client(address, timeout="10s")
    except (OSError, TimeoutError, ValueError) as error:
        raise ParetoNRPAError(f"no Dask scheduler answers at {address!r}; start one, or check the address.") from error
    # The client logs pages when a connection breaks; one error reports it here.
    logger = logging.getLogger("distributed.client")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with client:
            yield client
    finally:
        logger.setLevel(level)


def shard(runs: Sequence[Run], text: str | None) -> list[Run]:
    """Return the i-th of n parts of the runs, for a text i/n with i from 1 to n; all of them without one."""
    if text is None:
        return list(runs)
    try:
        i, n = (int(part) for part in text.split("/"))
    except ValueError:
        i, n = 0, 0
    if not 1 <= i <= n:
        raise ParetoNRPAError(f"--shard must be i/n with i from 1 to n, as in 2/10, got {text!r}.")
    return list(runs)[i - 1 :: n]
