import numpy as np
import pytest

from pareto_nrpa.engine import evaluated as seen
from pareto_nrpa.engine.archive import counting_archive, larger_archive, new_archive
from pareto_nrpa.engine.arrays import KEY, N_COUNTERS, N_HEADS, N_MOVES, N_UNIQUE, NO_IDENTITY
from pareto_nrpa.engine.evaluated import count_once, known_scores, solution_key
from pareto_nrpa.engine.jit.kernels import python_function


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


def test_keys_depend_on_moves_their_order_and_their_number():
    sequences = [(), (0,), (0, 0), (1,), (1, 0), (0, 1), (2, 1, 0), (0, 1, 2), (2**31 - 2,), (2**31 - 1,)]
    keys = {solution_key(NO_IDENTITY, np.array([*s, 5]), len(s)) for s in sequences}
    assert len(keys) == len(sequences)
    assert all(0 < key < 2**62 for key in keys)


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
