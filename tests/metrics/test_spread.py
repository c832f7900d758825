"""Overall spread: the share of a box that the extremes of a front span."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pareto_nrpa.metrics import overall_spread

points_in_the_box = st.lists(st.tuples(st.floats(0, 10), st.floats(0, 10)), min_size=1, max_size=8)


def spread(points, ideal=(0, 0), maximal=(10, 10)):
    return overall_spread(points, ideal=ideal, maximal=maximal)


@pytest.mark.parametrize(
    ("points", "expected"),
    [([[0, 10], [10, 0]], 1), ([[0, 5], [5, 0]], 0.25), ([[0, 10], [3, 4], [10, 0]], 1), ([[2, 8], [4, 3]], 0.1)],
)
def test_it_is_the_share_of_the_box(points, expected):
    assert spread(points) == pytest.approx(expected)


def test_it_is_the_product_over_all_objectives():
    points = [[0, 1, 4], [1, 3, 0]]
    assert spread(points, ideal=[0, 0, 0], maximal=[2, 4, 8]) == pytest.approx(0.5 * 0.5 * 0.5)


@settings(deadline=None)
@given(points_in_the_box)
def test_it_is_the_product_of_ranges(points):
    slow = math.prod((max(column) - min(column)) / 10 for column in zip(*points, strict=True))
    assert spread(points) == pytest.approx(slow)


@settings(deadline=None)
@given(points_in_the_box)
def test_points_in_the_box_span_at_most_all_of_it(points):
    assert 0 <= spread(points) <= 1


@settings(deadline=None)
@given(points_in_the_box, st.randoms(use_true_random=False))
def test_the_order_of_points_does_not_matter(points, random):
    assert spread(random.sample(points, len(points))) == spread(points)


@settings(deadline=None)
@given(points_in_the_box, st.tuples(st.floats(0, 10), st.floats(0, 10)))
def test_one_more_point_never_lowers_it(points, point):
    assert spread([*points, point]) >= spread(points)


def test_one_point_spans_nothing():
    assert spread([[3, 4]]) == 0


def test_no_points_span_nothing():
    assert spread(np.zeros((0, 2))) == 0


def test_which_end_of_the_box_is_which_does_not_matter():
    points = [[1, 5], [4, 2]]
    assert spread(points, ideal=[10, 10], maximal=[0, 0]) == spread(points)


def test_a_flat_box_is_refused():
    with pytest.raises(ValueError, match="ideal and maximal must differ in every objective"):
        spread([[1, 1]], ideal=[0, 5], maximal=[10, 5])


@pytest.mark.parametrize("name", ["ideal", "maximal"])
def test_both_ends_have_one_entry_per_objective(name):
    with pytest.raises(ValueError, match=f"{name} must be 2 finite numbers, got"):
        spread([[1, 1]], **{name: [1, 2, 3]})


@pytest.mark.parametrize("name", ["ideal", "maximal"])
def test_both_ends_must_be_finite(name):
    with pytest.raises(ValueError, match=f"{name} must be 2 finite numbers"):
        spread([[1, 1]], **{name: [1, np.nan]})


def test_points_must_be_finite():
    with pytest.raises(ValueError, match="points must be finite"):
        spread([[np.nan, 1]])
