"""Short runs of a problem written in several ways, and which code of a move, bias or algorithm finds more."""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .._util.csv_text import csv_text
from ..errors import ParetoNRPAError
from ..metrics import nondominated, quick_hypervolume, worst_point
from ..problem.base import AnyProblem, CompiledProblem, objective_signs
from ..result.result import aligned
from ..solving.solve import solve
from ..solving.stop import MaxEvaluations
from .runner import Status
from .statistics import SIGNIFICANCE, exact_rank_sum, holm, mean_and_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Literal

    from numpy.typing import NDArray

    from ..algorithms.algorithm import Algorithm

_LEAST_SEEDS = 4  # two samples of three are never significantly apart


@dataclass(frozen=True)
class Variant:
    """A problem as somebody wrote it, and what is to solve it."""

    label: str
    problem: AnyProblem
    algorithm: Algorithm


@dataclass(frozen=True)
class ShortRun:
    """What one run of a variant found."""

    variant: str
    seed: int
    objectives: NDArray[np.float64]  # [n, m], minimised
    violations: float  # 0, or the least that was found
    cpu_seconds: float


@dataclass(frozen=True)
class Line:
    """All runs of a variant."""

    variant: str
    shares: NDArray[np.float64]  # of the hypervolume of all runs of all variants together
    violations: float  # mean over the runs
    points: float
    cpu_seconds: float
    p_value: float = 1.0  # of being level with the best, Mann-Whitney, corrected by Holm

    @property
    def verdict(self) -> str:
        """What can be said of it beside the best one."""
        return "worse" if self.p_value < SIGNIFICANCE else "level"


@dataclass(frozen=True)
class Comparison:
    """All variants, the best first."""

    lines: list[Line]
    runs: list[ShortRun]
    reference_point: list[float] | None  # in the problem's own sense; None if nothing is feasible

    def summary(self) -> str:
        """Return the comparison as a table, and what may be concluded from it."""
        header = ["share", "+-", "points", "violations", "feasible", "seconds", "p", "verdict", "variant"]
        rows = [self._row(i, line) for i, line in enumerate(self.lines)]
        if not any(line.violations for line in self.lines):  # of a problem without constraints, or an easy one
            header, *rows = ([*row[:3], *row[5:]] for row in (header, *rows))
        return "\n".join([*aligned(header, rows), "", *self._words()])

    def _row(self, place: int, line: Line) -> list[str]:
        mean, interval = mean_and_interval(line.shares)
        feasible = f"{sum(run.violations == 0 for run in self._of(line))}/{len(line.shares)}"
        beside = ["", "best"] if place == 0 else [_p(line.p_value), line.verdict]
        numbers = [f"{mean:.4f}", f"{interval:.4f}", f"{line.points:.1f}", f"{line.violations:g}", feasible]
        return [*numbers, f"{line.cpu_seconds:.2f}", *beside, line.variant]

    def _of(self, line: Line) -> list[ShortRun]:
        return [run for run in self.runs if run.variant == line.variant]

    def _words(self) -> list[str]:
        if self.reference_point is None:
            return ["No run found a feasible solution: raise the number of evaluations, or help with a bias."]
        point = ", ".join(f"{x:.6g}" for x in self.reference_point)
        words = [f"share: of the hypervolume of all runs together, up to ({point}); +- for 95 %; p beside the best."]
        if min(len(line.shares) for line in self.lines) < _LEAST_SEEDS:
            words.append(f"Fewer than {_LEAST_SEEDS} seeds cannot show a significant difference.")
        return words

    def to_csv(self) -> str:
        """Return a row for each run."""
        rows: list[list[str | float]] = [["variant", "seed", "share", "violations", "points", "cpu_seconds"]]
        for line in self.lines:
            for run, share in zip(self._of(line), line.shares, strict=True):
                numbers = [round(float(share), 9), run.violations, len(run.objectives), round(run.cpu_seconds, 6)]
                rows.append([run.variant, run.seed, *numbers])
        return csv_text(rows)


def _p(value: float) -> str:
    return "<0.001" if value < 0.0005 else f"{value:.3f}"


def without_bias(problem: AnyProblem) -> AnyProblem:
    """Return a problem that knows nothing about its moves in advance."""
    if isinstance(problem, CompiledProblem):
        return replace(problem, bias=None, bias_by_code=False)
    free = copy.copy(problem)
    free.bias = None
    return free


def check_variants(variants: Sequence[Variant]) -> None:
    """Raise unless there are several, with labels of their own, and objectives that can be compared."""
    labels = [variant.label for variant in variants]
    if len(labels) < 2:
        raise ParetoNRPAError("a comparison needs two or more variants: of the problem, the algorithm or the bias.")
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise ParetoNRPAError(f"{twice} is there twice; name each variant once.")
    first = variants[0]
    for other in variants[1:]:
        signs, expected = objective_signs(other.problem), objective_signs(first.problem)
        if not np.array_equal(signs, expected):
            raise ParetoNRPAError(
                f"{other.label} must have the objectives of {first.label}, {_objectives(expected)}, "
                f"got {_objectives(signs)}."
            )


def _objectives(signs: NDArray[np.float64]) -> str:
    return f"{len(signs)} ({', '.join('minimised' if sign > 0 else 'maximised' for sign in signs)})"


def short_runs(
    variants: Sequence[Variant], *, evaluations: int, seeds: int, count: Literal["all", "unique"] = "all"
) -> Iterator[tuple[ShortRun, Status]]:
    """Run all variants with a seed, then with the next: whenever it ends, all have had the same chances.

    Ctrl-C ends it; a run that it cuts short is left out.
    """
    check_variants(variants)
    started, total = time.perf_counter(), seeds * len(variants)
    jobs = ((seed, variant) for seed in range(seeds) for variant in variants)
    for done, (seed, variant) in enumerate(jobs, start=1):
        stop = MaxEvaluations(evaluations, count=count)
        result = solve(variant.problem, variant.algorithm, stop=stop, seed=seed)
        if result.stopped_by in ("Ctrl-C", "SIGTERM"):
            return
        front = result.front
        objectives = front.objectives * objective_signs(variant.problem)
        violations = float(front.violations[0]) if len(front) else 0.0
        run = ShortRun(variant.label, seed, objectives, violations, result.cpu_seconds)
        yield run, Status(total, done, done, seconds=time.perf_counter() - started)


def compared(variants: Sequence[Variant], runs: Sequence[ShortRun]) -> Comparison:
    """Measure runs up to a common reference point: the problem's where all say the same, else behind all of them."""
    labels = [variant.label for variant in variants if any(run.variant == variant.label for run in runs)]
    feasible = [run.objectives for run in runs if run.violations == 0 and len(run.objectives)]
    point, whole = None, 0.0
    if feasible:
        together = nondominated(np.concatenate(feasible))
        point = _reference_point(variants, np.concatenate(feasible))
        whole = quick_hypervolume(together, reference_point=point)
    lines = []
    for label in labels:
        of_it = [run for run in runs if run.variant == label]
        shares = [
            quick_hypervolume(run.objectives, reference_point=point) / whole
            if point is not None and whole > 0 and run.violations == 0
            else 0.0
            for run in of_it
        ]
        means = np.mean([(run.violations, len(run.objectives), run.cpu_seconds) for run in of_it], axis=0)
        lines.append(Line(label, np.array(shares), *map(float, means)))
    lines.sort(key=lambda line: (-round(float(line.shares.mean()), 9), line.violations))
    p_values = holm([exact_rank_sum(lines[0].shares, line.shares) for line in lines[1:]])
    lines[1:] = [replace(line, p_value=float(p)) for line, p in zip(lines[1:], p_values, strict=True)]
    signs = objective_signs(variants[0].problem)
    return Comparison(lines, list(runs), None if point is None else (point * signs).tolist())


def _reference_point(variants: Sequence[Variant], points: NDArray[np.float64]) -> NDArray[np.float64]:
    declared = [variant.problem.reference_point for variant in variants]
    if all(point is not None and np.array_equal(point, declared[0] or ()) for point in declared):
        return np.asarray(declared[0], dtype=float) * objective_signs(variants[0].problem)
    return worst_point(points)
