"""The paper's recursion against the compiled search: the same sequences, sampled from the same weights."""

import numpy as np
import pytest

from pareto_nrpa import ParetoNRPA, Problem
from pareto_nrpa.algorithms.nrpa.reference import Reference, dominates
from pareto_nrpa.routing import generate_tsptw, generate_vrptw

from ...golden.problems import cells
from ...helpers.problems import Digits, Knapsack, Word


class Beside(Reference):
    """Before each playout compares all policies of level 1 with those of a search, which then samples the same."""

    def __init__(self, search, algorithm, **where):
        super().__init__(search.problem, algorithm, n_iterations=search.n_iterations, **where)
        self.search = search

    def pareto_nrpa(self, level, policies):
        if level == 0:
            self.compare(policies)
        return super().pareto_nrpa(level, policies)

    def compare(self, policies):
        machine, codes = self.search.machine, getattr(self.search.player, "codes", None)
        learned = machine.weights[0]
        if self.search.settings.bias_by_code:  # then weights start from the bias, where it was met
            learned = np.nan_to_num(learned - machine.starts)
        for weights, policy in zip(learned, policies, strict=True):
            expected = np.zeros(weights.size)
            for code, weight in policy.items():
                expected[code if codes is None else codes[code]] = weight
            np.testing.assert_allclose(weights, expected, rtol=1e-9, atol=1e-9)
        self.search.advance(1)


PROBLEMS = {
    "no bias": Knapsack(),
    "a bias, violations, three objectives, at times one legal move": Word(),
    "one objective": Digits(),
    "maximised": Problem.from_choices(lambda moves: (sum(moves), moves[0]), [range(3)] * 5, maximise=[True, False]),
    "compiled": cells(),
    "compiled, a bias by code": generate_tsptw(8, seed=3, tightness=0.5),
    "compiled, a bias of the state": generate_vrptw(5, seed=2),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize(("level", "n_policies"), [(1, 1), (2, 3), (3, 2)])
def test_the_search_samples_what_the_paper_s_recursion_samples_with_the_same_weights(name, level, n_policies):
    problem, budget = PROBLEMS[name], 60
    algorithm = ParetoNRPA(level=level, n_policies=n_policies)
    search = algorithm.start(problem, seed=7, budget=budget)
    beside = Beside(search, algorithm, seed=7)
    kept = beside.run(budget)
    assert search.evaluations == len(beside.sampled) >= budget
    search = algorithm.start(problem, seed=7, budget=budget)
    search.advance(budget)
    front = search.front()
    best = [sequence for sequence in kept if not any(dominates(other.score, sequence.score) for other in kept)]
    assert sorted(front.solutions) == sorted(sequence.moves for sequence in best)
    assert sorted(front.found_at) == sorted(1 + beside.sampled.index(sequence) for sequence in best)


def test_another_learning_rate_is_noticed():
    search = ParetoNRPA(level=2, alpha=0.5).start(Knapsack(), seed=7, budget=60)
    with pytest.raises(AssertionError, match="Not equal"):
        Beside(search, ParetoNRPA(level=2, alpha=0.501), seed=7).run(60)
