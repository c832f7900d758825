"""Near moves: pools for any weights of the objectives, and candidate lists for one descent."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Number of near moves per move for any weights, and for the weights of one descent.
POOL, NEAR = 30, 6
#: Number of moves of the pool in descents with limits: nearness in time is more important than the weights.
NEAR_WITH_LIMITS = 10
# With two objectives: number of weighted sums of a pool.
_N_WEIGHTS = 5


class Arcs(NamedTuple):
    """The contributions of arcs to each objective, minimised; 0 is START and END."""

    costs: NDArray[np.float64]  # [n + 1, n + 1, M]; M is 0 if objectives are not sums of arcs
    distances: NDArray[np.float64]  # [n + 1, n + 1], the further distance of two moves (`near`)

    @property
    def is_symmetric(self) -> bool:
        """Whether arcs cost the same in both directions."""
        return bool((self.costs == self.costs.transpose(1, 0, 2)).all())

    def closings(self) -> NDArray[np.bool_]:
        """Return [n + 1] whether each move is like START and END: the close of a route."""
        if not (self.costs.any() or self.distances.any()):
            return np.zeros(len(self.costs), dtype=bool)
        alike = [
            (table == table[:1]).reshape(len(table), -1).all(axis=1)
            for matrix in (self.costs, self.distances)
            for table in (matrix, matrix.swapaxes(0, 1))
        ]
        is_closing: NDArray[np.bool_] = np.logical_and.reduce(alike)
        is_closing[0] = False
        return is_closing


class CandidateLists:
    """For each move the others that are near to it: behind it, and before it, the same where lists are not directed."""

    def __init__(self, arcs: Arcs, size: int = POOL, *, are_directed: bool = False) -> None:
        m, both = arcs.costs.shape[2], arcs.costs + arcs.costs.swapaxes(0, 1)
        ways = [arcs.costs, arcs.costs.swapaxes(0, 1)] if are_directed and not arcs.is_symmetric else [both]
        scale = np.array([_usual(np.abs(both[:, :, k])) for k in range(m)])
        apart = np.minimum(arcs.distances, arcs.distances.T)
        np.fill_diagonal(apart, np.inf)
        apart[:, 0] = apart[:, arcs.closings()] = np.inf  # handled by their places
        size = max(1, min(size, int((apart[0] < np.inf).sum())))
        pools, costs = [], []
        for way in ways:
            nearest = [_nearest(way @ (w / scale) + apart, size) for w in _weights(m)]
            pools.append(_united(nearest, size))
            costs.append(np.take_along_axis(way, pools[-1][:, :, None], axis=1))
        self.pool, self._costs = np.array(pools), np.array(costs)  # [1 or 2, n + 1, Q], and [.., M]

    def near(self, weights: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the nearest of each pool for a weighted sum of the objectives, in this order."""
        order = np.argsort(self._costs @ weights, axis=2, kind="stable")[:, :, :NEAR]
        return np.take_along_axis(self.pool, order, axis=2)


def _nearest(distances: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """Return the nearest of each row; the whole order takes as much memory as the distances, and is not kept."""
    return np.argsort(distances, axis=1, kind="stable")[:, :size].copy()


def _usual(costs: NDArray[np.float64]) -> float:
    """Return a typical cost, 1 without any."""
    return float(np.median(costs[costs > 0])) if (costs > 0).any() else 1.0


def _weights(m: int) -> list[NDArray[np.float64]]:
    """Return evenly spread weights of the objectives."""
    if m == 2:
        return [np.array([share, 1.0 - share]) for share in np.linspace(0.0, 1.0, _N_WEIGHTS)]
    return [np.full(m, 1.0 / max(m, 1)), *(np.eye(m) if m > 1 else [])]


def _united(nearest: list[NDArray[np.int64]], size: int) -> NDArray[np.int64]:
    """Return the first `size` of several orders of moves, taken in turns from each."""
    turns = np.stack(nearest, axis=2).reshape(len(nearest[0]), -1)
    pool = np.empty((len(turns), size), dtype=np.int64)
    for row, moves in zip(pool, turns, strict=True):
        row[:] = list(dict.fromkeys(moves.tolist()))[:size]
    return pool
