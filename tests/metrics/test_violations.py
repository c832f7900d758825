"""Constraint violations of a front: their mean."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pareto_nrpa.metrics import constraint_violations


@pytest.mark.parametrize(("violations", "expected"), [([0, 0, 0], 0), ([2], 2), ([1, 2], 1.5), ([3, 3, 3], 3)])
def test_it_is_the_mean(violations, expected):
    assert constraint_violations(violations) == expected


@settings(deadline=None)
@given(st.lists(st.integers(0, 50), min_size=1))
def test_it_lies_between_the_fewest_and_the_most(violations):
    assert min(violations) <= constraint_violations(violations) <= max(violations)


@settings(deadline=None)
@given(st.lists(st.integers(0, 50), min_size=1))
def test_it_is_zero_only_if_all_are_feasible(violations):
    assert (constraint_violations(violations) == 0) == (not any(violations))


def test_a_front_without_solutions_has_no_mean():
    with pytest.raises(ValueError, match="violations must have at least one entry, got none"):
        constraint_violations([])
