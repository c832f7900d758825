"""Tours without windows: the kernels, run as plain Python, against what a tour costs."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pareto_nrpa import check_problem
from pareto_nrpa.engine.jit.kernels import python_function
from pareto_nrpa.errors import InstanceError
from pareto_nrpa.routing import generate_tsp
from pareto_nrpa.routing.tsp import mo_tsp

seeds = st.integers(0, 10_000)


def words_of(problem):
    return {word: python_function(function) for word, function in problem.kernels.items()}


@given(seed=seeds, n=st.integers(2, 12), m=st.integers(1, 4))
def test_evaluation_is_the_cost_of_the_closed_tour(seed, n, m):
    rng = np.random.default_rng(seed)
    costs = rng.random((m, n, n))
    tour = (1 + rng.permutation(n - 1)).tolist()
    objectives, violations = mo_tsp(costs).replay(tour)
    slow = [sum(matrix[a, b] for a, b in pairwise([0, *tour, 0])) for matrix in costs]
    np.testing.assert_allclose(objectives, slow)
    assert violations == 0


def test_the_bias_is_minus_ten_times_the_normalised_cost():
    costs = np.array([[[0.0, 2], [4, 0]], [[0, 3], [3, 0]]])
    problem = mo_tsp(costs)
    words = words_of(problem)
    state = words["initial_state"](problem.data)
    for preference, expected in (([1, 0], -5), ([0, 1], -10), ([0.5, 0.5], -7.5)):
        assert words["bias"](problem.data, state, 1, np.array(preference, dtype=float)) == pytest.approx(expected)


def test_it_keeps_the_promises_of_a_problem():
    check_problem(generate_tsp(9, seed=1))


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        (np.ones((2, 3, 4)), r"costs must be square matrices \[m, n, n\], got shape \(2, 3, 4\)"),
        ([np.ones((3, 3)), np.ones((4, 4))], "costs must be square matrices of numbers, all of one size"),
        (np.full((2, 2), np.inf), "costs must be finite numbers"),
        (-np.ones((2, 2)), "costs must not be negative, got -1"),
        (np.ones((0, 3, 3)), "costs must be at least one matrix"),
    ],
)
def test_bad_costs_are_refused(costs, words):
    with pytest.raises(InstanceError, match=words):
        mo_tsp(costs)


def test_small_costs_are_not_rounded_away():
    """Regression: rounded to 1e-9 whatever their size, all tours seemed equally good."""
    costs = np.random.default_rng(1).random((2, 6, 6))
    tour = [3, 1, 2, 5, 4]
    objectives = mo_tsp(costs).replay(tour)[0]
    for scale in (1e-5, 1e-12, 1e-100):
        np.testing.assert_allclose(mo_tsp(scale * costs).replay(tour)[0], scale * objectives, rtol=1e-9)
