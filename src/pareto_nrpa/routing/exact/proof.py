"""The proof that a front is complete: every interval of the first objective is searched until nothing is left in it.

An interval is searched by labels, from the depot on, that the completion bounds of a few directions leave alive. While
there are too many, only the most promising go on: that proves nothing, but finds most of the tours still missing, with
which there are fewer labels the next time. Then the interval is cut into shorter ones, which need fewer labels, and the
bounds are made stronger.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice, repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..matrices import rounded_all, step_below
from .labelling import BOUNDED, COUNT, DOMINATED, REMOVED
from .layers import BYTES_PER_ANCESTOR, BYTES_PER_LABEL, Ancestry, Layer, next_layer, root
from .network import unit_costs
from .region import EVERYTHING, Interval, KnownFront, complement, partition
from .relaxation import Direction, Effort, Relaxation, combined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from .network import Networks

# Objectives are rounded: a tour in a box is at least a step below its corner, of which half is the rounding.
_STEPS_BELOW_A_CORNER = 0.25
# Sums made in another order than along a tour may differ by so much, for each city and unit.
_NOISE = 1e-15
# Bounds are made for a little more than the corners, as they are such sums themselves; in costs up to 1 for less.
_ABOVE_THE_CORNERS = 1e-6
_SHARE_ABOVE_THE_CORNERS = 1e-10
_DIRECTIONS_KEPT = 12
# Prices of a direction in which costs are so much larger say nothing of another one.
_OUT_OF_SCALE = 1e3
# What a first tour is hoped to cost, in terms of the least that it can cost; and so on if there is none.
_HOPE = 1.2


class Stage(NamedTuple):
    """How an interval is searched."""

    effort: Effort
    width: int  # labels of a layer, at most
    parts: int  # that the open intervals are cut into, about


_QUICK = Effort(coarse_steps=15, fine_steps=5, memory=4, final_memory=5)
_STRONG = Effort(coarse_steps=20, fine_steps=20, memory=5, final_memory=8)
_STRONGER = Effort(coarse_steps=20, fine_steps=30, memory=6, final_memory=10)
_STAGES = [
    Stage(_QUICK, 5_000, 2),
    Stage(_STRONG, 60_000, 3),
    Stage(_STRONG, 300_000, 6),
    Stage(_STRONGER, 2_000_000, 12),
    Stage(_STRONGER, 10_000_000, 24),
    Stage(_STRONGER, 100_000_000, 64),
]
# Of a layer that is too large, so many go on: what they find does not get better with more.
_WIDTH_AFTER_A_CUT = 30_000
_MOST_REPETITIONS = 4


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
    directions: list[Direction] = field(default_factory=list)
    least: list[tuple[NDArray[np.float64], float]] = field(default_factory=list)  # valid for all tours: weights, bound
    progress: ProofProgress = field(default_factory=ProofProgress)
    labels: int = 0

    def __post_init__(self) -> None:
        self._proved = complement(self.open_intervals)

    def run(self, search_longer: Callable[[], None] = lambda: None) -> None:
        """Prove one interval after the other; those left open in the end need more memory than there is.

        `search_longer` is called once if no tour is known after the first stage, and may add some to the front.
        """
        self.progress.layers = len(self.networks.forward.opens) - 1
        begin = min(self.first_stage, len(_STAGES))
        for self.progress.stage, stage in enumerate(_STAGES[begin - 1 :], begin):
            if not len(self.front):
                self._look_for_a_tour(stage)
            if not len(self.front) and self.open_intervals and self.progress.stage == 1:
                search_longer()
            if len(self.front):
                self._search_all(stage)
            if not self.open_intervals:
                break

    def _search_all(self, stage: Stage) -> None:
        """Search all that is open; the ends first, as what is found there moves the borders of the others."""
        self._search_repeatedly(stage, self._first_pieces())
        self._search_repeatedly(stage, self._last_pieces())
        for piece in self._pieces(stage.parts):
            if np.isfinite(piece).all():
                self._search_repeatedly(stage, repeat(piece))

    def _look_for_a_tour(self, stage: Stage) -> None:
        """Look for a first tour below a cost that grows, as bounds say nothing where nothing is too much."""
        costs = self.networks.forward.costs
        most = unit_costs(costs)[0] + costs[0].max(axis=1).sum()  # no tour costs more
        if not np.isfinite(self._hope):
            weights = np.eye(self.front.objectives.shape[1])[0]
            boxes = np.full((1, len(weights)), most)
            self._hope = min(most, _HOPE * self._make_direction(weights, boxes, stage.effort, None).least)
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
        if not len(self.front):
            boxes[:, 0] = self._hope
        return boxes

    def _first_pieces(self) -> Iterator[Interval]:
        """Yield what is open below the first point of the front, which may move."""
        while self.open_intervals and self._pieces(1)[0][0] == -np.inf:
            yield self._pieces(1)[0]

    def _last_pieces(self) -> Iterator[Interval]:
        """Yield what is open beyond the last point of the front, unless that is everything."""
        while self.open_intervals and self._pieces(1)[-1][1] == np.inf and self._pieces(1)[-1][0] > -np.inf:
            yield self._pieces(1)[-1]

    def _pieces(self, parts: int) -> list[Interval]:
        return partition(self.open_intervals, self.front, parts)

    def _search_repeatedly(self, stage: Stage, intervals: Iterator[Interval]) -> None:
        """Search an interval as long as that finds new tours."""
        for interval in islice(intervals, _MOST_REPETITIONS):
            self.progress.interval = interval
            is_complete, n_new = self._search(interval, stage)
            if is_complete:
                self._proved.append(interval)
                self.open_intervals = complement(self._proved)
            if is_complete or not n_new:
                break

    def _search(self, interval: Interval, stage: Stage) -> tuple[bool, int]:
        """Return whether the labels of an interval were all followed to the end, and how many new points were found."""
        boxes = self._local_upper_bounds(interval)
        directions = self._directions(interval, stage.effort)
        corners = np.column_stack([self._corners(boxes, direction) for direction in directions])
        if (corners > [direction.limit for direction in directions]).any():
            raise AssertionError("bounds were used beyond what they were made for")
        bounds = combined(directions, np.minimum(corners, 1e299))
        network = self.networks.forward
        layer, ancestry, is_complete = root(network), Ancestry(), True
        tables = sum(direction.bounds.values.nbytes for direction in self.directions)
        room = self.memory_limit - tables - bounds.values.nbytes
        width = min(stage.width, int(0.6 * room / BYTES_PER_LABEL))
        for position in range(1, len(network.opens)):
            self.progress.layer = position
            layer, numbers, is_cut = next_layer(
                network, bounds, layer, position, look_up=self._count, width=max(width, 1)
            )
            self.progress.bounded += int(numbers[BOUNDED])
            self.progress.dominated += int(numbers[DOMINATED])
            ancestry.add(layer)
            if is_cut or ancestry.size * BYTES_PER_ANCESTOR > 0.3 * room:
                is_complete, width = False, min(width, _WIDTH_AFTER_A_CUT)
            if not len(layer.states):
                break
        self.labels += ancestry.size
        return is_complete, self._add_tours(layer, ancestry)

    def _corners(self, boxes: NDArray[np.float64], direction: Direction) -> NDArray[np.float64]:
        """Return what the weighted sum of a tour in a box is below."""
        sums = _sums(boxes, direction.weights)
        below = _STEPS_BELOW_A_CORNER * _sums(step_below(boxes), direction.weights)
        return np.asarray(sums - below + self._noise(sums, direction.dual_prices))

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

    def _directions(self, interval: Interval, effort: Effort) -> list[Direction]:
        """Return the directions in which an interval is bounded: across it, and across its neighbours."""
        boxes = self._local_upper_bounds(interval)
        if self.front.objectives.shape[1] == 1:
            return [self._direction(np.ones(1), boxes, effort)]
        first = self.front.objectives[:, 0]
        if not len(first) or interval[1] <= first[0]:
            return [self._direction(np.array([1.0, 0.0]), boxes, effort)]
        if interval[0] >= first[-1]:
            return [self._direction(np.array([0.0, 1.0]), boxes, effort)]
        begin = max(int(np.searchsorted(first, interval[0], "right")) - 1, 0)
        end = min(int(np.searchsorted(first, interval[1])), len(first) - 1)
        left, right = max(0, 2 * begin - end), min(len(first) - 1, 2 * end - begin)
        around = self.front.local_upper_bounds((first[left], first[right]))
        around = np.concatenate([boxes, around[np.isfinite(around).all(axis=1)]])
        across = self._across(begin, end)
        return [
            self._direction(across, around, effort),
            *(
                self._direction(beside, around, effort, tolerance=0.7 * np.abs(beside - across).max())
                for beside in (self._across(left, begin), self._across(end, right))
            ),
        ]

    def _across(self, begin: int, end: int) -> NDArray[np.float64]:
        """Return the weights for which two points of the front are equally good; beyond the ends, one objective."""
        if begin == end:
            return np.array([1.0, 0.0]) if begin == 0 else np.array([0.0, 1.0])
        left, right = self.front.objectives[begin], self.front.objectives[end]
        weights = np.array([left[1] - right[1], right[0] - left[0]])
        return np.asarray(weights / weights.sum())

    def _direction(
        self, weights: NDArray[np.float64], boxes: NDArray[np.float64], effort: Effort, tolerance: float = 0.03
    ) -> Direction:
        """Return the bounds for a direction, good for some boxes: made before for nearly the same one, or made now."""
        alike = [known for known in self.directions if known.effort == effort]
        near = _nearest(weights, alike) or _nearest(weights, self.directions)
        is_known = near is not None and near.effort == effort and _distance(near.weights, weights) <= tolerance
        if near is None or not is_known:
            return self._make_direction(weights, boxes, effort, near)
        if self._limit(boxes, near.weights, near.dual_prices) <= near.limit:
            return near
        self.directions = [known for known in self.directions if known is not near]
        return self._make_direction(near.weights, boxes, effort, near, new_dual_prices=False)

    def _make_direction(
        self,
        weights: NDArray[np.float64],
        boxes: NDArray[np.float64],
        effort: Effort,
        near: Direction | None,
        *,
        new_dual_prices: bool = True,
    ) -> Direction:
        """Compute the bounds for a direction, starting from what was found for a near one."""
        relaxation = Relaxation(self.networks, weights, self._count)
        if near is not None and np.abs(near.dual_prices).max() > _OUT_OF_SCALE * relaxation.sums.max():
            near = None
        relaxation.start_from(near)
        if new_dual_prices:
            best_known = (self.front.objectives @ weights).min() if len(self.front) else 2 * relaxation.sums.max()
            relaxation.find_dual_prices(float(best_known), effort, is_warm=near is not None)
        direction = relaxation.direction(self._limit(boxes, weights, relaxation.dual_prices), effort)
        self.least.append((weights, direction.least))
        self.directions = [*self.directions[1 - _DIRECTIONS_KEPT :], direction]
        return direction


def _nearest(weights: NDArray[np.float64], directions: list[Direction]) -> Direction | None:
    return min(directions, key=lambda known: _distance(known.weights, weights), default=None)


def _distance(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    return float(np.abs(a - b).max())


def _sums(points: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weighted sums in which an infinite value with weight 0 counts as nothing."""
    return np.asarray(np.where(weights > 0, points, 0.0) @ weights)
