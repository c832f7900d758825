"""NRPA for weighted sums: with one objective it is Pareto-NRPA with one policy, and both are NRPA."""

import numpy as np
import pytest

from pareto_nrpa import MaxEvaluations, ParetoNRPA, solve
from pareto_nrpa.algorithms.baselines.weighted_nrpa import WeightedNRPA
from pareto_nrpa.algorithms.baselines.weights import weight_vectors
from pareto_nrpa.routing import generate_tsptw

from ...helpers.oracles import nrpa
from ...helpers.problems import Digits
from .problems import TSP, Bits, PlainTour

ONE = generate_tsptw(9, seed=3, n_objectives=1)


@pytest.mark.parametrize("problem", [Digits(), ONE], ids=["plain", "compiled"])
@pytest.mark.parametrize("parameters", [{}, {"level": 2, "alpha": 0.4, "bias": 0.0, "pruning": False}], ids=str)
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


def test_with_one_objective_it_is_nrpa():
    search = WeightedNRPA(level=3, alpha=1.0).start(Digits(), seed=2, budget=216)
    search.advance(216)
    score, moves = nrpa(Digits(), level=3, alpha=1.0, iterations=6, rng=np.random.default_rng(2))
    assert search.front().objectives.tolist() == [[score]]
    assert search.front().solutions == [moves]


@pytest.mark.parametrize(
    ("weights", "budget", "iterations"), [(4, 400, 10), (4, 403, 10), (11, 110, 3), (2, 287, 11), (3, 2, 1)]
)
def test_each_weight_vector_has_its_turn_within_the_budget(weights, budget, iterations):
    search = WeightedNRPA(level=2, weights=weights).start(Bits(), seed=1, budget=budget)
    assert search.parameters()["iterations"] == iterations
    assert len(weight_vectors(2, weights)) == weights
    if budget >= weights:
        assert iterations**2 * weights <= budget < (iterations + 1) ** 2 * weights + weights


def test_the_first_two_searches_are_for_one_objective_each():
    """With two weight vectors, both corners: each half is a search for one objective, the other counts for nothing."""
    search = WeightedNRPA(level=2, weights=2).start(TSP, seed=3, budget=800)
    search.advance(400)
    shortest = search.front().objectives.min(axis=0)
    search.advance(400)
    assert search.front().objectives[:, 1].min() < shortest[1], "the second half looks for the second objective"
    alone = ParetoNRPA(level=2, n_policies=1, alpha=1.0, weighting="none", iterations=20).start(first_cost(), seed=3)
    alone.advance(400)
    assert alone.front().objectives.tolist() == [[shortest[0]]]


def first_cost():
    """Return the same tours with the first cost alone, and the bias of both."""
    problem = PlainTour(TSP)
    problem.n_objectives, problem.preference = 1, None
    cost, bias = problem.evaluate, problem.bias
    problem.evaluate = lambda state: cost(state)[:1]
    problem.bias = lambda state, move, preference: bias(state, move, TSP.preference)
    return problem


def test_parameters_and_shares_of_three_objectives():
    problem = generate_tsptw(8, seed=1, n_objectives=3)
    result = solve(problem, WeightedNRPA(level=2, weights=7), stop=MaxEvaluations(240), seed=1)
    # Six weight vectors: three corners and three pairs; 40 evaluations each.
    assert result.parameters["iterations"] == 6
    assert result.evaluations == 240
    for solution, objectives in zip(result.front.solutions, result.front.objectives, strict=True):
        assert problem.replay(solution)[0].tolist() == objectives.tolist()
