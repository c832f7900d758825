"""What a weighted sum of the costs is at least, for a tour and for every way to complete a path.

The relaxation: ng-routes, paths that visit n - 1 cities in their windows but forget cities they have been to. Visiting
a city costs its dual price; a tour pays each price once, so prices that make the cheapest route a tour are the best
ones. They are found by a subgradient method. At those prices the routes made on the reversed network, by number of
cities, first city, memory and time, are the completion bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .labelling import Bounds, Network, tabulate
from .layers import Layer, next_layer, no_bounds, root
from .network import Networks, relaxed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_FAR = 1e300
_BUCKETS = 32  # of time, in the tables of bounds
_COARSE, _FINE = 100, 400  # times that the search of dual prices tells apart


@dataclass(frozen=True)
class Effort:
    """How much work goes into the bounds of one direction."""

    coarse_steps: int  # for the dual prices
    fine_steps: int  # for the dual prices, while memory grows where routes go round in cycles
    memory: int  # cities remembered at a city, at most
    final_memory: int  # in the table of bounds


class Direction(NamedTuple):
    """Bounds for one weighted sum of the costs, good for values below `limit`."""

    weights: NDArray[np.float64]
    limit: float
    effort: Effort
    least: float  # no tour is below
    dual_prices: NDArray[np.float64]
    neighbours: list[list[int]]
    bounds: Bounds


class Relaxation:
    """The routes of an instance for one weighted sum of its costs."""

    def __init__(
        self,
        networks: Networks,
        weights: NDArray[np.float64],
        look_up: Callable[[NDArray[np.int64]], None],
    ) -> None:
        self.networks = networks
        self.weights = weights
        self.sums = np.tensordot(weights, networks.forward.costs, axes=1)
        self.dual_prices = np.zeros(len(self.sums))
        self._look_up = look_up
        either_way = networks.forward.arcs | networks.forward.arcs.T
        distances = np.where(either_way, np.minimum(self.sums, self.sums.T), np.inf)
        self._nearest = [
            [int(j) for j in np.argsort(row, kind="stable") if j not in (0, i) and np.isfinite(row[j])]
            for i, row in enumerate(distances)
        ]
        self.neighbours = [near[:2] for near in self._nearest]

    def start_from(self, near: Direction | None) -> None:
        """Begin with what was found for a near direction."""
        if near is not None:
            self.dual_prices = near.dual_prices
            self.neighbours = [list(cities) for cities in near.neighbours]

    def find_dual_prices(self, best_known: float, effort: Effort, *, is_warm: bool) -> None:
        """Look for dual prices at which the cheapest route costs most; `best_known` is the value of a tour."""
        self.neighbours = [cities[: effort.memory] for cities in self.neighbours]
        coarse_steps, fine_steps = (0, effort.fine_steps // 3) if is_warm else (effort.coarse_steps, effort.fine_steps)
        self._climb(best_known, coarse_steps, grid=self.networks.horizon / _COARSE, memory=0)
        self._climb(best_known, fine_steps, grid=self.networks.horizon / _FINE, memory=effort.memory)

    def _climb(self, best_known: float, steps: int, *, grid: float, memory: int) -> None:
        """Make some steps of a subgradient method whose direction is a running mean."""
        best, best_dual_prices, scale, failures = -_FAR, self.dual_prices, 1.0, 0
        mean: NDArray[np.float64] = np.zeros(len(self.dual_prices))
        for step in range(steps):
            layers = self._routes(self.networks.forward, self.neighbours, grid=grid)
            if layers is None:
                return
            value, route = self._cheapest(layers)
            if value > best + 1e-3 * abs(best):
                failures = 0
            else:
                failures += 1
            if value > best:
                best, best_dual_prices = value, self.dual_prices
            if failures == 3:
                scale, failures = 0.7 * scale, 0
                self.dual_prices = best_dual_prices
            surplus = np.bincount(route, minlength=len(self.dual_prices)).astype(np.float64) - 1.0
            surplus[0] = 0.0
            if not surplus.any():
                break
            if memory:
                self._remember_cycles(route, memory)
            mean = surplus if step == 0 else 0.6 * mean + 0.4 * surplus
            missing = max(best_known - value, 2e-4 * abs(best_known))
            self.dual_prices = self.dual_prices + scale * missing / (surplus @ surplus) * mean
        self.dual_prices = best_dual_prices

    def _routes(
        self,
        network: Network,
        neighbours: list[list[int]],
        *,
        grid: float = 0.0,
        bounds: Bounds | None = None,
    ) -> list[Layer] | None:
        """Return all routes, layer by layer, or None if there are none."""
        n = len(self.dual_prices)
        sums = self.sums if network is self.networks.forward else self.sums.T
        network = relaxed(network, sums + self.dual_prices, _memories(neighbours))
        bounds = bounds or no_bounds(n, 1)
        layer, layers = root(network), []
        for position in range(1, n):
            layer, _, _ = next_layer(network, bounds, layer, position, look_up=self._look_up, grid=grid)
            if not len(layer.states):
                return None
            layers.append(layer)
        return layers

    def _cheapest(self, layers: list[Layer]) -> tuple[float, list[int]]:
        """Return the cheapest route and its cost, without the dual prices of a tour."""
        last = layers[-1].last()
        values = layers[-1].costs[:, 0] + self.sums[last, 0]
        path = int(np.argmin(values))
        value, route = float(values[path] - self.dual_prices.sum()), []
        for layer in reversed(layers):
            route.append(int(layer.last()[path]))
            path = int(layer.parents[path])
        return value, route[::-1]

    def _remember_cycles(self, route: list[int], memory: int) -> None:
        """Let the cities between two visits of a city remember it, where there is room."""
        seen: dict[int, int] = {}
        for at, city in enumerate(route):
            between = route[seen[city] + 1 : at] if city in seen else []
            if all(city in self.neighbours[other] or len(self.neighbours[other]) < memory for other in between):
                for other in between:
                    if city not in self.neighbours[other]:
                        self.neighbours[other].append(city)
            seen[city] = at

    def direction(self, limit: float, effort: Effort) -> Direction:
        """Return the completion bounds at the dual prices found, for tours whose sum is below `limit`."""
        ahead = self._routes(self.networks.forward, self.neighbours)
        least = np.inf if ahead is None else self._cheapest(ahead)[0]
        after: list[Layer] = []
        wide = [
            _widened(own, near, effort.final_memory) for own, near in zip(self.neighbours, self._nearest, strict=True)
        ]
        if ahead is not None and least < limit:
            cut = self._table(ahead, self.networks.forward, self.neighbours, np.array([[limit]]))
            after = self._routes(self.networks.backward, wide, bounds=cut) or []
            # Routes that begin where others were cut off are not the cheapest; below the limit none is cut off.
            least = max(least, min(limit, self._least_of(after)))
        bounds = self._table(after, self.networks.backward, wide, np.empty((0, 1)), paid=True)
        return Direction(self.weights, limit, effort, least, self.dual_prices, self.neighbours, bounds)

    def _least_of(self, layers: list[Layer]) -> float:
        """Return the cost of the cheapest of routes made on the reversed network."""
        if not layers:
            return np.inf
        return float((layers[-1].costs[:, 0] + self.sums[0, layers[-1].last()]).min() - self.dual_prices.sum())

    def _table(
        self,
        layers: list[Layer],
        network: Network,
        neighbours: list[list[int]],
        corners: NDArray[np.float64],
        *,
        paid: bool = False,
    ) -> Bounds:
        """Return routes as completions of paths that come the other way; these have paid prices, or costs only."""
        n = len(self.dual_prices)
        there = self.networks.backward if network is self.networks.forward else self.networks.forward
        sizes = np.array([len(cities) for cities in neighbours])
        bits = np.zeros((n, max(1, sizes.max())), np.int64)
        for city, cities in enumerate(neighbours):
            bits[city, : len(cities)] = np.array(cities, np.int64) - 1
        starts = there.opens.copy()
        widths = np.maximum(there.closes - starts, 1e-3) / _BUCKETS * (1 + 1e-12)
        values = np.empty(sum(int((_BUCKETS << sizes[np.unique(layer.last())]).sum()) for layer in layers))
        places = np.full((1, n, n), -1, np.int64)
        end = 0
        for length, layer in enumerate(layers, 1):
            end = tabulate(
                values, places[0, length], layer.states, layer.times, layer.costs, sizes, bits, starts, widths,
                _BUCKETS, self.dual_prices, self.networks.horizon, end,
            )  # fmt: skip
        return Bounds(
            weights=self.weights[None] if paid else np.ones((1, 1)),
            values=values,
            places=places,
            sizes=sizes[None],
            bits=bits[None],
            starts=starts,
            widths=widths,
            buckets=_BUCKETS,
            paid=_dual_prices_by_byte(self.dual_prices)[None] if paid else np.zeros((1, 8, 256)),
            total=np.array([self.dual_prices.sum()]),
            corners=corners,
        )


def _memories(neighbours: list[list[int]]) -> NDArray[np.uint64]:
    """Return, for each city, the set of itself and its neighbours."""
    sets = [sum(1 << (j - 1) for j in {i, *near} if j) for i, near in enumerate(neighbours)]
    return np.array(sets, np.uint64)


def _widened(own: list[int], near: list[int], size: int) -> list[int]:
    """Return the neighbours of a city and the next nearest cities, up to a size."""
    others = [j for j in near if j not in own]
    return own + others[: max(0, size - len(own))]


def _dual_prices_by_byte(dual_prices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of the dual prices of the cities in each possible byte of a set."""
    padded = np.zeros(64)
    padded[: len(dual_prices) - 1] = dual_prices[1:]
    members = np.arange(256)[:, None] >> np.arange(8) & 1
    sums: NDArray[np.float64] = padded.reshape(8, 8) @ members.T.astype(float)
    return sums


def combined(directions: list[Direction], corners: NDArray[np.float64]) -> Bounds:
    """Return the bounds of several directions for labels of real costs.

    Parameters
    ----------
    corners
        [boxes, directions]: the weighted sums that a tour must stay below, in all directions, to be in a box.
    """
    parts = [direction.bounds for direction in directions]
    places, begin = [], 0
    for part in parts:
        places.append(np.where(part.places[0] >= 0, part.places[0] + begin, -1))
        begin += len(part.values)
    widest = max(part.bits.shape[2] for part in parts)
    bits = [np.pad(part.bits[0], ((0, 0), (0, widest - part.bits.shape[2]))) for part in parts]
    return parts[0]._replace(
        weights=np.concatenate([part.weights for part in parts]),
        values=np.concatenate([part.values for part in parts]),
        places=np.stack(places),
        sizes=np.concatenate([part.sizes for part in parts]),
        bits=np.stack(bits),
        paid=np.concatenate([part.paid for part in parts]),
        total=np.concatenate([part.total for part in parts]),
        corners=corners,
    )
