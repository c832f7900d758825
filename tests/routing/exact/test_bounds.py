"""Bounds and preparation never exclude a feasible tour, whatever the dual prices are."""

import numpy as np
import pytest

from pareto_nrpa.routing.exact import certify, check_intervals
from pareto_nrpa.routing.exact.layers import Ancestry, next_layer, root
from pareto_nrpa.routing.exact.network import build_networks
from pareto_nrpa.routing.exact.relaxation import Chain, Prices, PriceSearch, bounds_of_tours
from pareto_nrpa.routing.tsptw import mo_tsptw

from .instances import KINDS, brute_force, efficient, instance, rounded

WEIGHTS = [(1.0, 0.0), (0.0, 1.0), (0.3, 0.7)]


def cases(kind, seeds):
    """Yield feasible instances with their networks and the number of their time units in a unit of the network."""
    for seed in seeds:
        problem = instance(kind, seed, 3 + seed % 5)
        truth = brute_force(problem)
        networks = build_networks(problem.data)
        if len(truth.tours):
            assert networks is not None, problem.name
            times, travel = problem.data.costs[0], networks.forward.travel
            yield problem, truth, networks, times.max() / travel.max() if times.max() > 0 else 1.0


def masks(network, visited, position):
    """Return the set of the cities visited before a position, or there, that may also be visited after it."""
    return sum((network.bits[city] for city in visited if network.open[position, city]), np.uint64(0))


@pytest.mark.parametrize("kind", KINDS)
def test_preparation_leaves_every_feasible_tour_alone(kind):
    for problem, truth, networks, unit in cases(kind, range(12)):
        network = networks.forward
        n = len(network.opens)
        starts = truth.times / unit
        assert (network.opens[truth.tours] <= starts).all(), problem.name
        assert (starts <= network.closes[np.arange(1, n), truth.tours]).all(), problem.name
        assert (network.opens >= problem.data.opens / unit).all()
        assert (network.closes <= problem.data.closes / unit).all()
        stops = np.pad(truth.tours, ((0, 0), (1, 1)))
        assert networks.arcs[np.arange(1, n + 1), stops[:, :-1], stops[:, 1:]].all(), problem.name
        for tour, times in zip(truth.tours[:50], starts, strict=False):
            seen = np.uint64(0)
            for position, (city, time) in enumerate(zip(tour, times, strict=True), 1):
                assert not network.before[position, city] & ~seen
                assert not network.after[position, city] & seen
                assert not network.bits[city] & seen
                seen = seen & network.memory[position, city] | network.bits[city]
                assert seen == masks(network, tour[:position], position)
                for deadline, lost in zip(network.deadlines[city], network.lost[position, city], strict=True):
                    assert time <= deadline or not lost & ~seen


def test_cities_of_distant_positions_share_a_bit():
    """With windows of three positions, twelve cities need a few bits only, and the front is that of a longer set."""
    rng = np.random.default_rng(3)
    costs, place = rng.random((2, 13, 13)), np.arange(13.0)
    problem = mo_tsptw([np.ones((13, 13)), costs[1]], np.maximum(place - 1.2, 0), [99, *place[1:] + 1.2])
    assert len({*build_networks(problem.data).forward.bits[1:].tolist()}) < 8
    certificate = certify(problem)
    check_intervals(certificate, problem)
    orders = [[]]  # all that swap neighbours, each at most once
    while len(orders[0]) < 12:
        shortest, *others = orders
        n = len(shortest)
        orders = sorted([*others, [*shortest, n + 1], *([[*shortest, n + 2, n + 1]] if n < 11 else [])], key=len)
    replayed = [problem.replay(order) for order in orders]
    assert len(replayed) == 233
    assert not any(violations for _, violations in replayed)
    np.testing.assert_array_equal(certificate.objectives, efficient(np.array([values for values, _ in replayed])))


def ignore(numbers):
    """Look at nothing."""


def prices_of(networks, truth, weights, seed):
    """Return dual prices that were looked for, or are anything."""
    rng = np.random.default_rng(seed)
    n = len(networks.forward.opens)
    sums = np.tensordot(weights, networks.forward.costs, axes=1)
    memories = [[int(j) for j in rng.permutation(np.arange(1, n)) if j != i][: rng.integers(n)] for i in range(n)]
    prices = Prices(np.array(weights), np.zeros(n), memories)
    best = float((truth.objectives @ weights).min())
    if seed % 3 == 0:
        dual_prices = rng.normal(size=n) * sums.max()
        dual_prices[0] = 0.0
        return prices._replace(dual_prices=dual_prices), best
    search = PriceSearch(networks, prices._replace(memories=[cities[:1] for cities in memories]), best, ignore)
    search.climb(4, size=0, grid=networks.horizon / 50)
    search.climb(4, size=3, grid=networks.horizon / 20)
    if seed % 3 == 2:
        limit = float(np.median(truth.objectives @ weights))
        search.sharpen(limit, 2, size=2, steps=2, grid=networks.horizon / 20, most=10_000)
    return search.prices, best


@pytest.mark.parametrize("kind", KINDS)
def test_no_bound_is_above_the_tour_that_it_bounds_and_no_arc_of_it_is_dropped(kind):
    for seed, (problem, truth, networks, unit) in enumerate(cases(kind, range(3))):
        n = len(problem.data.opens)
        for weights in WEIGHTS:
            prices, best = prices_of(networks, truth, weights, seed)
            sums = truth.objectives @ weights
            error = 1e-9 * min(1.0, sums.max()) + 1e-12 * (sums.max() + np.abs(prices.dual_prices).sum())
            for limit in (np.inf, float(np.median(sums)) + error, best + error, best):
                chain = Chain(networks, prices, limit, ignore)
                below = np.flatnonzero(sums < limit - error)[:40]
                for size in (0, 1, 2, 3, n):
                    made = chain.turn(size)
                    assert made is not None or not len(below), problem.name
                    assert chain.least <= best + error or limit <= best + error, problem.name
                    if made is None:
                        break
                    for tour, times, value in zip(
                        truth.tours[below], truth.times[below] / unit, sums[below], strict=True
                    ):
                        stops = np.pad(tour, 1)
                        assert chain.networks.arcs[np.arange(1, n + 1), stops[:-1], stops[1:]].all(), problem.name
                        for bound in bounds_along(
                            networks.forward, problem.data, chain.prices, chain.back, tour, times
                        ):
                            assert bound <= value + error, (problem.name, weights, limit)


def bounds_along(network, data, prices, completions, tour, times):
    """Yield what the tour costs at least, as seen from each of its cities."""
    n, at, spent = len(data.opens), 0, 0.0
    for position, (city, time) in enumerate(zip(tour, times, strict=True), 1):
        spent += data.costs[:, at, city] @ prices.weights
        at = city
        begin, end = completions.begins[n - position, city : city + 2]
        here = slice(begin, end)
        visited = masks(network, tour[:position], position)
        fits = ((completions.memories[here] & visited) == 0) & (completions.latest[here] >= time)
        assert fits.any()
        assert (np.diff(completions.values[here]) >= 0).all()
        completion = completions.values[here][fits].min()
        yield spent + prices.dual_prices[tour[:position]].sum() - prices.dual_prices.sum() + completion


@pytest.mark.parametrize("kind", KINDS)
def test_no_label_of_an_efficient_tour_is_pruned_just_above_its_vector(kind):
    """With a box whose corner is only just above an efficient vector, what is left in the end is that vector."""
    for seed, (problem, truth, networks, _) in enumerate(cases(kind, range(60, 63))):
        every = [prices_of(networks, truth, weights, seed)[0] for weights in WEIGHTS]
        scale = 1e-12 * (truth.objectives.max() + max(np.abs(prices.dual_prices).sum() for prices in every))
        step = max(1e-9 * min(1.0, truth.objectives.max()), scale)
        for vector in truth.efficient:
            corners = np.array([[vector @ prices.weights for prices in every]]) + step
            left, ready = networks, []
            for prices, limit in zip(every, corners[0] + step, strict=True):
                chain = Chain(left, prices, limit, ignore)
                for size in (1, 2, 3):
                    assert chain.turn(size) is not None
                left = chain.networks
                ready.append((prices, chain.back))
            found = enumerated(problem, left, bounds_of_tours(left, ready, corners))
            assert vector.tolist() in found, problem.name


def enumerated(problem, networks, bounds):
    """Return the rounded costs of all tours that the bounds leave."""
    layer, ancestry = root(networks.forward), Ancestry()
    for position in range(1, len(problem.data.opens)):
        extension = next_layer(networks.forward, bounds, layer, position, look_up=ignore, width=10_000)
        layer = extension.layer
        assert not extension.is_cut
        ancestry.add(layer)
    found = rounded(layer.costs + problem.data.costs[:, layer.last(), 0].T)
    for values, path in zip(found, range(len(found)), strict=True):
        assert problem.replay(ancestry.tour(path))[0].tolist() == values.tolist()
    return found.tolist()
