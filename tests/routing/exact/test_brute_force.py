"""Certificates of small instances of all kinds against every tour that there is."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pareto_nrpa.routing import generate_tsptw
from pareto_nrpa.routing.exact import certify
from pareto_nrpa.routing.tsptw import mo_tsptw

from .instances import KINDS, answer, assert_complete, brute_force, certify_module, efficient, instance


def compare(kind, seed, n, m):
    problem = instance(kind, seed, n, m)
    truth = brute_force(problem)
    assert_complete(answer(problem, truth, n_tours=seed % 4, seed=seed), problem, truth)
    return len(truth.tours) > 0


@pytest.mark.parametrize("kind", KINDS)
def test_the_front_is_that_of_all_tours(kind):
    feasible = [compare(kind, seed, 2 + seed % 7, 2) for seed in range(10)]
    feasible += [compare(kind, seed, 2 + seed % 7, 1) for seed in range(100, 104)]
    feasible.append(compare(kind, 200, 9, 2))
    assert any(feasible)
    if kind in ("anywhere", "ties"):
        assert not all(feasible)


@pytest.mark.slow
@pytest.mark.parametrize("m", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_the_front_of_many_instances(kind, m):
    for seed in range(1000, 1100):
        compare(kind, seed, 2 + seed % 8, m)


@given(st.data())
def test_the_front_of_arbitrary_instances(data):
    n, m = data.draw(st.integers(2, 6)), data.draw(st.integers(1, 2))
    numbers = data.draw(
        st.sampled_from([st.integers(0, 5), st.floats(0, 50, width=32), st.sampled_from([0.1, 0.2, 0.3])])
    )
    costs = data.draw(arrays(float, (m, n, n), elements=numbers))
    opens = data.draw(arrays(float, n, elements=numbers))
    lengths = data.draw(arrays(float, n, elements=st.one_of(numbers, st.just(np.inf), st.floats(0, 100))))
    problem = mo_tsptw(costs, opens, opens + lengths)
    truth = brute_force(problem)
    assert_complete(answer(problem, truth, n_tours=data.draw(st.integers(0, 3))), problem, truth)


@pytest.mark.parametrize("exponent", [-12, -9, -3, 6])
def test_no_scale_of_costs_or_times_changes_the_front(exponent, monkeypatch):
    """Costs of 1e-10 used to be rounded to 1e-9: one vector was proved to be the complete front instead of 13."""
    monkeypatch.setattr(certify_module, "_INCUMBENT_EVALUATIONS", 100)
    problem = generate_tsptw(8, 0, tightness=0.4)
    costs, opens, closes = problem.data.costs, problem.data.opens, problem.data.closes
    front = certify(problem).objectives
    assert len(front) > 2
    scale = 10.0**exponent
    both = mo_tsptw(scale * costs, scale * opens, scale * closes)
    second = mo_tsptw([costs[0], scale * costs[1]], opens, closes)
    for scaled, factors in ((both, (scale, scale)), (second, (1, scale))):
        certificate = certify(scaled)
        assert_complete(certificate, scaled, brute_force(scaled))
        np.testing.assert_allclose(certificate.objectives, front * factors, rtol=1e-9)


def test_small_costs_beside_one_that_stands_for_never():
    """One huge number must not make the others seem equal."""
    problem = generate_tsptw(7, seed=2, tightness=0.3)
    for never in (1e6, 1e11):
        costs = 1e-10 * problem.data.costs
        costs[:, 1, 2] = never
        scaled = mo_tsptw(costs, 1e-10 * problem.data.opens, 1e-10 * problem.data.closes)
        truth = brute_force(scaled)
        assert len(truth.efficient) > 3
        assert_complete(certify(scaled), scaled, truth)


def test_two_cities():
    problem = mo_tsptw([[[0, 2], [3, 0]], [[0, 5], [7, 0]]], [0, 0], [5, 2])
    certificate = certify(problem)
    assert certificate.objectives.tolist() == [[5, 12]]
    assert certificate.solutions == [[1]]
    for closes in ([5, 1.999], [4.999, 2]):
        late = mo_tsptw([[[0, 2], [3, 0]], [[0, 5], [7, 0]]], [0, 0], closes)
        assert certify(late).status == "proved infeasible"


def test_cities_that_lead_only_to_each_other_do_not_hold_up_the_preparation():
    """Their windows used to move on by 1e-7 at a time, ten million times."""
    far, tiny = 2000.0, 1e-6
    times = np.full((5, 5), far)
    times[0, 3] = times[3, 4] = times[4, 1] = times[1, 3] = times[1, 4] = times[2, 4] = times[2, 3] = 1.0
    times[1, 2] = times[2, 1] = tiny
    problem = mo_tsptw(times, [0, 0, 0, 0, 500], [9999, 10, 10, 9999, 9999])
    assert_complete(certify(problem, time_limit=60), problem, brute_force(problem))


def test_fifty_eight_cities_use_all_bits_of_a_set():
    """One order of the cities, but for some pairs that may be visited either way round, the highest bits among them."""
    rng = np.random.default_rng(7)
    n = 58
    tour = np.concatenate([rng.permutation(np.arange(1, n - 2)), [57, 56]])
    pairs = [tour[k : k + 2] for k in (0, 5, 10, 20, 30, 40, 50, 55)]
    opens, closes, place = np.zeros(n), np.full(n, 1e4), np.zeros(n)
    place[tour], opens[tour], closes[tour] = 10.0 * np.arange(1, n), 30.0 * np.arange(1, n), 30.0 * np.arange(1, n) + 8
    for pair in pairs:
        opens[pair], closes[pair] = opens[pair].min(), closes[pair].max()
    second = rng.random((n, n))
    second[tuple(np.transpose(pairs))] = 5 + 10 * rng.random(len(pairs))  # the short way round is dear
    problem = mo_tsptw([np.abs(place[:, None] - place), second], opens, closes)
    objectives = []
    for swaps in product((False, True), repeat=len(pairs)):
        order = tour.copy()
        for swap, (a, b) in zip(swaps, pairs, strict=True):
            if swap:
                at = order.tolist().index(a)
                order[at : at + 2] = b, a
        values, violations = problem.replay(order.tolist())
        assert violations == 0
        objectives.append(values)
    certificate = certify(problem)
    assert certificate.status == "proved complete"
    assert len(certificate.solutions) > 5
    np.testing.assert_array_equal(certificate.objectives, efficient(np.array(objectives)))
