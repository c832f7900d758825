"""Bounds and preparation never exclude a feasible tour, whatever the dual prices are."""

import numpy as np
import pytest

from pareto_nrpa.routing.exact.layers import Ancestry, next_layer, root
from pareto_nrpa.routing.exact.network import build_networks
from pareto_nrpa.routing.exact.relaxation import Effort, Relaxation, combined

from .instances import KINDS, brute_force, instance, rounded

EFFORTS = [Effort(0, 0, 2, 2), Effort(3, 0, 2, 0), Effort(4, 6, 4, 6)]
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


def masks(tour):
    """Return the sets of the cities visited by each step of a tour."""
    return np.bitwise_or.accumulate([np.uint64(1) << np.uint64(city - 1) for city in tour])


@pytest.mark.thinned(3)
@pytest.mark.parametrize("kind", KINDS)
def test_preparation_leaves_every_feasible_tour_alone(kind):
    for problem, truth, networks, unit in cases(kind, range(40)):
        network = networks.forward
        n = len(network.opens)
        starts = truth.times / unit
        assert (network.opens[truth.tours] <= starts).all(), problem.name
        assert (starts <= network.closes[truth.tours]).all(), problem.name
        assert (network.opens >= problem.data.opens / unit).all()
        assert (network.closes <= problem.data.closes / unit).all()
        stops = np.pad(truth.tours, ((0, 0), (1, 1)))
        assert network.arcs[stops[:, :-1], stops[:, 1:]].all(), problem.name
        positions = np.arange(1, n)
        assert (network.earliest[truth.tours] <= positions).all()
        assert (network.latest[truth.tours] >= positions).all()
        for tour, times in zip(truth.tours[:50], starts, strict=False):
            for city, visited, time in zip(tour, masks(tour), times, strict=True):
                assert not network.before[city] & ~visited
                assert not network.after[city] & visited
                for deadline, lost in zip(network.deadlines[city], network.lost[city], strict=True):
                    assert time <= deadline or not lost & ~visited


@pytest.mark.thinned(3)
@pytest.mark.parametrize("kind", KINDS)
def test_the_reversed_network_allows_every_feasible_tour_backwards(kind):
    for problem, truth, networks, unit in cases(kind, range(25)):
        forward, backward = networks.forward, networks.backward
        n = len(forward.opens)
        np.testing.assert_array_equal(backward.arcs, forward.arcs.T)
        np.testing.assert_array_equal(backward.costs, forward.costs.transpose(0, 2, 1))
        np.testing.assert_array_equal(backward.before, forward.after)
        np.testing.assert_array_equal(backward.earliest + forward.latest, n)
        for tour, times in zip(truth.tours[:50], truth.times / unit, strict=False):
            time, at, visited = backward.opens[0], 0, np.uint64(0)
            for position, (city, start) in enumerate(zip(tour[::-1], times[::-1], strict=True), 1):
                time += backward.travel[at, city]
                assert time <= backward.closes[city], problem.name
                time, at = max(time, backward.opens[city]), city
                assert networks.horizon - time >= start - 1e-7, problem.name  # the tour is not later than it can be
                assert not backward.before[city] & ~visited
                assert not backward.after[city] & visited
                assert backward.earliest[city] <= position <= backward.latest[city]
                visited |= np.uint64(1) << np.uint64(city - 1)


def relaxation_of(problem, networks, truth, weights, effort, seed):
    """Return a relaxation with dual prices that were looked for, or are anything."""
    relaxation = Relaxation(networks, np.array(weights), lambda numbers: None)
    best = float((truth.objectives @ weights).min())
    if seed % 3 == 0:
        rng = np.random.default_rng(seed)
        relaxation.dual_prices = rng.normal(size=len(relaxation.dual_prices)) * relaxation.sums.max()
        relaxation.dual_prices[0] = 0.0
    else:
        relaxation.find_dual_prices(best, effort, is_warm=False)
    return relaxation, best


@pytest.mark.thinned(3)
@pytest.mark.parametrize("kind", KINDS)
def test_no_bound_is_above_the_tour_that_it_bounds(kind):
    for seed, (problem, truth, networks, unit) in enumerate(cases(kind, range(9))):
        for weights in WEIGHTS:
            effort = EFFORTS[seed % 3]
            relaxation, best = relaxation_of(problem, networks, truth, weights, effort, seed)
            sums = truth.objectives @ weights
            error = 1e-9 * min(1.0, sums.max()) + 1e-12 * (sums.max() + np.abs(relaxation.dual_prices).sum())
            for limit in (np.inf, float(np.median(sums)) + error, best + error, best):
                direction = relaxation.direction(limit, effort)
                assert direction.least <= best + error, problem.name
                below = np.flatnonzero(sums < limit - error)[:40]
                for tour, times, value in zip(truth.tours[below], truth.times[below] / unit, sums[below], strict=True):
                    for bound in bounds_along(problem.data, direction, tour, times):
                        assert bound <= value + error, (problem.name, weights, limit)


def look_up(bounds, to_go, city, visited, time):
    """Return the bound in the table for a path that has visited some cities."""
    begin = bounds.places[0, to_go, city]
    if begin < 0:
        return np.inf
    asked = bounds.bits[0, city, : bounds.sizes[0, city]]
    pattern = sum(1 << b for b, bit in enumerate(asked) if bit + 1 in visited)
    bucket = min(max(int((time - bounds.starts[city]) / bounds.widths[city]), 0), bounds.buckets - 1)
    return bounds.values[begin + pattern * bounds.buckets + bucket]


def bounds_along(data, direction, tour, times):
    """Yield what the tour costs at least, as seen from each of its cities."""
    n, at, spent = len(data.opens), 0, 0.0
    for position, (city, time) in enumerate(zip(tour, times, strict=True), 1):
        spent += data.costs[:, at, city] @ direction.weights
        at = city
        completion = look_up(direction.bounds, n - position, city, tour[:position], time)
        yield spent + direction.dual_prices[tour[:position]].sum() - direction.dual_prices.sum() + completion


@pytest.mark.parametrize("kind", KINDS)
def test_no_label_of_an_efficient_tour_is_pruned_just_above_its_vector(kind):
    """With a box whose corner is only just above an efficient vector, what is left in the end is that vector."""
    for seed, (problem, truth, networks, _) in enumerate(cases(kind, range(60, 66))):
        directions = []
        for weights in WEIGHTS:
            relaxation, _ = relaxation_of(problem, networks, truth, weights, EFFORTS[seed % 3], seed)
            directions.append(relaxation.direction(np.inf, EFFORTS[seed % 3]))
        scale = 1e-12 * (truth.objectives.max() + max(np.abs(direction.dual_prices).sum() for direction in directions))
        step = max(1e-9 * min(1.0, truth.objectives.max()), scale)
        for vector in truth.efficient:
            corners = np.array([[vector @ direction.weights for direction in directions]]) + step
            bounds = combined(directions, corners)
            layer, ancestry = root(networks.forward), Ancestry()
            for position in range(1, len(problem.data.opens)):
                layer, _, is_cut = next_layer(
                    networks.forward, bounds, layer, position, look_up=lambda numbers: None, width=10_000
                )
                assert not is_cut
                ancestry.add(layer)
            found = rounded(layer.costs + problem.data.costs[:, layer.last(), 0].T)
            hits = np.flatnonzero((found == vector).all(axis=1))
            assert len(hits), problem.name
            assert problem.replay(ancestry.tour(int(hits[0])))[0].tolist() == vector.tolist()
