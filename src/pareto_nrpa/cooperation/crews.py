"""Who carries searches on: threads of this process, or tasks for other processes and machines."""

from __future__ import annotations

import pickle
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any

from ..exceptions import ParetoNRPAError, ProblemError
from ..nrpa.checkpoint import to_bytes
from ..parallel.workers import ProcessWorkers
from ..problem import problem_name
from .work import Done, Found, Newcomer, Task, carry_out, found_by, go_on

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    from ..nrpa.checkpoint import Resumable
    from ..nrpa.search import Search
    from ..problem import AnyProblem


class Crew:
    """Searches, what each is to take in first, and somebody who carries them on: here this thread, one by one."""

    def __init__(self, searches: list[Search]) -> None:
        self.searches = searches
        self.inboxes: list[list[Newcomer]] = [[] for _ in searches]
        self.cpu_seconds = 0.0  # spent by others than the thread that calls

    def start(self) -> None:
        """Make ready whoever does the work."""

    def advance(self, shares: list[int]) -> None:
        """Let each search make its share of evaluations."""
        for search, inbox, n in zip(self.searches, self.inboxes, shares, strict=True):
            go_on(search, inbox, n)

    def found(self) -> list[Found]:
        """Return what each search has found."""
        return [found_by(search) for search in self.searches]

    def evaluations(self) -> list[int]:
        """Return how many evaluations each search has made."""
        return [search.evaluations for search in self.searches]

    def states(self) -> list[bytes]:
        """Return all that the searches are."""
        return [to_bytes(search) for search in self.searches]

    def close(self) -> None:
        """Send everybody home."""


class Threads(Crew):
    """Threads that share the problem; compiled code lets them work at the same time."""

    def __init__(self, searches: list[Search], workers: int) -> None:
        super().__init__(searches)
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="pareto-nrpa")
        self._halt = threading.Event()

    def advance(self, shares: list[int]) -> None:
        """Let each search make its share of evaluations; an error ends it for all, and so does Ctrl-C."""
        self._halt.clear()
        futures = [
            self._pool.submit(self._go_on, search, inbox, n)
            for search, inbox, n in zip(self.searches, self.inboxes, shares, strict=True)
        ]
        try:
            for future in futures:
                future.result()
        except BaseException:
            self._halt.set()
            raise
        finally:
            # Nobody may look at a search that is still at work.
            self.cpu_seconds += sum(future.result() for future in futures if future.exception() is None)

    def _go_on(self, search: Search, inbox: list[Newcomer], n: int) -> float:
        cpu = time.thread_time()
        go_on(search, inbox, n, self._halt.is_set)
        return time.thread_time() - cpu

    def close(self) -> None:
        """End the threads."""
        self._halt.set()
        self._pool.shutdown()


class Processes(Crew):
    """Tasks for an executor: each has all that it takes, so that it does not matter who carries it out, or again."""

    def __init__(
        self, searches: list[Search], problem: AnyProblem, algorithm: Resumable, executor: Executor | int
    ) -> None:
        super().__init__(searches)
        self._algorithm = algorithm
        self._problem = _pickled(problem)
        self._own = ProcessWorkers(executor) if isinstance(executor, int) else None
        self._executor: Executor = self._own or executor  # type: ignore[assignment]
        self._key = uuid.uuid4().hex
        self._states: list[bytes] = []
        self._found: list[Found] = []

    def start(self) -> None:
        """Let processes of our own start, load the problem and compile, as that counts as no time of the search."""
        self.advance([0] * len(self.searches))
        self.cpu_seconds = 0.0

    def advance(self, shares: list[int]) -> None:
        """Let each search make its share of evaluations; what is not finished in the end was not begun."""
        self._states, self._found = self.states(), self.found()
        evaluations = self.evaluations()
        futures: list[Future[Done | str]] = []
        try:
            for k, n in enumerate(shares):
                key, inbox = (self._key, k), list(self.inboxes[k])
                task = Task(self._problem, self._algorithm, key, evaluations[k], self._states[k], inbox, n)
                futures.append(self._executor.submit(carry_out, task))
            for k, future in enumerate(futures):
                self._keep(k, future.result())
        except ParetoNRPAError:
            raise
        except Exception as error:  # executors have their own ways to fail
            reason = (str(error) or type(error).__name__).rstrip(".")
            raise ParetoNRPAError(f"the searches cannot go on: {reason}.") from error
        finally:
            for future in futures:
                future.cancel()

    def _keep(self, k: int, done: Done | str) -> None:
        if isinstance(done, str):
            raise ProblemError(done)
        self._states[k], self.inboxes[k], self._found[k] = done.state, done.inbox, done.found
        self.cpu_seconds += done.cpu_seconds

    def found(self) -> list[Found]:
        """Return what each search has found."""
        return self._found or super().found()

    def evaluations(self) -> list[int]:
        """Return how many evaluations each search has made."""
        return [found.evaluations for found in self._found] or super().evaluations()

    def states(self) -> list[bytes]:
        """Return all that the searches are."""
        return self._states or super().states()

    def close(self) -> None:
        """End processes of our own."""
        if self._own is not None:
            self._own.kill_workers()


def _pickled(problem: Any) -> bytes:
    try:
        pickled = bytes(ForkingPickler.dumps(problem))
        pickle.loads(pickled)
    except Exception as error:  # a user's class may raise anything
        reason = f"{type(error).__name__}: {error}".rstrip(".")
        raise ProblemError(
            f"{problem_name(problem)} cannot be sent to a process ({reason}); make it of what can be pickled, by a "
            "class in a file, or leave out workers."
        ) from error
    return pickled
