"""Pareto Local Search against brute force."""

import itertools

import numpy as np
import pytest

from pareto_nrpa.algorithms.baselines import pls_kernels as kernels
from pareto_nrpa.algorithms.baselines.pls import ParetoLocalSearch
from pareto_nrpa.routing import generate_tsptw

from ...helpers.oracles import best_of, covers
from ...helpers.problems import Bits


def turned(base):
    """Return all permutations with one segment the other way round."""
    n = len(base)
    return {base[:i] + base[i:j][::-1] + base[j:] for i in range(n) for j in range(i + 2, n + 1)}


def shifted(base, longest=3):
    """Return all permutations with a segment of up to three moves taken out and put in elsewhere."""
    found = set()
    for length in range(1, longest + 1):
        for i in range(len(base) - length + 1):
            segment, rest = base[i : i + length], base[:i] + base[i + length :]
            found |= {rest[:j] + segment + rest[j:] for j in range(len(rest) + 1)}
    return found - {base}


def all_of(next_one, base, *tables):
    base = np.array(base, dtype=np.int64)
    before, cursor, out, found = base.copy(), np.zeros(3, dtype=np.int64), np.zeros_like(base), []
    while next_one(base, cursor, *tables, out):
        found.append(tuple(out.tolist()))
        assert len(found) < 10_000
    assert (base == before).all()
    assert not next_one(base, cursor, *tables, out), "the end is the end"
    return found


@pytest.mark.parametrize("n", range(1, 9))
@pytest.mark.parametrize("longest", range(5))
def test_neighbours_of_a_permutation_are_those_of_2_opt_and_or_opt(n, longest):
    base = tuple(np.random.default_rng(n).permutation(n).tolist())
    found = all_of(kernels.next_permutation, base, longest)
    assert all(sorted(neighbour) == list(range(n)) for neighbour in found)
    assert base not in found
    assert set(found) == turned(base) | shifted(base, longest)
    n_turned = n * (n - 1) // 2
    assert found[:n_turned] == list(dict.fromkeys(found[:n_turned])), "no segment is turned twice"
    assert set(found[:n_turned]) == turned(base)
    # Taken out at n - k + 1 places and put in at as many, less the one it came from.
    assert len(found) == n_turned + sum((n - k + 1) * (n - k) for k in range(1, longest + 1) if k <= n)


def test_neighbours_of_choices_differ_in_one_choice():
    steps = [(4, 5, 6), (0,), (7, 2), (9, 8, 1, 3)]
    options, n_options = np.zeros((4, 4), dtype=np.int64), np.array([len(step) for step in steps])
    for row, step in zip(options, steps, strict=True):
        row[: len(step)] = step
    for base in itertools.product(*steps):
        found = all_of(kernels.next_choice, base, options, n_options)
        others = [p for p in itertools.product(*steps) if sum(a != b for a, b in zip(p, base, strict=True)) == 1]
        assert sorted(found) == sorted(others)


def complete_local_searches(problem, count, initial, seed):
    """Return the working fronts of local searches at their end: the last one seen before a new one begins."""
    search = ParetoLocalSearch(initial=initial).start(problem, seed=seed)
    found, last, numbers = [], None, search._front.numbers
    while len(found) < count:
        was_sampling = numbers[kernels.SAMPLED] < initial
        search.advance(1)
        assert search.evaluations < 50_000
        if not was_sampling and numbers[kernels.SAMPLED] == 1:
            found.append(last)
        size = int(numbers[kernels.SIZE])
        last = search._front.moves[:size].tolist()
    return found, search


def as_score(problem, moves):
    objectives, violations = problem.replay(moves)
    return violations, tuple(objectives.tolist())


@pytest.mark.parametrize("seed", [1, 2])
def test_a_local_search_ends_with_a_front_that_no_neighbour_improves(seed):
    problem = generate_tsptw(7, seed=2, tightness=0.8)
    fronts, search = complete_local_searches(problem, 4, initial=3, seed=seed)
    archive = [(v, tuple(o)) for v, o in zip(search.front().violations, search.front().objectives, strict=True)]
    for front in fronts:
        scores = [as_score(problem, moves) for moves in front]
        assert best_of(scores) == set(scores)
        assert len(set(scores)) == len(scores)
        for moves in map(tuple, front):
            for neighbour in turned(moves) | shifted(moves):
                assert any(covers(score, as_score(problem, neighbour)) for score in scores)
        # What a local search that is over has found, the archive still has, or better.
        assert all(any(covers(kept, score) for kept in archive) for score in scores)


def test_a_working_front_larger_than_its_first_memory_goes_on_in_more():
    class Line(Bits):
        """No two solutions with different loads dominate each other: the front is as large as it gets."""

        def evaluate(self, state):
            value = sum(bit << k for k, bit in enumerate(state))
            return value, -value

    search = ParetoLocalSearch(initial=5).start(Line(10), seed=1)
    size = search._front.heads.shape[0]
    search.advance(5_000)
    assert len(search.front()) > size, "else nothing has grown"
    assert len(search.front()) == search._front.numbers[kernels.SIZE]
