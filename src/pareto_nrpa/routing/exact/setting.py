"""What the groups of boxes of a stage have in common: the front at its begin, and dual prices for all weighted sums.

Prices are searched on the full network, for a few sums spread over the front, and interpolated between them.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .labelling import COUNT, REMOVED
from .network import Networks
from .region import EVERYTHING, Interval, KnownFront
from .relaxation import Prices, PriceSearch, weighted

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

#: Bounds are made for a little more than the corners, as they are sums in another order; in costs up to 1 for less.
ABOVE_THE_CORNERS = 1e-6
# Prices of a direction in which costs are so much larger say nothing of another one.
_OUT_OF_SCALE = 1e3
# Times that the search of dual prices tells apart.
_COARSE, _FINE = 100, 60
# Weighted sums that are compared before some are chosen for a group.
_SHARES = np.linspace(0, 1, 501)
# By how much the inherent gap of the second and the third pair of sums is larger than that of the first.
_WORSE = (0.004, 0.016)


class Stage(NamedTuple):
    """How the open intervals are searched."""

    boxes: int  # of a group
    entries: int  # of the library of prices, less one
    coarse_steps: int
    fine_steps: int
    rounds: int  # of sharpening prices
    n_sums: int
    memory: int  # of the last passes of a group, cities that a city remembers
    pass_labels: int  # at most
    beam: int  # labels of a layer while tours are looked for
    width: int  # labels of a layer, at most


class Counts(NamedTuple):
    """Where a search stands."""

    layer: int = 0
    labels: int = 0  # alive in the layer at hand
    bounded: int = 0  # removed by bounds, in all
    dominated: int = 0


NO_COUNTS = Counts()


def counted(look_up: Callable[[Counts], None], counts: Counts = NO_COUNTS) -> Callable[[NDArray[np.int64]], None]:
    """Return a function that is called with the numbers of a layer under construction, and passes on their count."""
    return lambda numbers: look_up(counts._replace(labels=int(numbers[COUNT] - numbers[REMOVED])))


class Setting(NamedTuple):
    """A stage, and what is known when its groups are searched; they do not depend on each other."""

    networks: Networks
    stage: Stage
    number: int  # of the stage
    front: KnownFront
    extents: NDArray[np.float64]  # [2, m], the ends of the front when the stage began; [0, m] before there is a tour
    library: dict[tuple[int, int], Prices]  # by stage and entry
    memory_limit: float
    longest: float  # what the first cost of every tour is below, or of those that are looked for

    def boxes(self, front: KnownFront, interval: Interval = EVERYTHING) -> NDArray[np.float64]:
        """Return the corners of the boxes of an interval."""
        boxes = front.local_upper_bounds(interval)
        boxes[:, 0] = np.minimum(boxes[:, 0], self.longest)
        return boxes

    def sums(self, boxes: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Return the weights of a group: those whose gap is the least even with perfect bounds, and some beside."""
        m = boxes.shape[1]
        if m == 1 or not len(self.front) or np.isinf(boxes[:, 1]).any():
            return [np.eye(m)[0]]
        if np.isinf(boxes[:, 0]).any():
            return [np.eye(m)[1]]
        every = np.stack([self.weights(share) for share in _SHARES])
        sums = boxes @ every.T
        highest = sums.max(axis=0)
        gaps = (highest - (self.front.objectives @ every.T).min(axis=0)) / np.maximum(np.abs(highest), 1e-300)
        best = int(np.argmin(gaps))
        chosen = [best]
        for worse in _WORSE[: self.stage.n_sums // 2]:
            is_worse = gaps >= gaps[best] + worse
            left, right = np.flatnonzero(is_worse[:best]), np.flatnonzero(is_worse[best:])
            chosen.append(int(left[-1]) if len(left) else 0)
            chosen.append(best + int(right[0]) if len(right) else len(every) - 1)
        if best in (0, len(every) - 1):
            chosen.reverse()  # a single cost has the weakest bound: it profits from the arcs that others drop
        return [every[k] for k in dict.fromkeys(chosen)]

    def weights(self, share: float) -> NDArray[np.float64]:
        """Return weights that sum up to 1; with a share of a half, both objectives count alike along the front."""
        scale = self._scale()
        weights = np.array([share * scale[1], (1 - share) * scale[0]])
        return np.asarray(weights / weights.sum())

    def _scale(self) -> NDArray[np.float64]:
        extents = np.ptp(self.extents, axis=0)
        return np.where(extents > 0, extents, 1.0)

    def entries(self, weights: NDArray[np.float64]) -> list[int]:
        """Return the entries of the library on both sides of a weighted sum, or the one in its place."""
        if len(weights) == 1 or not len(self.extents):
            return [self.stage.entries]
        ratio = weights * self._scale()
        place = float(ratio[0] / ratio.sum()) * self.stage.entries
        low = min(int(place + 1e-9), self.stage.entries)
        return [low] if place - low < 1e-9 else [low, low + 1]

    def prices(self, weights: NDArray[np.float64]) -> Prices:
        """Return prices for a weighted sum, between those of the library on both sides.

        The bound is a concave function of weights and prices: between two entries it is no worse than theirs.
        """
        lower, *upper = (self.library[self.number, entry] for entry in self.entries(weights))
        if not upper:
            return lower._replace(weights=weights, memories=[list(cities) for cities in lower.memories])
        share = float((weights[0] - lower.weights[0]) / (upper[0].weights[0] - lower.weights[0]))
        return Prices(
            weights,
            (1 - share) * lower.dual_prices + share * upper[0].dual_prices,
            [_merged(*lists) for lists in zip(lower.memories, upper[0].memories, strict=True)],
        )


def search_prices(setting: Setting, entry: int, look_up: Callable[[Counts], None]) -> Prices:
    """Look for good prices for an entry of the library, on the full network, from those of the nearest sum known."""
    networks, stage, front = setting.networks, setting.stage, setting.front
    m = len(networks.forward.costs)
    is_alone = m == 1 or not len(setting.extents)
    weights = np.eye(m)[0] if is_alone else setting.weights(entry / stage.entries)
    sums = weighted(networks, weights)
    near = min(setting.library.values(), key=lambda known: np.abs(known.weights - weights).max(), default=None)
    if near is not None and np.abs(near.dual_prices).max() > _OUT_OF_SCALE * sums.max():
        near = None
    start = Prices(weights, np.zeros(len(sums)), _nearest(networks, sums)) if near is None else near
    best_known = float((front.objectives @ weights).min()) if len(front) else 2.0 * sums.max()
    search = PriceSearch(networks, start._replace(weights=weights), best_known, counted(look_up))
    if near is None:
        search.climb(stage.coarse_steps, size=0, grid=networks.horizon / _COARSE)
    size = min(4, stage.memory)
    search.climb(stage.fine_steps, size=size, grid=networks.horizon / _COARSE)
    if stage.rounds and len(front):
        lowest = np.sort(finite_sums(setting.boxes(front), weights))[: stage.boxes]
        limit = float(lowest[np.isfinite(lowest)].max()) + ABOVE_THE_CORNERS
        grid = networks.horizon / _FINE
        search.sharpen(limit, stage.rounds, size=size, steps=8, grid=grid, most=stage.pass_labels)
    return search.prices


def _nearest(networks: Networks, sums: NDArray[np.float64]) -> list[list[int]]:
    """Return for each city the two nearest ones."""
    usable = networks.arcs.any(axis=0)
    distances = np.where(usable | usable.T, np.minimum(sums, sums.T), np.inf)
    return [
        [int(j) for j in np.argsort(row, kind="stable") if j not in (0, i) and np.isfinite(row[j])][:2]
        for i, row in enumerate(distances)
    ]


def _merged(one: list[int], other: list[int]) -> list[int]:
    """Return the items of both lists, in turn."""
    return list(dict.fromkeys(item for pair in zip_longest(one, other) for item in pair if item is not None))


def finite_sums(points: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weighted sums in which an infinite value with weight 0 counts as nothing."""
    return np.asarray(np.where(weights > 0, points, 0.0) @ weights)
