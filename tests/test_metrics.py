"""The metrics against closed forms, slow twins and pymoo, and the properties that define them."""

import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pareto_nrpa.metrics import (
    approximate_hypervolume,
    constraint_violations,
    hypervolume,
    hypervolume_history,
    igd_plus,
    is_affordable,
    n_found,
    overall_spread,
    quick_hypervolume,
    share_of_hypervolume,
    spacing,
    worst_point,
)

SIDE = 6  # of the grid, with the reference point in its corner
GRID = st.integers(0, SIDE + 2).map(float)
REALS = st.floats(-100, 100, allow_nan=False, width=32).map(float)


def points(m, *, least=1, most=7, values=GRID):
    return st.integers(least, most).flatmap(lambda n: arrays(float, (n, m), elements=values))


def by_sweep(array, reference):
    """In the plane: strips from left to right."""
    area, height = 0.0, reference[1]
    for x, y in sorted(map(tuple, np.asarray(array).tolist())):
        if x < reference[0] and y < height:
            area += (reference[0] - x) * (height - y)
            height = y
    return area


# --- hypervolume


@pytest.mark.parametrize(
    ("array", "reference", "expected"),
    [
        ([[0, 1], [1, 0]], [2, 2], 3),
        ([[-1, -1]], [1, 1], 4),
        ([[4], [2], [3]], [7], 5),
        ([[0, 0, 1], [0, 1, 0], [1, 0, 0]], [2, 2, 2], 7),
        ([[0, 0, 0, 0, 0]], [2, 2, 2, 2, 2], 32),
        ([[3, 0], [2, 2], [1, 1]], [2, 2], 1),  # a point that is not better everywhere adds nothing
        (np.zeros((0, 2)), [1, 1], 0),
    ],
)
def test_hypervolume_is_the_closed_form(array, reference, expected):
    assert hypervolume(array, reference_point=reference) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("array", "reference", "message"),
    [
        ([1, 2], [1, 1], r"points must be an array \[n, m\], got shape"),
        ([[0, np.nan]], [1, 1], "points must be finite, got NaN or infinity"),
        ([[0, 0]], [1, 1, 1], "reference_point must be 2 finite numbers"),
        ([[0, 0]], [1, np.inf], "reference_point must be 2 finite numbers"),
    ],
)
def test_what_no_hypervolume_can_be_measured_of_is_named(array, reference, message):
    with pytest.raises(ValueError, match=message):
        hypervolume(array, reference_point=reference)


def test_the_worst_point_leaves_a_tenth_of_the_range_or_of_a_single_value():
    np.testing.assert_allclose(worst_point([[0, 10], [5, 30]]), [5.5, 32])
    np.testing.assert_allclose(worst_point([[20, 0]]), [22, 0.1])


# --- the history of a search


def logs(most=8):
    """Rows of evaluation, violations and two objectives, in the order of evaluations."""
    row = st.tuples(st.integers(0, 1), st.integers(0, SIDE + 2), st.integers(0, SIDE + 2))
    return st.lists(row, min_size=1, max_size=most).map(
        lambda rows: np.array([(3 * i + 1, *row) for i, row in enumerate(rows)], dtype=float)
    )


@given(logs())
def test_the_history_is_the_hypervolume_of_all_that_was_feasible_so_far(log):
    reference = [SIDE, SIDE]
    slow = [[row[0], by_sweep([r[2:] for r in log[: i + 1] if r[1] == 0], reference)] for i, row in enumerate(log)]
    np.testing.assert_allclose(hypervolume_history(log, reference), slow)


def test_a_long_history_is_thinned_and_keeps_both_ends(rng):
    log = np.column_stack([np.arange(1, 3001), np.zeros(3000), rng.random((3000, 2))])
    history = hypervolume_history(log, [1, 1])
    assert len(history) <= 500
    assert (history[0, 0], history[-1, 0]) == (1, 3000)
    slow = [by_sweep(log[:row, 2:], [1, 1]) for row in history[:, 0].astype(int)]
    np.testing.assert_allclose(history[:, 1], slow)
    assert hypervolume_history(np.zeros((0, 4)), [1, 1]).shape == (0, 2)


# --- many objectives


def curved_front(n, m, seed=1):
    array = np.abs(np.random.default_rng(seed).normal(size=(n, m)))
    return 1 - array / np.linalg.norm(array, axis=1, keepdims=True)


@pytest.mark.parametrize(("n", "m"), [(400, 4), (150, 6)])
def test_an_approximation_is_near_whatever_the_units(n, m):
    array, units = curved_front(n, m), 10.0 ** np.arange(-3, m - 3)
    exact = hypervolume(array, reference_point=np.full(m, 1.1))
    about = approximate_hypervolume(array * units, reference_point=1.1 * units) / np.prod(units)
    assert about == pytest.approx(exact, rel=0.01)


def test_few_points_are_measured_exactly_and_many_approximated():
    few, many = curved_front(50, 6), curved_front(3_000, 6)
    reference = np.full(6, 1.1)
    assert is_affordable(*few.shape)
    assert not is_affordable(*many.shape)
    assert quick_hypervolume(few, reference_point=reference) == hypervolume(few, reference_point=reference)
    about = approximate_hypervolume(many, reference_point=reference)
    assert quick_hypervolume(many, reference_point=reference) == about


def test_a_history_of_many_objectives_takes_a_moment_rises_and_is_reproducible():
    array = curved_front(3_000, 7)
    log = np.column_stack([np.arange(1, 3_001), np.zeros(3_000), array])
    begin = time.process_time()
    history = hypervolume_history(log, [1.1] * 7, array)
    assert time.process_time() - begin < 5, "an exact one takes hours"
    assert len(history) == 10
    assert (np.diff(history[:, 1]) > 0).all()
    np.testing.assert_array_equal(history, hypervolume_history(log, [1.1] * 7, array))


# --- spread, spacing and violations


@given(st.integers(1, 3).flatmap(lambda m: points(m, values=REALS, least=2, most=8)))
def test_spread_is_the_share_of_the_box(array):
    ideal, maximal = array.min(axis=0) - 1.0, array.max(axis=0) + 2.0
    share = math.prod((np.ptp(array, axis=0) / (maximal - ideal)).tolist())
    assert overall_spread(array, ideal=ideal, maximal=maximal) == pytest.approx(share)
    assert overall_spread(array, ideal=maximal, maximal=ideal) == pytest.approx(share)
    assert overall_spread(array[:1], ideal=ideal, maximal=maximal) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ideal": [0, 5], "maximal": [10, 5]}, "ideal and maximal must differ in every objective"),
        ({"ideal": [1, 2, 3]}, "ideal must be 2 finite numbers"),
        ({"maximal": [1, np.nan]}, "maximal must be 2 finite numbers"),
    ],
)
def test_a_box_that_is_none_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        overall_spread([[1, 1]], **{"ideal": [0, 0], "maximal": [10, 10], **options})


def test_spacing_of_even_uneven_and_single_points():
    assert spacing([[0, 3], [1, 2], [2, 1], [3, 0]]) == 0
    assert spacing([[0, 0], [1, 1], [1, 4]]) == pytest.approx(math.sqrt(1 / 3))  # Manhattan: 2, 2 and 3
    assert math.isnan(spacing([[1, 2]]))


def test_violations_are_their_mean():
    assert constraint_violations([1, 2]) == 1.5
    with pytest.raises(ValueError, match="violations must have at least one entry, got none"):
        constraint_violations([])


# --- how much of a known front was found

FRONT = np.array([[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]])


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e12])
def test_points_are_found_up_to_a_tolerance(rng, scale):
    front = scale * rng.integers(0, 4, (30, 3))
    array = front[:20] + scale * rng.choice([0.0, 0.1, -0.1, 0.2], (20, 3))
    for tolerance in (1e-8, 0.1 * scale, 0.15 * scale):
        expected = sum(any(all(abs(p - f) <= tolerance) for p in array) for f in front)
        assert n_found(array, front, tolerance=tolerance) == expected


def test_the_share_of_the_hypervolume():
    # Up to (4, 4) the front dominates 6.
    assert share_of_hypervolume([[2, 2], [1, 3]], FRONT, reference_point=(4, 4)) == pytest.approx(5 / 6)
    assert share_of_hypervolume(np.zeros((0, 2)), FRONT, reference_point=(4, 4)) == 0
    assert np.isnan(share_of_hypervolume(FRONT, FRONT, reference_point=(1, 1)))


def test_igd_plus_is_the_mean_distance_to_being_dominated():
    assert igd_plus(FRONT - 1, FRONT) == 0  # better is as good
    assert igd_plus([[2, 3]], FRONT) == pytest.approx((1 + 1 + 2) / 3)
    assert igd_plus(np.zeros((0, 2)), FRONT) == np.inf
    with pytest.raises(ValueError, match="front must have at least one point, got none"):
        igd_plus(FRONT, np.zeros((0, 2)))
