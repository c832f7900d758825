"""Detours: descents through infeasible solutions with an adaptive penalty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...engine.state import Maybe
from .near_evaluation import Penalty

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Largest gain of an infeasible step, as a share of the range of the front: few gain more, and without a bound every
# neighbour must be joined completely.
_MOST_GAIN = 0.03
# Factor by which the penalty rises after an infeasible end and falls after a feasible one, so that half are feasible.
_RATE = 1.1
_LOWEST, _HIGHEST = 1e-100, 1e100


class PenaltyDescent:
    """The start of a detour, and the penalty of infeasibility, adapted so that half of the detours end feasible."""

    STATE: ClassVar[dict[str, Any]] = {"_price": "float", "_origin": Maybe("i8 [n]"), "terms": Penalty}

    def __init__(self, n_moves: int) -> None:
        self._n = n_moves
        self._price = 1.0  # of a unit of distance from feasibility, in ranges of the front
        self._origin: NDArray[np.int64] | None = None
        self.terms = Penalty(0.0, 0.0)

    @property
    def origins(self) -> NDArray[np.int64]:
        """The start of the current detour, a row if there is one."""
        return np.zeros((0, self._n), dtype=np.int64) if self._origin is None else self._origin[None]

    @property
    def is_out(self) -> bool:
        """Whether a detour is running."""
        return self._origin is not None

    def leave(self, origin: NDArray[np.int64], span: float) -> Penalty:
        """Begin a detour at a feasible solution; `span` is the weighted sum of the ranges of the front."""
        self._origin = origin
        span = min(span, _HIGHEST)
        self.terms = Penalty(self._price * span, _MOST_GAIN * span)
        return self.terms

    def come_back(self, moves: NDArray[np.int64], distance: float) -> NDArray[np.int64] | None:
        """End a detour; returns None if its end is feasible, else the changed places, from which it is repaired."""
        assert self._origin is not None
        origin, self._origin = self._origin, None
        if distance == 0.0:
            self._price = max(_LOWEST, self._price / _RATE)
            return None
        self._price = min(_HIGHEST, self._price * _RATE)
        return changed_places(origin, moves)


def changed_places(before: NDArray[np.int64], now: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each place 1 if the predecessor or successor of its move has changed, else 0."""
    order = np.argsort(before)
    places = order[np.searchsorted(before, now, sorter=order)]
    is_new = np.diff(places, prepend=-1, append=len(now)) != 1
    changed: NDArray[np.int64] = (is_new[:-1] | is_new[1:]).astype(np.int64)
    return changed
