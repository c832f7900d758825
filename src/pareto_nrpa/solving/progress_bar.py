"""What a person sees while a search runs, and when it is done."""

from __future__ import annotations

import contextlib
import time
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as RichProgress
from rich.text import Text

from .._util.checks import printable
from ..metrics import MANY_OBJECTIVES, hypervolume, is_affordable, worst_point
from ..problem.base import objective_signs
from ..result.result import aligned, per_second, rows_to_show
from .callbacks import Callbacks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from ..problem.base import AnyProblem
    from ..result.result import Result
    from ..routing.exact import Certificate
    from ..routing.exact.proof import ProofProgress
    from .stop import Progress

_SECONDS_BETWEEN_UPDATES = 0.2
_CUT_SHORT = ("Ctrl-C", "SIGTERM", "an error")
_MORE_OFTEN = 2  # how much longer a front must be affordable to measure for one that is measured all the time
_COMPILING = "Compiling kernels for this kind of problem, once on this machine; later starts skip it ..."


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
        self._bar: Any = (
            NotebookLine()
            if self._console.is_jupyter and not quiet
            else RichProgress(
                BarColumn(bar_width=12), TextColumn("{task.fields[numbers]}"), console=self._console, disable=quiet
            )
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
        self, done: float, evaluations: int, rate: str, failures: int, size: int, violations: float, value: float | None
    ) -> None:
        numbers = f"{evaluations:,} evals {rate}/s, " + (f"{failures:,} failed, " if failures else "")
        numbers += f"front {size}, violations {violations:g}"
        numbers += f", hypervolume {value:.3g}" if value is not None else ""
        self._bar.update(self._task, completed=done, numbers=numbers)

    def _hypervolume(self, progress: Progress) -> float | None:
        """Return the hypervolume, unless it takes so long that the search would feel it."""
        n, m = progress.objectives.shape
        if m >= MANY_OBJECTIVES or not is_affordable(_MORE_OFTEN * n, m):
            return None
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
        value = None if np.isnan(result.hypervolume) else result.hypervolume
        total = self._evaluations or self._seconds
        if total is not None and result.stopped_by not in _CUT_SHORT:
            done = total  # another stop fired first: it is over all the same
        with contextlib.suppress(OSError):
            self._show(done, result.evaluations, rate, result.failures, len(front), violations, value)
            self._bar.stop()  # in a notebook nobody else does

    def show(self, result: Result, saved: list[Path]) -> None:
        """Print the front as a table, and where it was saved."""
        for line in result.headline():
            self._out.print(Text(line), soft_wrap=True)
        front, numbers, words = result.front, _columns(result.front.objectives), result.words()
        others = [] if front.is_feasible else ["violations"]
        header = [*result.columns(), *others, "policy", "solution"]

        def row(i: int) -> list[str]:
            return [*numbers[i], *(f"{front.violations[i]:g}" for _ in others), str(front.policies[i]), words[i]]

        # A description is what one looks for, and is shown whole; a sequence of moves only gives an impression.
        _print_table(self._out, header, len(front), row, is_cut=not result.descriptions)
        for path in saved:
            self._out.print(Text(printable(f"saved to {path}")), soft_wrap=True)


class NotebookLine:
    """A bar and a line of text under a cell, with what Jupyter has: Rich would ask for another package."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._total: float | None = None
        self._text = ""

    def add_task(self, description: str, *, total: float | None, numbers: str) -> int:
        """Say what there is to do."""
        self._total, self._text = total, numbers
        return 0

    def start(self) -> None:
        """Show the bar."""
        from IPython import display

        shown: Any = display
        self._handle = shown.display(self._html(0.0), display_id=True)

    def update(self, task: int, *, completed: float, numbers: str) -> None:
        """Redraw the bar."""
        self._text = numbers
        if self._handle is not None:
            self._handle.update(self._html(completed))

    def stop(self) -> None:
        """Leave the bar as it is."""

    def _html(self, completed: float) -> Any:
        from IPython import display

        shown: Any = display
        share = "" if not self._total else f" value='{min(completed / self._total, 1.0):.3f}'"
        done = "" if not self._total else f"{min(completed / self._total, 1.0):.0%}, "
        return shown.HTML(
            f"<progress max='1'{share} aria-label='search'></progress> <span>{done}{escape(self._text)}</span>"
        )


def _print_table(
    console: Console, header: list[str], n: int, row: Callable[[int], list[str]], *, is_cut: bool = True
) -> None:
    """Print a table: on a terminal some of its rows, in its width; whole where it goes to a file or another program."""
    rows = rows_to_show(n) if console.is_terminal else list(range(n))
    first, *lines = aligned(header, [row(i) for i in rows], console.width if console.is_terminal and is_cut else None)
    if rows:
        console.print(Text(first, style="bold"), soft_wrap=True)
    for line in lines:
        console.print(Text(line), soft_wrap=True)
    if len(rows) < n:
        console.print(Text(f"({len(rows)} of {n} shown)"))


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
        self._out.print(Text(printable(certificate.summary())), soft_wrap=True)
        numbers, tours = _columns(certificate.objectives), certificate.solutions
        header = [*self._names, "tour"]
        _print_table(self._out, header, len(tours), lambda i: [*numbers[i], " ".join(map(str, tours[i]))])
        if saved is not None:
            self._out.print(Text(printable(f"saved to {saved}")), soft_wrap=True)


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
