"""Who carries searches on: this thread, threads, processes of this machine that keep them, or any executor."""

from __future__ import annotations

import multiprocessing
import pickle
import sys
import threading
import time
import uuid
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any

from ...errors import ParetoNRPAError, ProblemError
from ...problem.base import CompiledProblem, problem_name
from ..pool import ProcessWorkers
from .algorithm import PROCESSES, THREADS
from .task import Report, Stretch, Task, carry_on, carry_out, to_bytes, told_by

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ...algorithms.algorithm import Algorithm
    from ...algorithms.nrpa.search import AskTellSearch
    from ...problem.base import AnyProblem

# How long a search continues before it is asked what it has found: in a process that keeps it, and where its state is
# sent there and back, which takes some hundredths of a second.
_KEPT_SECONDS, _SENT_SECONDS = 0.2, 1.0
# How old the state of a kept search may be, from which it is made again if its process dies.
_SECONDS_BETWEEN_STATES = 5.0
# Fewer evaluations of a search are made by the time that a process has started.
_WORTH_A_PROCESS = 5_000
# Policies that take more bytes are better not sent about; their kernels run so long that threads hardly disturb each
# other.
_MOST_SENT = 8_000_000


class Crew:
    """Searches that this thread carries on, one by one."""

    #: How long a search continues before the clock is looked at.
    spell_seconds = 0.05
    #: How many searches are carried on at a time.
    size = 1

    def __init__(self, searches: list[AskTellSearch]) -> None:
        self.searches = searches

    def start(self) -> None:
        """Prepare workers."""

    def stands(self) -> list[Report]:
        """Return where searches stand before anything is done."""
        return [told_by(search, 0, 0.0) for search in self.searches]

    def can_begin(self, k: int) -> bool:
        """Tell whether a worker is free for a search."""
        return True

    def begin(self, k: int, stretch: Stretch) -> Future[Any]:
        """Let a search continue for a stretch, or as much of it as time allows."""
        future: Future[Any] = Future()
        try:
            report = carry_on(self.searches[k], stretch)
            future.set_result(report._replace(cpu_seconds=0.0))  # the caller is this thread, and counts
        except Exception as error:
            future.set_exception(error)
        return future

    def outcome(self, k: int, future: Future[Any]) -> Report | None:
        """Return the report of a stretch, None if it must be begun again."""
        report: Report = future.result()
        return report

    def halt(self) -> bool:
        """Let stretches end as soon as they can; returns whether they are worth waiting for."""
        return True

    def states(self, stands: list[Stretch]) -> list[bytes]:
        """Return the states of all searches, each as it stands at the beginning of a stretch; none is at work."""
        return [to_bytes(search) for search in self.searches]

    def close(self) -> None:
        """End workers that were started here."""


class Threads(Crew):
    """Threads that share the problem; compiled code lets them work at the same time."""

    spell_seconds = 0.1

    def __init__(self, searches: list[AskTellSearch], workers: int) -> None:
        super().__init__(searches)
        self.size = workers
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="pareto-nrpa")
        self._halt = threading.Event()

    def begin(self, k: int, stretch: Stretch) -> Future[Any]:
        """Let a thread carry on a search."""
        self._halt.clear()
        return self._pool.submit(carry_on, self.searches[k], stretch, self._halt.is_set)

    def halt(self) -> bool:
        """Let stretches end after the evaluation in hand."""
        self._halt.set()
        return True

    def close(self) -> None:
        """End the threads."""
        self._halt.set()
        self._pool.shutdown()


class Tasks(Crew):
    """Tasks for any executor: the state of a search goes there and returns with each of them.

    So it does not matter which process has a task, or how often one that died is tried again.
    """

    spell_seconds = _SENT_SECONDS
    _wants_state = True

    def __init__(
        self, searches: list[AskTellSearch], problem: bytes, algorithm: Algorithm, executor: Executor, size: int
    ) -> None:
        super().__init__(searches)
        self._problem, self._algorithm, self._executor, self.size = problem, algorithm, executor, size
        self._key = uuid.uuid4().hex
        self._states: list[bytes] = []

    def start(self) -> None:
        """Let processes load the problem and compile, as that counts as no time of the search."""
        self._states = [to_bytes(search) for search in self.searches]
        self._ask_all([Stretch(n, n, 0, n, [], 0.0) for n in (search.evaluations for search in self.searches)])

    def _ask_all(self, stretches: list[Stretch]) -> None:
        left = list(range(len(stretches)))
        while left:
            futures = {k: self._submit(k, stretches[k], True) for k in left}
            left = [k for k, future in futures.items() if self.outcome(k, future) is None]

    def begin(self, k: int, stretch: Stretch) -> Future[Any]:
        """Let some process carry on a search."""
        return self._submit(k, stretch, self._wants_state)

    def _submit(self, k: int, stretch: Stretch, wants_state: bool) -> Future[Any]:
        state = self._state_to_send(k)
        problem = b"" if state is None else self._problem
        task = Task((self._key, k), stretch, problem, self._algorithm, state, wants_state)
        try:
            return self._executor_of(k).submit(carry_out, task)
        except BrokenExecutor:
            raise
        except RuntimeError as error:
            raise ParetoNRPAError(f"executor takes no work ({error}); give one that is not shut down.") from error

    def _executor_of(self, k: int) -> Executor:
        return self._executor

    def _state_to_send(self, k: int) -> bytes | None:
        return self._states[k]

    def outcome(self, k: int, future: Future[Any]) -> Report | None:
        """Return the report of a stretch, None if it must be begun again."""
        try:
            report: Report | str | None = future.result()
        except Exception as error:  # executors have their own ways to fail
            reason = (str(error) or type(error).__name__).rstrip(".")
            way_out = 'executor="threads" needs no processes'
            raise ParetoNRPAError(f"the searches cannot continue: {reason}; {way_out}.") from error
        if isinstance(report, str):
            raise ProblemError(report)
        if report is not None and report.state is not None:
            self._states[k] = report.state
        return report

    def halt(self) -> bool:
        """Wait for nothing: what is not finished was not begun."""
        return False

    def states(self, stands: list[Stretch]) -> list[bytes]:
        """Return the states of all searches, which came with their reports."""
        return self._states

    def close(self) -> None:
        """End processes that were started here; an executor of the caller is left alone."""
        if isinstance(self._executor, ProcessWorkers):
            self._executor.kill_workers()


class Processes(Tasks):
    """Processes of this machine, each with searches of its own, which it keeps and whose news it tells.

    If one dies, its searches are made again from the last states that came back, and repeat what they did since.
    """

    spell_seconds = _KEPT_SECONDS

    def __init__(
        self, searches: list[AskTellSearch], problem: bytes, algorithm: Algorithm, n: int, *, imports_main: bool
    ) -> None:
        self._workers = [ProcessWorkers(1, imports_main=imports_main) for _ in range(n)]
        super().__init__(searches, problem, algorithm, self._workers[0], n)
        self._at_work: dict[int, Future[Any]] = {}  # by process
        self._stored = [time.monotonic()] * len(searches)
        self._is_kept = [False] * len(searches)

    def can_begin(self, k: int) -> bool:
        """Tell whether the process of a search is idle."""
        future = self._at_work.get(k % self.size)
        return future is None or future.done()

    def begin(self, k: int, stretch: Stretch) -> Future[Any]:
        """Let the process of a search carry it on."""
        is_old = time.monotonic() - self._stored[k] > _SECONDS_BETWEEN_STATES
        future = self._at_work[k % self.size] = self._submit(k, stretch, is_old)
        return future

    def _executor_of(self, k: int) -> Executor:
        return self._workers[k % self.size]

    def _state_to_send(self, k: int) -> bytes | None:
        return None if self._is_kept[k] else self._states[k]

    def outcome(self, k: int, future: Future[Any]) -> Report | None:
        """Return the report of a stretch, None if it must be begun again."""
        report = super().outcome(k, future)
        self._is_kept[k] = report is not None
        if report is not None and report.state is not None:
            self._stored[k] = time.monotonic()
        return report

    def states(self, stands: list[Stretch]) -> list[bytes]:
        """Ask for the states of all searches, each as it stands at the beginning of a stretch; none is at work."""
        self._ask_all(stands)
        return self._states

    def close(self) -> None:
        """End the processes."""
        for worker in self._workers:
            worker.kill_workers()


def crew_for(
    searches: list[AskTellSearch],
    problem: AnyProblem,
    algorithm: Algorithm,
    workers: int,
    executor: Executor | str | None,
    budget: int | None,
) -> Crew:
    """Return who carries searches on, each of which makes `budget` evaluations (None: not known)."""
    n = len(searches)
    if executor is not None and not isinstance(executor, str):
        return Tasks(searches, pickled(problem), algorithm, executor, n)
    if workers == 1:
        return Crew(searches)
    content = b""
    if executor is None:
        executor, content = _faster(searches[0], problem, algorithm, budget)
    if executor == THREADS:
        return Threads(searches, workers)
    content = content or pickled(problem)
    # A plain problem may depend on what the script has set elsewhere, a compiled one has all in its kernels and data.
    imports_main = not isinstance(problem, CompiledProblem) or _is_local(content, algorithm)
    if n % workers:  # searches that cannot be shared out evenly go to whichever process is idle
        return Tasks(searches, content, algorithm, ProcessWorkers(workers, imports_main=imports_main), workers)
    return Processes(searches, content, algorithm, workers, imports_main=imports_main)


def _faster(search: AskTellSearch, problem: AnyProblem, algorithm: Algorithm, budget: int | None) -> tuple[str, bytes]:
    """Return what is faster for a problem, and the problem as it is sent to processes.

    Between kernels there is Python, which one thread at a time may run: processes have one each.
    """
    if not isinstance(problem, CompiledProblem):
        return PROCESSES, pickled(problem)
    is_short = budget is not None and budget < _WORTH_A_PROCESS
    if is_short or search.machine.weights.nbytes > _MOST_SENT or not _may_start_processes():
        return THREADS, b""
    try:
        content = pickled(problem)
    except ProblemError:
        return THREADS, b""
    # What a script defines is there for processes that import it; unasked, no script is run a second time.
    return (THREADS, b"") if _is_local(content, algorithm) else (PROCESSES, content)


def _may_start_processes() -> bool:
    """Tell whether processes can be started unasked: a program with Python inside might start itself instead."""
    is_a_python = bool(sys.executable) and not getattr(sys, "frozen", False)
    return is_a_python and not multiprocessing.current_process().daemon


def _is_local(problem: bytes, algorithm: Algorithm) -> bool:
    """Tell whether a problem that was pickled, or the algorithm, needs what a script defines."""
    return b"__main__" in problem or b"__main__" in pickle.dumps(algorithm)


def pickled(problem: Any) -> bytes:
    """Return a problem as it is sent to processes."""
    try:
        content = bytes(ForkingPickler.dumps(problem))
        pickle.loads(content)
    except Exception as error:  # a user's class may raise anything
        reason = f"{type(error).__name__}: {error}".rstrip(".")
        raise ProblemError(
            f"{problem_name(problem)} cannot be sent to a process ({reason}); make it of what can be pickled, by a "
            "class in a file, or leave out workers."
        ) from error
    return content
