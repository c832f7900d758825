"""From stored runs to numbers: the paper's reference point, normalisation and metrics, one row per run."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..catalogue import load
from ..errors import InstanceError
from .box import Box, Scale
from .metric_table import METRICS
from .rows import Row
from .store import fingerprint_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ..problem.base import CompiledProblem
    from ..result.reference import ReferenceFront
    from .plan import Plan
    from .store import Record, Store


@dataclass(frozen=True, eq=False)
class Measured:
    """All runs of a plan that are there, with what they were measured against."""

    plan: Plan
    rows: list[Row]
    records: dict[str, dict[str, list[Record]]]  # by problem, then label; finished runs only
    scales: dict[str, Scale]  # of the paper's hypervolume, by problem
    known: dict[str, ReferenceFront] = field(default_factory=dict)  # true fronts, by problem, where they are known
    names: dict[str, list[str]] = field(default_factory=dict)  # of the objectives of those problems

    @cached_property
    def _by_place(self) -> dict[tuple[str, str], list[Row]]:
        found: dict[tuple[str, str], list[Row]] = {}
        for row in self.rows:
            found.setdefault((row.problem, row.algorithm), []).append(row)
        return found

    def values(self, problem: str, label: str, metric: str) -> NDArray[np.float64]:
        """Return a metric of all runs of an algorithm on a problem, in the order of their seeds, without NaN."""
        values = np.array([row[metric] for row in self._by_place.get((problem, label), ())], dtype=float)
        known: NDArray[np.float64] = values[~np.isnan(values)]
        return known


def measure(
    plan: Plan, store: Store, data: str | None = None, *, all_seeds: bool = False, earlier: Sequence[Row] = ()
) -> Measured:
    """Measure all runs of a plan that are in the store.

    Parameters
    ----------
    all_seeds
        Take every seed that is there, whatever the plan says.
    earlier
        Rows measured before, taken for problems of which the store has no run.
    """
    rows: list[Row] = []
    records: dict[str, dict[str, list[Record]]] = {}
    scales: dict[str, Scale] = {}
    known: dict[str, ReferenceFront] = {}
    names: dict[str, list[str]] = {}
    labels = [contender.label for contender in plan.contenders]
    for problem in plan.problems:
        found = [
            (contender.label, seed, record)
            for contender in plan.contenders
            for seed in (store.seeds(problem) if all_seeds else range(plan.seeds))
            if (record := store.get(plan.run(problem, contender, seed))) is not None
        ]
        before = [
            row
            for row in (earlier if not found else ())
            if row.problem == problem and row.algorithm in labels and (all_seeds or row.seed < plan.seeds)
        ]
        loaded = _loaded(problem, data) if found or before else None
        if loaded is not None:
            fingerprint = fingerprint_of(problem, loaded) if found else None
            for _, _, record in found:
                store.check_data(record, problem, fingerprint)
            if loaded.reference_front is not None:
                known[problem] = loaded.reference_front
                names[problem] = list(loaded.objective_names or (f"f{k + 1}" for k in range(loaded.n_objectives)))
        fixed = None if loaded is None else loaded.reference_point
        box = Box([record for _, _, record in found if not record.error], fixed, known.get(problem))
        rows += [_row(box, problem, label, seed, record) for label, seed, record in found] or before
        records[problem] = {
            label: [record for other, _, record in found if other == label and not record.error] for label in labels
        }
        scales[problem] = box.paper
    return Measured(plan, rows, records, scales, known, names)


def _loaded(problem: str, data: str | None) -> CompiledProblem | None:
    """Return a problem, or None where it is not to be had: stored runs can be measured all the same."""
    try:
        return load(problem, data=data)
    except InstanceError:
        return None


def _row(box: Box, problem: str, label: str, seed: int, record: Record) -> Row:
    """Return the metrics of a run; a failed one has none."""
    unique = record.unique_evaluations
    with np.errstate(over="ignore", invalid="ignore"):  # of objectives near the largest number there is
        metrics = {} if record.error else {name: metric.measure(record, box) for name, metric in METRICS.items()}
    return Row(
        problem=problem,
        algorithm=label,
        seed=seed,
        evaluations=record.evaluations,
        cpu_seconds=record.cpu_seconds,
        front_size=len(record.objectives),
        metrics=metrics,
        unique_evaluations=math.nan if unique is None else unique,
        versions={"revision": str(record.run["revision"]), **record.versions},
        error=record.error,
    )
