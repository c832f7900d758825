"""What the runs on one problem are measured against: all of them together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..metrics import MANY_OBJECTIVES, hypervolume, share_of_hypervolume, worst_point

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from ..result.reference import ReferenceFront
    from .store import Record


@dataclass(frozen=True, eq=False)
class Scale:
    """A hypervolume that counts as 1, and the reference point up to which it is measured."""

    reference_point: NDArray[np.float64] | None  # None where nobody found a feasible point
    largest: float  # NaN with too many objectives to measure it

    @classmethod
    def of(cls, reference_point: NDArray[np.float64], fronts: Iterable[NDArray[np.float64]]) -> Scale:
        """Return the scale on which the best of some fronts is 1."""
        if len(reference_point) >= MANY_OBJECTIVES:
            return cls(reference_point, math.nan)
        volumes = (hypervolume(front, reference_point=reference_point) for front in fronts)
        return cls(reference_point, max(volumes, default=0.0))

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
    """The range of all that was found on a problem, and the scales of its hypervolumes."""

    def __init__(
        self, records: list[Record], fixed: Sequence[float] | None, truth: ReferenceFront | None = None
    ) -> None:
        fronts = [record.feasible for record in records if len(record.feasible)]
        together = np.vstack(fronts) if fronts else None
        self.worst = None if together is None else together.max(axis=0)
        self.ideal = None if together is None else together.min(axis=0)
        self.truth = truth
        self.paper: Scale = _paper_scale(fronts)
        self.fixed = None if fixed is None else Scale.of(np.asarray(fixed, dtype=float), fronts)
        if truth is not None and truth.is_table:  # else the public reference point stays what it is
            self.fixed = Scale.of_front(truth)


def _paper_scale(fronts: list[NDArray[np.float64]]) -> Scale:
    """Return the paper's scale: up to the worst feasible value of each objective, the best run is 1.

    Where the worst values are those of the only points that there are, as of two points that span the whole box,
    nothing has a volume up to there. Then the reference point is where it is for a true front, a tenth of the range
    further: whoever has found all of those points has 1, as in the paper, and whoever missed one has less.
    """
    if not fronts:
        return Scale(None, 0.0)
    together = np.vstack(fronts)
    scale = Scale.of(together.max(axis=0), fronts)
    return scale if scale.largest != 0 else Scale.of(worst_point(together), fronts)
