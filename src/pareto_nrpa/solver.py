"""The one call for every algorithm: wires problem, algorithm, stop and callbacks together, holds no algorithm."""

from __future__ import annotations

import logging
import platform
import signal
import threading
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from .callbacks import Callbacks
from .checks import check_whole
from .exceptions import CheckpointError
from .files import check_writable
from .metrics import hypervolume_history, worst_point
from .problem import AnyProblem, CompiledProblem, Problem, objective_signs, problem_name
from .result import Front, Result
from .stop import Progress, StopCriterion, budget_of, check_stop, counts_unique, fired_by, next_look

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence
    from types import FrameType

    from numpy.typing import NDArray

logger = logging.getLogger(__name__)

_SECONDS_BETWEEN_CHECKPOINTS = 10.0
# How long to work between two looks at clock and keyboard.
_SHORT_SLICE, _LONG_SLICE = 0.01, 0.05


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
    algorithm: Algorithm | None = None,
    *,
    stop: StopCriterion,
    seed: int = 0,
    callbacks: Callbacks | Sequence[Callbacks] = (),
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    reference_point: Sequence[float] | None = None,
    max_archive: int | None = None,
) -> Result:
    """Search for the Pareto front of a problem.

    Parameters
    ----------
    problem
        A `Problem` or a `CompiledProblem`.
    algorithm
        `ParetoNRPA()` with the paper's parameters by default.
    stop
        When to stop: for example `MaxEvaluations(100_000) | MaxRuntime(60)`.
    seed
        Same seed, same result.
    callbacks
        One or more `Callbacks`.
    checkpoint
        A file in which the search is saved every ten seconds and at the end. One that exists is only gone on from.
    resume
        Go on from the checkpoint where there is one. Time limits count what was spent before.
    reference_point
        What the hypervolume is measured against; the problem's own, or else a point a little worse than everything
        that ever was in the front.
    max_archive
        The most solutions to keep, at least 2; no limit by default. With many objectives hardly anything dominates
        anything, and fronts of tens of thousands are common. Where there are more, half of them are kept: the best in
        each objective and those that lie farthest apart. `discarded` of the result says how many were lost.

    Returns
    -------
    Result
        The best front of all that was evaluated. Ctrl-C ends the search early and returns what there is; a second
        Ctrl-C does not wait for the evaluation in hand.

    Raises
    ------
    ProblemError
        If the problem breaks a promise.
    CheckpointError
        If the checkpoint cannot be read or written. As with every error of a search that has begun, the attribute
        `result` holds the front found until then.
    """
    check_stop(stop)
    check_problem_type(problem)
    seed = check_seed(seed)
    if max_archive is not None:
        check_whole("max_archive", max_archive, 2)
    reference = check_reference_point(problem, reference_point)
    if checkpoint is not None:
        check_writable(checkpoint)
        if Path(checkpoint).exists() and not resume:
            raise CheckpointError(f"{checkpoint} already exists; resume to go on from it, or name another checkpoint.")
    elif resume:
        raise ValueError("resume needs the file to go on from: give it as checkpoint.")
    if algorithm is None:
        from .nrpa.params import ParetoNRPA

        algorithm = ParetoNRPA()
    if resume and checkpoint is not None and Path(checkpoint).exists():
        search: Search = algorithm.resume(problem, checkpoint)
        seed = search.seed  # the one that made the first part
    else:
        search = algorithm.start(problem, seed=seed, budget=budget_of(stop))
    if counts_unique(stop):
        _count_unique(search, algorithm.name, checkpoint)
    _limit_archive(search, algorithm.name, max_archive, checkpoint)
    run = Run(problem, algorithm.name, search, stop, seed, reference, _as_list(callbacks), checkpoint)
    return run.to_the_end()


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


def check_problem_type(problem: object) -> None:
    """Raise if something is not a problem."""
    if not isinstance(problem, Problem | CompiledProblem):
        raise TypeError(
            f"problem must be a Problem or a CompiledProblem, got {type(problem).__name__}; "
            'load("rc_204.3") gives one by name.'
        )


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
    array = np.asarray(point, dtype=float)
    if array.shape != (problem.n_objectives,) or not np.isfinite(array).all():
        raise ValueError(f"reference_point must be {problem.n_objectives} finite numbers, got {list(point)}.")
    return array


def _as_list(callbacks: Callbacks | Sequence[Callbacks]) -> list[Callbacks]:
    return [callbacks] if isinstance(callbacks, Callbacks) else list(callbacks)


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
    ) -> None:
        self.problem, self.algorithm, self.search, self.stop, self.seed = problem, algorithm, search, stop, seed
        self.reference, self.callbacks, self.checkpoint = reference, callbacks, checkpoint
        self.signs = objective_signs(problem)
        self.stopped_by = ""
        self.stride = search.slice_size  # evaluations between two looks at clock and keyboard, as time allows

    def to_the_end(self) -> Result:
        """Search until the stop fires or somebody interrupts."""
        if not self.search.is_compiled:
            logger.info("compiling kernels for the first time on this machine")
            for callback in self.callbacks:
                callback.on_compile()
        self.search.compile()
        for callback in self.callbacks:
            callback.on_start(self.progress())
        try:
            with Interrupt() as interrupt:
                self._loop(interrupt)
            self._save()
        except KeyboardInterrupt:
            # In the middle of a playout: the last checkpoint stays, as going on from here would lead elsewhere.
            self.stopped_by = "Ctrl-C"
        except Exception as error:
            self.stopped_by = self.stopped_by or "an error"
            if self.search.evaluations:
                error.result = self.result()  # type: ignore[attr-defined]
            raise
        result = self.result()
        try:
            for callback in self.callbacks:
                callback.on_end(result)
        except Exception as error:
            error.result = result  # type: ignore[attr-defined]
            raise
        return result

    def _loop(self, interrupt: Interrupt) -> None:
        saved = time.perf_counter()
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
                self._save()
                saved = time.perf_counter()
        self.stopped_by = interrupt.requested or fired_by(self.stop, progress)

    def _save(self) -> None:
        if self.checkpoint is not None:
            self.search.save(self.checkpoint)

    def _next_slice(self, progress: Progress) -> int:
        """Return how far to go without looking up: never past a place where the stop must be asked."""
        look = next_look(self.stop, progress, self.search.slice_size)
        return max(1, int(min(self.stride, look - progress.evaluations)))

    def _advance(self, n: int) -> None:
        wall, cpu = time.perf_counter(), time.thread_time()
        try:
            self.search.advance(n)
        finally:
            seconds = time.perf_counter() - wall
            self.search.wall_seconds += seconds
            self.search.cpu_seconds += time.thread_time() - cpu
        if n == self.stride and seconds < _SHORT_SLICE:
            self.stride *= 2
        elif seconds > _LONG_SLICE:
            self.stride = max(1, self.stride // 2)

    def progress(self) -> Progress:
        """Return where the search stands."""
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

    def result(self) -> Result:
        """Return what was found so far."""
        log, front, describe = self.search.log(), self.search.front(), self.problem.describe
        feasible = log[log[:, 1] == 0, 2:]
        reference = None if self.reference is None else self.reference * self.signs
        if reference is None and len(feasible):
            reference = worst_point(feasible)
        history = hypervolume_history(log, np.zeros(len(self.signs)) if reference is None else reference)
        if len(history) and history[-1, 0] < self.search.evaluations:
            history = np.vstack([history, [self.search.evaluations, history[-1, 1]]])
        return Result(
            instance=problem_name(self.problem),
            algorithm=self.algorithm,
            parameters=self.search.parameters(),
            seed=self.seed,
            evaluations=self.search.evaluations,
            cpu_seconds=self.search.cpu_seconds,
            wall_seconds=self.search.wall_seconds,
            stopped_by=self.stopped_by,
            front=front,
            history=history,
            reference_point=None if reference is None else (reference * self.signs).tolist(),
            maximise=(self.signs < 0).tolist(),
            versions=versions(),
            unique_evaluations=getattr(self.search, "unique_evaluations", None),
            objective_names=[str(name) for name in self.problem.objective_names or ()],
            descriptions=[] if describe is None else [describe(solution) for solution in front.solutions],
            truth=self._truth(front),
            log=log,
            failures=getattr(self.search, "failures", 0),
            discarded=getattr(self.search, "discarded", 0),
        )

    def _truth(self, front: Front) -> dict[str, Any]:
        """Return what the front comes to beside the true one, where that is known."""
        from .truth import truth

        known = truth(self.problem)
        points = front.objectives * self.signs if front.is_feasible else np.zeros((0, len(self.signs)))
        return {} if known is None else known.compared(points)


class Interrupt:
    """Turns the first Ctrl-C or SIGTERM into a request that is looked at between slices; a second one acts as usual."""

    _names: ClassVar[dict[int, str]] = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}

    def __init__(self) -> None:
        self.requested = ""
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Interrupt:
        if threading.current_thread() is threading.main_thread():
            for number in self._names:
                previous = signal.getsignal(number)
                # A handler of the caller's own stays.
                if previous in (signal.default_int_handler, signal.SIG_DFL):
                    self._previous[number] = previous
                    signal.signal(number, self._request)
        return self

    def _request(self, number: int, frame: FrameType | None) -> None:
        self.requested = self._names[number]
        signal.signal(number, self._previous[number])

    def __exit__(self, *exception: object) -> None:
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
