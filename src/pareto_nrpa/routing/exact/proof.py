"""The proof that a front is complete: every interval of the first objective is searched until nothing is left in it.

An interval holds a few neighbouring boxes below the front. For some weighted sums of the costs, passes of routes drop
the arcs that no tour in the boxes can use at a position, and bound the completions of every path. Labels of real
costs, from the depot on, then enumerate all tours that every one of these sums leaves. While there are too many, only
the most promising are extended: that proves nothing, but finds most of the tours still missing, with which there are
fewer labels the next time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice, repeat, zip_longest
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..matrices import rounded_all, step_below
from .labelling import BOUNDED, COUNT, DOMINATED, REMOVED, Bounds
from .layers import BYTES_PER_ANCESTOR, BYTES_PER_LABEL, Ancestry, Layer, next_layer, root
from .network import Networks, longest_tour, unit_costs
from .region import EVERYTHING, Interval, KnownFront, complement, partition
from .relaxation import Chain, Prices, PriceSearch, bounds_of_tours, weighted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

# Objectives are rounded: a tour in a box is at least a step below its corner, of which half is the rounding.
_STEPS_BELOW_A_CORNER = 0.25
# Sums made in another order than along a tour may differ by so much, for each city and unit.
_NOISE = 1e-15
# Bounds are made for a little more than the corners, as they are such sums themselves; in costs up to 1 for less.
_ABOVE_THE_CORNERS = 1e-6
_SHARE_ABOVE_THE_CORNERS = 1e-10
# Prices of a direction in which costs are so much larger say nothing of another one.
_OUT_OF_SCALE = 1e3
# What a first tour is hoped to cost, in terms of the least that it can cost; and so on if there is none.
_HOPE = 1.2
# Times that the search of dual prices tells apart.
_COARSE, _FINE = 100, 60
# Weighted sums that are compared before some are chosen for a group.
_SHARES = np.linspace(0, 1, 501)
# By how much the inherent gap of the second and the third pair of sums is larger than that of the first.
_WORSE = (0.004, 0.016)
_MOST_REPETITIONS = 4
_LONG_STAGE = 3


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


_STAGES = [
    Stage(1000, 2, 15, 5, 0, 3, 5, 100_000, 2_000, 5_000),
    Stage(20, 4, 30, 20, 1, 3, 6, 500_000, 5_000, 60_000),
    Stage(4, 8, 50, 30, 3, 5, 22, 1_000_000, 20_000, 8_000_000),
    Stage(2, 16, 50, 30, 6, 5, 22, 3_000_000, 30_000, 100_000_000),
]


@dataclass
class ProofProgress:
    """Where a proof stands."""

    interval: Interval = EVERYTHING
    stage: int = 0
    layer: int = 0
    layers: int = 0
    labels: int = 0  # alive in the layer at hand
    bounded: int = 0  # removed by bounds, in all
    dominated: int = 0
    points: int = 0
    boxes: int = 0  # below the front
    open_boxes: int = 0


@dataclass
class Proof:
    """A search through all intervals, which can end at any time and then tells which are still open."""

    networks: Networks
    front: KnownFront
    memory_limit: float
    look_up: Callable[[ProofProgress], None]  # called many times a second; may raise to end the proof
    open_intervals: list[Interval] = field(default_factory=lambda: [EVERYTHING])
    first_stage: int = 1
    _proved: list[Interval] = field(init=False)
    _hope: float = np.inf
    _longest: float = field(init=False)
    _extents: NDArray[np.float64] = field(init=False)  # the ends of the front when the stage began
    library: dict[tuple[Stage, float], Prices] = field(default_factory=dict)
    least: list[tuple[NDArray[np.float64], float]] = field(default_factory=list)  # valid for all tours: weights, bound
    progress: ProofProgress = field(default_factory=ProofProgress)
    labels: int = 0
    _memories: dict[tuple[Stage, int], list[list[int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._proved = complement(self.open_intervals)
        self._extents = _ends(self.front)
        self._longest = longest_tour(self.networks)

    def run(self, search_longer: Callable[[], None] = lambda: None) -> None:
        """Prove one interval after the other; those left open in the end need more memory than there is.

        `search_longer` may add tours to the front: called before the third stage, which is long, and before the
        second one if no tour is known.
        """
        self.progress.layers = len(self.networks.forward.opens) - 1
        begin = min(self.first_stage, len(_STAGES))
        for self.progress.stage, stage in enumerate(_STAGES[begin - 1 :], begin):
            if self.progress.stage == _LONG_STAGE:
                search_longer()
            if not len(self.front):
                self._look_for_a_tour(stage)
            if not len(self.front) and self.open_intervals and self.progress.stage == 1:
                search_longer()
            if len(self.front):
                self._extents = _ends(self.front)
                self._search_all(stage)
            if not self.open_intervals:
                break

    def _search_all(self, stage: Stage) -> None:
        """Search all that is open; the ends first, as what is found there moves the borders of the others."""
        self._search_repeatedly(stage, self._first_pieces())
        self._search_repeatedly(stage, self._last_pieces())
        for piece in self._pieces(stage.boxes):
            if np.isfinite(piece).all():
                self._search_repeatedly(stage, repeat(piece))

    def _look_for_a_tour(self, stage: Stage) -> None:
        """Look for a first tour below a cost that grows, as bounds say nothing where nothing is too much."""
        costs = self.networks.forward.costs
        most = unit_costs(costs)[0] + costs[0].max(axis=1).sum()  # no tour costs more
        if not np.isfinite(self._hope):
            prices = self._prices(np.eye(self.front.objectives.shape[1])[0], stage)
            chain = Chain(self.networks, prices, np.inf, self._count)
            chain.turn(min(4, stage.memory))
            self._hope = min(most, _HOPE * max(chain.least, 0.0))
        while not len(self.front):
            is_complete, _ = self._search(EVERYTHING, stage)
            if not is_complete:
                break
            if self._hope == most:  # and none was found
                self._proved, self.open_intervals = [EVERYTHING], []
                break
            self._hope = min(most, _HOPE * self._hope + most / 100)  # which may have been 0

    def _local_upper_bounds(self, interval: Interval) -> NDArray[np.float64]:
        """Return the corners of the boxes of an interval; before there is a tour, what one is hoped to cost."""
        boxes = self.front.local_upper_bounds(interval)
        boxes[:, 0] = np.minimum(boxes[:, 0], self._longest if len(self.front) else self._hope)
        return boxes

    def _first_pieces(self) -> Iterator[Interval]:
        """Yield what is open below the first point of the front, which may move."""
        while self.open_intervals and self._pieces()[0][0] == -np.inf:
            yield self._pieces()[0]

    def _last_pieces(self) -> Iterator[Interval]:
        """Yield what is open beyond the last point of the front, unless that is everything."""
        while self.open_intervals and self._pieces()[-1][1] == np.inf and self._pieces()[-1][0] > -np.inf:
            yield self._pieces()[-1]

    def _pieces(self, boxes: int = 1000) -> list[Interval]:
        parts = -(-(len(self.front) + 1) // boxes)
        return partition(self.open_intervals, self.front, parts)

    def _search_repeatedly(self, stage: Stage, intervals: Iterator[Interval]) -> None:
        """Search an interval as long as that finds new tours."""
        for interval in islice(intervals, _MOST_REPETITIONS):
            self.progress.interval = interval
            self.progress.boxes = len(self.front) + 1
            self.progress.open_boxes = sum(len(self.front.local_upper_bounds(each)) for each in self.open_intervals)
            is_complete, n_new = self._search(interval, stage)
            if is_complete:
                self._proved.append(interval)
                self.open_intervals = complement(self._proved)
            if is_complete or not n_new:
                break

    def _search(self, interval: Interval, stage: Stage) -> tuple[bool, int]:
        """Return whether all tours of an interval were enumerated, and how many new points were found."""
        boxes = self._local_upper_bounds(interval)
        chains = self._chains(boxes, [self._prices(weights, stage) for weights in self._sums(boxes, stage)], stage)
        if any(chain.is_empty for chain in chains):
            return True, 0
        ready = [(chain.prices, chain.back) for chain in chains if chain.back is not None]
        if not ready:
            return False, 0
        networks, limits = chains[-1].networks, [chain.limit for chain in chains if chain.back is not None]
        total, skips_beams, had_tours = 0, False, len(self.front) > 0
        for width in [*[stage.beam] * _MOST_REPETITIONS, stage.width]:
            if width == stage.beam and skips_beams:
                continue
            if had_tours:
                boxes = self._local_upper_bounds(interval)
            corners = np.column_stack([self._corners(boxes, prices) for prices, _ in ready])
            if (corners > limits).any():
                raise AssertionError("bounds were used beyond what they were made for")
            is_complete, n_new = self._enumerate(networks, bounds_of_tours(networks, ready, corners), width)
            total += n_new
            if is_complete:
                return True, total
            skips_beams = not n_new
        return False, total

    def _enumerate(self, networks: Networks, bounds: Bounds, width: int) -> tuple[bool, int]:
        """Return whether all tours that the bounds leave were enumerated, and how many new points were found."""
        network = networks.forward
        layer, ancestry, is_complete = root(network), Ancestry(), True
        room = self.memory_limit - bounds.values.nbytes * 4
        width = min(width, int(0.6 * room / BYTES_PER_LABEL))
        for position in range(1, len(network.opens)):
            self.progress.layer = position
            extension = next_layer(network, bounds, layer, position, look_up=self._count, width=max(width, 1))
            layer = extension.layer
            self.progress.bounded += int(extension.numbers[BOUNDED])
            self.progress.dominated += int(extension.numbers[DOMINATED])
            ancestry.add(layer)
            if extension.is_cut or ancestry.size * BYTES_PER_ANCESTOR > 0.3 * room:
                is_complete = False
            if not len(layer.states):
                break
        self.labels += ancestry.size
        return is_complete, self._add_tours(layer, ancestry)

    def _corners(self, boxes: NDArray[np.float64], prices: Prices) -> NDArray[np.float64]:
        """Return what the weighted sum of a tour in a box is below."""
        sums = _sums(boxes, prices.weights)
        below = _STEPS_BELOW_A_CORNER * _sums(step_below(boxes), prices.weights)
        return np.asarray(sums - below + self._noise(sums, prices.dual_prices))

    def _noise(self, sums: NDArray[np.float64], dual_prices: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return by how much weighted sums may differ when they are made in another order."""
        largest = np.abs(sums) + 2 * np.abs(dual_prices).sum()  # that is added up on the way
        return np.asarray(_NOISE * len(self.networks.forward.opens) * largest)

    def _limit(
        self, boxes: NDArray[np.float64], weights: NDArray[np.float64], dual_prices: NDArray[np.float64]
    ) -> float:
        """Return up to where bounds must hold for all boxes."""
        sums = _sums(boxes, weights)
        unit = float(unit_costs(self.networks.forward.costs) @ weights)
        room = _ABOVE_THE_CORNERS * unit + _SHARE_ABOVE_THE_CORNERS * np.abs(sums) + 2 * self._noise(sums, dual_prices)
        return float((sums + room).max())

    def _count(self, numbers: NDArray[np.int64]) -> None:
        self.progress.labels = int(numbers[COUNT] - numbers[REMOVED])
        self.progress.points = len(self.front)
        self.look_up(self.progress)

    def _add_tours(self, layer: Layer, ancestry: Ancestry) -> int:
        """Close the paths that are back in time, and take in what they are worth; returns how many points are new."""
        last, network = layer.last(), self.networks.forward
        in_time = np.flatnonzero(layer.times + network.travel[last, 0] <= self.networks.back_by)
        objectives = rounded_all((layer.costs + network.costs[:, last, 0].T)[in_time])
        new = np.flatnonzero(self.front.is_new(objectives))
        return self.front.add((objectives[i], ancestry.tour(int(in_time[i]))) for i in new)

    def _chains(self, boxes: NDArray[np.float64], every: list[Prices], stage: Stage) -> list[Chain]:
        """Return passes of routes for each of some weighted sums, on arcs that they share."""
        networks, chains = self.networks, list[Chain]()
        most = min(stage.pass_labels, self.memory_limit / BYTES_PER_LABEL)
        for prices in every:
            limit = self._limit(boxes, prices.weights, prices.dual_prices)
            chain = Chain(networks, prices, limit, self._count, most)
            chain.narrow(stage.memory)
            if not chains:  # of whose arcs none was dropped for another sum
                self.least.append((prices.weights, chain.bound))
            chains.append(chain)
            networks = chain.networks
            if chain.is_empty:
                break
        return chains

    def _sums(self, boxes: NDArray[np.float64], stage: Stage) -> list[NDArray[np.float64]]:
        """Return the weights of a group: those whose gap is the least even with perfect bounds, and some beside."""
        m = boxes.shape[1]
        if m == 1 or not len(self.front) or np.isinf(boxes[:, 1]).any():
            return [np.eye(m)[0]]
        if np.isinf(boxes[:, 0]).any():
            return [np.eye(m)[1]]
        every = np.stack([self._weights(share) for share in _SHARES])
        sums = boxes @ every.T
        highest = sums.max(axis=0)
        gaps = (highest - (self.front.objectives @ every.T).min(axis=0)) / np.maximum(np.abs(highest), 1e-300)
        best = int(np.argmin(gaps))
        chosen = [best]
        for worse in _WORSE[: stage.n_sums // 2]:
            is_worse = gaps >= gaps[best] + worse
            left, right = np.flatnonzero(is_worse[:best]), np.flatnonzero(is_worse[best:])
            chosen.append(int(left[-1]) if len(left) else 0)
            chosen.append(best + int(right[0]) if len(right) else len(every) - 1)
        if best in (0, len(every) - 1):
            chosen.reverse()  # a single cost has the weakest bound: it profits from the arcs that others drop
        return [every[k] for k in dict.fromkeys(chosen)]

    def _weights(self, share: float) -> NDArray[np.float64]:
        """Return weights that sum up to 1; with a share of a half, both objectives count alike along the front."""
        extents = np.ptp(self._extents, axis=0)
        extents = np.where(extents > 0, extents, 1.0)
        weights = np.array([share * extents[1], (1 - share) * extents[0]])
        return np.asarray(weights / weights.sum())

    def _prices(self, weights: NDArray[np.float64], stage: Stage) -> Prices:
        """Return prices for weights, between those of the library on both sides.

        The bound is a concave function of weights and prices: between two entries it is no worse than theirs.
        """
        if len(weights) == 1 or not len(self._extents):
            return self._entry(weights, stage)
        extents = np.ptp(self._extents, axis=0)
        ratio = weights * np.where(extents > 0, extents, 1.0)
        place = float(ratio[0] / ratio.sum()) * stage.entries
        low = min(int(place + 1e-9), stage.entries)
        lower = self._entry(self._weights(low / stage.entries), stage)
        if place - low < 1e-9:
            return lower._replace(weights=weights)
        upper = self._entry(self._weights((low + 1) / stage.entries), stage)
        share = float((weights[0] - lower.weights[0]) / (upper.weights[0] - lower.weights[0]))
        if (stage, low) not in self._memories:  # which grow with each group
            merged = [_merged(*lists) for lists in zip(lower.memories, upper.memories, strict=True)]
            self._memories[stage, low] = merged
        dual_prices = (1 - share) * lower.dual_prices + share * upper.dual_prices
        return Prices(weights, dual_prices, self._memories[stage, low])

    def _entry(self, weights: NDArray[np.float64], stage: Stage) -> Prices:
        """Return an entry of the library, made when it is first needed."""
        key = stage, float(weights[0])
        if key not in self.library:
            self.library[key] = self._search_prices(weights, stage)
        return self.library[key]

    def _search_prices(self, weights: NDArray[np.float64], stage: Stage) -> Prices:
        """Look for good prices for a weighted sum, on the full network, from those of the nearest sum known."""
        sums = weighted(self.networks, weights)
        near = min(self.library.values(), key=lambda known: np.abs(known.weights - weights).max(), default=None)
        if near is not None and np.abs(near.dual_prices).max() > _OUT_OF_SCALE * sums.max():
            near = None
        start = (
            Prices(weights, np.zeros(len(sums)), self._nearest(sums))
            if near is None
            else near._replace(weights=weights)
        )
        best_known = float((self.front.objectives @ weights).min()) if len(self.front) else 2.0 * sums.max()
        search = PriceSearch(self.networks, start, best_known, self._count)
        horizon = self.networks.horizon
        if near is None:
            search.climb(stage.coarse_steps, size=0, grid=horizon / _COARSE)
        size = min(4, stage.memory)
        search.climb(stage.fine_steps, size=size, grid=horizon / _COARSE)
        if stage.rounds and len(self.front):
            corners = self._local_upper_bounds(EVERYTHING)
            lowest = np.sort(_sums(corners, weights))[: stage.boxes]
            limit = float(lowest[np.isfinite(lowest)].max()) + _ABOVE_THE_CORNERS
            search.sharpen(limit, stage.rounds, size=size, steps=8, grid=horizon / _FINE, most=stage.pass_labels)
        return search.prices

    def _nearest(self, sums: NDArray[np.float64]) -> list[list[int]]:
        """Return for each city the two nearest ones."""
        usable = self.networks.arcs.any(axis=0)
        distances = np.where(usable | usable.T, np.minimum(sums, sums.T), np.inf)
        return [
            [int(j) for j in np.argsort(row, kind="stable") if j not in (0, i) and np.isfinite(row[j])][:2]
            for i, row in enumerate(distances)
        ]


def _ends(front: KnownFront) -> NDArray[np.float64]:
    return np.concatenate([front.objectives[:1], front.objectives[-1:]])


def _merged(one: list[int], other: list[int]) -> list[int]:
    """Return the items of both lists, in turn."""
    return list(dict.fromkeys(item for pair in zip_longest(one, other) for item in pair if item is not None))


def _sums(points: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weighted sums in which an infinite value with weight 0 counts as nothing."""
    return np.asarray(np.where(weights > 0, points, 0.0) @ weights)
