"""The metrics of an experiment, an entry each: adding one is adding a line to `METRICS`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..metrics import overall_spread, spacing

if TYPE_CHECKING:
    from collections.abc import Callable

    from .box import Box
    from .store import Record


@dataclass(frozen=True)
class Metric:
    """What a run is judged by."""

    name: str  # in plans, tables and files
    title: str
    measure: Callable[[Record, Box], float]  # NaN where a run does not have it
    digits: int = 2  # as the paper prints
    more_is_better: bool = True
    is_usual: bool = False  # what a plan has that names no metrics
    of_the_truth: bool = False  # compares with the true front: measured wherever that is known


def _fixed_hypervolume(record: Record, box: Box) -> float:
    return math.nan if box.fixed is None else box.fixed.share(record.feasible)


def _spread(record: Record, box: Box) -> float:
    if len(record.feasible) == 0:
        return 0.0
    assert box.worst is not None and box.ideal is not None
    if (box.worst == box.ideal).any():
        return 1.0
    return overall_spread(record.feasible, ideal=box.ideal, maximal=box.worst)


def _spacing(record: Record, box: Box) -> float:
    return spacing(record.feasible) if len(record.feasible) > 1 else math.nan


def _true_hypervolume(record: Record, box: Box) -> float:
    return math.nan if box.truth is None else box.truth.share(record.feasible)


def _found(record: Record, box: Box) -> float:
    return math.nan if box.truth is None else box.truth.found(record.feasible) / len(box.truth.front)


def _igd_plus(record: Record, box: Box) -> float:
    return math.nan if box.truth is None else box.truth.distance(record.feasible)


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("hypervolume", "Hypervolume", lambda record, box: box.paper.share(record.feasible), is_usual=True),
        Metric("fixed_hypervolume", "Hypervolume, fixed reference point", _fixed_hypervolume, digits=3),
        Metric("spread", "Overall spread", _spread, is_usual=True),
        Metric("spacing", "Spacing", _spacing, more_is_better=False, is_usual=True),
        Metric(
            "violations",
            "Constraint violations",
            lambda record, box: record.violations,
            more_is_better=False,
            is_usual=True,
        ),
        Metric("true_hypervolume", "Share of the true hypervolume", _true_hypervolume, digits=3, of_the_truth=True),
        Metric("found", "Share of the true front found", _found, of_the_truth=True),
        Metric("igd_plus", "IGD+ to the true front", _igd_plus, digits=4, more_is_better=False, of_the_truth=True),
    )
}
USUAL_METRICS = tuple(metric.name for metric in METRICS.values() if metric.is_usual)
METRICS_OF_THE_TRUTH = tuple(metric.name for metric in METRICS.values() if metric.of_the_truth)
