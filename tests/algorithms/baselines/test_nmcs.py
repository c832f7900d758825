"""Nested Monte-Carlo search against its recursive form, and the weight vectors that it is given."""

import itertools
import math

import numpy as np
import pytest

from pareto_nrpa import MaxEvaluations, ParetoNRPA, solve
from pareto_nrpa.algorithms.baselines.nmcs import WeightedNMCS
from pareto_nrpa.algorithms.baselines.weighted_nrpa import WeightedNRPA
from pareto_nrpa.algorithms.baselines.weights import weight_vectors
from pareto_nrpa.routing import generate_tsp, generate_tsptw

from ...helpers.oracles import PlainNMCS
from ...helpers.problems import (
    Bits,
    Digits,
    PlainTour,
    RecordedBits,
    RecordedTour,
    RecordedWindows,
    RecordedWord,
    Recording,
    Word,
)


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


@pytest.mark.parametrize("where", PROBLEMS)
@pytest.mark.parametrize("level", [1, 2, 3])
def test_it_evaluates_what_the_recursive_form_does(where, level):
    problem, budget = PROBLEMS[where](), (60, 400, 1_200)[level - 1]
    WeightedNMCS(level=level, weights=3).start(problem, seed=6).advance(budget)
    vectors = weight_vectors(problem.n_objectives, 3)
    slow = PlainNMCS(PROBLEMS[where](), level=level, weights=vectors, seed=6, budget=budget).run()
    assert slow.turn > 1, "else only one weight vector had its turn"
    assert [tuple(state) for state, _ in problem.diary] == [moves for moves, _, _ in slow.evaluated]


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


# --- NRPA for weighted sums


ONE = generate_tsptw(9, seed=3, n_objectives=1)


@pytest.mark.parametrize("problem", [Digits(), ONE], ids=["plain", "compiled"])
@pytest.mark.parametrize("parameters", [{}, {"level": 2, "alpha": 0.4, "bias": 0.0}], ids=str)
@pytest.mark.parametrize("evaluations", [125, 400])
def test_with_one_objective_it_is_pareto_nrpa_with_one_policy(problem, parameters, evaluations):
    stop = MaxEvaluations(evaluations)
    weighted = solve(problem, WeightedNRPA(**parameters), stop=stop, seed=5)
    iterations = weighted.parameters["iterations"]
    same = {"level": 3, "alpha": 1.0, "n_policies": 1, "iterations": iterations, **parameters}
    pareto = solve(problem, ParetoNRPA(**same), stop=stop, seed=5)
    assert iterations ** same["level"] <= evaluations < (iterations + 1) ** same["level"]
    assert weighted.front.solutions == pareto.front.solutions
    assert weighted.log.tolist() == pareto.log.tolist()


@pytest.mark.parametrize(
    ("weights", "budget", "iterations"), [(4, 400, 10), (4, 403, 10), (11, 110, 3), (2, 287, 11), (3, 2, 1)]
)
def test_each_weight_vector_has_its_turn_within_the_budget(weights, budget, iterations):
    search = WeightedNRPA(level=2, weights=weights).start(Bits(), seed=1, budget=budget)
    assert search.parameters()["iterations"] == iterations
    assert len(weight_vectors(2, weights)) == weights
    if budget >= weights:
        assert iterations**2 * weights <= budget < (iterations + 1) ** 2 * weights + weights
