"""Metrics of stored runs, one row per run, with the paper's reference point and normalisation."""

from __future__ import annotations

import importlib
import io
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .._util.csv_text import csv_text, unguarded
from .._util.files import read_bytes
from .._util.lazy import needed
from ..errors import InstanceError, ParetoNRPAError
from .metrics import METRICS, METRICS_OF_THE_TRUTH, Box, Scale
from .worker import forget_problems, load_once

if TYPE_CHECKING:
    import os
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

    from ..problem.base import AnyProblem
    from ..result.reference import ReferenceFront
    from .plan import Plan
    from .runs import RunRecord, RunStore

_COUNTS = ("seed", "evaluations", "front_size")
_TEXTS = ("problem", "algorithm", "versions", "error")
_COLUMNS = ("problem", "algorithm", "seed", "evaluations", "cpu_seconds", "front_size", *METRICS)
_COLUMNS += ("unique_evaluations", "versions", "error")
# Left out of files if no run has a value.
_OPTIONAL = (*METRICS_OF_THE_TRUTH, "unique_evaluations", "versions")


def library(name: str) -> Any:
    """Return a library of the extra `experiments`."""
    with needed("an experiment", name.partition(".")[0].replace("_", "-"), "experiments"):
        return importlib.import_module(name)


@dataclass(frozen=True, eq=False)
class Measured:
    """The finished runs of a plan, with reference points and true fronts."""

    plan: Plan
    frame: pd.DataFrame  # a row per run; NaN for a missing metric, such as spacing of one point
    records: dict[str, dict[str, list[RunRecord]]]  # by problem, then label; finished runs only
    scales: dict[str, Scale]  # of the paper's hypervolume, by problem
    known: dict[str, ReferenceFront] = field(default_factory=dict)  # true fronts, by problem, where they are known
    names: dict[str, list[str]] = field(default_factory=dict)  # of the objectives of those problems

    def values(self, problem: str, label: str, metric: str) -> NDArray[np.float64]:
        """Return a metric of all runs of an algorithm on a problem, in the order of their seeds, without NaN."""
        is_here = (self.frame["problem"] == problem) & (self.frame["algorithm"] == label)
        return self.frame.loc[is_here, metric].dropna().to_numpy(dtype=float)


def measure(
    plan: Plan,
    store: RunStore,
    data: Path | None = None,
    *,
    all_seeds: bool = False,
    earlier: pd.DataFrame | None = None,
) -> Measured:
    """Measure all runs of a plan that are in the store.

    Parameters
    ----------
    all_seeds
        Take all available seeds, not only those of the plan.
    earlier
        Rows of an earlier page, for problems without runs in the store.
    """
    pandas = library("pandas")
    rows: list[dict[str, Any]] = []
    records: dict[str, dict[str, list[RunRecord]]] = {}
    scales: dict[str, Scale] = {}
    known: dict[str, ReferenceFront] = {}
    names: dict[str, list[str]] = {}
    for problem in plan.problems:
        seeds = sorted({run.seed for run in store.runs_on(problem)}) if all_seeds else range(plan.seeds)
        found = [
            (contender.label, seed, record)
            for contender in plan.contenders
            for seed in seeds
            if (record := store.get(plan.run(problem, contender, seed))) is not None
        ]
        before = [] if found else _rows_of(earlier, plan, problem, all_seeds=all_seeds)
        loaded, fingerprint = _loaded(problem, data) if found or before else (None, None)
        for _, _, record in found:
            store.check_data(record, fingerprint)
        truth = None if loaded is None else loaded.reference_front
        if loaded is not None and truth is not None:
            known[problem] = truth
            names[problem] = list(loaded.objective_names or (f"f{k + 1}" for k in range(loaded.n_objectives)))
        finished = [record for _, _, record in found if not record.error]
        box = Box(finished, None if loaded is None else loaded.reference_point, truth)
        rows += [_row(box, problem, *run) for run in found] or before
        scales[problem] = box.paper
        records[problem] = {
            label: [record for other, _, record in found if other == label and not record.error]
            for label in plan.labels
        }
    forget_problems()
    numbers = dict.fromkeys((*METRICS, "cpu_seconds", "unique_evaluations"), float)
    return Measured(plan, pandas.DataFrame(rows, columns=_COLUMNS).astype(numbers), records, scales, known, names)


def _rows_of(earlier: pd.DataFrame | None, plan: Plan, problem: str, *, all_seeds: bool) -> list[Any]:
    """Return the earlier rows of a problem that belong to the plan."""
    if earlier is None:
        return []
    is_wanted = (earlier["problem"] == problem) & earlier["algorithm"].isin(plan.labels)
    return earlier[is_wanted & (all_seeds | (earlier["seed"] < plan.seeds))].to_dict("records")


def _loaded(problem: str, data: Path | None) -> tuple[AnyProblem | None, str | None]:
    """Return a problem and its fingerprint; None if it is not on this machine: its runs can still be measured."""
    try:
        return load_once(problem, data)
    except InstanceError:
        return None, None


def _row(box: Box, problem: str, label: str, seed: int, record: RunRecord) -> dict[str, Any]:
    """Return the row of a run; a failed one has no metrics."""
    with np.errstate(over="ignore", invalid="ignore"):  # of objectives near the largest float
        metrics = {} if record.error else {name: metric.measure(record, box) for name, metric in METRICS.items()}
    unique, versions = record.unique_evaluations, {"revision": record.run.revision, **record.versions}
    return {
        "problem": problem,
        "algorithm": label,
        "seed": seed,
        "evaluations": record.evaluations,
        "cpu_seconds": record.cpu_seconds,
        "front_size": len(record.objectives),
        "unique_evaluations": math.nan if unique is None else unique,
        "versions": "; ".join(f"{name} {number}" for name, number in versions.items()),
        "error": record.error,
        **dict.fromkeys(METRICS, math.nan),
        **metrics,
    }


def to_csv(frame: pd.DataFrame) -> str:
    """Return the rows as CSV, numbers rounded to six decimals."""
    cells = frame.map(_cell)
    cells = cells.drop(columns=[name for name in _OPTIONAL if (cells[name] == "").all()])
    return csv_text([cells.columns, *cells.to_numpy().tolist()])


def _cell(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return "" if math.isnan(value) else f"{value:.6f}".rstrip("0").rstrip(".")


def read_csv(path: str | os.PathLike[str], plan: str = "") -> pd.DataFrame:
    """Return the rows of a file that `to_csv` wrote; those of a plan if the file has a column of plans."""
    pandas = library("pandas")
    content = read_bytes(path)
    try:
        frame = pandas.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False)
        if "plan" in frame:
            frame = frame[frame["plan"] == plan]
        frame = frame.assign(**{name: "" for name in _OPTIONAL if name not in frame})
        frame = frame.assign(**{name: "" for name in METRICS if name not in frame})[list(_COLUMNS)]
        for name in _COLUMNS:
            texts = name in _TEXTS
            frame[name] = frame[name].map(unguarded) if texts else pandas.to_numeric(frame[name]).astype(float)
        numbers = frame[[name for name in _COLUMNS if name not in _TEXTS]]
        if np.isinf(numbers).to_numpy().any() or (frame[list(_COUNTS)] < 0).to_numpy().any():
            raise ValueError("its numbers must be finite, and its counts at least 0")
        rows: pd.DataFrame = frame.astype(dict.fromkeys(_COUNTS, int))
    except (ValueError, KeyError) as error:
        reason = " ".join(str(error).split())[:120]
        raise ParetoNRPAError(f"{path} is not a table of runs (PLAN-runs.csv), or is damaged: {reason}.") from error
    return rows


def versions_of(frame: pd.DataFrame) -> dict[str, list[str]]:
    """Return the versions of algorithms (revision) and libraries that the runs were made with."""
    found: dict[str, dict[str, None]] = {}
    for text in frame["versions"].unique():
        for part in filter(None, text.split("; ")):
            name, _, number = part.rpartition(" ")
            found.setdefault(name, {})[number] = None
    return {name: list(numbers) for name, numbers in found.items()}
