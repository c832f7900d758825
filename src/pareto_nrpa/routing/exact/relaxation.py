"""What a weighted sum of the costs is at least, for a tour and for every way to complete a path.

The relaxation: ng-routes, paths that visit n - 1 cities in their windows but forget cities they have been to. Visiting
a city costs its dual price; a tour pays each price once, so prices that make the cheapest route a tour are the best
ones. The routes made on the reversed network are the completions of those made forwards, and the other way round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .labelling import LAST_BITS, Bounds
from .layers import Layer, in_order, next_layer, no_bounds, root
from .network import Networks, relaxed, used_arcs, with_arcs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

# By how much the times of a route and of its completion may overlap: rounding, on the safe side.
_TIME_TOLERANCE = 1e-7


class Prices(NamedTuple):
    """A weighted sum of the costs, with dual prices that make its bound high and memories that keep it so."""

    weights: NDArray[np.float64]
    dual_prices: NDArray[np.float64]
    memories: list[list[int]]  # for each city, which ones it remembers, the most important first


class Completions(NamedTuple):
    """The routes of a pass as completions; see `Bounds`."""

    begins: NDArray[np.int64]  # [n, n + 1]
    memories: NDArray[np.uint64]
    latest: NDArray[np.float64]
    values: NDArray[np.float64]


class Pass(NamedTuple):
    """All routes of a direction of time that the bounds left."""

    layers: list[Layer]
    completions: Completions | None  # None if some layer is empty: no route is below the limit
    arcs: NDArray[np.bool_]  # that they use, by position
    labels: int


# Whose cycles are to be remembered, for good and in a group of boxes.
_ROUTES_TO_LEARN_FROM, _ROUTES_OF_A_GROUP = 6, 20
# A pass with fewer labels need not be repeated with more memory.
_FEW_LABELS = 1500
# More memory is of no use where two passes leave more than this share of the arcs.
_TOO_MANY_LEFT = 0.9


class TooManyLabels(Exception):
    """A pass has more labels than it may have."""


def weighted(networks: Networks, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weighted sum of the costs of each arc, [n, n]."""
    return np.asarray(np.tensordot(weights, networks.forward.costs, axes=1))


def run_pass(
    networks: Networks,
    prices: Prices,
    size: int,
    *,
    is_backward: bool,
    look_up: Callable[[NDArray[np.int64]], None],
    opposite: Completions | None = None,
    limit: float = np.inf,
    most: float = np.inf,
    grid: float = 0.0,
) -> Pass:
    """Make all routes in one direction.

    Parameters
    ----------
    size
        How many cities a city remembers, at most.
    opposite
        Routes in the other direction: what cannot be completed below the limit is left out.
    most
        Labels, above which `TooManyLabels` is raised.
    grid
        Times are rounded to it, if it is not 0: for the search of dual prices only.
    """
    n = len(prices.dual_prices)
    sums = weighted(networks, prices.weights)
    network = relaxed(
        networks.backward if is_backward else networks.forward,
        (sums.T if is_backward else sums) + prices.dual_prices,
        _members(prices.memories, size),
    )
    bounds = no_bounds(n, 1)
    if opposite is not None:
        bounds = _bounds_of_routes(network.costs[0], float(prices.dual_prices.sum()), opposite, limit)
    layer, layers, used, labels = root(network), [], np.zeros((n + 1, n, n), bool), 0
    for position in range(1, n):
        extension = next_layer(network, bounds, layer, position, look_up=look_up, grid=grid)
        layer, used[position] = in_order(extension.layer), extension.used
        layers.append(layer)
        labels += len(layer.states)
        if labels > most:
            raise TooManyLabels
        if not len(layer.states):
            return Pass(layers, None, np.zeros_like(networks.arcs), labels)
    completions = _completions(layers, prices.dual_prices, network.bits, networks.horizon)
    return Pass(layers, completions, used_arcs(networks, used, is_backward=is_backward), labels)


def _members(memories: list[list[int]], size: int) -> NDArray[np.bool_]:
    """Return [n, n] which cities a city remembers."""
    members = np.eye(len(memories), dtype=bool)
    for row, cities in zip(members, memories, strict=True):
        row[cities[:size]] = True
    return members


def _completions(
    layers: list[Layer], dual_prices: NDArray[np.float64], bits: NDArray[np.uint64], horizon: float
) -> Completions:
    """Return routes as completions of those of the other direction."""
    n = len(dual_prices)
    begins = np.zeros((n, n + 1), np.int64)
    ends = np.cumsum([len(layer.states) for layer in layers])
    for length, (layer, end) in enumerate(zip(layers, ends, strict=True), 1):
        begins[length] = np.searchsorted(layer.last(), np.arange(n + 1)) + (end - len(layer.states))
    states = np.concatenate([layer.states for layer in layers])
    last = np.concatenate([layer.last() for layer in layers]).astype(np.int64)
    return Completions(
        begins=begins,
        memories=(states >> LAST_BITS) & ~bits[last],
        latest=horizon + _TIME_TOLERANCE - np.concatenate([layer.times for layer in layers]),
        values=np.concatenate([layer.costs[:, 0] for layer in layers]) - dual_prices[last],
    )


def _bounds_of_routes(steps: NDArray[np.float64], total: float, opposite: Completions, limit: float) -> Bounds:
    """Return bounds for routes, whose costs include the dual prices."""
    return Bounds(
        weights=np.ones((1, 1)),
        steps=steps[None],
        paid=np.empty((1, 0, 8, 256)),
        to_pay=np.full((1, len(steps) + 1), total),
        begins=opposite.begins[None],
        memories=opposite.memories,
        latest=opposite.latest,
        values=opposite.values,
        corners=np.array([[min(limit, 1e299)]]),
    )


def bounds_of_tours(
    networks: Networks, every: Sequence[tuple[Prices, Completions]], corners: NDArray[np.float64]
) -> Bounds:
    """Return the bounds of several weighted sums for labels of real costs.

    Parameters
    ----------
    corners
        [boxes, sums]: what a tour must stay below, in all sums, to be in a box.
    """
    begins, begin = [], 0
    for _, completions in every:
        begins.append(completions.begins + begin)
        begin += len(completions.values)
    return Bounds(
        weights=np.stack([prices.weights for prices, _ in every]),
        steps=np.stack([weighted(networks, prices.weights) + prices.dual_prices for prices, _ in every]),
        paid=np.stack([_paid(networks, prices.dual_prices) for prices, _ in every]),
        to_pay=np.stack([_to_pay(networks, prices.dual_prices) for prices, _ in every]),
        begins=np.stack(begins),
        memories=np.concatenate([completions.memories for _, completions in every]),
        latest=np.concatenate([completions.latest for _, completions in every]),
        values=np.concatenate([completions.values for _, completions in every]),
        corners=np.minimum(corners, 1e299),
    )


def _paid(networks: Networks, dual_prices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return by position the sum of the dual prices of the cities in each possible byte of a set."""
    network = networks.forward
    bits = network.bits[:, None] >> np.arange(64, dtype=np.uint64) & np.uint64(1)
    of_bits = (network.open * dual_prices) @ bits.astype(float)
    members = np.arange(256)[:, None] >> np.arange(8) & 1
    sums: NDArray[np.float64] = of_bits.reshape(-1, 8, 8) @ members.T.astype(float)
    return sums


def _to_pay(networks: Networks, dual_prices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return by position the dual prices of all cities but those that cannot come after it."""
    is_open = networks.forward.open
    is_left = np.logical_or.accumulate(is_open[::-1])[::-1]
    return np.asarray((is_left * dual_prices).sum(axis=1))


def least_value(networks: Networks, prices: Prices, layers: list[Layer], *, is_backward: bool) -> float:
    """Return the cost of the cheapest of the routes of a pass without limit, which no tour is below."""
    if not len(layers[-1].states):
        return np.inf
    sums = weighted(networks, prices.weights)
    home = (sums.T if is_backward else sums)[layers[-1].last(), 0]
    return float((layers[-1].costs[:, 0] + home).min() - prices.dual_prices.sum())


def cheapest_routes(
    networks: Networks, prices: Prices, layers: list[Layer], count: int
) -> tuple[float, list[list[int]]]:
    """Return the value of the cheapest route made forwards, and the cheapest routes."""
    values = layers[-1].costs[:, 0] + weighted(networks, prices.weights)[layers[-1].last(), 0]
    routes = []
    for path in np.argsort(values, kind="stable")[:count].tolist():
        route = []
        for layer in reversed(layers):
            route.append(int(layer.last()[path]))
            path = int(layer.parents[path])
        routes.append(route[::-1])
    return float(values.min() - prices.dual_prices.sum()), routes


def remember(memories: list[list[int]], routes: list[list[int]], networks: Networks, size: int) -> None:
    """Let the cities of a route remember what shows that it is no tour, where there is room.

    That is a city between its two visits, and one that must not be visited before another one between both.
    """
    for route in routes:
        for end, city in enumerate(route):
            for begin in range(end - 1, -1, -1):
                if route[begin] == city or networks.before[city, route[begin]]:
                    between = route[begin + 1 : end]
                    if all(route[begin] in memories[other] or len(memories[other]) < size for other in between):
                        for other in between:
                            if other != route[begin] and route[begin] not in memories[other]:
                                memories[other].append(route[begin])
                    break


class PriceSearch:
    """A subgradient method for the dual prices of a weighted sum, whose memories grow where routes are no tours."""

    def __init__(
        self, networks: Networks, start: Prices, best_known: float, look_up: Callable[[NDArray[np.int64]], None]
    ) -> None:
        self.networks, self.best_known, self._look_up = networks, best_known, look_up
        self.prices = start._replace(memories=[list(cities) for cities in start.memories])

    def climb(self, steps: int, *, size: int, grid: float) -> None:
        """Make some steps; their direction is a running mean, their times are rounded to a grid."""
        best, best_dual_prices, scale, failures = -np.inf, self.prices.dual_prices, 1.0, 0
        mean: NDArray[np.float64] = np.zeros(len(best_dual_prices))
        for step in range(steps):
            routes = run_pass(self.networks, self.prices, size, is_backward=False, look_up=self._look_up, grid=grid)
            if not len(routes.layers[-1].states):
                return
            value, (route,) = cheapest_routes(self.networks, self.prices, routes.layers, 1)
            failures = 0 if value > best + 1e-3 * abs(best) else failures + 1
            if value > best:
                best, best_dual_prices = value, self.prices.dual_prices
            if failures == 3:
                scale, failures = 0.7 * scale, 0
                self.prices = self.prices._replace(dual_prices=best_dual_prices)
            surplus = np.bincount(route, minlength=len(mean)).astype(np.float64) - 1.0
            surplus[0] = 0.0
            if not surplus.any():
                break
            remember(self.prices.memories, [route], self.networks, size)
            mean = surplus if step == 0 else 0.6 * mean + 0.4 * surplus
            missing = max(self.best_known - value, 2e-4 * abs(self.best_known))
            dual_prices = self.prices.dual_prices + scale * missing / (surplus @ surplus) * mean
            self.prices = self.prices._replace(dual_prices=dual_prices)
        self.prices = self.prices._replace(dual_prices=best_dual_prices)

    def sharpen(self, limit: float, rounds: int, *, size: int, steps: int, grid: float, most: int) -> None:
        """Repeat: drop arcs that no tour below the limit uses, remember more, and look for better prices."""
        for _ in range(rounds):
            chain = Chain(self.networks, self.prices, limit, self._look_up, most)
            try:
                made = [chain.turn(each) for each in memory_sizes(size, is_odd=False)][-1]
            except TooManyLabels:
                return
            if made is None:
                return
            size += 1
            chain.remember(made, _ROUTES_TO_LEARN_FROM, size)
            self.networks = chain.networks
            self.climb(steps, size=size, grid=grid)


def memory_sizes(largest: int, *, is_odd: bool) -> list[int]:
    """Return the memories of passes in turn, an odd number of them if the last one is to be backward."""
    sizes = [*range(4, largest, 2), largest, largest]
    if len(sizes) % 2 == is_odd:
        return sizes
    return [*sizes, largest] if is_odd else sizes[:-1]


class Chain:
    """Passes at fixed prices, backward and forward in turn, each bounded by the one before and on the arcs it left."""

    def __init__(
        self,
        networks: Networks,
        prices: Prices,
        limit: float,
        look_up: Callable[[NDArray[np.int64]], None],
        most: float = np.inf,
    ) -> None:
        self.networks, self.prices, self.limit = networks, prices, limit
        self.back: Completions | None = None
        self.labels = 0
        self.least = -np.inf  # of the values of the routes of the last pass
        self.bound = -np.inf  # what no tour is below, whose arcs were there in the beginning
        self.is_empty = False  # no route is below the limit
        self.sizes: list[int] = []  # of the memories of its passes, in turn
        self._ahead: Completions | None = None
        self._look_up, self._most = look_up, most

    def narrow(self, memory: int) -> None:
        """Make passes with growing memory, until few labels are left or more memory is of no use."""
        arcs = []
        for turn, size in enumerate(memory_sizes(memory, is_odd=True)):
            try:
                made = self.turn(size)
            except TooManyLabels:
                return
            if made is None:
                return
            arcs.append(int(self.networks.arcs.sum()))
            if turn % 2:
                self.remember(made, _ROUTES_OF_A_GROUP, size + 4)
            elif turn and (made.labels < _FEW_LABELS or arcs[-1] > _TOO_MANY_LEFT * arcs[-3]):
                return

    def remember(self, ahead: Pass, count: int, size: int) -> None:
        """Let the cities of the cheapest routes of a pass forward remember what shows that they are no tours."""
        _, routes = cheapest_routes(self.networks, self.prices, ahead.layers, count)
        remember(self.prices.memories, routes, self.networks, size)

    def turn(self, size: int) -> Pass | None:
        """Make the next pass, in which a city remembers up to `size` others; None if no route is below the limit."""
        if self.is_empty:
            return None
        is_backward = self.back is None or self._ahead is not None
        made = run_pass(
            self.networks, self.prices, size, is_backward=is_backward, look_up=self._look_up, most=self._most,
            opposite=self._ahead if is_backward else self.back, limit=self.limit,
        )  # fmt: skip
        self.sizes.append(size)
        self.labels = made.labels
        self.least = least_value(self.networks, self.prices, made.layers, is_backward=is_backward)
        self.bound = max(self.bound, min(self.limit, self.least))
        if made.completions is None or self.least >= self.limit:
            self.is_empty = True
            return None
        self.networks = with_arcs(self.networks, made.arcs)
        if is_backward:
            self.back, self._ahead = made.completions, None
        else:
            self._ahead = made.completions
        return made
