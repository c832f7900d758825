"""Nested Monte-Carlo search against its recursive form, and the weight vectors that it is given."""

import itertools
import math

import numpy as np
import pytest

from pareto_nrpa.algorithms.baselines.nmcs import WeightedNMCS
from pareto_nrpa.algorithms.baselines.weights import weight_vectors
from pareto_nrpa.routing import generate_tsp, generate_tsptw

from ...helpers.problems import Digits, Word
from .oracles import PlainNMCS, best_of
from .problems import PlainTour, PlainWindows, RecordedBits, RecordedTour, Recording


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


@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_only_whole_legal_sequences_are_evaluated(level):
    """A level that begins where a sequence ends once left the move of an older search behind."""
    problem = RecordedTour(generate_tsp(6, seed=2))
    WeightedNMCS(level=level, weights=3).start(problem, seed=1).advance(800)
    for state, _ in problem.diary:
        assert sorted(state) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("level", [1, 2, 3])
def test_each_search_tries_every_move_of_the_first_step(level):
    problem = RecordedTour(generate_tsp(6, seed=2))
    WeightedNMCS(level=level, weights=2).start(problem, seed=1).advance(800)
    firsts = [key for key, _ in itertools.groupby(state[0] for state, _ in problem.diary)]
    assert firsts[:5] == [1, 2, 3, 4, 5]


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


def test_one_objective_needs_no_weights():
    class RecordedDigits(Recording, Digits):
        """A bare number to minimise."""

    problem = RecordedDigits()
    search = WeightedNMCS(level=2).start(problem, seed=1)
    search.advance(2_000)
    assert search._nest.weights.tolist() == [[1.0]]
    assert search.front().objectives.tolist() == [[min(value for _, value in problem.diary)]]


@pytest.mark.parametrize(
    "program",
    [
        "WeightedNMCS(level=2).start(Bits(1), seed=1).advance(50)",
        "WeightedNMCS(level=5).start(Bits(3), seed=1).advance(50)",
        "WeightedNMCS(level=10).start(PlainTour(generate_tsp(4)), seed=1).advance(50)",
    ],
)
def test_more_levels_than_moves(apart, program):
    setup = (
        "from pareto_nrpa.routing import generate_tsp; "
        "from tests.algorithms.baselines.problems import Bits, PlainTour; "
        "from pareto_nrpa.algorithms.baselines.nmcs import WeightedNMCS; "
    )
    assert apart.run(setup + program) == "done"


@pytest.mark.parametrize(
    ("m", "n", "count"), [(1, 11, 1), (2, 2, 2), (2, 11, 11), (2, 50, 50), (3, 11, 10), (3, 15, 15)]
)
def test_weight_vectors_are_as_many_as_asked_for_or_a_few_less(m, n, count):
    vectors = weight_vectors(m, n)
    assert vectors.shape == (count, m)
    assert (vectors >= 0).all()
    assert vectors.sum(axis=1) == pytest.approx(1)
    assert len({tuple(row) for row in vectors.tolist()}) == count
    if m > 1:
        assert vectors[:m].tolist() == np.eye(m).tolist()


@pytest.mark.parametrize(("m", "partitions"), [(2, 1), (2, 7), (3, 1), (3, 4), (4, 3), (5, 2)])
def test_weight_vectors_are_all_ways_to_share_out_equal_parts(m, partitions):
    count = math.comb(partitions + m - 1, m - 1)
    vectors = weight_vectors(m, count)
    parts = {row for row in itertools.product(range(partitions + 1), repeat=m) if sum(row) == partitions}
    assert {tuple(round(x * partitions) for x in row) for row in vectors.tolist()} == parts
    assert len(vectors) == count
    largest = vectors[m:].max(axis=1)
    assert (np.diff(largest) >= 0).all(), "after the corners the balanced ones come first"


def test_a_single_weight_vector_can_be_asked_for():
    assert len(weight_vectors(2, 1)) == 1
