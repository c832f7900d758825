"""Dominance, crowding and the archive against slow twins, through hypothesis."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pareto_nrpa.kernels.crowding import crowding_distances
from pareto_nrpa.kernels.dominance import dominates, split_front

from .. import oracles


def scores(n_objectives, min_size=1, max_size=12):
    # Few distinct values: ties in single objectives and equal vectors are the hard cases.
    value = st.integers(0, 5).map(float)
    return st.lists(
        st.tuples(st.integers(0, 2).map(float), st.tuples(*[value] * n_objectives)),
        min_size=min_size,
        max_size=max_size,
    )


some_scores = st.integers(1, 4).flatmap(scores)


def as_array(points):
    return np.array([[violations, *objectives] for violations, objectives in points])


@given(some_scores)
def test_dominance_is_fewer_violations_then_pareto(points):
    array = as_array(points)
    for i in range(len(points)):
        for j in range(len(points)):
            assert dominates(array, i, j) == oracles.dominates(points[i], points[j])


@given(some_scores)
def test_fronts_are_peeled_in_order(points):
    array = as_array(points)
    rest, front = np.arange(len(points)), np.zeros(len(points), dtype=np.int64)
    n_rest, found = len(points), []
    while n_rest:
        n = split_front(array, rest, n_rest, front)
        found.append(front[:n].tolist())
        n_rest -= n
    assert found == oracles.sort_into_fronts(points)


@given(some_scores)
def test_crowding_distances(points):
    points = [(0.0, objectives) for _, objectives in points]
    n = len(points)
    out = np.zeros(n)
    crowding_distances(as_array(points), np.arange(n), n, np.zeros(n, dtype=np.int64), out)
    np.testing.assert_allclose(out, oracles.crowding([objectives for _, objectives in points]), rtol=1e-12)
    assert (out <= 2).all()


def test_a_bug_of_the_public_code_sharing_one_coordinate_is_no_duplicate():
    # With three objectives two points may share a coordinate and neither dominate the other.
    points = [(0.0, (1.0, 2.0, 3.0)), (0.0, (1.0, 3.0, 2.0))]
    rest, front = np.arange(2), np.zeros(2, dtype=np.int64)
    assert split_front(as_array(points), rest, 2, front) == 2
