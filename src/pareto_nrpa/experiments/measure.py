"""From stored runs to numbers: the paper's reference point, normalisation and metrics, one row per run."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import InstanceError
from ..metrics import hypervolume, overall_spread, spacing
from ..problem import data_fingerprint, objective_signs
from ..problems import load
from ..truth import truth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ..problem import CompiledProblem
    from ..truth import Truth
    from .plan import Plan
    from .store import Record, Store

#: All metrics, with whether more is better.
METRICS = {
    "hypervolume": True,
    "fixed_hypervolume": True,
    "spread": True,
    "spacing": False,
    "violations": False,
    "found": True,
    "true_hypervolume": True,
    "igd_plus": False,
}
#: Those that compare with the true front.
OF_THE_TRUTH = ("true_hypervolume", "found", "igd_plus")


@dataclass(frozen=True)
class Row:
    """What one run comes to. Metrics that a run does not have, as spacing without two feasible points, are NaN."""

    problem: str
    algorithm: str  # the label in the plan
    seed: int
    evaluations: int
    cpu_seconds: float
    front_size: int
    hypervolume: float  # up to the worst feasible value of all runs, divided by the largest of all runs
    fixed_hypervolume: float  # the same up to the problem's own reference point
    spread: float
    spacing: float
    violations: float
    error: str = ""
    found: float = math.nan  # the share of the points of the true front, where that is known
    true_hypervolume: float = math.nan  # the share of the true front's
    igd_plus: float = math.nan  # to the true front, in units of its range
    unique_evaluations: float = math.nan  # of the evaluations, where they were counted


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of a problem whose true front is known: all solutions, or the front alone, which was proved."""

    points: NDArray[np.float64] | None  # [n, m], minimised; None where only the front is known
    front: NDArray[np.float64]  # [k, m], those that nothing dominates
    reference_point: NDArray[np.float64]
    volume: float  # the hypervolume of the front
    names: list[str]  # of the objectives
    truth: Truth | None = None


@dataclass(frozen=True, eq=False)
class Measured:
    """All runs of a plan that are there, with what they were measured against."""

    plan: Plan
    rows: list[Row]
    records: dict[str, dict[str, list[Record]]]  # by problem, then label; finished runs only
    reference_points: dict[str, NDArray[np.float64] | None]  # the worst feasible values, None where there are none
    largest: dict[str, float]  # hypervolume that others are divided by
    known: dict[str, Known] = field(default_factory=dict)  # by problem, where the true front is known

    @cached_property
    def _by_place(self) -> dict[tuple[str, str], list[Row]]:
        found: dict[tuple[str, str], list[Row]] = {}
        for row in self.rows:
            found.setdefault((row.problem, row.algorithm), []).append(row)
        return found

    def values(self, problem: str, label: str, metric: str) -> NDArray[np.float64]:
        """Return a metric of all runs of an algorithm on a problem, in the order of their seeds, without NaN."""
        values = np.array([getattr(row, metric) for row in self._by_place.get((problem, label), ())], dtype=float)
        known: NDArray[np.float64] = values[~np.isnan(values)]
        return known


def measure(plan: Plan, store: Store, data: str | None = None) -> Measured:
    """Measure all runs of a plan that are in the store."""
    rows: list[Row] = []
    records: dict[str, dict[str, list[Record]]] = {}
    references: dict[str, NDArray[np.float64] | None] = {}
    largest: dict[str, float] = {}
    known: dict[str, Known] = {}
    for problem in plan.problems:
        found = [
            (contender.label, seed, record)
            for contender in plan.contenders
            for seed in range(plan.seeds)
            if (record := store.get(plan.run(problem, contender, seed))) is not None
        ]
        loaded = _loaded(problem, data) if found else None
        if loaded is not None:
            for _, _, record in found:
                store.check_data(record, problem, data_fingerprint(loaded))
        fixed = None if loaded is None else loaded.reference_point
        true = None if loaded is None else truth(loaded)
        if loaded is not None and true is not None:
            known[problem] = _known(loaded, true)
        box = _Box([record for _, _, record in found if not record.error], fixed, known.get(problem))
        rows += [box.row(problem, label, seed, record) for label, seed, record in found]
        records[problem] = {
            contender.label: [r for label, _, r in found if label == contender.label and not r.error]
            for contender in plan.contenders
        }
        references[problem], largest[problem] = box.worst, box.largest
    return Measured(plan, rows, records, references, largest, known)


def _loaded(problem: str, data: str | None) -> CompiledProblem | None:
    """Return a problem, or None where it is not to be had: stored runs can be measured all the same."""
    try:
        return load(problem, data=data)
    except InstanceError:
        return None


def _known(problem: CompiledProblem, true: Truth) -> Known:
    """Return what is known of a problem whose true front is known, everything minimised."""
    table = problem.all_objectives
    points = None if table is None else np.asarray(table) * objective_signs(problem)
    names = list(problem.objective_names or (f"f{k + 1}" for k in range(problem.n_objectives)))
    return Known(points, true.front, true.reference_point, true.volume, names, true)


class _Box:
    """What the runs on one problem are measured against: all of them together."""

    def __init__(self, records: list[Record], fixed: Sequence[float] | None, known: Known | None = None) -> None:
        self.known = known
        points = [record.feasible for record in records if len(record.feasible)]
        together = np.vstack(points) if points else None
        self.worst = None if together is None else together.max(axis=0)
        self.ideal = None if together is None else together.min(axis=0)
        self.fixed = None if fixed is None else np.asarray(fixed, dtype=float)
        self.largest = max((self._volume(record, self.worst) for record in records), default=0.0)
        self.largest_fixed = max((self._volume(record, self.fixed) for record in records), default=0.0)
        if known is not None and known.points is not None:  # else the public reference point stays what it is
            self.fixed, self.largest_fixed = known.reference_point, known.volume

    @staticmethod
    def _volume(record: Record, reference: NDArray[np.float64] | None) -> float:
        if reference is None or len(record.feasible) == 0:
            return 0.0
        return hypervolume(record.feasible, reference_point=reference)

    def row(self, problem: str, label: str, seed: int, record: Record) -> Row:
        """Return the metrics of a run; a failed one has none."""
        if record.error:
            nan = math.nan
            return Row(problem, label, seed, 0, 0.0, 0, nan, nan, nan, nan, nan, record.error)
        true = None if self.known is None else self.known.truth
        return Row(
            problem=problem,
            algorithm=label,
            seed=seed,
            evaluations=record.evaluations,
            cpu_seconds=record.cpu_seconds,
            front_size=len(record.objectives),
            hypervolume=self._share(record, self.worst, self.largest),
            fixed_hypervolume=math.nan if self.fixed is None else self._share(record, self.fixed, self.largest_fixed),
            spread=self._spread(record),
            spacing=spacing(record.feasible) if len(record.feasible) > 1 else math.nan,
            violations=record.violations,
            found=math.nan if true is None else true.found(record.feasible) / len(true.front),
            true_hypervolume=math.nan if true is None else true.share(record.feasible),
            igd_plus=math.nan if true is None else true.distance(record.feasible),
            unique_evaluations=math.nan if record.unique_evaluations is None else record.unique_evaluations,
        )

    def _share(self, record: Record, reference: NDArray[np.float64] | None, largest: float) -> float:
        if len(record.feasible) == 0:
            return 0.0
        if largest > 0:
            return self._volume(record, reference) / largest
        # Where all that was found is a single point, that point is all there is to find.
        is_single = self.worst is not None and self.ideal is not None and bool((self.worst == self.ideal).all())
        return float(is_single and reference is self.worst)

    def _spread(self, record: Record) -> float:
        if len(record.feasible) == 0:
            return 0.0
        assert self.worst is not None and self.ideal is not None
        if (self.worst == self.ideal).any():
            return 1.0
        return overall_spread(record.feasible, ideal=self.ideal, maximal=self.worst)


def share_after(record: Record, evaluations: int, reference: NDArray[np.float64] | None, largest: float) -> float:
    """Return the hypervolume of what a run had found after some evaluations, as a share of the largest."""
    found = record.log[(record.log[:, 1] == 0) & (record.log[:, 0] <= evaluations), 2:]
    if len(found) == 0 or reference is None:
        return 0.0
    # Where all that was found is a single point, that point is all there is to find.
    return hypervolume(found, reference_point=reference) / largest if largest > 0 else 1.0


def to_csv(rows: list[Row]) -> str:
    """Return the rows as CSV, in the order given, numbers rounded to six decimals."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = [field.name for field in fields(Row)]
    # Where no true front is known, or nobody counted unique evaluations, there is nothing to say of them.
    optional = (*OF_THE_TRUTH, "unique_evaluations")
    empty = {name for name in optional if all(math.isnan(getattr(row, name)) for row in rows)}
    names = [name for name in names if name not in empty]
    writer.writerow(names)
    for row in rows:
        writer.writerow([_cell(getattr(row, name)) for name in names])
    return out.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6f}".rstrip("0").rstrip(".")
    return value
