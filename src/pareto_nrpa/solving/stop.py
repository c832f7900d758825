"""When to stop: criteria that combine with `|` (any of them) and `&` (all of them).

Any callable from `Progress` to bool is a criterion as well.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from .._util.checks import check_positive, check_whole, shown
from ..metrics import as_vector, quick_hypervolume

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray


# The largest number of evaluations per unique evaluation, where these are counted.
_MOST_REPETITIONS = 100
# Above any practical number, and small enough for 64-bit counters.
_MOST_EVALUATIONS = 2**62


@dataclass(frozen=True)
class Progress:
    """The state of a search as stops and callbacks see it."""

    evaluations: int
    seconds: float  # of wall time, compiling apart
    cpu_seconds: float
    last_improvement: int  # the evaluation at which the front last changed
    objectives: NDArray[np.float64]  # [n, m] of the front, all minimised
    violations: float  # of the front; NaN before the first evaluation
    signs: NDArray[np.float64]  # -1 where the problem maximises
    unique_evaluations: int | None = None  # of solutions not evaluated before; None unless they are counted
    failures: int = 0  # evaluations that failed

    def hypervolume(self, reference_point: Sequence[float]) -> float:
        """Return the hypervolume of the front up to a point in the problem's own sense; 0 if infeasible.

        Approximated where the exact one would take long: many points in five objectives or more.
        """
        reference = as_vector(reference_point, len(self.signs), "reference_point") * self.signs
        return quick_hypervolume(self.objectives, reference_point=reference) if self.violations == 0 else 0.0


class StopCriterion(Protocol):
    """A callable that decides from the progress whether to stop."""

    def __call__(self, progress: Progress) -> bool:
        """Return True to stop."""
        ...


class Stop(ABC):
    """Base class of the criteria of this module."""

    #: Whether it fires eventually, whatever the search finds.
    is_certain = True

    @abstractmethod
    def __call__(self, progress: Progress) -> bool:
        """Return True to stop."""

    def budget(self) -> int | None:
        """Return an upper bound on the number of evaluations, if known."""
        return None

    def counts_unique(self) -> bool:
        """Return whether it counts unique evaluations."""
        return False

    def next_look(self, progress: Progress, slice_size: int) -> float:
        """Return the evaluation at which it must be checked next; infinite for criteria of time."""
        return math.inf

    def __or__(self, other: StopCriterion) -> AnyOf:
        return AnyOf(self, other)

    def __ror__(self, other: StopCriterion) -> AnyOf:
        return AnyOf(other, self)

    def __and__(self, other: StopCriterion) -> AllOf:
        return AllOf(self, other)

    def __rand__(self, other: StopCriterion) -> AllOf:
        return AllOf(other, self)


class MaxEvaluations(Stop):
    """Stop after a number of evaluations.

    Parameters
    ----------
    evaluations
        How many.
    count
        "all", or "unique": a solution that was evaluated before is looked up and does not count. As a search may
        run out of new solutions, it then also stops after a hundred times as many evaluations of both kinds.
    """

    def __init__(self, evaluations: int, *, count: Literal["all", "unique"] = "all") -> None:
        self.evaluations = _positive_whole("evaluations", evaluations)
        if count not in ("all", "unique"):
            raise ValueError(f"count must be all or unique, got {shown(count)}.")
        self.count = count

    def __call__(self, progress: Progress) -> bool:
        """Return True when the evaluations are used up."""
        return self._left(progress) <= 0

    def _left(self, progress: Progress) -> int:
        """Return the least number of evaluations until it fires."""
        if self.count == "all":
            return self.evaluations - progress.evaluations
        if progress.unique_evaluations is None:
            raise ValueError("the search does not count how many of its evaluations are unique.")
        most = _MOST_REPETITIONS * self.evaluations - progress.evaluations
        return min(self.evaluations - progress.unique_evaluations, most)

    def budget(self) -> int | None:
        """Return the number of evaluations."""
        return self.evaluations

    def counts_unique(self) -> bool:
        """Return whether repeated solutions do not count."""
        return self.count == "unique"

    def next_look(self, progress: Progress, slice_size: int) -> float:
        """Return the first evaluation at which it may fire."""
        left = self._left(progress)
        return progress.evaluations + left if left > 0 else math.inf

    def __str__(self) -> str:
        return f"{self.evaluations:,} {'unique ' if self.count == 'unique' else ''}evaluations"


class MaxRuntime(Stop):
    """Stop after some seconds of wall time, compiling apart."""

    def __init__(self, seconds: float) -> None:
        self.seconds = _positive("seconds", seconds)

    def __call__(self, progress: Progress) -> bool:
        """Return True when the time is over."""
        return progress.seconds >= self.seconds

    def __str__(self) -> str:
        return f"{self.seconds:g} s"


class MaxCpuTime(Stop):
    """Stop after some seconds of CPU time, compiling apart."""

    def __init__(self, seconds: float) -> None:
        self.seconds = _positive("seconds", seconds)

    def __call__(self, progress: Progress) -> bool:
        """Return True when the time is over."""
        return progress.cpu_seconds >= self.seconds

    def __str__(self) -> str:
        return f"{self.seconds:g} s of CPU time"


class NoImprovement(Stop):
    """Stop when the front has not changed for a number of evaluations."""

    def __init__(self, evaluations: int) -> None:
        self.evaluations = _positive_whole("evaluations", evaluations)

    def __call__(self, progress: Progress) -> bool:
        """Return True when the front has been the same for too long."""
        return progress.evaluations - progress.last_improvement >= self.evaluations

    def next_look(self, progress: Progress, slice_size: int) -> float:
        """Return the evaluation at which it fires if nothing improves before, or may fire again."""
        due = progress.last_improvement + self.evaluations
        return due if due > progress.evaluations else progress.evaluations + self.evaluations

    def __str__(self) -> str:
        return f"{self.evaluations:,} evaluations without improvement"


class TargetHypervolume(Stop):
    """Stop when the hypervolume of the front reaches a value; a second criterion is needed, as it may never do so."""

    is_certain = False

    def __init__(self, value: float, *, reference_point: Sequence[float]) -> None:
        self.value = _positive("value", value)
        self.reference_point = [float(x) for x in reference_point]
        if not all(map(math.isfinite, self.reference_point)):
            raise ValueError(f"reference_point must be finite numbers, got {self.reference_point}.")

    def __call__(self, progress: Progress) -> bool:
        """Return True when the front is good enough."""
        return progress.hypervolume(self.reference_point) >= self.value

    def next_look(self, progress: Progress, slice_size: int) -> float:
        """Return the end of the slice: a check after every evaluation would take longer than the evaluations."""
        return next_multiple(progress.evaluations, slice_size)

    def __str__(self) -> str:
        return f"a hypervolume of {self.value:g}"


class _Combination(Stop):
    _join: Callable[[Iterable[bool]], bool]
    _word: str

    def __init__(self, *criteria: StopCriterion) -> None:
        if not criteria:
            raise ValueError(f"{type(self).__name__} needs at least one criterion; without any it never stops.")
        for criterion in criteria:
            if not callable(criterion):
                raise TypeError(f"{type(self).__name__} takes stopping criteria, got {shown(criterion)}.")
            _check_called(type(self).__name__, criterion)
        self.criteria = criteria
        self.is_certain = self._join(getattr(criterion, "is_certain", True) for criterion in criteria)

    def __call__(self, progress: Progress) -> bool:
        """Ask every criterion: one may keep count of how often it is asked."""
        return self._join([criterion(progress) for criterion in self.criteria])

    def counts_unique(self) -> bool:
        """Return whether one of the criteria does."""
        return any(map(counts_unique, self.criteria))

    def next_look(self, progress: Progress, slice_size: int) -> float:
        """Return the first evaluation at which one of the criteria must be checked."""
        return min(next_look(criterion, progress, slice_size) for criterion in self.criteria)

    def __str__(self) -> str:
        return f" {self._word} ".join(map(_in_words, self.criteria))


class AnyOf(_Combination):
    """Stop as soon as one criterion fires."""

    _join, _word = staticmethod(any), "or"

    def budget(self) -> int | None:
        """Return the smallest known number of evaluations."""
        return min((b for b in map(budget_of, self.criteria) if b is not None), default=None)


class AllOf(_Combination):
    """Stop when all criteria fire."""

    _join, _word = staticmethod(all), "and"

    def budget(self) -> int | None:
        """Return the largest number of evaluations if all are known."""
        budgets = [b for b in map(budget_of, self.criteria) if b is not None]
        return max(budgets) if len(budgets) == len(self.criteria) else None


def budget_of(criterion: StopCriterion) -> int | None:
    """Return the evaluations after which a criterion stops for certain, if it declares them."""
    return criterion.budget() if isinstance(criterion, Stop) else None


def counts_unique(criterion: StopCriterion) -> bool:
    """Return whether a criterion counts unique evaluations."""
    return isinstance(criterion, Stop) and criterion.counts_unique()


def next_look(criterion: StopCriterion, progress: Progress, slice_size: int) -> float:
    """Return the evaluation at which a criterion must be checked next, so that every run stops at the same one."""
    if isinstance(criterion, Stop):
        return criterion.next_look(progress, slice_size)
    return next_multiple(progress.evaluations, slice_size)


def next_multiple(done: int, size: int) -> int:
    """Return the next multiple of `size` after `done`."""
    return (done // size + 1) * size


def fired_by(criterion: StopCriterion, progress: Progress) -> str:
    """Return which part of a criterion has fired, in words."""
    if isinstance(criterion, AnyOf):
        return next((fired_by(part, progress) for part in criterion.criteria if part(progress)), str(criterion))
    return _in_words(criterion)


def _in_words(criterion: StopCriterion) -> str:
    return str(criterion) if isinstance(criterion, Stop) else getattr(criterion, "__name__", "the stop given")


def check_stop(criterion: object) -> None:
    """Raise if a criterion cannot be called or might never fire."""
    if criterion is None or not callable(criterion):
        raise TypeError(f"stop must be a stopping criterion such as MaxEvaluations(100_000), got {shown(criterion)}.")
    _check_called("stop", criterion)
    if not getattr(criterion, "is_certain", True):
        raise ValueError(
            f"stop might never fire: {criterion} may never be reached; add a limit, as in "
            "TargetHypervolume(...) | MaxEvaluations(100_000)."
        )


def _check_called(name: str, criterion: object) -> None:
    """Raise for a class: called with the progress, it would make a criterion, or fail, and never stop the search."""
    if isinstance(criterion, type):
        words = criterion.__name__
        raise TypeError(f"{name} needs a stopping criterion, got the class {words}; call it, as in {words}(...).")


def _positive_whole(name: str, value: Any) -> int:
    check_whole(name, value, 1, _MOST_EVALUATIONS)
    return int(value)


def _positive(name: str, value: Any) -> float:
    check_positive(name, value)
    return float(value)
