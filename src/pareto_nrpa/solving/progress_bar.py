"""Live lines of a terminal or a notebook while a search, a proof or an experiment runs."""

from __future__ import annotations

import contextlib
import time
from html import escape
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as RichProgress
from rich.table import Column
from rich.text import Text

from .._util.checks import printable
from .._util.text import aligned
from ..result.result import per_second
from .callbacks import Callbacks

if TYPE_CHECKING:
    from pathlib import Path

    from ..experiments.runner import Status
    from ..problem.base import AnyProblem
    from ..result.result import Result
    from ..routing.exact import Certificate
    from ..routing.exact.proof import ProofProgress
    from .stop import Progress

_SECONDS_BETWEEN_UPDATES = 0.2
_BAR_WIDTH = 12
_CUT_SHORT = ("Ctrl-C", "SIGTERM", "an error")
_COMPILING = "Compiling kernels for this kind of problem, once on this machine ..."


class LiveLine:
    """A line of text with a bar, redrawn a few times a second; an error of the terminal does not end the search."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.console = Console(stderr=True, quiet=quiet)
        self._quiet, self._updated = quiet, 0.0
        # Two columns stay free: the ^C that a terminal echoes must not wrap the line.
        room = max(self.console.width - _BAR_WIDTH - 3, _BAR_WIDTH)
        column = Column(no_wrap=True, overflow="ellipsis", max_width=room)
        text = TextColumn("{task.fields[text]}", markup=False, table_column=column)
        self._bar: Any = (
            _NotebookBar()
            if self.console.is_jupyter and not quiet
            else RichProgress(BarColumn(bar_width=_BAR_WIDTH), text, console=self.console, disable=quiet)
        )
        self._task: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def say(self, text: str) -> None:
        """Print a line above the live one."""
        self.console.print(Text(printable(text)))

    def is_due(self) -> bool:
        """Tell whether to redraw, at most a few times a second."""
        if self._quiet or time.perf_counter() - self._updated <= _SECONDS_BETWEEN_UPDATES:
            return False
        self._updated = time.perf_counter()
        return True

    def draw(self, text: str, done: float = 0.0, total: float | None = None) -> None:
        """Show a text, and how much of the total is done where there is one."""
        with contextlib.suppress(OSError):
            if self._task is None:
                self._task = self._bar.add_task("", total=total, text=text)
                self._bar.start()
            self._bar.update(self._task, completed=done, total=total, text=printable(text))

    def close(self) -> None:
        """Stop redrawing; the line stays if it was drawn."""
        if self._task is not None:
            with contextlib.suppress(OSError):
                self._bar.stop()


class _NotebookBar:
    """A bar and a line of text under a cell, by IPython alone: Rich would need a further package."""

    def __init__(self) -> None:
        self._handle: Any = None

    def add_task(self, description: str, *, total: float | None, text: str) -> int:
        return 0

    def start(self) -> None:
        pass

    def stop(self) -> None:
        pass

    def update(self, task: int, *, completed: float, total: float | None, text: str) -> None:
        from IPython import display

        shown: Any = display
        share = min(completed / total, 1.0) if total else None
        value, percent = ("", "") if share is None else (f" value='{share:.3f}'", f"{share:.0%}, ")
        html = shown.HTML(
            f"<progress max='1'{value} aria-label='search'></progress> <span>{percent}{escape(text)}</span>"
        )
        if self._handle is None:
            self._handle = shown.display(html, display_id=True)
        else:
            self._handle.update(html)


class ProgressBar(LiveLine, Callbacks):
    """A live line for a search: time, remaining time, size of the front, last improvement, evaluations."""

    def __init__(
        self,
        problem: AnyProblem,
        *,
        evaluations: int | None = None,
        seconds: float | None = None,
        quiet: bool = False,
    ) -> None:
        super().__init__(quiet=quiet)
        self._evaluations, self._seconds = evaluations, seconds
        self._first: Progress | None = None
        self._improved = (0, 0.0)  # the evaluation and the second of the last improvement

    def on_compile(self) -> None:
        """Report that kernels are compiled before the search begins."""
        self.console.print(_COMPILING)

    def on_start(self, progress: Progress) -> None:
        """Show the bar."""
        if progress.evaluations:
            self.say(f"Resuming at evaluation {progress.evaluations:,}.")
        self._first, self._improved = progress, (progress.last_improvement, progress.seconds)
        self.draw("", 0.0, 1.0)

    def on_progress(self, progress: Progress) -> None:
        """Redraw, a few times a second."""
        if progress.last_improvement != self._improved[0]:
            self._improved = (progress.last_improvement, progress.seconds)
        if not self.is_due():
            return
        share, left = self._remaining(progress)
        times = duration(progress.seconds) + ("" if left is None else f", {duration(left)} left")
        counts = self._counts(progress.evaluations, progress.cpu_seconds, progress.failures)
        front = _front(len(progress.objectives), progress.violations)
        ago = duration(progress.seconds - self._improved[1])
        self.draw(f"{times} | {front}, improved {ago} ago | {counts}", share, 1.0)

    def on_end(self, result: Result) -> None:
        """Show the final state."""
        violations = float(result.front.violations[0]) if len(result.front) else float("nan")
        counts = self._counts(result.evaluations, result.cpu_seconds, result.failures)
        share = 1.0  # complete, also if another stop fired first
        if result.stopped_by in _CUT_SHORT and self._evaluations:
            share = result.evaluations / self._evaluations
        elif result.stopped_by in _CUT_SHORT and self._seconds:
            share = result.wall_seconds / self._seconds
        self.draw(f"{duration(result.wall_seconds)} | {_front(len(result.front), violations)} | {counts}", share, 1.0)
        self.close()

    def _remaining(self, progress: Progress) -> tuple[float, float | None]:
        """Return the share of the budget that is used, and the remaining seconds where they are known."""
        budgets = []
        if self._seconds is not None:
            budgets.append((min(progress.seconds / self._seconds, 1.0), max(self._seconds - progress.seconds, 0.0)))
        if self._evaluations is not None and self._first is not None:
            made, seconds = _counted(progress) - _counted(self._first), progress.seconds - self._first.seconds
            if made > 0:
                left = (self._evaluations - _counted(progress)) * seconds / made
                budgets.append((min(_counted(progress) / self._evaluations, 1.0), max(left, 0.0)))
        return min(budgets, key=lambda budget: budget[1], default=(0.0, None))

    def _counts(self, evaluations: int, cpu_seconds: float, failures: int) -> str:
        failed = f", {failures:,} failed" if failures else ""
        return f"{evaluations:,} evals{failed}, {per_second(evaluations, cpu_seconds)}/s"


def _counted(progress: Progress) -> int:
    return progress.evaluations if progress.unique_evaluations is None else progress.unique_evaluations


def _front(size: int, violations: float) -> str:
    """Return the size of a front, or by how much its solutions are infeasible."""
    return f"front {size}" if not violations > 0 else f"nothing feasible, {violations:g} violation(s)"


class ProofBar(LiveLine):
    """A live line for a proof: stage, number of labels, pruned and dominated ones."""

    def __init__(self, problem: AnyProblem, *, memory: float, quiet: bool = False) -> None:
        super().__init__(quiet=quiet)
        self._names = list(problem.objective_names or (f"f{k + 1}" for k in range(problem.n_objectives)))
        self._out = Console(quiet=quiet)
        self._announcement = f"The proof stays below about {memory / 1e9:g} GB of memory; what needs more is left open."
        self._started: float | None = None

    def on_compile(self) -> None:
        """Report that kernels are compiled before the proof begins."""
        self._announce()
        self.console.print(_COMPILING)

    def _announce(self) -> None:
        """State the memory limit, once, after the arguments have been checked."""
        if self._announcement:
            self.say(self._announcement)
            self._announcement = ""

    def update(self, progress: ProofProgress) -> None:
        """Redraw, a few times a second."""
        if not self.is_due():
            return
        self._announce()
        self._started = self._started or time.perf_counter()
        begin, end = (f"{x:.6g}" if np.isfinite(x) else "" for x in progress.interval)
        counts = progress.counts
        where = f"layer {counts.layer}/{progress.layers}" if counts.layer else "bounds"
        spent = time.perf_counter() - self._started
        n_proved = max(progress.boxes - progress.open_boxes, 0)
        left = f", about {duration(spent * progress.open_boxes / n_proved)} left" if n_proved > 0 else ""
        self.draw(
            f"{n_proved} of {progress.boxes} boxes proved; stage {progress.stage}, f1 {begin}..{end}, {where}: "
            f"{counts.labels:,} labels, {counts.bounded:,} pruned, {counts.dominated:,} dominated; "
            f"{progress.points} points, {duration(spent)}{left}"
        )

    def show(self, certificate: Certificate, saved: Path | None) -> None:
        """Print the answer, the efficient vectors as a table, the open boxes, and the file."""
        tours = certificate.solutions
        rows = [
            [*(f"{x:.6g}" for x in values), " ".join(map(str, tour))]
            for values, tour in zip(certificate.objectives.tolist(), tours, strict=True)
        ]
        width = self._out.width if self._out.is_terminal else None
        lines = [printable(certificate.summary()), *(aligned([*self._names, "tour"], rows, width) if rows else [])]
        for line in [*lines, *([] if saved is None else [printable(f"saved to {saved}")])]:
            self._out.print(Text(line), soft_wrap=True)


class ExperimentBar(LiveLine):
    """A live line for many runs: number done, remaining time."""

    def __init__(self, name: str, *, quiet: bool = False) -> None:
        super().__init__(quiet=quiet)
        self._name = name

    def __enter__(self) -> Self:
        self.draw(self._name)
        return self

    def update(self, status: Status) -> None:
        """Show the progress of the experiment."""
        left = status.seconds_left
        numbers = f"{self._name} {status.done}/{status.total} runs"
        numbers += f", {status.failures} failed" if status.failures else ""
        numbers += f", {duration(left)} left" if left else ""
        self.draw(numbers, status.done, status.total)


def duration(seconds: float) -> str:
    """Return a time in the two largest of its units."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
