"""What a person sees while a search runs, and when it is done."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as RichProgress
from rich.table import Table
from rich.text import Text

from .callbacks import Callbacks
from .metrics import MANY_OBJECTIVES, hypervolume, worst_point
from .problem import objective_signs
from .result import per_second, plain, rows_to_show

if TYPE_CHECKING:
    from pathlib import Path

    from .experiments.runner import Status
    from .problem import AnyProblem
    from .result import Result
    from .stop import Progress

_SECONDS_BETWEEN_UPDATES = 0.2
_SOLUTION_WIDTH = 48


class ProgressBar(Callbacks):
    """A live line on the terminal: evaluations, rate, front, violations, hypervolume."""

    def __init__(
        self,
        problem: AnyProblem,
        *,
        evaluations: int | None = None,
        seconds: float | None = None,
        quiet: bool = False,
    ) -> None:
        self._evaluations, self._seconds, self._quiet = evaluations, seconds, quiet
        self._console = Console(stderr=True, quiet=quiet)
        self._out = Console(quiet=quiet)
        point = problem.reference_point
        self._reference = None if point is None else np.asarray(point, dtype=float) * objective_signs(problem)
        self._reference_is_fixed = point is not None
        self._updated = 0.0
        self._task: Any = None
        self._bar = RichProgress(
            BarColumn(bar_width=12),
            TextColumn("{task.fields[numbers]}"),
            console=self._console,
            disable=quiet,
        )

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._task is not None:  # a bar that never started would leave an empty line
            self._bar.stop()

    def on_compile(self) -> None:
        """Say why nothing seems to happen."""
        self._console.print(
            "Compiling kernels for this kind of problem, once on this machine; later starts skip it ..."
        )

    def on_start(self, progress: Progress) -> None:
        """Show the bar."""
        if progress.evaluations:
            self._console.print(f"Going on from evaluation {progress.evaluations:,}.")
        self._task = self._bar.add_task("", total=self._evaluations or self._seconds, numbers="")
        self._bar.start()

    def on_progress(self, progress: Progress) -> None:
        """Redraw, a few times a second."""
        now = time.perf_counter()
        if now - self._updated > _SECONDS_BETWEEN_UPDATES and not self._quiet:
            self._updated = now
            with contextlib.suppress(OSError):  # a terminal that went away must not end the search
                self._draw(progress)

    def _draw(self, progress: Progress) -> None:
        done: float = progress.evaluations if self._evaluations else progress.seconds
        value = self._hypervolume(progress) if progress.violations == 0 else 0.0
        size = len(progress.objectives)
        rate = per_second(progress.evaluations, progress.cpu_seconds)
        self._show(done, progress.evaluations, rate, progress.failures, size, progress.violations, value)

    def _show(
        self, done: float, evaluations: int, rate: str, failures: int, size: int, violations: float, value: float
    ) -> None:
        numbers = f"{evaluations:,} evals {rate}/s, " + (f"{failures:,} failed, " if failures else "")
        numbers += f"front {size}, violations {violations:g}, hypervolume {value:.3g}"
        self._bar.update(self._task, completed=done, numbers=numbers)

    def _hypervolume(self, progress: Progress) -> float:
        if progress.objectives.shape[1] >= MANY_OBJECTIVES:
            return float("nan")
        if not self._reference_is_fixed:
            worst = worst_point(progress.objectives)
            self._reference = worst if self._reference is None else np.maximum(self._reference, worst)
        assert self._reference is not None
        return hypervolume(progress.objectives, reference_point=self._reference)

    def on_end(self, result: Result) -> None:
        """Show where it ended."""
        front = result.front
        done: float = result.evaluations if self._evaluations else result.wall_seconds
        violations = float(front.violations[0]) if len(front) else float("nan")
        rate = per_second(result.evaluations, result.cpu_seconds)
        self._show(done, result.evaluations, rate, result.failures, len(front), violations, result.hypervolume)

    def show(self, result: Result, saved: list[Path]) -> None:
        """Print the front as a table, and where it was saved."""
        for line in result.headline():
            self._out.print(Text(line), soft_wrap=True)
        front, rows = result.front, rows_to_show(len(result.front))
        table = Table(box=None, header_style="bold")
        for name in [f"f{k + 1}" for k in range(front.objectives.shape[1])]:
            table.add_column(name, justify="right", no_wrap=True)
        if not front.is_feasible:
            table.add_column("violations", justify="right")
        table.add_column("policy", justify="right")
        table.add_column("solution", no_wrap=True, overflow="ellipsis", max_width=_SOLUTION_WIDTH)
        for i in rows:
            cells = [f"{value:.4f}" for value in front.objectives[i]]
            cells += [] if front.is_feasible else [f"{front.violations[i]:g}"]
            moves = " ".join(str(plain(move)) for move in front.solutions[i])
            table.add_row(*cells, str(front.policies[i]), Text(moves))
        self._out.print(table)
        if len(rows) < len(front):
            self._out.print(f"({len(rows)} of {len(front)} shown)")
        for path in saved:
            self._out.print(Text(f"saved to {path}"), soft_wrap=True)


class ExperimentBar:
    """A live line for many runs: how many are done, how long the rest will take."""

    def __init__(self, name: str, *, quiet: bool = False) -> None:
        self._bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[numbers]}"),
            console=Console(stderr=True, quiet=quiet),
            disable=quiet,
        )
        self._task = self._bar.add_task(name, total=None, numbers="")

    def __enter__(self) -> ExperimentBar:
        self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()

    def update(self, status: Status) -> None:
        """Show where the experiment stands."""
        left = status.seconds_left
        numbers = f"{status.done}/{status.total} runs"
        numbers += f", {status.failures} failed" if status.failures else ""
        numbers += f", {_duration(left)} left" if left else ""
        with contextlib.suppress(OSError):
            self._bar.update(self._task, total=status.total, completed=status.done, numbers=numbers)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
