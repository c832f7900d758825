"""Costs of tours: what they may be, and how they are rounded; `differential` compares tours with brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pareto_nrpa.engine.jit.kernels import python_function
from pareto_nrpa.errors import InstanceError
from pareto_nrpa.routing.matrices import rounded, rounded_all, shortest_times, step_below
from pareto_nrpa.routing.tsp import mo_tsp
from pareto_nrpa.routing.tsptw import mo_tsptw


def test_the_bias_is_minus_ten_times_the_normalised_cost():
    problem = mo_tsp(np.array([[[0.0, 2], [4, 0]], [[0, 3], [3, 0]]]))
    initial_state, bias = map(python_function, (problem.initial_state, problem.bias))
    for preference, expected in (([1, 0], -5), ([0, 1], -10), ([0.5, 0.5], -7.5)):
        value = bias(problem.data, initial_state(problem.data), 1, np.array(preference, dtype=float))
        assert value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        (np.ones((2, 3, 4)), r"costs must be square matrices \[m, n, n\], got shape \(2, 3, 4\)"),
        ([np.ones((3, 3)), np.ones((4, 4))], "costs must be square matrices of numbers, all of one size"),
        ([[0, 1j], [1, 0]], "costs must be square matrices of numbers"),
        (np.ones((0, 3, 3)), "costs must be at least one matrix"),
        (np.ones((1, 1)), "costs must be for at least 2 cities, got 1"),
        ([[0, np.nan], [1, 0]], "costs must be finite numbers, got NaN or infinity"),
        ([[0, -2], [1, 0]], "costs must not be negative, got -2"),
        ([[0, 1e300], [1, 0]], r"costs must be 0 or from 1e-200 to 1e\+200, got 1e\+300"),
        ([[0, 1e-300], [1, 0]], r"costs must be 0 or from 1e-200 to 1e\+200, got 1e-300"),
    ],
)
def test_bad_costs_are_refused(costs, words):
    for make in (mo_tsp, lambda costs: mo_tsptw(costs, [0, 0], [9, 9])):
        with pytest.raises(InstanceError, match=words):
            make(costs)


def test_small_costs_are_not_rounded_away():
    """Regression: rounded to 1e-9 whatever their size, all tours seemed equally good."""
    costs = np.random.default_rng(1).random((2, 6, 6))
    tour = [3, 1, 2, 5, 4]
    objectives = mo_tsp(costs).replay(tour)[0]
    for scale in (1e-5, 1e-12, 1e-100):
        np.testing.assert_allclose(mo_tsp(scale * costs).replay(tour)[0], scale * objectives, rtol=1e-9)


# --- rounding of costs, and times over detours


costs = st.one_of(
    st.just(0.0), st.floats(1e-200, 1e6), st.floats(-200, 200).map(lambda e: 10.0**e), st.integers(0, 10**6).map(float)
)


@given(cost=costs)
def test_one_cost_is_rounded_as_many_are(cost):
    assert python_function(rounded)(cost) == rounded_all([cost])[0]


@given(cost=costs)
def test_costs_from_1_on_are_rounded_to_a_billionth_and_smaller_ones_to_twelve_digits(cost):
    assert rounded_all(cost) == (float(np.round(cost, 9)) if cost >= 1 else pytest.approx(cost, rel=5.01e-12, abs=0))


@given(cost=costs, share=st.floats(0, 1e-9))
def test_what_is_more_is_never_rounded_to_less(cost, share):
    assert rounded_all(cost * (1 + share)) >= rounded_all(cost) * (1 - 1e-15)


@given(cost=costs, share=st.floats(-1e-8, 0))
def test_a_rounded_cost_below_another_is_a_step_below(cost, share):
    high, low = rounded_all([cost, cost * (1 + share)])
    if low < high:
        assert high - low >= 0.99 * step_below(np.array([high]))[0] - 1e-15 * high


@given(seed=st.integers(0, 10_000), n=st.integers(2, 9))
def test_the_shortest_time_is_that_of_all_ways(seed, n):
    times = np.random.default_rng(seed).random((n, n)) ** 3
    expected = times.copy()
    for _ in range(n):  # Bellman and Ford
        for i in range(n):
            for j in range(n):
                if i != j:
                    expected[i, j] = min([expected[i, j], *(times[i, k] + expected[k, j] for k in range(1, n))])
    np.testing.assert_allclose(shortest_times(times), expected, rtol=1e-13)
