"""The metrics of an experiment, relative to all runs on a problem."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..metrics import MANY_OBJECTIVES, hypervolume, overall_spread, share_of_hypervolume, spacing, worst_point

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from ..result.reference import ReferenceFront
    from .runs import RunRecord


@dataclass(frozen=True, eq=False)
class Scale:
    """A hypervolume that counts as 1, and the reference point up to which it is measured."""

    reference_point: NDArray[np.float64] | None  # None where no run found a feasible point
    largest: float  # NaN with too many objectives to measure it

    @classmethod
    def of(cls, reference_point: NDArray[np.float64], fronts: Iterable[NDArray[np.float64]]) -> Scale:
        """Return the scale on which the best of some fronts is 1."""
        if len(reference_point) >= MANY_OBJECTIVES:
            return cls(reference_point, math.nan)
        volumes = (hypervolume(front, reference_point=reference_point) for front in fronts)
        return cls(reference_point, max(volumes, default=0.0))

    @classmethod
    def of_paper(cls, fronts: Sequence[NDArray[np.float64]]) -> Scale:
        """Return the paper's scale: up to the worst feasible value of each objective, the best run is 1.

        If all points lie on the border of the box, as two points may, every volume is 0. The reference point is
        then a tenth of the range further, as for a true front: a run that found all points has 1, as in the paper,
        and others have less.
        """
        if not fronts:
            return cls(None, 0.0)
        together = np.vstack(fronts)
        scale = cls.of(together.max(axis=0), fronts)
        return scale if scale.largest != 0 else cls.of(worst_point(together), fronts)

    @classmethod
    def of_front(cls, truth: ReferenceFront) -> Scale:
        """Return the scale on which a true front is 1."""
        return cls(truth.reference_point, truth.volume)

    def share(self, points: NDArray[np.float64]) -> float:
        """Return the hypervolume of feasible points on this scale."""
        if self.reference_point is None or self.largest == 0 or len(points) == 0:
            return 0.0
        if math.isnan(self.largest):
            return math.nan
        return share_of_hypervolume(points, self.largest, reference_point=self.reference_point)


class Box:
    """The range of all points found on a problem, and the scales of its hypervolumes."""

    def __init__(
        self, records: Sequence[RunRecord], fixed: Sequence[float] | None, truth: ReferenceFront | None = None
    ) -> None:
        fronts = [record.feasible for record in records if len(record.feasible)]
        self.worst = np.vstack(fronts).max(axis=0) if fronts else np.zeros(0)
        self.ideal = np.vstack(fronts).min(axis=0) if fronts else np.zeros(0)
        self.truth = truth
        self.paper = Scale.of_paper(fronts)
        self.fixed = None if fixed is None else Scale.of(np.asarray(fixed, dtype=float), fronts)
        if truth is not None and truth.is_table:  # else the public reference point stays
            self.fixed = Scale.of_front(truth)

    def spread(self, points: NDArray[np.float64]) -> float:
        """Return the overall spread of feasible points in the box."""
        if len(points) == 0:
            return 0.0
        is_flat = (self.worst == self.ideal).any()
        return 1.0 if is_flat else overall_spread(points, ideal=self.ideal, maximal=self.worst)


@dataclass(frozen=True)
class Metric:
    """A metric of a run."""

    name: str  # in plans, tables and files
    title: str
    measure: Callable[[RunRecord, Box], float]  # NaN where a run does not have it
    digits: int = 2  # as the paper prints
    more_is_better: bool = True
    is_usual: bool = False  # in plans that name no metrics
    of_the_truth: bool = False  # compares with the true front: measured if it is known


def _fixed(run: RunRecord, box: Box) -> float:
    return math.nan if box.fixed is None else box.fixed.share(run.feasible)


def _violations(run: RunRecord, box: Box) -> float:
    return math.nan if run.violations is None else run.violations


def _of_truth(measure: Callable[[ReferenceFront, NDArray[np.float64]], float]) -> Callable[[RunRecord, Box], float]:
    """Return a metric that compares with the true front, NaN where that is not known."""
    return lambda run, box: math.nan if box.truth is None else measure(box.truth, run.feasible)


_share = _of_truth(lambda truth, points: truth.share(points))
_found = _of_truth(lambda truth, points: truth.found(points) / len(truth.front))
_distance = _of_truth(lambda truth, points: truth.distance(points))

#: A metric is added as a line here.
_ALL = (
    Metric("hypervolume", "Hypervolume", lambda run, box: box.paper.share(run.feasible), is_usual=True),
    Metric("fixed_hypervolume", "Hypervolume, fixed reference point", _fixed, digits=3),
    Metric("spread", "Overall spread", lambda run, box: box.spread(run.feasible), is_usual=True),
    Metric("spacing", "Spacing", lambda run, box: spacing(run.feasible), more_is_better=False, is_usual=True),
    Metric("violations", "Constraint violations", _violations, more_is_better=False, is_usual=True),
    Metric("true_hypervolume", "Share of the true hypervolume", _share, digits=3, of_the_truth=True),
    Metric("found", "Share of the true front found", _found, of_the_truth=True),
    Metric("igd_plus", "IGD+ to the true front", _distance, digits=4, more_is_better=False, of_the_truth=True),
)
METRICS = {metric.name: metric for metric in _ALL}
USUAL_METRICS = tuple(metric.name for metric in METRICS.values() if metric.is_usual)
METRICS_OF_THE_TRUTH = tuple(metric.name for metric in METRICS.values() if metric.of_the_truth)
