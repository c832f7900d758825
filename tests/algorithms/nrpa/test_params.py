import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pareto_nrpa import ParetoNRPA

from ...helpers.problems import Knapsack, Word


def test_the_defaults_are_the_paper_s():
    params = ParetoNRPA()
    assert (params.level, params.n_policies, params.alpha) == (4, 4, 0.5)
    assert (params.weighting, params.adapt, params.bias, params.preferences) == ("crowding", "all", 1.0, "paper")
    assert params.resolve_iterations(100_000) == 18
    assert params == ParetoNRPA()


@given(st.integers(1, 10**9), st.integers(1, 6))
def test_iterations_are_the_smallest_that_cover_the_budget(budget, level):
    n = ParetoNRPA(level=level).resolve_iterations(budget)
    assert n**level >= budget
    assert n == 1 or (n - 1) ** level < budget


@pytest.mark.parametrize(
    ("argument", "value", "message"),
    [
        ("level", 0, "level must be a whole number of at least 1, got 0"),
        ("level", True, "level must be a whole number"),
        ("n_policies", 0, "n_policies must be a whole number of at least 1, got 0"),
        ("alpha", -0.5, "alpha must be a finite number above 0, got -0.5"),
        ("alpha", 10**400, "alpha must be a finite number above 0"),
        ("temperature", 0, "temperature must be a finite number above 0, got 0"),
        ("iterations", 0, "iterations must be a whole number of at least 1, got 0"),
        ("bias", float("inf"), "bias must be a finite number"),
        ("limited_repetitions", -1, "limited_repetitions must be a whole number of at least 0, got -1"),
        ("playouts_per_step", 0, "playouts_per_step must be a whole number of at least 1, got 0"),
        ("weighting", "crowd", "weighting must be one of crowding, none, got 'crowd'"),
        ("adapt", "two", "adapt must be one of all, one, got 'two'"),
        ("preferences", "papr", "preferences must be one of paper, spread, got 'papr'"),
    ],
)
def test_bad_parameters_are_named_when_they_are_given(argument, value, message):
    with pytest.raises(ValueError, match=message):
        ParetoNRPA(**{argument: value})


def test_preferences():
    assert ParetoNRPA(n_policies=2).preference_matrix(Knapsack()).tolist() == [[1, 0], [1, 0]]
    spread = ParetoNRPA(n_policies=5, preferences="spread").preference_matrix(Word())
    assert spread[0].tolist() == [1, 0, 0]
    assert spread[-1].tolist() == [0, 0, 1]
    np.testing.assert_allclose(spread.sum(axis=1), 1)


def test_a_budget_beyond_counting_is_a_sentence():
    assert ParetoNRPA(level=4).resolve_iterations(10**25) == 1_778_280
    with pytest.raises(ValueError, match="the budget is too large for level 1, got 10000"):
        ParetoNRPA(level=1).resolve_iterations(10**25)
