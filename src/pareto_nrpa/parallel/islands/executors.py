"""Workers of searches: this thread, threads, processes of this machine that keep searches, or any executor."""

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

# Seconds of a stretch of a search: in a process that keeps it, and where its state is sent there and back, which takes
# some hundredths of a second.
_KEPT_SECONDS, _SENT_SECONDS = 0.2, 1.0
# Largest age of the state from which a kept search is restored if its process dies.
_SECONDS_BETWEEN_STATES = 5.0
# Below this number of evaluations, starting a process takes longer than the search.
_WORTH_A_PROCESS = 5_000
# Larger policies (bytes) are not sent between processes; their kernels run so long that threads hardly compete for
# the interpreter.
_MOST_SENT = 8_000_000


class Crew:
    """Runs searches in this thread, one after the other."""

    #: Seconds of a stretch between two checks of the clock.
    spell_seconds = 0.05
    #: Number of searches that run at a time.
    size = 1

    def __init__(self, searches: list[AskTellSearch]) -> None:
        self.searches = searches

    def start(self) -> None:
        """Prepare workers."""

    def stands(self) -> list[Report]:
        """Return the positions of searches at the start."""
        return [told_by(search, 0, 0.0) for search in self.searches]

    def can_begin(self, k: int) -> bool:
        """Tell whether a worker is free for a search."""
        return True

    def begin(self, k: int, stretch: Stretch) -> Future[Any]:
        """Start a stretch of a search, which ends early when its time is over."""
        future: Future[Any] = Future()
        try:
            report = carry_on(self.searches[k], stretch)
            future.set_result(report._replace(cpu_seconds=0.0))  # the caller is this thread, and counts
        except BaseException as error:  # an interrupt too: `outcome` raises it, after what was found is received
            future.set_exception(error)
        return future

    def outcome(self, k: int, future: Future[Any]) -> Report | None:
        """Return the report of a stretch, None if it must be repeated."""
        report: Report = future.result()
        return report

    def until_error(self, k: int, stretch: Stretch) -> Report | None:
        """Return the report of a stretch that an error has ended; None if the search is in another process."""
        return told_by(self.searches[k], stretch.begin, 0.0)

    def halt(self) -> bool:
        """Ask running stretches to end; returns whether to wait for them."""
        return True

    def states(self, stands: list[Stretch]) -> list[bytes]:
        """Return the states of all searches, each between two stretches; none is running."""
        return [to_bytes(search) for search in self.searches]

    def close(self) -> None:
        """End the workers started here."""


class Threads(Crew):
    """Threads that share the problem; compiled code lets them work at the same time."""

    spell_seconds = 0.1

    def __init__(self, searches: list[AskTellSearch], workers: int) -> None:
        super().__init__(searches)
        self.size = workers
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="pareto-nrpa")
        self._halt = threading.Event()

    def begin(self, k: int, stretch: Stretch) -> Future[Any]:
        """Start a stretch in a thread."""
        self._halt.clear()
        return self._pool.submit(carry_on, self.searches[k], stretch, self._halt.is_set)

    def halt(self) -> bool:
        """Let stretches end after the current evaluation."""
        self._halt.set()
        return True

    def close(self) -> None:
        """End the threads."""
        self._halt.set()
        self._pool.shutdown()


class Tasks(Crew):
    """Tasks for any executor: each carries the state of a search there and back.

    The result is independent of which process runs a task, and of repetitions after a failure.
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
        """Let processes load the problem and compile, which is not time of the search."""
        self._states = [to_bytes(search) for search in self.searches]
        self._ask_all([Stretch(n, n, 0, n, [], 0.0) for n in (search.evaluations for search in self.searches)])

    def _ask_all(self, stretches: list[Stretch]) -> None:
        left = list(range(len(stretches)))
        while left:
            futures = {k: self._submit(k, stretches[k], True) for k in left}
            left = [k for k, future in futures.items() if self.outcome(k, future) is None]

    def begin(self, k: int, stretch: Stretch) -> Future[Any]:
        """Start a stretch in any process."""
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
            raise ParetoNRPAError(f"executor accepts no tasks ({error}); give one that is not shut down.") from error

    def until_error(self, k: int, stretch: Stretch) -> Report | None:
        """Return None: the search is in another process."""
        return None

    def _executor_of(self, k: int) -> Executor:
        return self._executor

    def _state_to_send(self, k: int) -> bytes | None:
        return self._states[k]

    def outcome(self, k: int, future: Future[Any]) -> Report | None:
        """Return the report of a stretch, None if it must be repeated."""
        try:
            report: Report | str | None = future.result()
        except Exception as error:  # executors raise errors of their own
            reason = (str(error) or type(error).__name__).rstrip(".")
            way_out = 'executor="threads" needs no processes'
            raise ParetoNRPAError(f"the searches cannot continue: {reason}; {way_out}.") from error
        if isinstance(report, str):
            raise ProblemError(report)
        if report is not None and report.state is not None:
            self._states[k] = report.state
        return report

    def halt(self) -> bool:
        """Do not wait: unfinished tasks are repeated."""
        return False

    def states(self, stands: list[Stretch]) -> list[bytes]:
        """Return the states of all searches, which came with the reports."""
        return self._states

    def close(self) -> None:
        """End the processes started here; an executor of the caller stays open."""
        if isinstance(self._executor, ProcessWorkers):
            self._executor.kill_workers()


class KeptProcesses(Tasks):
    """Processes of this machine, each of which keeps searches of its own and reports their progress.

    If one dies, its searches are restored from the last states received, and repeat the work since then.
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
        """Start a stretch in the process of the search."""
        is_old = time.monotonic() - self._stored[k] > _SECONDS_BETWEEN_STATES
        future = self._at_work[k % self.size] = self._submit(k, stretch, is_old)
        return future

    def _executor_of(self, k: int) -> Executor:
        return self._workers[k % self.size]

    def _state_to_send(self, k: int) -> bytes | None:
        return None if self._is_kept[k] else self._states[k]

    def outcome(self, k: int, future: Future[Any]) -> Report | None:
        """Return the report of a stretch, None if it must be repeated."""
        report = super().outcome(k, future)
        self._is_kept[k] = report is not None
        if report is not None and report.state is not None:
            self._stored[k] = time.monotonic()
        return report

    def states(self, stands: list[Stretch]) -> list[bytes]:
        """Fetch the states of all searches, each between two stretches; none is running."""
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
    """Return the workers of searches, each of which makes `budget` evaluations (None: unknown)."""
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
    # A plain problem may depend on global state of the script; a compiled one has all in its kernels and data.
    imports_main = not isinstance(problem, CompiledProblem) or _is_local(content, algorithm)
    if n % workers:  # searches that cannot be divided evenly go to any idle process
        return Tasks(searches, content, algorithm, ProcessWorkers(workers, imports_main=imports_main), workers)
    return KeptProcesses(searches, content, algorithm, workers, imports_main=imports_main)


def _faster(search: AskTellSearch, problem: AnyProblem, algorithm: Algorithm, budget: int | None) -> tuple[str, bytes]:
    """Return the faster kind of worker for a problem, and the problem pickled for processes.

    Python code between kernels runs in one thread at a time; each process has an interpreter of its own.
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
    # Definitions of a script require processes that import it; by default no script is run a second time.
    return (THREADS, b"") if _is_local(content, algorithm) else (PROCESSES, content)


def _may_start_processes() -> bool:
    """Tell whether processes can be started by default: a program that embeds Python might start itself instead."""
    is_a_python = bool(sys.executable) and not getattr(sys, "frozen", False)
    return is_a_python and not multiprocessing.current_process().daemon


def _is_local(problem: bytes, algorithm: Algorithm) -> bool:
    """Tell whether a pickled problem or algorithm needs definitions of a script."""
    return b"__main__" in problem or b"__main__" in pickle.dumps(algorithm)


def pickled(problem: Any) -> bytes:
    """Return a problem pickled for processes."""
    try:
        content = bytes(ForkingPickler.dumps(problem))
        pickle.loads(content)
    except Exception as error:  # a class of the user may raise any error
        reason = f"{type(error).__name__}: {error}".rstrip(".")
        raise ProblemError(
            f"{problem_name(problem)} cannot be sent to a process ({reason}); define its class in a file with "
            "picklable attributes, or leave out workers."
        ) from error
    return content
