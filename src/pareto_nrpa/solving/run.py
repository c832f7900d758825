"""The loop of a running search: slices, clock, callbacks, checkpoints, and the result in every case."""

from __future__ import annotations

import logging
import math
import multiprocessing
import threading
import time
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from ..problem.base import AnyProblem, objective_signs
from .build_result import described, found_by, measured
from .callbacks import Callbacks
from .interrupt import Interrupt
from .stop import Progress, StopCriterion, fired_by, next_look

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ..algorithms.search import Search
    from ..result.result import Result

logger = logging.getLogger("pareto_nrpa.solver")

_SECONDS_BETWEEN_CHECKPOINTS = 10.0
_PATIENCE_AT_THE_END = 2.0
_SILENT_COMPILING = 1.0  # seconds


class SearchRun:
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
        *,
        measure: bool = True,
    ) -> None:
        self.start, self.measure = start, measure
        self.problem, self.algorithm, self.search, self.stop, self.seed = problem, algorithm, search, stop, seed
        self.reference, self.callbacks, self.checkpoint = reference, callbacks, checkpoint
        self.signs = objective_signs(problem)
        self.stopped_by = ""
        self._looked = time.perf_counter()
        self.stride = search.slice_size  # evaluations between two checks of clock and signals
        self._short, self._long = search.slice_seconds

    def to_the_end(self) -> Result:
        """Search until the stop fires or a signal arrives; every exception raised carries the result so far."""
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
        is_said |= multiprocessing.parent_process() is not None  # workers are silent
        with nullcontext() if is_said else _warn_if_long("compiling for this kind of problem, once on this machine"):
            self.search.compile()

    def _search(self, interrupt: Interrupt) -> None:
        try:
            try:
                self._loop(interrupt)
            finally:
                interrupt.patience = math.inf  # saving is short and must not be interrupted
            self._save()
        except KeyboardInterrupt:
            # The playout is incomplete: the last checkpoint is kept, as resuming from here would give another result.
            self.stopped_by = interrupt.requested or "Ctrl-C"

    def _finished(self, interrupt: Interrupt) -> Result:
        result = self.result(interrupt)
        interrupt.patience = _PATIENCE_AT_THE_END
        try:
            for callback in self.callbacks:
                callback.on_end(result)
        except BaseException as error:
            error.result = result  # type: ignore[attr-defined]  # errors carry the best front found
            raise
        return result

    def _keep(self, error: BaseException) -> None:
        """Attach the front found so far to an error."""
        if getattr(error, "result", None) is not None or not self.search.evaluations:
            return
        try:
            error.result = self.result()  # type: ignore[attr-defined]  # errors carry the best front found
        except Exception as another:  # raised by measuring or describing it
            error.result = getattr(another, "result", None)  # type: ignore[attr-defined]  # errors carry the best front found
        if getattr(error, "result", None) is not None:
            error.add_note("The best front found so far is the attribute result of this error.")

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
            if self.callbacks:  # callbacks take time
                progress = self.progress()
        self.stopped_by = interrupt.requested or fired_by(self.stop, progress)

    def _save(self) -> None:
        if self.checkpoint is not None:
            self.search.save(self.checkpoint)

    def _next_slice(self, progress: Progress) -> int:
        """Return the number of evaluations of the next slice; it ends where the stop must be checked."""
        look = next_look(self.stop, progress, self.search.slice_size)
        return max(1, int(min(self.stride, look - progress.evaluations)))

    def _add(self, solution: Sequence[Any]) -> None:
        cpu = time.thread_time()
        try:
            self.search.add(solution)
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
        """Return the progress; all wall time since the last call counts, including that of callbacks."""
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
            unique_evaluations=self.search.unique_evaluations,
            failures=self.search.failures,
        )

    def result(self, interrupt: Interrupt | None = None) -> Result:
        """Return the result so far; an error in measuring or describing it carries the front as `result`."""
        found = found_by(self.search, self.problem, self.algorithm, self.seed, self.stopped_by, self.reference)
        if not self.measure:
            return found
        try:
            found = measured(found, self.search.log(), self.problem)
            if interrupt is not None:
                interrupt.patience = _PATIENCE_AT_THE_END  # `describe` of a problem may be slow
            return described(found, self.problem)
        except KeyboardInterrupt:
            return found
        except Exception as error:
            error.result = found  # type: ignore[attr-defined]  # errors carry the best front found
            raise


@contextmanager
def _warn_if_long(what: str) -> Iterator[None]:
    """Log a warning if the block takes longer than a second; Python prints it to stderr unless logging is set up."""
    timer = threading.Timer(_SILENT_COMPILING, logger.warning, [f"pareto-nrpa: {what}; some seconds ..."])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
