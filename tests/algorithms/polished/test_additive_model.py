"""What is learned of single choices, and that it leads further."""

import numpy as np
import pytest

from pareto_nrpa import Choices, MaxEvaluations, PolishedNRPA, Problem, solve
from pareto_nrpa.algorithms.polished.additive_model import AdditiveModel
from pareto_nrpa.metrics import hypervolume

OPTIONS = [[0, 1, 2], [5, 7], [3], [1, 2, 3, 4]]


class Items(Problem):
    """Two profits of thirty items, of which a share of the weight may be carried."""

    n_objectives = 2
    constrained = True
    max_moves = 30
    genotype = Choices([(0, 1)] * 30)

    def __init__(self, share):
        self.share = share
        self.weights, *self.profits = np.random.default_rng(4).integers(10, 100, (3, 30))

    def initial_state(self):
        return ()

    def legal_moves(self, state):
        return (0, 1) if len(state) < 30 else ()

    def play(self, state, move):
        return (*state, move)

    def move_code(self, state, move):
        return len(state), move

    def evaluate(self, state):
        excess = float(self.weights @ state - self.share * self.weights.sum())
        return [-float(profit @ state) for profit in self.profits], max(0.0, excess)


def drawn(rng):
    return [int(rng.choice(step)) for step in OPTIONS]


def score(moves):
    """Return a sum of what each choice adds, of violations and two objectives."""
    return moves[0], 100 + 3 * moves[1] - moves[3], np.sqrt(moves[3]) - 5 * (moves[0] == 2)


def learned(rng, n=60):
    model = AdditiveModel(OPTIONS, 2)
    for _ in range(n):
        moves = drawn(rng)
        model.learn(moves, score(moves))
    return model


def test_a_sum_is_learned(rng):
    model = learned(rng, 200)
    for _ in range(20):
        base, moves = drawn(rng), drawn(rng)
        assert model.predict(base, score(base), moves) == pytest.approx(score(moves), rel=1e-3, abs=0.02)


def test_what_it_learned_lately_counts_most(rng):
    """The sums change: what a choice adds near the front is what counts."""
    model = learned(rng, 200)
    for _ in range(2_000):
        moves = drawn(rng)
        model.learn(moves, (0, moves[3], 0))
    base, moves = [0, 5, 3, 1], [0, 5, 3, 4]
    assert model.predict(base, (0, 1, 0), moves)[1] == pytest.approx(4, abs=0.1)


@pytest.mark.parametrize(
    ("options", "is_possible"),
    [([], False), ([[1], [2]], False), ([[1], [2, 3]], True), ([[0, 1]] * 300, True), ([[0, 1]] * 301, False)],
)
def test_there_must_be_something_to_learn_and_not_too_much(options, is_possible):
    assert AdditiveModel.is_possible(options) == is_possible


def test_changes_that_promise_most_lead_further():
    problem = Items(0.5)

    def volume(candidates, seed):
        front = solve(problem, PolishedNRPA(candidates=candidates), stop=MaxEvaluations(600), seed=seed).front
        return hypervolume(front.objectives[front.violations == 0], reference_point=[0, 0])

    assert np.mean([volume(16, seed) for seed in range(3)]) > np.mean([volume(1, seed) for seed in range(3)])


class EndsEarly(Items):
    """Some playouts, not the first ones, are shorter than the genotype says."""

    def legal_moves(self, state):
        return () if state[:7] == (1, 0, 1, 0, 1, 0, 1) else super().legal_moves(state)

    def evaluate(self, state):
        return super().evaluate((*state, *[0] * (30 - len(state))))


def test_a_solution_shorter_than_the_genotype_ends_no_search():
    result = solve(EndsEarly(0.5), stop=MaxEvaluations(1500), seed=1)
    assert result.evaluations == 1500
