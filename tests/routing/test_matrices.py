"""Rounding of costs, and times over detours."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pareto_nrpa.engine.jit.kernels import python_function
from pareto_nrpa.routing.matrices import rounded, rounded_all, shortest_times, step_below

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
