"""The true front of a problem, where it is known, and what a front comes to beside it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from .metrics import hypervolume, igd_plus, n_found, nondominated, worst_point
from .problem import CompiledProblem, objective_signs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .problem import AnyProblem

# Tours are rounded to 1e-9, each from a sum of its own.
_SAME = 1e-8
# Objectives from which on the hypervolume of a long front takes many seconds.
_MANY = 7


@dataclass(frozen=True, eq=False)
class Truth:
    """A true front and what others are measured against beside it; everything minimised."""

    front: NDArray[np.float64]  # [k, m]
    reference_point: NDArray[np.float64]
    is_certified: bool  # proved, as opposed to read from a table of all solutions

    @cached_property
    def volume(self) -> float:
        """The hypervolume of the front."""
        return hypervolume(self.front, reference_point=self.reference_point)

    def found(self, points: ArrayLike) -> int:
        """Return how many points of the true front are among some feasible points."""
        return n_found(points, self.front, tolerance=_SAME)

    def share(self, points: ArrayLike) -> float:
        """Return how much of the hypervolume of the true front some feasible points have."""
        there = np.asarray(points, dtype=float)
        return hypervolume(there, reference_point=self.reference_point) / self.volume if len(there) else 0.0

    def distance(self, points: ArrayLike) -> float:
        """Return IGD+ in units of the range of the true front; without feasible points, that of the reference point."""
        low, high = self.front.min(axis=0), self.front.max(axis=0)
        unit = np.where(high > low, high - low, np.maximum(np.abs(high), 1.0))
        there = np.asarray(points, dtype=float)
        there = there if len(there) else self.reference_point[None]
        return igd_plus(there / unit, self.front / unit)

    def compared(self, points: ArrayLike) -> dict[str, Any]:
        """Return what some feasible points come to beside the true front, as plain values."""
        counts = {"points": len(self.front), "found": self.found(points), "igd_plus": self.distance(points)}
        if self.front.shape[1] >= _MANY:
            return counts
        return {**counts, "share_of_hypervolume": self.share(points)}


def true_front(problem: AnyProblem) -> NDArray[np.float64] | None:
    """Return the true front [k, m] in the problem's own sense: of all solutions, or proved; None where not known."""
    known = truth(problem)
    return None if known is None else known.front * objective_signs(problem)


_known: WeakKeyDictionary[CompiledProblem, Truth | None] = WeakKeyDictionary()


def truth(problem: AnyProblem) -> Truth | None:
    """Return the true front of a problem and its reference point, or None where it is not known."""
    if not isinstance(problem, CompiledProblem):
        return _find(problem)
    if problem not in _known:
        _known[problem] = _find(problem)
    return _known[problem]


def _find(problem: AnyProblem) -> Truth | None:
    reference = None
    if problem.all_objectives is not None:
        signs = objective_signs(problem)
        front = nondominated(np.asarray(problem.all_objectives) * signs)
        if problem.reference_point is not None:
            reference = np.asarray(problem.reference_point, dtype=float) * signs
    else:
        from .exact.known import certified_front

        certified = certified_front(problem)
        if certified is None:
            return None
        # The public reference points lie far behind the front: next to them all fronts look alike.
        front = np.array(certified.objectives)
    if reference is None or not (front < reference).all(axis=1).any():
        reference = worst_point(front)
    return Truth(front, reference, is_certified=problem.all_objectives is None)
