"""Detours: descents that pass through infeasible solutions, at a price that is learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...engine.state import Maybe
from .near_evaluation import Penalty

if TYPE_CHECKING:
    from numpy.typing import NDArray

# What a step may gain by being infeasible, as a share of the range of the front: few gain more, and without a bound
# every neighbour has to be joined to its end.
_MOST_GAIN = 0.03
# By which the price rises after a detour that ended infeasible, and falls after one that did not: half of them do.
_RATE = 1.1
_LOWEST, _HIGHEST = 1e-100, 1e100


class PenaltyDescent:
    """Where a detour left what is feasible, and what it costs to be infeasible: as much as leads half of them back."""

    STATE: ClassVar[dict[str, Any]] = {"_price": "float", "_origin": Maybe("i8 [n]"), "terms": Penalty}

    def __init__(self, n_moves: int) -> None:
        self._n = n_moves
        self._price = 1.0  # of a unit of distance from being feasible, in ranges of the front
        self._origin: NDArray[np.int64] | None = None
        self.terms = Penalty(0.0, 0.0)

    @property
    def origins(self) -> NDArray[np.int64]:
        """Where a detour began, a row if there is one."""
        return np.zeros((0, self._n), dtype=np.int64) if self._origin is None else self._origin[None]

    @property
    def is_out(self) -> bool:
        """Whether a detour is under way."""
        return self._origin is not None

    def leave(self, origin: NDArray[np.int64], span: float) -> Penalty:
        """Begin one at a feasible solution; `span` is the weighted sum of the ranges of the front."""
        self._origin = origin
        span = min(span, _HIGHEST)
        self.terms = Penalty(self._price * span, _MOST_GAIN * span)
        return self.terms

    def come_back(self, moves: NDArray[np.int64], distance: float) -> NDArray[np.int64] | None:
        """End it; returns None if that is feasible, else the places from which to repair it: where it was changed."""
        assert self._origin is not None
        origin, self._origin = self._origin, None
        if distance == 0.0:
            self._price = max(_LOWEST, self._price / _RATE)
            return None
        self._price = min(_HIGHEST, self._price * _RATE)
        return changed_places(origin, moves)


def changed_places(before: NDArray[np.int64], now: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each place 1 if what comes before or after the move there is another than before, else 0."""
    order = np.argsort(before)
    places = order[np.searchsorted(before, now, sorter=order)]
    is_new = np.diff(places, prepend=-1, append=len(now)) != 1
    changed: NDArray[np.int64] = (is_new[:-1] | is_new[1:]).astype(np.int64)
    return changed
