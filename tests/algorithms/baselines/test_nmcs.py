"""Nested Monte-Carlo search against its recursive form, and the weight vectors that it is given."""

import itertools
import math

import numpy as np
import pytest

from pareto_nrpa.algorithms.baselines.nmcs import WeightedNMCS
from pareto_nrpa.algorithms.baselines.weights import weight_vectors
from pareto_nrpa.routing import generate_tsp, generate_tsptw

from ...helpers.oracles import PlainNMCS, best_of
from ...helpers.problems import Bits, PlainTour, PlainWindows, RecordedBits, RecordedTour, Recording, Word


class RecordedWord(Recording, Word):
    """Three objectives, violations, a bias that depends on the state, and decisions of all kinds."""


class RecordedWindows(Recording, PlainWindows):
    """A tour with time windows."""


class Uneven(Recording, Word):
    """Words that may end early: some positions are complete while others of the same depth are not."""

    def legal_moves(self, state):
        return [] if state.endswith("aa") or len(state) == 4 else list("abc")


PROBLEMS = {
    "bits": lambda: RecordedBits(4),
    "word": RecordedWord,
    "uneven": Uneven,
    "tour": lambda: RecordedTour(generate_tsp(6, seed=2)),
    "windows": lambda: RecordedWindows(generate_tsptw(6, seed=2, tightness=0.6)),
}


def textbook(problem, *, level, weights, seed, budget, bias=1.0):
    vectors = weight_vectors(problem.n_objectives, weights)
    return PlainNMCS(problem, level=level, weights=vectors, seed=seed, budget=budget, bias=bias).run()


@pytest.mark.parametrize("where", PROBLEMS)
@pytest.mark.parametrize("level", [1, 2, 3])
def test_it_evaluates_what_the_recursive_form_does(where, level):
    problem, budget = PROBLEMS[where](), (60, 400, 1_200)[level - 1]
    WeightedNMCS(level=level, weights=3).start(problem, seed=6).advance(budget)
    slow = textbook(PROBLEMS[where](), level=level, weights=3, seed=6, budget=budget)
    assert slow.turn > 1, "else only one weight vector had its turn"
    assert [tuple(state) for state, _ in problem.diary] == [moves for moves, _, _ in slow.evaluated]


@pytest.mark.parametrize("level", [1, 2, 3])
def test_compiled_code_finds_what_the_recursive_form_does(level):
    compiled = generate_tsptw(7, seed=2, tightness=0.6)
    search = WeightedNMCS(level=level, weights=4, bias=0.5).start(compiled, seed=6)
    search.advance(500)
    slow = textbook(PlainWindows(compiled), level=level, weights=4, bias=0.5, seed=6, budget=500)
    found = {(v, tuple(o)) for v, o in zip(search.front().violations, search.front().objectives.tolist(), strict=True)}
    assert found == best_of([(v, o) for _, v, o in slow.evaluated])
    at = [i for i, (_, v, o) in enumerate(slow.evaluated, 1) if (v, o) in best_of([e[1:] for e in slow.evaluated[:i]])]
    new = [i for i in at if slow.evaluated[i - 1][1:] not in [e[1:] for e in slow.evaluated[: i - 1]]]
    assert search.log()[:, 0].tolist() == new


def test_level_1_plays_once_from_each_move_and_never_forgets_its_best_sequence():
    problem = RecordedTour(generate_tsp(7, seed=2))
    search = WeightedNMCS(level=1, weights=2).start(problem, seed=1)
    search.advance(6 + 5 + 4 + 3 + 2 + 1)
    evaluated = [state for state, _ in problem.diary]
    begin, prefix = 0, ()
    for n in (6, 5, 4, 3, 2, 1):
        group = evaluated[begin : begin + n]
        assert {state[: len(prefix)] for state in group} == {prefix}
        assert len({state[len(prefix)] for state in group}) == n
        # The first weight vector is the first objective alone.
        best = min(problem.diary[: begin + n], key=lambda entry: entry[1][0])[0]
        begin, prefix = begin + n, best[: len(prefix) + 1]


def test_objectives_are_weighed_by_their_ranges():
    """Scaling an objective must not change the search once its range is known; the first search is for one alone."""

    class Scaled(RecordedTour):
        def evaluate(self, state):
            a, b = PlainTour.evaluate(self, state)
            self.diary.append((state, (a, b)))
            return a, 1024 * b

    plain, scaled = RecordedTour(generate_tsp(7, seed=2)), Scaled(generate_tsp(7, seed=2))
    for problem in (plain, scaled):
        WeightedNMCS(level=1, weights=5).start(problem, seed=1).advance(400)
    assert [state for state, _ in plain.diary] == [state for state, _ in scaled.diary]


@pytest.mark.parametrize(
    ("level", "problem"), [(2, Bits(1)), (5, Bits(3)), (10, PlainTour(generate_tsp(4)))], ids=["2", "5", "10"]
)
def test_there_may_be_more_levels_than_moves(level, problem):
    search = WeightedNMCS(level=level).start(problem, seed=1)
    search.advance(50)
    assert search.evaluations == 50


@pytest.mark.parametrize(("m", "partitions"), [(2, 1), (2, 7), (3, 1), (3, 4), (4, 3), (5, 2)])
def test_weight_vectors_are_all_ways_to_share_out_equal_parts(m, partitions):
    count = math.comb(partitions + m - 1, m - 1)
    vectors = weight_vectors(m, count)
    parts = {row for row in itertools.product(range(partitions + 1), repeat=m) if sum(row) == partitions}
    assert {tuple(round(x * partitions) for x in row) for row in vectors.tolist()} == parts
    assert len(vectors) == count
    largest = vectors[m:].max(axis=1)
    assert (np.diff(largest) >= 0).all(), "after the corners the balanced ones come first"
