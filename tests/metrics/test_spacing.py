"""Spacing: how unevenly the nearest neighbours of a front lie."""

import math
from statistics import stdev

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pareto_nrpa.metrics import spacing

several_points = st.lists(st.tuples(*[st.integers(-20, 20)] * 3), min_size=2, max_size=8)


def slow_spacing(points):
    nearest = [
        min(sum(abs(a - b) for a, b in zip(p, q, strict=True)) for j, q in enumerate(points) if j != i)
        for i, p in enumerate(points)
    ]
    return stdev(nearest)


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([[0, 3], [1, 2], [2, 1], [3, 0]], 0),
        ([[0], [1], [3]], math.sqrt(1 / 3)),  # the nearest are 1, 1 and 2 away
        ([[0, 0], [1, 1], [1, 4]], math.sqrt(1 / 3)),  # Manhattan: 2, 2 and 3
        ([[0, 5], [5, 0]], 0),
    ],
)
def test_it_is_the_closed_form(points, expected):
    assert spacing(points) == pytest.approx(expected)


@settings(deadline=None)
@given(several_points)
def test_it_is_the_deviation_of_the_distances_to_the_nearest(points):
    assert spacing(points) == pytest.approx(slow_spacing(points))


@settings(deadline=None)
@given(several_points, st.randoms(use_true_random=False))
def test_the_order_of_points_does_not_matter(points, random):
    assert spacing(random.sample(points, len(points))) == pytest.approx(spacing(points))


@settings(deadline=None)
@given(several_points, st.tuples(*[st.integers(-50, 50)] * 3))
def test_moving_the_whole_front_changes_nothing(points, by):
    assert spacing(np.array(points) + by) == pytest.approx(spacing(points))


def test_equal_points_are_at_distance_zero():
    assert spacing([[1, 1], [1, 1], [1, 3]]) == pytest.approx(stdev([0, 0, 2]))


@pytest.mark.parametrize("points", [np.zeros((0, 2)), [[1, 2]]])
def test_below_two_points_there_is_none(points):
    assert math.isnan(spacing(points))


def test_points_must_be_a_table():
    with pytest.raises(ValueError, match=r"points must be an array \[n, m\], got shape \(3,\)"):
        spacing([1, 2, 3])


def test_points_must_be_finite():
    with pytest.raises(ValueError, match="points must be finite"):
        spacing([[0, 1], [np.inf, 0]])
