"""Comparison of codes of moves, biases or algorithms by short runs."""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .._util.csv_text import csv_text
from .._util.text import aligned
from ..errors import ParetoNRPAError
from ..metrics import nondominated, worst_point
from ..problem.base import AnyProblem, CompiledProblem, objective_signs
from ..solving.solve import solve
from ..solving.stop import MaxEvaluations
from .measure import library
from .metrics import Scale
from .runner import Status
from .statistics import SIGNIFICANCE, holm, mean_and_interval, rank_sum

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from ..algorithms.algorithm import Algorithm

_LEAST_SEEDS = 4  # two samples of three are never significantly apart


@dataclass(frozen=True)
class Variant:
    """One formulation of a problem, and the algorithm for it."""

    label: str
    problem: AnyProblem
    algorithm: Algorithm


@dataclass(frozen=True)
class ShortRun:
    """The result of one run of a variant."""

    variant: str
    seed: int
    objectives: NDArray[np.float64]  # [n, m], minimised
    violations: float  # 0, or the least found
    cpu_seconds: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """All variants, the best first."""

    runs: pd.DataFrame  # a row per run: variant, seed, share, violations, points, cpu_seconds
    p_values: dict[str, float]  # by variant, p-value of equality with the best; the best has 1
    reference_point: list[float] | None  # in the problem's own sense; None if nothing is feasible

    def summary(self) -> str:
        """Return the comparison as a table, with sentences on its significance."""
        header = ["share", "+-", "points", "violations", "feasible", "seconds", "p", "verdict", "variant"]
        rows = [self._row(place, label) for place, label in enumerate(self.p_values)]
        if not self.runs["violations"].any():  # no constraints, or all runs feasible
            header, *rows = ([*row[:3], *row[5:]] for row in (header, *rows))
        return "\n".join([*aligned(header, rows), "", *self._words()])

    def _row(self, place: int, label: str) -> list[str]:
        runs, p = self.runs[self.runs["variant"] == label], self.p_values[label]
        mean, interval = mean_and_interval(runs["share"])
        means = runs[["points", "violations", "cpu_seconds"]].mean()
        shown_p = "<0.001" if p < 0.0005 else f"{p:.3f}"
        verdict = ["", "best"] if place == 0 else [shown_p, "worse" if p < SIGNIFICANCE else "level"]
        feasible = f"{int((runs['violations'] == 0).sum())}/{len(runs)}"
        numbers = [f"{mean:.4f}", f"{interval:.4f}", f"{means['points']:.1f}", f"{means['violations']:g}", feasible]
        return [*numbers, f"{means['cpu_seconds']:.2f}", *verdict, label]

    def _words(self) -> list[str]:
        if self.reference_point is None:
            return ["No run found a feasible solution: raise the number of evaluations, or add a bias."]
        point = ", ".join(f"{x:.6g}" for x in self.reference_point)
        words = [f"share: of the hypervolume of all runs together, up to ({point}); +- for 95 %; p beside the best."]
        if self.runs["variant"].value_counts().min() < _LEAST_SEEDS:
            words.append(f"Fewer than {_LEAST_SEEDS} seeds cannot show a significant difference.")
        return words

    def to_csv(self) -> str:
        """Return a row for each run."""
        return csv_text([self.runs.columns, *self.runs.round({"share": 9, "cpu_seconds": 6}).to_numpy().tolist()])


def without_bias(problem: AnyProblem) -> AnyProblem:
    """Return a problem without its bias."""
    if isinstance(problem, CompiledProblem):
        return replace(problem, bias=None, bias_by_code=False)
    free = copy.copy(problem)
    free.bias = None
    return free


def check_variants(variants: Sequence[Variant]) -> None:
    """Raise unless there are several variants with distinct labels and equal objectives."""
    labels = [variant.label for variant in variants]
    if len(labels) < 2:
        raise ParetoNRPAError("a comparison needs two or more variants: of the problem, the algorithm or the bias.")
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise ParetoNRPAError(f"{twice} is given twice; name each variant once.")
    expected = objective_signs(variants[0].problem)
    for other in variants[1:]:
        signs = objective_signs(other.problem)
        if not np.array_equal(signs, expected):
            raise ParetoNRPAError(
                f"{other.label} must have the objectives of {labels[0]}, {_objectives(expected)}, "
                f"got {_objectives(signs)}."
            )


def _objectives(signs: NDArray[np.float64]) -> str:
    return f"{len(signs)} ({', '.join('minimised' if sign > 0 else 'maximised' for sign in signs)})"


def short_runs(
    variants: Sequence[Variant], *, evaluations: int, seeds: int, count: Literal["all", "unique"] = "all"
) -> Iterator[tuple[ShortRun, Status]]:
    """Run all variants with a seed, then with the next, so that an interrupted comparison is balanced.

    Ctrl-C ends it; an unfinished run is left out.
    """
    library("pandas"), library("scipy.stats")  # a missing extra is reported before the first run
    check_variants(variants)
    started, total = time.perf_counter(), seeds * len(variants)
    jobs = ((seed, variant) for seed in range(seeds) for variant in variants)
    for done, (seed, variant) in enumerate(jobs, start=1):
        stop = MaxEvaluations(evaluations, count=count)
        result = solve(variant.problem, variant.algorithm, stop=stop, seed=seed, measure=False)
        if result.stopped_by in ("Ctrl-C", "SIGTERM"):
            return
        front = result.front
        objectives = front.objectives * objective_signs(variant.problem)
        violations = float(front.violations[0]) if len(front) else 0.0
        run = ShortRun(variant.label, seed, objectives, violations, result.cpu_seconds)
        yield run, Status(total, done, done, seconds=time.perf_counter() - started)


def compared(variants: Sequence[Variant], runs: Sequence[ShortRun]) -> Comparison:
    """Measure runs up to a common reference point: that of the problems if it is equal, else one behind all runs."""
    feasible = [run.objectives for run in runs if run.violations == 0 and len(run.objectives)]
    scale = Scale(None, 0.0)
    if feasible:
        together = np.concatenate(feasible)
        scale = Scale.of(_reference_point(variants, together), [nondominated(together)])
    rows: list[tuple[Any, ...]] = []
    for run in sorted(runs, key=lambda run: run.seed):
        share = scale.share(run.objectives) if run.violations == 0 else 0.0
        rows.append((run.variant, run.seed, share, run.violations, len(run.objectives), run.cpu_seconds))
    columns = ["variant", "seed", "share", "violations", "points", "cpu_seconds"]
    frame = library("pandas").DataFrame(rows, columns=columns)
    means = frame.groupby("variant", sort=False)[["share", "violations"]].mean().round({"share": 9})
    best, *others = means.sort_values(["share", "violations"], ascending=[False, True], kind="stable").index
    shares = {label: frame["share"][frame["variant"] == label] for label in (best, *others)}
    p_values = holm([rank_sum(shares[best], shares[label], exact=True) for label in others])
    order = {label: place for place, label in enumerate((best, *others))}
    frame = frame.sort_values("variant", key=lambda labels: labels.map(order), kind="stable")
    signs, point = objective_signs(variants[0].problem), scale.reference_point
    given = None if point is None else (point * signs).tolist()
    return Comparison(frame, dict(zip(shares, (1.0, *p_values.tolist()), strict=True)), given)


def _reference_point(variants: Sequence[Variant], points: NDArray[np.float64]) -> NDArray[np.float64]:
    declared = [variant.problem.reference_point for variant in variants]
    if all(point is not None and np.array_equal(point, declared[0] or ()) for point in declared):
        return np.asarray(declared[0], dtype=float) * objective_signs(variants[0].problem)
    return worst_point(points)
