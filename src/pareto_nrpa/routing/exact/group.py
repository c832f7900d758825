"""The search of an interval of the first objective: a group of neighbouring boxes below the front.

For some weighted sums of the costs, passes of routes drop the arcs that no tour in the boxes can use at a position,
and bound the completions of every path. Labels of real costs, from the depot on, then enumerate all tours that every
one of these sums leaves. While there are too many, only the most promising are extended: that proves nothing, but
finds most of the tours still missing, with which there are fewer labels the next time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..matrices import rounded_all, step_below
from .certificate import Group, GroupSum
from .labelling import BOUNDED, DOMINATED, Bounds
from .layers import BYTES_PER_ANCESTOR, BYTES_PER_LABEL, Ancestry, Layer, next_layer, root
from .network import Networks, unit_costs
from .region import Interval
from .relaxation import Chain, Prices, bounds_of_tours
from .setting import ABOVE_THE_CORNERS, Counts, Setting, counted, finite_sums

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# Objectives are rounded: a tour in a box is at least a step below its corner, of which half is the rounding.
_STEPS_BELOW_A_CORNER = 0.25
# Sums made in another order than along a tour may differ by so much, for each city and unit.
_NOISE = 1e-15
_SHARE_ABOVE_THE_CORNERS = 1e-10
#: How often an interval is searched while that finds new tours.
MOST_REPETITIONS = 4


class Outcome(NamedTuple):
    """What the search of a group ended with."""

    interval: Interval
    is_complete: bool  # all its tours were enumerated
    tours: list[tuple[NDArray[np.float64], list[int]]]  # new ones in the interval: those of groups never coincide
    chains: list[tuple[Prices, list[int]]]  # prices and passes with which it was completed
    least: list[tuple[NDArray[np.float64], float]]  # valid for all tours: weights, bound
    labels: int

    def line(self) -> Group:
        """Return what a checker needs to verify a complete group."""
        begin, end = (x if np.isfinite(x) else None for x in self.interval)
        return Group(
            begin,
            end,
            [
                GroupSum(prices.weights.tolist(), prices.dual_prices.tolist(), prices.memories, passes)
                for prices, passes in self.chains
            ],
        )


def search_group(
    setting: Setting, interval: Interval, look_up: Callable[[Counts], None], repetitions: int = MOST_REPETITIONS
) -> Outcome:
    """Search an interval as long as that finds new tours."""
    group = _Group(setting, interval, look_up)
    chains: list[tuple[Prices, list[int]]] = []
    is_complete = False
    for _ in range(repetitions):
        before = len(group.found)
        is_complete, chains = group.search()
        if is_complete or len(group.found) == before:
            break
    tours = [found for found in group.found if interval[0] <= found[0][0] < interval[1]]
    return Outcome(interval, is_complete, tours, chains if is_complete else [], group.least, group.labels)


class _Group:
    def __init__(self, setting: Setting, interval: Interval, look_up: Callable[[Counts], None]) -> None:
        self.found: list[tuple[NDArray[np.float64], list[int]]] = []
        self.least: list[tuple[NDArray[np.float64], float]] = []
        self.labels = 0
        self._setting, self._interval = setting, interval
        self._prices = [setting.prices(weights) for weights in setting.sums(setting.boxes(setting.front, interval))]
        self._front = setting.front.copy()
        self._look_up, self._counts = look_up, Counts()

    def search(self) -> tuple[bool, list[tuple[Prices, list[int]]]]:
        """Return whether all tours of the interval were enumerated, and with which sums."""
        setting, interval = self._setting, self._interval
        boxes = setting.boxes(self._front, interval)
        chains = self._chains(boxes, self._prices)
        used = [(chain.prices, chain.sizes) for chain in chains if chain.sizes]
        if any(chain.is_empty for chain in chains):
            return True, used
        ready = [(chain.prices, chain.back) for chain in chains if chain.back is not None]
        if not ready:
            return False, used
        networks, limits = chains[-1].networks, [chain.limit for chain in chains if chain.back is not None]
        stage, skips_beams, had_tours = setting.stage, False, len(self._front) > 0
        for width in [*[stage.beam] * MOST_REPETITIONS, stage.width]:
            if width == stage.beam and skips_beams:
                continue
            if had_tours:
                boxes = setting.boxes(self._front, interval)
            corners = np.column_stack([self._corners(boxes, prices) for prices, _ in ready])
            if (corners > limits).any():
                raise AssertionError("bounds were used beyond what they were made for")
            is_complete, n_new = self._enumerate(networks, bounds_of_tours(networks, ready, corners), width)
            if is_complete:
                return True, used
            skips_beams = not n_new
        return False, used

    def _enumerate(self, networks: Networks, bounds: Bounds, width: int) -> tuple[bool, int]:
        """Return whether all tours that the bounds leave were enumerated, and how many new points were found."""
        network = networks.forward
        layer, ancestry, is_complete = root(network), Ancestry(), True
        room = self._setting.memory_limit - bounds.values.nbytes * 4
        width = min(width, int(0.6 * room / BYTES_PER_LABEL))
        for position in range(1, len(network.opens)):
            self._counts = self._counts._replace(layer=position)
            extension = next_layer(network, bounds, layer, position, look_up=self._count, width=max(width, 1))
            layer, counts = extension.layer, self._counts
            self._counts = counts._replace(
                bounded=counts.bounded + int(extension.numbers[BOUNDED]),
                dominated=counts.dominated + int(extension.numbers[DOMINATED]),
            )
            ancestry.add(layer)
            if extension.is_cut or ancestry.size * BYTES_PER_ANCESTOR > 0.3 * room:
                is_complete = False
            if not len(layer.states):
                break
        self.labels += ancestry.size
        return is_complete, self._add_tours(layer, ancestry)

    def _corners(self, boxes: NDArray[np.float64], prices: Prices) -> NDArray[np.float64]:
        """Return what the weighted sum of a tour in a box is below."""
        sums = finite_sums(boxes, prices.weights)
        below = _STEPS_BELOW_A_CORNER * finite_sums(step_below(boxes), prices.weights)
        return np.asarray(sums - below + self._noise(sums, prices.dual_prices))

    def _noise(self, sums: NDArray[np.float64], dual_prices: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return by how much weighted sums may differ when they are made in another order."""
        largest = np.abs(sums) + 2 * np.abs(dual_prices).sum()  # that is added up on the way
        return np.asarray(_NOISE * len(dual_prices) * largest)

    def _limit(self, boxes: NDArray[np.float64], prices: Prices) -> float:
        """Return up to where bounds must hold for all boxes."""
        sums = finite_sums(boxes, prices.weights)
        unit = float(unit_costs(self._setting.networks.forward.costs) @ prices.weights)
        room = ABOVE_THE_CORNERS * unit + _SHARE_ABOVE_THE_CORNERS * np.abs(sums)
        return float((sums + room + 2 * self._noise(sums, prices.dual_prices)).max())

    def _count(self, numbers: NDArray[np.int64]) -> None:
        counted(self._look_up, self._counts)(numbers)

    def _add_tours(self, layer: Layer, ancestry: Ancestry) -> int:
        """Close the paths that are back in time, and take in what they are worth; returns how many points are new."""
        networks, last = self._setting.networks, layer.last()
        network = networks.forward
        in_time = np.flatnonzero(layer.times + network.travel[last, 0] <= networks.back_by)
        objectives = rounded_all((layer.costs + network.costs[:, last, 0].T)[in_time])
        new = np.flatnonzero(self._front.is_new(objectives))
        tours = [(objectives[i], ancestry.tour(int(in_time[i]))) for i in new]
        self.found += tours
        return self._front.add(tours)

    def _chains(self, boxes: NDArray[np.float64], every: list[Prices]) -> list[Chain]:
        """Return passes of routes for each of some weighted sums, on arcs that they share."""
        stage, networks, chains = self._setting.stage, self._setting.networks, list[Chain]()
        most = min(stage.pass_labels, self._setting.memory_limit / BYTES_PER_LABEL)
        for prices in every:
            chain = Chain(networks, prices, self._limit(boxes, prices), self._count, most)
            chain.narrow(stage.memory)
            if not chains:  # of whose arcs none was dropped for another sum
                self.least.append((prices.weights, chain.bound))
            chains.append(chain)
            networks = chain.networks
            if chain.is_empty:
                break
        return chains
