"""NRPA for weighted sums: with one objective it is Pareto-NRPA with one policy, and both are NRPA."""

import pytest

from pareto_nrpa import MaxEvaluations, ParetoNRPA, solve
from pareto_nrpa.algorithms.baselines.weighted_nrpa import WeightedNRPA
from pareto_nrpa.algorithms.baselines.weights import weight_vectors
from pareto_nrpa.routing import generate_tsptw

from ...helpers.problems import Bits, Digits

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


@pytest.mark.parametrize(
    ("weights", "budget", "iterations"), [(4, 400, 10), (4, 403, 10), (11, 110, 3), (2, 287, 11), (3, 2, 1)]
)
def test_each_weight_vector_has_its_turn_within_the_budget(weights, budget, iterations):
    search = WeightedNRPA(level=2, weights=weights).start(Bits(), seed=1, budget=budget)
    assert search.parameters()["iterations"] == iterations
    assert len(weight_vectors(2, weights)) == weights
    if budget >= weights:
        assert iterations**2 * weights <= budget < (iterations + 1) ** 2 * weights + weights
