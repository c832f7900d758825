"""Carries out the runs of a plan that are not there yet: here, on several processes, or on a Dask cluster."""

from __future__ import annotations

import logging
import multiprocessing
import signal
import time
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..errors import ParetoNRPAError
from ..parallel.processes import end_with_parent
from .store import Record, Store
from .worker import failed, make_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from .plan import Run

# How often a cluster may try a run whose worker died, and how many runs it is given at once.
_RETRIES = 2
_AT_ONCE = 1_000
# How often, in seconds, to look whether a cluster from which nothing comes is still there.
_PATIENCE = 5.0


class ClusterLostError(ParetoNRPAError):
    """The scheduler of a cluster went away: nothing is known of the runs in hand."""


@dataclass
class Status:
    """Where an experiment stands."""

    total: int  # runs of the plan (or of this shard)
    done: int  # of these, there at the start or finished since
    made: int = 0  # finished since the start
    failures: int = 0
    seconds: float = 0.0

    @property
    def seconds_left(self) -> float | None:
        """An estimate from the runs made so far."""
        return self.seconds / self.made * (self.total - self.done) if self.made else None


def execute(
    runs: Sequence[Run],
    store: Store,
    *,
    jobs: int = 1,
    dask: str | None = None,
    data: str | None = None,
    retry_failed: bool = False,
    fingerprints: Mapping[str, str] | None = None,
    on_progress: Callable[[Status], None] = lambda status: None,
) -> Status:
    """Make the runs that the store does not have, and store each as soon as it is there.

    Stored runs on problems whose data have another fingerprint than given are refused.
    """
    missing = list(store.missing(runs, retry_failed=retry_failed, fingerprints=fingerprints or {}))
    status = Status(total=len(runs), done=len(runs) - len(missing))
    on_progress(status)
    begin = time.perf_counter()

    def keep(run: Run, record: Record) -> None:
        store.put(run, record)
        status.done += 1
        status.made += 1
        status.failures += bool(record.error)
        status.seconds = time.perf_counter() - begin
        on_progress(status)

    if not missing:
        return status
    if dask is not None:
        _on_cluster(missing, dask, data, keep)
    elif jobs == 1:
        for run in missing:
            keep(run, Record.from_dict(make_run(run, data)))
    else:
        _on_processes(missing, jobs, data, keep)
    return status


def _on_processes(runs: list[Run], jobs: int, data: str | None, keep: Callable[[Run, Record], None]) -> None:
    """Work off runs on processes; when one dies, those in hand are made one by one, and the others go on."""
    left = list(runs)
    while left:
        with _processes(jobs) as executor:
            suspects = _work_off(left, executor, jobs, data, keep)
        for run in suspects:
            keep(run, _made_alone(run, data))
            left.remove(run)


def _processes(jobs: int) -> ProcessPoolExecutor:
    # A process that is spawned, not forked, has the same threads and locks whoever starts it. The pool ends its
    # processes by SIGTERM, which `solve` would take for a wish to stop early, to wait for the next run then: for ever
    # if the queue's lock is held by a process that was killed.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=end_with_parent)


def _submit(executor: Executor, run: Run, data: str | None) -> Future[dict[str, Any]]:
    """Submit a run; a process that is started for it inherits that Ctrl-C is none of its business."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        return executor.submit(make_run, run, data)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return executor.submit(make_run, run, data)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_processes(executor: Executor) -> None:
    """End the processes of a pool at once, whatever they have in hand."""
    for process in list((getattr(executor, "_processes", None) or {}).values()):
        process.terminate()


def _made_alone(run: Run, data: str | None) -> Record:
    """Make a run that was in hand when a process died: if that happens again, the run is the reason."""
    with _processes(1) as executor:
        try:
            return Record.from_dict(_submit(executor, run, data).result())
        except BrokenProcessPool:
            return failed(run, "its process died twice")
        except BaseException:
            _end_processes(executor)
            raise


def _work_off(
    left: list[Run],
    executor: Executor,
    at_once: int,
    data: str | None,
    keep: Callable[[Run, Record], None],
    is_lost: Callable[[], bool] = lambda: False,
) -> list[Run]:
    """Submit runs, a few at a time, and keep what comes back, taking it from `left`.

    Returns the runs in hand when a process died, none if all is done.
    """
    waiting = iter(list(left))
    in_hand: dict[Future[dict[str, Any]], Run] = {}
    try:
        while True:
            if is_lost():
                raise ClusterLostError
            for run in islice(waiting, at_once - len(in_hand)):
                in_hand[_submit(executor, run, data)] = run
            if not in_hand:
                return []
            done, _ = wait(in_hand, timeout=_PATIENCE, return_when=FIRST_COMPLETED)
            # Those that came back first: whatever died must not take finished runs with it.
            for future in sorted(done, key=_is_broken):
                record = _outcome(future, in_hand[future])
                run = in_hand.pop(future)
                left.remove(run)
                keep(run, record)
    except BrokenProcessPool:
        return list(in_hand.values())
    except BaseException:
        for future in in_hand:
            future.cancel()
        _end_processes(executor)
        raise


def _is_broken(future: Future[dict[str, Any]]) -> bool:
    return future.cancelled() or future.exception() is not None


def _outcome(future: Future[dict[str, Any]], run: Run) -> Record:
    try:
        return Record.from_dict(future.result())
    except BrokenProcessPool:
        raise
    except (CancelledError, OSError) as error:  # nobody here cancels, and no run raises
        raise ClusterLostError from error
    except Exception as error:  # a cluster has its own ways to lose a worker
        return failed(run, f"{type(error).__name__}: {error}")


def _on_cluster(runs: list[Run], address: str, data: str | None, keep: Callable[[Run, Record], None]) -> None:
    """Work off runs on a Dask cluster; a run whose worker dies is tried elsewhere."""
    with dask_client(address) as client:
        executor = client.get_executor(pure=False, retries=_RETRIES)
        try:
            _work_off(list(runs), executor, _AT_ONCE, data, keep, is_lost=lambda: client.status == "closed")
        except ClusterLostError as error:
            raise ClusterLostError(
                f"the Dask cluster at {address} was lost; the runs that were finished are stored, "
                "and the same command goes on with the others."
            ) from error


@contextmanager
def dask_client(address: str) -> Iterator[Any]:
    """Provide a client of a Dask cluster; where there is none, say so in a sentence."""
    try:
        from distributed import Client
    except ImportError as error:
        message = '--dask needs Dask; install it with: pip install "pareto-nrpa[cluster]".'
        raise ImportError(message) from error
    try:
        client = Client(address, timeout="10s")
    except (OSError, TimeoutError, ValueError) as error:
        raise ParetoNRPAError(f"no Dask scheduler answers at {address!r}; start one, or check the address.") from error
    # Whatever the client logs when a connection breaks, in pages, is told here in a sentence.
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
