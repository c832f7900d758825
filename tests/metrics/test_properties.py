"""The metrics of the tables against independent computations, on points drawn by hypothesis."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pareto_nrpa.metrics import hypervolume, overall_spread, spacing

SIDE = 6  # of the grid, with the reference point in its corner


GRID = st.integers(0, SIDE + 2).map(float)
REALS = st.floats(-100, 100, allow_nan=False, width=32).map(float)


def points(m, *, least=1, most=7, values=GRID):
    return st.integers(least, most).flatmap(lambda n: arrays(float, (n, m), elements=values))


def by_sweep(array, reference):
    """In the plane: strips from left to right."""
    area, height = 0.0, reference[1]
    for x, y in sorted(map(tuple, array.tolist())):
        if x < reference[0] and y < height:
            area += (reference[0] - x) * (height - y)
            height = y
    return area


def by_counting_cells(array, side):
    """On a grid: the unit cells whose lower corner some point weakly dominates."""
    m = array.shape[1]
    cells = itertools.product(range(side), repeat=m)
    return float(sum(any(all(p <= c for p, c in zip(point, cell, strict=True)) for point in array) for cell in cells))


def by_inclusion_and_exclusion(array, reference):
    """In any dimension: boxes, less those of pairs, plus those of triples ..."""
    inside = [p for p in array if (p < reference).all()]
    total = 0.0
    for k in range(1, len(inside) + 1):
        for chosen in itertools.combinations(inside, k):
            total += (-1) ** (k + 1) * float(np.prod(reference - np.max(chosen, axis=0)))
    return total


# --- hypervolume


@given(points(2, values=REALS, most=12))
def test_hypervolume_in_the_plane_is_the_area_of_the_staircase(array):
    reference = np.array([50.0, 60.0])
    assert hypervolume(array, reference_point=reference) == pytest.approx(by_sweep(array, reference), abs=1e-6)


@given(points(3))
def test_hypervolume_in_space_counts_the_cells_of_a_grid(array):
    assert hypervolume(array, reference_point=[SIDE] * 3) == pytest.approx(by_counting_cells(array, SIDE))


@given(st.integers(1, 4).flatmap(lambda m: points(m, most=6)))
def test_hypervolume_by_inclusion_and_exclusion(array):
    reference = np.full(array.shape[1], float(SIDE))
    expected = by_inclusion_and_exclusion(array, reference)
    assert hypervolume(array, reference_point=reference) == pytest.approx(expected, abs=1e-9)


@given(st.integers(2, 4).flatmap(lambda m: points(m, values=REALS)))
def test_hypervolume_is_pymoos(array):
    pymoo = pytest.importorskip("pymoo.indicators.hv", reason="needs pymoo: pip install pareto-nrpa[baselines]")
    reference = np.full(array.shape[1], 70.0)
    expected = pymoo.HV(ref_point=reference)(array)
    assert hypervolume(array, reference_point=reference) == pytest.approx(expected, rel=1e-9, abs=1e-6)


@given(points(3, values=REALS), st.randoms(use_true_random=False))
def test_order_repetition_and_dominated_points_do_not_change_the_hypervolume(array, random):
    reference = np.full(3, 101.0)
    more = [*array, array[0], array[0] + 0.5]
    random.shuffle(more)
    expected = hypervolume(array, reference_point=reference)
    assert hypervolume(np.array(more), reference_point=reference) == pytest.approx(expected, rel=1e-12)


@given(points(2, values=REALS), arrays(float, 2, elements=REALS))
def test_another_point_never_lowers_the_hypervolume(array, point):
    reference = np.full(2, 101.0)
    before, after = (hypervolume(a, reference_point=reference) for a in (array, np.vstack([array, point])))
    assert after >= before * (1 - 1e-12)


@given(points(2, values=REALS), st.floats(0.5, 4), arrays(float, 2, elements=REALS))
def test_hypervolume_scales_with_the_objectives_and_stays_when_they_are_shifted(array, factor, shift):
    reference = np.full(2, 101.0)
    expected = hypervolume(array, reference_point=reference) * factor**2
    found = hypervolume(array * factor + shift, reference_point=reference * factor + shift)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-3)


# --- spread


@given(st.integers(1, 3).flatmap(lambda m: points(m, values=REALS, least=2, most=8)))
def test_spread_is_the_share_of_the_box(array):
    ideal, maximal = array.min(axis=0) - 1.0, array.max(axis=0) + 2.0
    share = 1.0
    for j in range(array.shape[1]):
        column = [row[j] for row in array.tolist()]
        share *= (max(column) - min(column)) / (maximal[j] - ideal[j])
    assert overall_spread(array, ideal=ideal, maximal=maximal) == pytest.approx(share)


@given(points(2, values=REALS, least=2))
def test_a_front_that_fills_its_box_has_spread_one(array):
    assume((np.ptp(array, axis=0) > 1e-6).all())
    assert overall_spread(array, ideal=array.min(axis=0), maximal=array.max(axis=0)) == pytest.approx(1)


# --- spacing


def naive_spacing(array):
    nearest = []
    for i, p in enumerate(array.tolist()):
        distances = [sum(abs(a - b) for a, b in zip(p, q, strict=True)) for j, q in enumerate(array.tolist()) if j != i]
        nearest.append(min(distances))
    mean = sum(nearest) / len(nearest)
    return math.sqrt(sum((d - mean) ** 2 for d in nearest) / (len(nearest) - 1))


@given(st.integers(1, 3).flatmap(lambda m: points(m, values=REALS, least=2, most=8)))
def test_spacing_is_the_deviation_of_the_nearest_distances(array):
    assert spacing(array) == pytest.approx(naive_spacing(array), abs=1e-9)


@given(st.integers(2, 8), st.floats(0.1, 10))
def test_an_even_front_has_spacing_zero(n, step):
    array = np.column_stack([np.arange(n) * step, -np.arange(n) * step])
    assert spacing(array) == pytest.approx(0, abs=1e-9)


@given(points(2, values=REALS, most=1))
def test_one_point_has_no_spacing(array):
    assert math.isnan(spacing(array))
