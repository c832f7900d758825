"""Hypervolume against closed forms, two slow twins and the properties that define it."""

import time
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pareto_nrpa.metrics import (
    approximate_hypervolume,
    hypervolume,
    hypervolume_history,
    is_affordable,
    quick_hypervolume,
    worst_point,
)

REFERENCE = 10


def fronts(m, most=6):
    """Small whole numbers, so that slow twins are exact and ties are common; some lie outside the reference."""
    return st.lists(st.tuples(*[st.integers(0, REFERENCE + 2)] * m), max_size=most).map(
        lambda rows: np.array(rows, dtype=float).reshape(-1, m)
    )


def swept(points, reference):
    """Two objectives: sort by the first and add up the steps of the staircase."""
    area, ceiling = 0.0, reference[1]
    for x, y in sorted(map(tuple, points)):
        if x < reference[0] and y < ceiling:
            area += (reference[0] - x) * (ceiling - y)
            ceiling = y
    return area


def included_and_excluded(points, reference):
    """Any number of objectives: the union of boxes by inclusion and exclusion."""
    total = 0.0
    for size in range(1, len(points) + 1):
        for subset in combinations(points, size):
            sides = np.maximum(0.0, np.asarray(reference) - np.max(subset, axis=0))
            total += (-1) ** (size + 1) * sides.prod()
    return total


@pytest.mark.parametrize(
    ("points", "reference", "expected"),
    [
        ([[0, 0]], [3, 2], 6),
        ([[0, 1], [1, 0]], [2, 2], 3),
        ([[0, 2], [1, 1], [2, 0]], [3, 3], 6),
        ([[-1, -1]], [1, 1], 4),
        ([[4], [2], [3]], [7], 5),
        ([[0, 0, 0]], [2, 3, 4], 24),
        ([[0, 0, 1], [0, 1, 0], [1, 0, 0]], [2, 2, 2], 7),
        ([[0, 0, 0, 0, 0]], [2, 2, 2, 2, 2], 32),
    ],
)
def test_it_is_the_closed_form(points, reference, expected):
    assert hypervolume(points, reference_point=reference) == pytest.approx(expected)


@settings(deadline=None)
@given(fronts(2))
def test_two_objectives_are_swept_like_a_staircase(points):
    reference = [REFERENCE, REFERENCE]
    assert hypervolume(points, reference_point=reference) == pytest.approx(swept(points, reference))


@settings(deadline=None)
@given(st.integers(1, 4).flatmap(fronts))
def test_it_is_the_union_of_boxes(points):
    reference = [REFERENCE] * points.shape[1]
    assert hypervolume(points, reference_point=reference) == pytest.approx(included_and_excluded(points, reference))


@settings(deadline=None)
@given(fronts(3), st.randoms(use_true_random=False))
def test_the_order_of_points_does_not_matter(points, random):
    shuffled = list(points)
    random.shuffle(shuffled)
    reference = [REFERENCE] * 3
    again = hypervolume(np.reshape(shuffled, (-1, 3)), reference_point=reference)
    assert again == pytest.approx(hypervolume(points, reference_point=reference))


@settings(deadline=None)
@given(fronts(3).filter(len), st.tuples(*[st.integers(0, 3)] * 3))
def test_a_dominated_point_changes_nothing(points, worse_by):
    reference = [REFERENCE] * 3
    more = np.vstack([points, points[0] + worse_by])
    assert hypervolume(more, reference_point=reference) == pytest.approx(hypervolume(points, reference_point=reference))


@settings(deadline=None)
@given(fronts(3), st.tuples(*[st.integers(0, REFERENCE + 2)] * 3))
def test_one_more_point_never_lowers_it(points, point):
    reference = [REFERENCE] * 3
    more = np.vstack([points, point])
    assert hypervolume(more, reference_point=reference) >= hypervolume(points, reference_point=reference) - 1e-9


def test_no_points_have_none():
    assert hypervolume(np.zeros((0, 2)), reference_point=[1, 1]) == 0


@pytest.mark.parametrize("point", [[3, 0], [0, 3], [2, 2], [2, 0]])
def test_a_point_that_is_not_better_everywhere_adds_nothing(point):
    assert hypervolume([point], reference_point=[2, 2]) == 0
    assert hypervolume([point, [1, 1]], reference_point=[2, 2]) == 1


def test_the_points_stay_as_they_were():
    points = np.array([[2.0, 0.0], [0.0, 2.0], [5.0, 5.0]])
    before = points.copy()
    hypervolume(points, reference_point=[3, 3])
    np.testing.assert_array_equal(points, before)


@pytest.mark.parametrize("points", [[1, 2], 3, [[[1, 2]]], []])
def test_points_must_be_a_table(points):
    with pytest.raises(ValueError, match=r"points must be an array \[n, m\], got shape"):
        hypervolume(points, reference_point=[1, 1])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_points_must_be_finite(bad):
    with pytest.raises(ValueError, match="points must be finite, got NaN or infinity"):
        hypervolume([[0, bad]], reference_point=[1, 1])


@pytest.mark.parametrize("reference", [[1], [1, 1, 1], 1, [[1, 1]]])
def test_the_reference_point_has_one_entry_per_objective(reference):
    with pytest.raises(ValueError, match="reference_point must be 2 finite numbers, got"):
        hypervolume([[0, 0]], reference_point=reference)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_the_reference_point_must_be_finite(bad):
    with pytest.raises(ValueError, match="reference_point must be 2 finite numbers"):
        hypervolume([[0, 0]], reference_point=[1, bad])


@settings(deadline=None)
@given(fronts(2).filter(len))
def test_the_worst_point_is_worse_than_every_point(points):
    assert (worst_point(points) > points).all()


def test_the_worst_point_leaves_a_tenth_of_the_range():
    np.testing.assert_allclose(worst_point([[0, 10], [5, 30]]), [5.5, 32])


def test_the_worst_point_of_one_point_leaves_a_tenth_of_its_value():
    np.testing.assert_allclose(worst_point([[20, 0]]), [22, 0.1])


def logs(most=8):
    """Rows of evaluation, violations and two objectives, in the order of evaluations."""
    row = st.tuples(st.integers(0, 1), st.integers(0, REFERENCE + 2), st.integers(0, REFERENCE + 2))
    return st.lists(row, min_size=1, max_size=most).map(
        lambda rows: np.array([(3 * i + 1, *row) for i, row in enumerate(rows)], dtype=float)
    )


@settings(deadline=None)
@given(logs())
def test_the_history_is_the_hypervolume_of_all_that_was_feasible_so_far(log):
    reference = [REFERENCE, REFERENCE]
    slow = [[row[0], swept([r[2:] for r in log[: i + 1] if r[1] == 0], reference)] for i, row in enumerate(log)]
    np.testing.assert_allclose(hypervolume_history(log, reference), slow)


def test_a_long_history_is_thinned_and_keeps_both_ends(rng):
    log = np.column_stack([np.arange(1, 3001), np.zeros(3000), rng.random((3000, 2))])
    history = hypervolume_history(log, [1, 1])
    assert len(history) <= 500
    assert history[0, 0] == 1
    assert history[-1, 0] == 3000
    rows = history[:, 0].astype(int)
    slow = [swept(log[:row, 2:], [1, 1]) for row in rows]
    np.testing.assert_allclose(history[:, 1], slow)


def test_the_history_never_falls(rng):
    log = np.column_stack([np.arange(1, 51), rng.integers(0, 2, 50), rng.random((50, 4))])
    assert (np.diff(hypervolume_history(log, [1] * 4)[:, 1]) >= -1e-12).all()


def test_nothing_in_the_log_is_an_empty_history():
    assert hypervolume_history(np.zeros((0, 4)), [1, 1]).shape == (0, 2)


def test_the_history_of_the_infeasible_is_zero():
    log = np.array([[1, 2, 0, 0], [5, 1, 0, 0]], dtype=float)
    np.testing.assert_array_equal(hypervolume_history(log, [1, 1]), [[1, 0], [5, 0]])


def curved_front(n, m, seed=1):
    points = np.abs(np.random.default_rng(seed).normal(size=(n, m)))
    return 1 - points / np.linalg.norm(points, axis=1, keepdims=True)


@pytest.mark.parametrize(("n", "m"), [(400, 4), (400, 5), (150, 6), (80, 7)])
def test_an_approximation_is_near_whatever_the_units(n, m):
    points, units = curved_front(n, m), 10.0 ** np.arange(-3, m - 3)
    exact = hypervolume(points, reference_point=np.full(m, 1.1))
    about = approximate_hypervolume(points * units, reference_point=1.1 * units) / np.prod(units)
    assert about == pytest.approx(exact, rel=0.01)


def test_an_approximation_of_nothing_is_nothing():
    assert approximate_hypervolume([[2.0, 2.0]], reference_point=[1, 1]) == 0


def test_what_is_quick_is_exact_for_few_points_and_approximated_for_many():
    few, many = curved_front(50, 6), curved_front(3_000, 6)
    reference = np.full(6, 1.1)
    assert is_affordable(*few.shape)
    assert not is_affordable(*many.shape)
    assert quick_hypervolume(few, reference_point=reference) == hypervolume(few, reference_point=reference)
    assert quick_hypervolume(many, reference_point=reference) == approximate_hypervolume(
        many, reference_point=reference
    )


def test_a_history_of_many_objectives_takes_a_moment_rises_and_comes_again():
    points = curved_front(3_000, 7)
    log = np.column_stack([np.arange(1, 3_001), np.zeros(3_000), points])
    begin = time.process_time()
    history = hypervolume_history(log, [1.1] * 7, points)
    assert time.process_time() - begin < 5, "an exact one takes hours"
    assert len(history) == 10
    assert (np.diff(history[:, 1]) > 0).all()
    np.testing.assert_array_equal(history, hypervolume_history(log, [1.1] * 7, points))


def test_a_long_history_has_fewer_steps_where_they_cost_more():
    points = curved_front(2_500, 5)
    log = np.column_stack([np.arange(1, 2_501), np.zeros(2_500), points])
    history = hypervolume_history(log, [1.1] * 5, points)
    assert 5 < len(history) < 50
    assert history[-1, 1] == pytest.approx(hypervolume(points, reference_point=[1.1] * 5))
