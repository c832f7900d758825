"""The one call for every algorithm: wires problem, algorithm, stop and callbacks together, holds no algorithm."""

from __future__ import annotations

import logging
import math
import multiprocessing
import platform
import signal
import threading
import time
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

import numpy as np

from .callbacks import Callbacks, check_callbacks
from .checks import check_whole, shown
from .cooperation.team import assembled, closing
from .exceptions import CheckpointError, ProblemError
from .files import check_writable, locked
from .metrics import hypervolume_history, is_affordable, worst_point
from .problem import AnyProblem, CompiledProblem, Problem, objective_signs, problem_fingerprint, problem_name
from .result import Front, Result, plain
from .stop import Progress, StopCriterion, budget_of, check_stop, counts_unique, fired_by, next_look

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor
    from types import FrameType

    from numpy.typing import NDArray

    from .callbacks import Listener

logger = logging.getLogger(__name__)

_SECONDS_BETWEEN_CHECKPOINTS = 10.0
# How long to work between two looks at clock and keyboard.
_SHORT_SLICE, _LONG_SLICE = 0.01, 0.05
# Signals that follow each other as fast as this are one wish: nobody has seen yet what the first one did.
_SAME_WISH, _LONGEST_WISH = 0.5, 1.0
_PATIENCE_AT_THE_END = 2.0
_SILENT_COMPILING = 1.0  # seconds


class Search(Protocol):
    """What `solve` needs of a running search, whatever the algorithm."""

    seed: int
    wall_seconds: float  # spent so far, over all resumptions
    cpu_seconds: float

    @property
    def evaluations(self) -> int:
        """How many evaluations were made."""

    @property
    def unique_evaluations(self) -> int | None:
        """How many of them were of a solution not evaluated before; None unless they are counted."""

    @property
    def last_improvement(self) -> int:
        """The evaluation at which the archive last changed."""

    @property
    def slice_size(self) -> int:
        """A number of evaluations after which to look up; must not depend on time."""

    @property
    def is_compiled(self) -> bool:
        """Whether `compile` will be quick."""

    @property
    def max_archive(self) -> int | None:
        """The most that the archive may hold; None if there is no limit."""

    def count_unique(self) -> None:
        """Count every solution once, from the start on."""

    def limit_archive(self, size: int) -> None:
        """Let the archive never hold more than so many solutions, from the start on."""

    def compile(self) -> None:
        """Compile what is needed."""

    def advance(self, n: int) -> None:
        """Make n evaluations."""

    def front(self) -> Front:
        """Return the best of all that was evaluated."""

    def log(self) -> NDArray[np.float64]:
        """Return evaluation, violations and minimised objectives of all that ever was in the front."""

    def best(self) -> tuple[NDArray[np.float64], float]:
        """Return the minimised objectives of the front and their violations."""

    def parameters(self) -> dict[str, Any]:
        """Return the parameters as they are used."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a checkpoint."""


class Algorithm(Protocol):
    """An algorithm is its parameters, and can start or resume a search."""

    name: str

    def start(self, problem: AnyProblem, *, seed: int, budget: int | None) -> Search:
        """Return a search that has made no evaluation yet."""

    def resume(self, problem: AnyProblem, path: str | os.PathLike[str]) -> Search:
        """Return the search of a checkpoint."""


def solve(
    problem: AnyProblem,
    algorithm: Algorithm | str | None = None,
    *,
    stop: StopCriterion,
    seed: int = 0,
    callbacks: Listener | Sequence[Listener] = (),
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    reference_point: Sequence[float] | None = None,
    max_archive: int | None = None,
    start: Result | Front | Sequence[Sequence[Any]] = (),
    workers: int | Literal["all"] = 1,
    searches: int | None = None,
    executor: Executor | None = None,
) -> Result:
    """Search for the Pareto front of a problem.

    Parameters
    ----------
    problem
        A `Problem` or a `CompiledProblem`.
    algorithm
        `PolishedNRPA()` by default; another one, such as `ParetoNRPA()` with the paper's parameters, or the name of
        one, such as "nsga-ii".
    stop
        When to stop: for example `MaxEvaluations(100_000) | MaxRuntime(60)`.
    seed
        Same seed, same result.
    callbacks
        One or more `Callbacks`, or functions, which are told of progress.
    checkpoint
        A file in which the search is saved every ten seconds and at the end. One that exists is only gone on from,
        and by one search at a time.
    resume
        Go on from the checkpoint where there is one. Time limits count what was spent before.
    reference_point
        What the hypervolume is measured against; the problem's own, or else a point a little worse than everything
        that ever was in the front.
    max_archive
        The most solutions to keep, at least 2; no limit by default. With many objectives hardly anything dominates
        anything, and fronts of tens of thousands are common. Where there are more, half of them are kept: the best in
        each objective and those that lie farthest apart. `discarded` of the result says how many were lost.
    start
        Solutions to begin with: lists of moves, or the result of an earlier search. They are evaluated first, count as
        evaluations, and the search learns from them. One that goes on from a checkpoint has had them.
    workers
        How many cores to use; 0 or "all": as many as this process may. Compiled problems are searched by threads, plain
        ones by processes, which load the problem by its class: a script needs `if __name__ == "__main__":`.
    searches
        How many searches work together; as many as there are workers by default. They make the result, the number of
        workers does not: same seed and searches, same result. One search is what it always was.
    executor
        Where searches are carried on instead: any `concurrent.futures.Executor`, such as that of a Dask client.

    Returns
    -------
    Result
        The best front of all that was evaluated. Ctrl-C (or SIGTERM) ends the search early and returns what there is;
        a second one does not wait for the evaluation in hand.

    Raises
    ------
    ProblemError
        If the problem breaks a promise.
    CheckpointError
        If the checkpoint cannot be read or written. As with everything that ends a search that has begun, the
        attribute `result` holds the front found until then.
    """
    check_stop(stop)
    check_problem_type(problem)
    seed = check_seed(seed)
    if max_archive is not None:
        check_whole("max_archive", max_archive, 2)
    reference = check_reference_point(problem, reference_point)
    if checkpoint is not None:
        check_writable(checkpoint)
        problem_fingerprint(problem)  # now, not when it is saved, is the time to say that there is none
        if Path(checkpoint).exists() and not resume:
            raise CheckpointError(f"{checkpoint} already exists; resume to go on from it, or name another checkpoint.")
    elif resume:
        raise ValueError("resume needs the file to go on from: give it as checkpoint.")
    chosen = assembled(check_algorithm(algorithm), workers, searches, executor)
    listeners = check_callbacks(callbacks)
    with nullcontext() if checkpoint is None else locked(checkpoint), closing(chosen):
        if resume and checkpoint is not None and Path(checkpoint).exists():
            search: Search = chosen.resume(problem, checkpoint)
            seed = search.seed  # the one that made the first part
        else:
            search = chosen.start(problem, seed=seed, budget=budget_of(stop))
        if counts_unique(stop):
            _count_unique(search, chosen.name, checkpoint)
        _limit_archive(search, chosen.name, max_archive, checkpoint)
        first = [] if search.evaluations else check_start(start, search, chosen.name)
        return Run(problem, chosen.name, search, stop, seed, reference, listeners, checkpoint, first).to_the_end()


def _count_unique(search: Search, algorithm: str, checkpoint: str | os.PathLike[str] | None) -> None:
    """Let a search count every solution once, unless it does already."""
    if not hasattr(search, "count_unique"):  # an algorithm of the user's own
        raise ValueError(f"{algorithm} cannot count unique evaluations; stop by all of them.")
    if search.unique_evaluations is None:
        if search.evaluations:
            raise CheckpointError(f"{checkpoint} was made without counting unique evaluations; name another file.")
        search.count_unique()


def _limit_archive(search: Search, algorithm: str, size: int | None, checkpoint: str | os.PathLike[str] | None) -> None:
    """Let a search keep to a size of its archive; one that goes on must keep to the one it began with."""
    before = getattr(search, "max_archive", None)
    if search.evaluations and size != before:
        raise CheckpointError(
            f"{checkpoint} was made with max_archive={before}, not {size}; use that, or another file."
        )
    if size is not None and size != before:
        if not hasattr(search, "limit_archive"):  # an algorithm of the user's own
            raise ValueError(f"{algorithm} cannot limit its archive; leave out max_archive.")
        search.limit_archive(int(size))


def check_start(start: object, search: Search, algorithm: str) -> list[Sequence[Any]]:
    """Return the solutions to begin with, as lists of moves."""
    given = start.front if isinstance(start, Result) else start
    solutions: Any = given.solutions if isinstance(given, Front) else given
    if isinstance(solutions, str) or not all(isinstance(solution, list | tuple) for solution in solutions):
        raise TypeError(f"start must be lists of moves, or a result, got {shown(start)}.")
    if len(solutions) and not hasattr(search, "add"):
        raise ValueError(f"{algorithm} cannot begin with solutions; leave out start, or use pareto-nrpa.")
    if len(solutions):
        search.expect_add()  # type: ignore[attr-defined]
    return list(solutions)


def check_problem_type(problem: object) -> None:
    """Raise if something is not a problem."""
    if not isinstance(problem, Problem | CompiledProblem):
        raise TypeError(
            f"problem must be a Problem or a CompiledProblem, got {type(problem).__name__}; "
            'load("rc_204.3") gives one by name.'
        )


def check_algorithm(algorithm: object) -> Algorithm:
    """Return the algorithm that was meant: itself, one with all its defaults by class or name, or the default."""
    if algorithm is None or isinstance(algorithm, str):
        from .algorithms import DEFAULT
        from .algorithms import algorithm as by_name

        return by_name(algorithm or DEFAULT)
    made = algorithm() if isinstance(algorithm, type) and hasattr(algorithm, "start") else algorithm
    if not callable(getattr(made, "start", None)):
        raise TypeError(
            f'algorithm must be one such as ParetoNRPA(level=3), or a name such as "nsga-ii", got {shown(algorithm)}.'
        )
    return made  # type: ignore[return-value]


def check_seed(seed: object) -> int:
    """Return a seed as a whole number of at least 0."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed must be a whole number of at least 0, got {seed!r}.")
    return int(seed)


def check_reference_point(problem: AnyProblem, given: Sequence[float] | None) -> NDArray[np.float64] | None:
    """Return the reference point to use, in the problem's own sense, or None if there is none yet."""
    point = problem.reference_point if given is None else given
    if point is None:
        return None
    message = f"reference_point must be {problem.n_objectives} finite numbers, got {shown(point)}."
    try:
        array = np.asarray(point, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(message) from error
    if array.shape != (problem.n_objectives,) or not np.isfinite(array).all():
        raise ValueError(message)
    return array


class Run:
    """One call of `solve`, from the first slice to the result."""

    def __init__(
        self,
        problem: AnyProblem,
        algorithm: str,
        search: Search,
        stop: StopCriterion,
        seed: int,
        reference: NDArray[np.float64] | None,
        callbacks: list[Callbacks],
        checkpoint: str | os.PathLike[str] | None,
        start: Sequence[Sequence[Any]] = (),
    ) -> None:
        self.start = start
        self.problem, self.algorithm, self.search, self.stop, self.seed = problem, algorithm, search, stop, seed
        self.reference, self.callbacks, self.checkpoint = reference, callbacks, checkpoint
        self.signs = objective_signs(problem)
        self.stopped_by = ""
        self._looked = time.perf_counter()
        self.stride = search.slice_size  # evaluations between two looks at clock and keyboard, as time allows
        bounds: tuple[float, float] = getattr(search, "slice_seconds", (_SHORT_SLICE, _LONG_SLICE))
        self._short, self._long = bounds

    def to_the_end(self) -> Result:
        """Search until the stop fires or somebody interrupts; whatever is raised then carries the result so far."""
        self._compile()
        self._looked = time.perf_counter()
        for callback in self.callbacks:
            callback.on_start(self.progress())
        with Interrupt() as interrupt:
            try:
                self._search(interrupt)
                result = self._finished(interrupt)
            except BaseException as error:
                interrupt.patience = math.inf
                self.stopped_by = self.stopped_by or "an error"
                self._keep(error)
                raise
        return result

    def _compile(self) -> None:
        if self.search.is_compiled:
            self.search.compile()
            return
        for callback in self.callbacks:
            callback.on_compile()
        is_said = any(type(callback).on_compile is not Callbacks.on_compile for callback in self.callbacks)
        is_said |= multiprocessing.parent_process() is not None  # workers keep quiet
        with nullcontext() if is_said else _said_if_long("compiling for this kind of problem, once on this machine"):
            self.search.compile()

    def _search(self, interrupt: Interrupt) -> None:
        try:
            try:
                self._loop(interrupt)
            finally:
                interrupt.patience = math.inf  # what is left takes a moment, and must not be cut short
            self._save()
        except KeyboardInterrupt:
            # In the middle of a playout: the last checkpoint stays, as going on from here would lead elsewhere.
            self.stopped_by = interrupt.requested or "Ctrl-C"

    def _finished(self, interrupt: Interrupt) -> Result:
        result = self.result(interrupt)
        interrupt.patience = _PATIENCE_AT_THE_END
        try:
            for callback in self.callbacks:
                callback.on_end(result)
        except BaseException as error:
            error.result = result  # type: ignore[attr-defined]
            raise
        return result

    def _keep(self, error: BaseException) -> None:
        """Let an error carry what was found."""
        if getattr(error, "result", None) is not None or not self.search.evaluations:
            return
        try:
            error.result = self.result()  # type: ignore[attr-defined]
        except Exception as another:  # in measuring or describing it
            error.result = getattr(another, "result", None)  # type: ignore[attr-defined]

    def _loop(self, interrupt: Interrupt) -> None:
        saved = time.perf_counter()
        progress = self.progress()
        for solution in self.start:
            if self.stop(progress) or interrupt.requested:
                break
            self._add(solution)
            progress = self.progress()
        while not self.stop(progress):
            if interrupt.requested:
                self.stopped_by = interrupt.requested
                return
            self._advance(self._next_slice(progress))
            progress = self.progress()
            for callback in self.callbacks:
                callback.on_progress(progress)
            if time.perf_counter() - saved > _SECONDS_BETWEEN_CHECKPOINTS:
                with interrupt.held():
                    self._save()
                saved = time.perf_counter()
            if self.callbacks:  # they take time, too
                progress = self.progress()
        self.stopped_by = interrupt.requested or fired_by(self.stop, progress)

    def _save(self) -> None:
        if self.checkpoint is not None:
            self.search.save(self.checkpoint)

    def _next_slice(self, progress: Progress) -> int:
        """Return how far to go without looking up: never past a place where the stop must be asked."""
        look = next_look(self.stop, progress, self.search.slice_size)
        return max(1, int(min(self.stride, look - progress.evaluations)))

    def _add(self, solution: Sequence[Any]) -> None:
        cpu = time.thread_time()
        try:
            self.search.add(solution)  # type: ignore[attr-defined]
        finally:
            self.search.cpu_seconds += time.thread_time() - cpu

    def _advance(self, n: int) -> None:
        wall, cpu = time.perf_counter(), time.thread_time()
        try:
            self.search.advance(n)
        finally:
            seconds = time.perf_counter() - wall
            self.search.cpu_seconds += time.thread_time() - cpu
        if n == self.stride and seconds < self._short:
            self.stride *= 2
        elif seconds > self._long:
            self.stride = max(1, self.stride // 2)

    def progress(self) -> Progress:
        """Return where the search stands; all time since the last look counts, whoever spent it."""
        now = time.perf_counter()
        self.search.wall_seconds += now - self._looked
        self._looked = now
        objectives, violations = self.search.best()
        return Progress(
            evaluations=self.search.evaluations,
            seconds=self.search.wall_seconds,
            cpu_seconds=self.search.cpu_seconds,
            last_improvement=self.search.last_improvement,
            objectives=objectives,
            violations=violations,
            signs=self.signs,
            unique_evaluations=getattr(self.search, "unique_evaluations", None),
            failures=getattr(self.search, "failures", 0),
        )

    def result(self, interrupt: Interrupt | None = None) -> Result:
        """Return what was found so far; what fails in measuring or describing it carries the rest as `result`."""
        found = self._found()
        try:
            found = self._measured(found)
            if interrupt is not None:
                interrupt.patience = _PATIENCE_AT_THE_END  # a problem may take its time to describe
            return self._described(found)
        except KeyboardInterrupt:
            return found
        except Exception as error:
            error.result = found  # type: ignore[attr-defined]
            raise

    def _found(self) -> Result:
        return Result(
            instance=problem_name(self.problem),
            algorithm=self.algorithm,
            parameters=self.search.parameters(),
            seed=self.seed,
            evaluations=self.search.evaluations,
            cpu_seconds=self.search.cpu_seconds,
            wall_seconds=self.search.wall_seconds,
            stopped_by=self.stopped_by,
            front=self.search.front(),
            history=np.zeros((0, 2)),
            reference_point=None if self.reference is None else self.reference.tolist(),
            maximise=(self.signs < 0).tolist(),
            versions=versions(),
            unique_evaluations=getattr(self.search, "unique_evaluations", None),
            objective_names=[str(name) for name in self.problem.objective_names or ()],
            log=self.search.log(),
            failures=getattr(self.search, "failures", 0),
            discarded=getattr(self.search, "discarded", 0),
        )

    def _measured(self, found: Result) -> Result:
        """Return a result with its hypervolumes, and what it comes to beside the true front."""
        log, m = self.search.log(), len(self.signs)
        feasible = log[log[:, 1] == 0, 2:]
        reference = None if self.reference is None else self.reference * self.signs
        if reference is None and len(feasible):
            reference = worst_point(feasible)
        front = found.front.objectives * self.signs if found.front.is_feasible else np.zeros((0, m))
        history = hypervolume_history(log, np.zeros(m) if reference is None else reference, front)
        if len(history) and history[-1, 0] < self.search.evaluations:
            history = np.vstack([history, [self.search.evaluations, history[-1, 1]]])
        return replace(
            found,
            history=history,
            approximated=len(history) > 0 and not is_affordable(len(front), m),
            reference_point=None if reference is None else (reference * self.signs).tolist(),
            truth=self._truth(front),
        )

    def _described(self, found: Result) -> Result:
        if self.problem.plan is not None:
            schedules = self._of_each(found, self.problem.plan.schedule, "schedule() of the plan")
            found = replace(found, plan=plain(self.problem.plan.to_dict()), schedules=plain(schedules))
        if self.problem.describe is None:
            return found
        return replace(found, descriptions=list(map(str, self._of_each(found, self.problem.describe, "describe()"))))

    def _of_each(self, found: Result, say: Callable[[list[Any]], Any], what: str) -> list[Any]:
        try:
            return [say(solution) for solution in found.front.solutions]
        except Exception as error:
            name, reason = problem_name(self.problem), f"{type(error).__name__}: {shown(str(error))}"
            raise ProblemError(f"{what} of {name} raised {reason}; mend it.") from error

    def _truth(self, points: NDArray[np.float64]) -> dict[str, Any]:
        """Return what a front comes to beside the one that the problem carries."""
        known = self.problem.reference_front
        return {} if known is None else known.compared(points)


@contextmanager
def _said_if_long(what: str) -> Iterator[None]:
    """Say, where nobody else does, why nothing seems to happen.

    As a warning of the logger: seen on stderr by default, and silenced or sent elsewhere as any other.
    """
    timer = threading.Timer(_SILENT_COMPILING, logger.warning, [f"pareto-nrpa: {what}; some seconds ..."])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class Interrupt:
    """Turns a first Ctrl-C or SIGTERM into a request that is looked at between slices.

    A later one raises KeyboardInterrupt if it comes `patience` seconds or more after the one before: at once by
    default, never where something must not be cut short. It raises once at most, so that what is done about it is safe.
    After a request, leaving waits until no second signal can be part of the same wish: it must not hit the caller.
    """

    _names: ClassVar[dict[int, str]] = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}

    def __init__(self, patience: float = 0.0) -> None:
        self.requested = ""
        self.patience = patience
        self._heard = -math.inf
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Interrupt:
        if threading.current_thread() is threading.main_thread():
            for number in self._names:
                previous = signal.getsignal(number)
                # A handler of the caller's own stays.
                if previous in (signal.default_int_handler, signal.SIG_DFL):
                    self._previous[number] = previous
                    signal.signal(number, self._hear)
        return self

    def _hear(self, number: int, frame: FrameType | None) -> None:
        now, is_first = time.monotonic(), not self.requested
        since, self._heard = now - self._heard, now
        self.requested = self.requested or self._names[number]
        if not is_first and since >= self.patience:
            self.patience = math.inf
            raise KeyboardInterrupt

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let nothing be cut short for a moment."""
        patience, self.patience = self.patience, math.inf
        try:
            yield
        finally:
            self.patience = patience

    def __exit__(self, *exception: object) -> None:
        self.patience, latest = math.inf, time.monotonic() + _LONGEST_WISH
        while (left := min(self._heard + _SAME_WISH, latest) - time.monotonic()) > 0:
            time.sleep(left)
        for number, previous in self._previous.items():
            signal.signal(number, previous)


def versions() -> dict[str, str]:
    """Return what a result depends on: Python and the libraries that are installed."""

    def installed() -> Iterator[tuple[str, str]]:
        for name in ("pareto-nrpa", "numpy", "numba", "moocore", "pymoo"):
            try:
                yield name, version(name)
            except PackageNotFoundError:
                continue

    return {"python": platform.python_version(), **dict(installed())}
