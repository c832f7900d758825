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
from .result import per_second, rows_to_show

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from .exact import Certificate
    from .exact.proof import Progress as ProofProgress
    from .problem import AnyProblem
    from .result import Result
    from .stop import Progress

_SECONDS_BETWEEN_UPDATES = 0.2
_SOLUTION_WIDTH = 48
_COMPILING = "Compiling kernels for this kind of problem, once on this machine; later starts skip it ..."
_WIDEST = 500  # of a table whose lines a terminal may break as it likes


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
        self._console.print(_COMPILING)

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
        counted = progress.evaluations if progress.unique_evaluations is None else progress.unique_evaluations
        done: float = counted if self._evaluations else progress.seconds
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
        counted = result.evaluations if result.unique_evaluations is None else result.unique_evaluations
        done: float = counted if self._evaluations else result.wall_seconds
        violations = float(front.violations[0]) if len(front) else float("nan")
        rate = per_second(result.evaluations, result.cpu_seconds)
        self._show(done, result.evaluations, rate, result.failures, len(front), violations, result.hypervolume)

    def show(self, result: Result, saved: list[Path]) -> None:
        """Print the front as a table, and where it was saved."""
        for line in result.headline():
            self._out.print(Text(line), soft_wrap=True)
        front, rows = result.front, rows_to_show(len(result.front))
        table = Table(box=None, header_style="bold")
        for name in result.columns():
            table.add_column(name, justify="right", no_wrap=True)
        if not front.is_feasible:
            table.add_column("violations", justify="right")
        table.add_column("policy", justify="right")
        # A description is what one looks for, and is shown whole; a sequence of moves only gives an impression.
        width = None if result.descriptions else _SOLUTION_WIDTH
        table.add_column("solution", no_wrap=True, overflow="ellipsis", max_width=width)
        words, numbers = result.words(), _columns(front.objectives)
        for i in rows:
            cells = numbers[i]
            cells += [] if front.is_feasible else [f"{front.violations[i]:g}"]
            table.add_row(*cells, str(front.policies[i]), Text(words[i]))
        out = self._out if width else Console(quiet=self._quiet, width=_WIDEST)
        out.print(table)
        if len(rows) < len(front):
            self._out.print(f"({len(rows)} of {len(front)} shown)")
        for path in saved:
            self._out.print(Text(f"saved to {path}"), soft_wrap=True)


def _columns(objectives: NDArray[np.float64]) -> list[list[str]]:
    """Return objectives as text, whole numbers as such where a column has no others."""
    whole = (objectives == np.rint(objectives)).all(axis=0)
    return [[f"{x:.0f}" if w else f"{x:.4f}" for x, w in zip(row, whole, strict=True)] for row in objectives.tolist()]


class ProofBar:
    """A live line for a proof: what is searched, how many paths there are, how many were dropped and why."""

    def __init__(self, problem: AnyProblem, *, memory: float, quiet: bool = False) -> None:
        self._quiet = quiet
        self._names = list(problem.objective_names or (f"f{k + 1}" for k in range(problem.n_objectives)))
        self._console = Console(stderr=True, quiet=quiet)
        self._out = Console(quiet=quiet)
        self._announcement = f"The proof stays below about {memory / 1e9:g} GB of memory; what needs more is left open."
        self._bar = RichProgress(TextColumn("{task.fields[numbers]}"), console=self._console, disable=quiet)
        self._task: Any = None
        self._started = time.perf_counter()
        self._updated = 0.0

    def __enter__(self) -> ProofBar:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._task is not None:
            self._bar.stop()

    def on_compile(self) -> None:
        """Say why nothing seems to happen."""
        self._announce()
        self._console.print(_COMPILING)

    def _announce(self) -> None:
        """State the memory, once, when everything given is known to be right."""
        if self._announcement:
            self._console.print(Text(self._announcement), soft_wrap=True)
            self._announcement = ""

    def update(self, progress: ProofProgress) -> None:
        """Redraw, a few times a second."""
        now = time.perf_counter()
        if self._quiet or now - self._updated <= _SECONDS_BETWEEN_UPDATES:
            return
        self._updated = now
        with contextlib.suppress(OSError):
            self._announce()
            if self._task is None:
                self._task = self._bar.add_task("", numbers="")
                self._started = now
                self._bar.start()
            self._bar.update(self._task, numbers=_proof_line(progress, now - self._started))

    def show(self, certificate: Certificate, saved: Path | None) -> None:
        """Print the answer, the efficient vectors as a table, what is open, and where all of it was saved."""
        self._out.print(Text(certificate.summary()), soft_wrap=True)
        rows = rows_to_show(len(certificate.solutions))
        if rows:
            table = Table(box=None, header_style="bold")
            for name in self._names:
                table.add_column(name, justify="right", no_wrap=True)
            table.add_column("tour", no_wrap=True, overflow="ellipsis", max_width=_SOLUTION_WIDTH)
            numbers = _columns(certificate.objectives)
            for i in rows:
                table.add_row(*numbers[i], " ".join(map(str, certificate.solutions[i])))
            self._out.print(table)
        if len(rows) < len(certificate.solutions):
            self._out.print(f"({len(rows)} of {len(certificate.solutions)} shown)")
        if saved is not None:
            self._out.print(Text(f"saved to {saved}"), soft_wrap=True)


def _proof_line(progress: ProofProgress, seconds: float) -> str:
    begin, end = (f"{x:.6g}" if np.isfinite(x) else "" for x in progress.interval)
    where = f"layer {progress.layer}/{progress.layers}" if progress.layer else "bounds"
    return (
        f"stage {progress.stage}, f1 {begin}..{end}, {where}: {progress.labels:,} labels, {progress.bounded:,} pruned, "
        f"{progress.dominated:,} dominated; {progress.points} points, {_duration(seconds)}"
    )


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
