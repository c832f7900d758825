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

from ..helpers.checking import check_uncompiled
from ..helpers.made_up import cases

seeds = st.integers(0, 10_000)


def words_of(problem):
    return {word: python_function(function) for word, function in problem.kernels.items()}


@cases(40)
@given(seed=seeds, n=st.integers(2, 20))
def test_legal_moves_are_all_cities_not_visited_yet(seed, n):
    problem, rng = generate_tsp(n, seed), np.random.default_rng(seed)
    words, out = words_of(problem), np.zeros(n - 1, dtype=np.int64)
    state, left = words["initial_state"](problem.data), set(range(1, n))
    while left:
        count = words["legal_moves"](problem.data, state, out)
        assert sorted(out[:count].tolist()) == sorted(left)
        move = int(rng.choice(sorted(left)))
        words["play"](problem.data, state, move)
        left.remove(move)
    assert words["legal_moves"](problem.data, state, out) == 0


@cases(40)
@given(seed=seeds, n=st.integers(2, 12), m=st.integers(1, 4))
def test_evaluation_is_the_cost_of_the_closed_tour(seed, n, m):
    rng = np.random.default_rng(seed)
    costs = rng.random((m, n, n))
    tour = (1 + rng.permutation(n - 1)).tolist()
    objectives, violations = mo_tsp(costs).replay(tour)
    slow = [sum(matrix[a, b] for a, b in pairwise([0, *tour, 0])) for matrix in costs]
    np.testing.assert_allclose(objectives, slow)
    assert violations == 0


def test_codes_tell_all_pairs_of_cities_apart():
    problem = generate_tsp(5, seed=1)
    words = words_of(problem)
    codes = set()
    for here in range(5):
        state = words["initial_state"](problem.data)
        if here:
            words["play"](problem.data, state, here)
        codes |= {words["move_code"](problem.data, state, to) for to in range(5)}
    assert codes == set(range(problem.n_codes))


def test_the_bias_is_minus_ten_times_the_normalised_cost():
    costs = np.array([[[0.0, 2], [4, 0]], [[0, 3], [3, 0]]])
    problem = mo_tsp(costs)
    words = words_of(problem)
    state = words["initial_state"](problem.data)
    for preference, expected in (([1, 0], -5), ([0, 1], -10), ([0.5, 0.5], -7.5)):
        assert words["bias"](problem.data, state, 1, np.array(preference, dtype=float)) == pytest.approx(expected)


def test_all_costs_have_the_same_standing():
    assert generate_tsp(5, n_objectives=4).preference == (0.25,) * 4


def test_one_matrix_is_one_objective():
    assert mo_tsp(np.ones((3, 3))).n_objectives == 1


def test_it_keeps_the_promises_of_a_problem():
    check_problem(generate_tsp(9, seed=1))


@cases(10)
@given(seed=seeds, n=st.integers(2, 15), m=st.integers(1, 3))
def test_it_keeps_them_whatever_the_instance(seed, n, m):
    check_uncompiled(generate_tsp(n, seed, m), n_games=3, seed=seed)


def test_an_instance_does_not_change_with_the_array_it_was_made_of():
    costs = np.ones((1, 3, 3))
    problem = mo_tsp(costs)
    costs[:] = 7
    assert problem.replay([1, 2])[0].tolist() == [3]


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        (np.ones((2, 3, 4)), r"costs must be square matrices \[m, n, n\], got shape \(2, 3, 4\)"),
        ([np.ones((3, 3)), np.ones((4, 4))], "costs must be square matrices of numbers, all of one size"),
        ([["a", "b"], ["c", "d"]], "costs must be square matrices of numbers"),
        (np.full((2, 2), np.inf), "costs must be finite numbers"),
        (-np.ones((2, 2)), "costs must not be negative, got -1"),
        (np.ones((0, 3, 3)), "costs must be at least one matrix"),
    ],
)
def test_bad_costs_are_refused(costs, words):
    with pytest.raises(InstanceError, match=words):
        mo_tsp(costs)


def test_small_costs_are_not_rounded_away():
    """They used to be rounded to 1e-9, whatever their size: all tours seemed equally good."""
    costs = np.random.default_rng(1).random((2, 6, 6))
    tour = [3, 1, 2, 5, 4]
    objectives = mo_tsp(costs).replay(tour)[0]
    for scale in (1e-5, 1e-12, 1e-100):
        np.testing.assert_allclose(mo_tsp(scale * costs).replay(tour)[0], scale * objectives, rtol=1e-9)
