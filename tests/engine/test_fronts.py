"""Dominance, crowding, the archive, counted solutions and the softmax against slow twins."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pareto_nrpa.algorithms.nrpa import reference
from pareto_nrpa.algorithms.nrpa.crowding import crowding_distances
from pareto_nrpa.engine import evaluated as seen
from pareto_nrpa.engine.archive import counting_archive, larger_archive, new_archive
from pareto_nrpa.engine.arrays import KEY, N_COUNTERS, N_HEADS, N_MOVES, N_UNIQUE, NO_IDENTITY
from pareto_nrpa.engine.dominance import CHUNK, covers, is_covered, is_covered_by_front
from pareto_nrpa.engine.evaluated import count_once, known_scores
from pareto_nrpa.engine.front_index import NEW, clear, compare, count_blocks, insert, new_index, split_front
from pareto_nrpa.engine.jit.kernels import python_function, stored
from pareto_nrpa.engine.softmax import add_up, fast_exp2, pick, safe_exponentials

# Found again on disk, by this process and by all others.
covers, is_covered, is_covered_by_front = map(stored, (covers, is_covered, is_covered_by_front))
clear, compare, insert, count_blocks = map(stored, (clear, compare, insert, count_blocks))
split_front, crowding_distances = map(stored, (split_front, crowding_distances))


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


@pytest.mark.parametrize("n", [0, 1, CHUNK, CHUNK + 1, 10 * CHUNK - 1])
@pytest.mark.parametrize("slack", [0.0, 0.5])
def test_floors_tell_what_a_front_covers_as_all_its_rows_do(n, slack):
    rng = np.random.default_rng(n)
    front = rng.integers(0, 9, (n, 4)).astype(float)
    floors = np.array([front[i : i + CHUNK].min(axis=0) for i in range(0, n, CHUNK)]).reshape(-1, 4)
    slacks, answers = np.full(4, slack), set()
    for point in rng.integers(0, 12, (200, 4)) - rng.choice([0.0, 0.25], (200, 1)):
        expected = is_covered(front, n, point, slacks)
        assert is_covered_by_front(front, floors, point, slacks) == expected
        assert expected == (front <= point + slacks).all(axis=1).any()
        answers.add(bool(expected))
    assert answers == ({False} if n == 0 else {False, True})


@given(some_scores)
def test_dominance_is_fewer_violations_then_pareto(points):
    array = as_array(points)
    for i, one in enumerate(points):
        for j, other in enumerate(points):
            assert covers(array, i, array, j) == (one == other or reference.dominates(one, other))


def peel(array, n_known=0):
    """Return the fronts of a table, as `select` takes them apart, and the rows that equal an older one."""
    n_rest, n_objectives = len(array), array.shape[1] - 1
    rest, front, standing, spare = np.arange(n_rest), *np.zeros((3, n_rest), dtype=np.int64)
    fronts, equal = [], []
    while n_rest:
        index = new_index(n_rest, n_objectives)
        n_front, n_left = split_front(array, rest, n_rest, n_known, front, index, standing, spare)
        fronts.append(front[:n_front].tolist())
        equal += rest[n_left : n_rest - n_front].tolist()
        n_rest, n_known = n_left, 0
    return fronts, equal


def peel_slowly(points):
    older = {point: i for i, point in reversed(list(enumerate(points)))}
    distinct = sorted(older.values())
    fronts = reference.sort_into_fronts([points[i] for i in distinct])
    return [[distinct[i] for i in front] for front in fronts], sorted(set(range(len(points))) - set(distinct))


@given(some_scores)
def test_fronts_are_peeled_in_order(points):
    fronts, equal = peel(as_array(points))
    assert (fronts, sorted(equal)) == peel_slowly(points)


@pytest.mark.parametrize("n_objectives", [1, 2, 3, 8])
@pytest.mark.parametrize("n_values", [3, 1000])
def test_large_sets_are_peeled_alike(n_objectives, n_values):
    # Large enough for many blocks; few values make ties and equals, many make large fronts.
    rng = np.random.default_rng(n_objectives)
    objectives = rng.integers(n_values, size=(400, n_objectives)).astype(float)
    points = [(float(i % 7 == 0), tuple(row)) for i, row in enumerate(objectives.tolist())]
    fronts, equal = peel(as_array(points))
    assert (fronts, sorted(equal)) == peel_slowly(points)


@pytest.mark.parametrize("n_objectives", [2, 3, 8])
def test_an_index_that_rows_enter_and_leave_keeps_the_front(n_objectives):
    # Points that get better and better: most of what enters is dropped again, and blocks run empty.
    rng = np.random.default_rng(n_objectives)
    table = np.concatenate([np.zeros((600, 1)), rng.random((600, n_objectives))], axis=1)
    table[:, 1:] -= np.linspace(0, 1, 600)[:, None]
    index, dropped, front = new_index(600, n_objectives), np.zeros(600, dtype=np.int64), []
    clear(index)
    for i in range(600):
        standing, n_dropped = compare(index, table, table, i, dropped, 0)
        gone = [j for j in front if (table[i] <= table[j]).all()]
        assert (standing == NEW) == (not any((table[j] <= table[i]).all() for j in front))
        assert sorted(dropped[:n_dropped]) == sorted(gone)
        if standing == NEW:
            front = [j for j in front if j not in gone] + [i]
            insert(index, table, i)
    sizes = index.blocks[: count_blocks(index), 0]
    assert sizes.sum() == len(front)


@given(some_scores)
def test_crowding_distances(points):
    points = [(0.0, objectives) for _, objectives in points]
    n = len(points)
    out = np.zeros(n)
    crowding_distances(as_array(points), np.arange(n), n, *np.zeros((2, n), dtype=np.int64), out)
    np.testing.assert_allclose(out, reference.crowding_distances([objectives for _, objectives in points]), rtol=1e-12)
    assert (out <= 2).all()


def test_crowding_distances_of_a_long_front():
    # Longer than the runs that are sorted by insertion, with ties.
    rng = np.random.default_rng(3)
    points = [(0.0, tuple(row)) for row in rng.integers(50, size=(500, 3)).astype(float).tolist()]
    out = np.zeros(500)
    crowding_distances(as_array(points), np.arange(500), 500, *np.zeros((2, 500), dtype=np.int64), out)
    np.testing.assert_allclose(out, reference.crowding_distances([objectives for _, objectives in points]), rtol=1e-12)


# ---


def put(archive, counters, moves, identity, score):
    heads = np.zeros((1, N_HEADS), dtype=np.int64)
    heads[0, [N_MOVES, KEY]] = len(moves), identity
    row = np.array([[*moves, 99]])
    count_once(archive.keys, archive.key_scores, heads, row, np.array([[0.0, score, -score]]), 0, counters)


def test_solutions_are_counted_once_however_many_there_are(rng):
    archive, counters = counting_archive(new_archive(2, 4)), np.zeros(N_COUNTERS, dtype=np.int64)
    seen = {}
    for i in range(5000):
        moves = tuple(rng.integers(0, 9, 3).tolist())
        archive = larger_archive(archive, counters)
        put(archive, counters, moves, NO_IDENTITY, float(i))
        seen.setdefault(moves, float(i))
        assert counters[N_UNIQUE] == len(seen)
    assert archive.keys.size >= 2 * len(seen)
    for moves, score in seen.items():
        found = known_scores(archive.keys, archive.key_scores, NO_IDENTITY, np.array(moves), 3)
        assert found.tolist() == [0.0, score, -score]
    assert known_scores(archive.keys, archive.key_scores, NO_IDENTITY, np.array([9, 9, 9]), 3) is None


def test_what_the_problem_says_comes_before_the_moves():
    archive, counters = counting_archive(new_archive(2, 4)), np.zeros(N_COUNTERS, dtype=np.int64)
    for moves, identity in (((1, 2), 7), ((2, 1), 7), ((1, 2), 8), ((1, 2), 0)):
        put(archive, counters, moves, identity, 1.0)
    assert counters[N_UNIQUE] == 3


def crowded(keys):
    """Return the longest way that a key in a table is away from where it is looked for first."""
    first = python_function(seen._first_place)
    places = np.flatnonzero(keys)
    return int(((places - [int(first(int(keys[place]), keys.size)) for place in places]) % keys.size).max())


@pytest.mark.parametrize("shift", [0, 20, 40])
def test_keys_that_agree_in_their_low_bits_do_not_crowd_each_other(shift):
    archive, counters = counting_archive(new_archive(2, 4)), np.zeros(N_COUNTERS, dtype=np.int64)
    for i in range(3000):
        archive = larger_archive(archive, counters)
        put(archive, counters, (1,), i << shift, 1.0)
    assert counters[N_UNIQUE] == 3000
    assert crowded(archive.keys) < 60


# ---


NO_BIAS = np.zeros(1)


def test_fast_exp2_is_a_power_of_two_within_its_stated_error():
    for x in np.concatenate([np.linspace(-999, 999, 20_001), np.linspace(-2, 2, 2_001)]):
        assert fast_exp2(x) == pytest.approx(2.0**x, rel=2e-14)


@given(st.lists(st.floats(-1e6, 1e6), max_size=40), st.integers(0, 5))
def test_add_up_adds_up(values, start):
    start = min(start, len(values))
    expected = math.fsum(values[start:])
    assert add_up(np.array(values), start, len(values)) == pytest.approx(expected, rel=1e-9, abs=1e-6)


@given(st.lists(st.floats(-1e5, 1e5), min_size=1, max_size=20))
def test_safe_exponentials_never_overflow_and_keep_their_order(weights):
    out = np.empty(len(weights))
    codes = np.arange(len(weights), dtype=np.uint32)
    total = safe_exponentials(np.array(weights), codes, NO_BIAS, False, 1.0, 0, len(weights), out)
    assert 1.0 <= total <= len(weights)
    assert out.max() == 1.0
    assert math.isclose((out / total).sum(), 1.0)
    assert (np.diff(out[np.argsort(weights, kind="stable")]) >= 0).all()


@given(st.lists(st.floats(0.001, 10), min_size=1, max_size=20), st.floats(0, 1, exclude_max=True))
def test_pick_takes_the_first_position_whose_running_sum_exceeds_the_threshold(values, share):
    sums = np.cumsum(values)
    threshold = share * sums[-1]
    expected = min(int(np.searchsorted(sums, threshold, side="right")), len(values) - 1)
    assert pick(np.array(values), len(values), threshold) == expected
