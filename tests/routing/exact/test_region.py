"""Intervals, boxes and lower bounds: what is open is never less than it is."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pareto_nrpa.routing.exact.gap import lower_bound_set, open_boxes, remaining_gap
from pareto_nrpa.routing.exact.region import EVERYTHING, KnownFront, complement, partition

from .instances import efficient, missing_share

INF = np.inf
numbers = st.integers(0, 12)
points = st.lists(st.tuples(numbers, numbers), max_size=12)
ends = st.one_of(numbers.map(float), st.sampled_from([-INF, INF]))
intervals = st.tuples(ends, ends).filter(lambda pair: pair[0] < pair[1])
GRID = [np.array([x, y]) for x in np.arange(-0.5, 13.5, 0.5) for y in np.arange(-0.5, 13.5, 0.5)]


def front_of(vectors, m=2):
    front = KnownFront(m)
    front.add((np.array(vector, float)[:m], [number]) for number, vector in enumerate(vectors))
    return front


def is_inside(x, interval):
    return interval[0] <= x < interval[1]


@given(first=points, second=points, m=st.integers(1, 2))
def test_a_front_keeps_what_is_efficient_and_counts_what_is_new(first, second, m):
    front = front_of(first, m)
    before = {tuple(values) for values in front.objectives.tolist()}
    tours = dict(zip(map(tuple, front.objectives.tolist()), front.tours, strict=True))
    n_new = front.add((np.array(vector, float)[:m], [100 + number]) for number, vector in enumerate(second))
    expected = efficient(np.array([vector[:m] for vector in [*first, *second]], float).reshape(-1, m))
    expected = expected[:1] if m == 1 else expected
    np.testing.assert_array_equal(front.objectives, expected)
    after = {tuple(values) for values in expected.tolist()}
    assert n_new == len(after - before)
    assert len(front) == len(front.tours) == len(after)
    for values, tour in zip(map(tuple, front.objectives.tolist()), front.tours, strict=True):
        if values in tours:  # the older of two equal ones stays
            assert tour == tours[values]
        else:
            assert tuple(float(x) for x in second[tour[0] - 100][:m]) == values


@given(vectors=points, interval=intervals)
def test_boxes_hold_exactly_the_new_points_of_an_interval(vectors, interval):
    front = front_of(vectors)
    boxes = front.local_upper_bounds(interval)
    for point, is_new in zip(GRID, front.is_new(np.array(GRID)), strict=True):
        is_below = bool((point < boxes).all(axis=1).any())
        if is_new and is_inside(point[0], interval):
            assert is_below
        if is_below:
            assert is_new
            assert point[0] < interval[1]


@given(proved=st.lists(intervals, max_size=6))
def test_the_complement_is_what_no_interval_holds(proved):
    left = complement(proved)
    for x in [-1e300, *np.arange(-1, 14, 0.5), 1e300]:
        assert any(is_inside(x, interval) for interval in left) != any(is_inside(x, interval) for interval in proved)
    assert all(a[1] < b[0] for a, b in pairwise(left))
    assert all(begin < end for begin, end in left)


@given(vectors=points, proved=st.lists(intervals, max_size=4), parts=st.integers(1, 9))
def test_a_partition_has_all_of_the_intervals_and_no_more(vectors, proved, parts):
    front, opened = front_of(vectors), complement(proved)
    pieces = partition(opened, front, parts)
    assert complement(pieces) == complement(opened)
    assert pieces == sorted(pieces)
    assert all(a[1] <= b[0] for a, b in pairwise(pieces))
    assert all(begin < end for begin, end in pieces)
    for end in front.objectives[[0, -1], 0] if len(front) else []:  # there, one objective decides
        assert not any(begin < end < stop for begin, stop in pieces)


@given(vectors=points, efficient_too=points, proved=st.lists(intervals, max_size=3))
def test_an_unfinished_front_says_where_the_rest_can_be(vectors, efficient_too, proved):
    """All points are tours; those of the proved intervals are known; the bounds are those of all tours."""
    all_points = np.array([*vectors, *efficient_too], float).reshape(-1, 2)
    truth = efficient(all_points)
    front = front_of(vectors)
    front.add((point, []) for point in truth if any(is_inside(point[0], interval) for interval in proved))
    opened = complement(proved)
    weights = [np.array(w) for w in ((1.0, 0.0), (0.0, 1.0), (0.5, 0.5), (0.9, 0.1))]
    bounds = [(w, float((all_points @ w).min())) for w in weights] if len(all_points) else []
    boxes = open_boxes(front, opened, bounds)
    lower = lower_bound_set(front, opened, bounds)
    known = {tuple(point) for point in front.objectives.tolist()}
    for point in truth:
        is_open = ((boxes[:, 0] <= point) & (point < boxes[:, 1])).all(axis=1).any()
        assert tuple(point.tolist()) in known or is_open
    for point in all_points:
        assert (lower <= point).all(axis=1).any()
    gap = remaining_gap(front, lower, None)
    assert missing_share(front.objectives, truth) - 1e-12 <= gap <= 1
    if not opened and len(front):
        assert gap == pytest.approx(0)
        assert len(boxes) == 0


def test_with_one_objective_the_gap_is_a_share_of_the_best_value():
    front = front_of([(10,)], 1)
    bounds = [(np.ones(1), 8.0)]
    assert open_boxes(front, [EVERYTHING], bounds).tolist() == [[[8], [10]]]
    assert lower_bound_set(front, [EVERYTHING], bounds).tolist() == [[8]]
    assert remaining_gap(front, np.array([[8.0]]), None) == pytest.approx(0.2)
    assert open_boxes(front, [], bounds).shape == (0, 2, 1)
