"""Pareto-NRPA against the recursion of the paper, its parameters, and searches that are asked and told."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pareto_nrpa import ParetoNRPA, Problem
from pareto_nrpa.algorithms.nrpa.reference import Reference, dominates
from pareto_nrpa.routing import generate_tsptw, generate_vrptw

from ...golden.problems import cells
from ...helpers.oracles import WithOptions, nrpa
from ...helpers.problems import Digits, Knapsack, Word


def compare(problem, *, budget, seed=5, **params):
    """Run the search and the recursion, and compare the fronts: objectives, violations, moves and policies."""
    algorithm = ParetoNRPA(**params)
    search = algorithm.start(problem, seed=seed, budget=budget)
    search.advance(budget)
    slow = WithOptions(problem, algorithm, seed=seed, n_iterations=search.n_iterations)
    expected = sorted(slow.run(budget), key=lambda sequence: sequence.score[1])
    expected = [sequence for sequence in expected if not any(dominates(s.score, sequence.score) for s in expected)]
    front = search.front()
    assert search.evaluations == budget
    assert front.objectives.tolist() == [list(s.score[1]) for s in expected]
    assert front.violations.tolist() == [s.score[0] for s in expected]
    assert front.solutions == [s.moves for s in expected]
    assert front.policies.tolist() == [s.policy for s in expected]


SETTINGS = [
    {"level": 3, "n_policies": 3},
    {"level": 1, "n_policies": 2, "iterations": 40},
    {"level": 2, "n_policies": 4, "weighting": "none"},
    {"level": 2, "n_policies": 2, "adapt": "one", "alpha": 1.0},
    {"level": 2, "n_policies": 3, "temperature": 0.7, "bias": 0.5},
    {"level": 3, "n_policies": 2, "limited_repetitions": 2, "iterations": 6},
    {"level": 2, "n_policies": 2, "iterations": 4},  # over long before the budget: starts anew
    {"level": 2, "n_policies": 3, "preferences": "spread", "bias": 2.0},
    {"level": 2, "n_policies": 3, "playouts_per_step": 4},
    {"level": 1, "n_policies": 2, "playouts_per_step": 3, "iterations": 5},
    {"level": 3, "n_policies": 2, "playouts_per_step": 2, "limited_repetitions": 2, "iterations": 4, "adapt": "one"},
]


@pytest.mark.parametrize("params", SETTINGS, ids=str)
def test_a_plain_problem_gives_what_the_paper_s_recursion_gives(params):
    compare(Word(), budget=150, **params)


@pytest.mark.parametrize("params", SETTINGS, ids=str)
def test_a_compiled_problem_gives_what_the_paper_s_recursion_gives(small_tsptw, params):
    compare(small_tsptw, budget=120, **params)


@pytest.mark.parametrize("weighting", ["crowding", "none"])
def test_one_objective_and_one_policy_is_nrpa_step_for_step(weighting):
    level, n, alpha, seed = 3, 6, 0.8, 11
    algorithm = ParetoNRPA(level=level, n_policies=1, alpha=alpha, iterations=n, weighting=weighting)
    search = algorithm.start(Digits(), seed=seed)
    search.advance(n**level)
    score, moves = nrpa(Digits(), level=level, alpha=alpha, iterations=n, rng=np.random.default_rng(seed))
    assert search.front().objectives.tolist() == [[score]]
    assert search.front().solutions == [moves]


def test_ask_and_tell_one_by_one_is_advance(small_tsptw):
    problem = small_tsptw
    driven = ParetoNRPA(level=2).start(problem, seed=3, budget=200)
    for _ in range(200):
        (candidate,) = driven.ask()
        objectives, violations = problem.replay(candidate.solution)
        driven.tell([candidate], [objectives], [violations])
    own = ParetoNRPA(level=2).start(problem, seed=3, budget=200)
    own.advance(200)
    assert driven.front().objectives.tolist() == own.front().objectives.tolist()
    assert driven.front().solutions == own.front().solutions


@pytest.mark.parametrize(
    ("objectives", "violations", "message"),
    [
        ([["1", "2"]], None, "objectives must be 2 numbers for each candidate"),
        ([[1.0, 2.0]], ["0"], "violations must be numbers"),
        ([[1.0]], None, r"objectives must have shape \(1, 2\), got \(1, 1\)"),
        ([[1.0, float("nan")]], None, "must be finite"),
        ([[1.0, 2.0]], [-1], "violations not negative"),
        ([[1.0, 2.0]], [0, 0], "one entry for each of the 1 candidates"),
    ],
)
def test_telling_nonsense_is_refused_and_the_candidate_stays_pending(objectives, violations, message):
    search = ParetoNRPA(level=1).start(Knapsack(), seed=1, budget=10)
    asked = search.ask()
    with pytest.raises(ValueError, match=message):
        search.tell(asked, objectives, violations)
    assert search.pending == asked


def test_independent_searches_in_threads_give_what_they_give_alone(small_tsptw):
    def run(seed, into):
        search = ParetoNRPA().start(small_tsptw, seed=seed, budget=3000)
        search.advance(3000)
        into[seed] = search.front().objectives.tolist()

    alone, together = {}, {}
    for seed in range(4):
        run(seed, alone)
    threads = [threading.Thread(target=run, args=(seed, together)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone


def test_dropped_candidates_teach_nothing_and_give_back_their_room():
    search = ParetoNRPA(level=2).start(Knapsack(), seed=1, budget=100)
    search.tell(kept := search.ask(3), [(1.0, 2.0)] * len(kept))
    weights, free = search.machine.weights.copy(), search.machine.counters.copy()
    search.drop(search.ask(4))
    assert search.pending == []
    assert search.evaluations == 3
    np.testing.assert_array_equal(search.machine.weights, weights)
    np.testing.assert_array_equal(search.machine.counters, free)


@pytest.mark.parametrize("n", [1.5, -1, "3", None])
@pytest.mark.parametrize("word", ["advance", "ask"])
def test_a_number_of_evaluations_is_whole(word, n):
    with pytest.raises(ValueError, match="n must be a whole number of at least 0, got"):
        getattr(ParetoNRPA(level=1).start(Knapsack()), word)(n)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda search, asked: search.add(5, (1, 2)), "solution must be a list of moves, got 5"),
        (lambda search, asked: search.add(asked[0].solution, violations=1.0), "violations require objectives"),
        (lambda search, asked: search.tell(5, [1]), r"candidates must be a list as ask\(\) gives it, got 5"),
        (lambda search, asked: search.tell(asked, [(1, 2)], ["none"]), "violations must be numbers, got"),
        (lambda search, asked: [search.tell(asked, [(1, 2)]) for _ in "ab"], "not pending in this search"),
        (lambda search, asked: search.drop(asked[0]), r"candidates must be a list as ask\(\) gives it, got Candidate"),
        (lambda search, asked: [search.drop(asked) for _ in "ab"], r"drop\(\) got a candidate of Knapsack that is not"),
    ],
)
def test_a_wrong_call_is_a_sentence(call, message):
    search = ParetoNRPA(level=1).start(Knapsack(), seed=1, budget=10)
    with pytest.raises(ValueError, match=message):
        call(search, search.ask())


# ---


def test_the_defaults_are_the_paper_s():
    params = ParetoNRPA()
    assert (params.level, params.n_policies, params.alpha) == (4, 4, 0.5)
    assert (params.weighting, params.adapt, params.bias, params.preferences) == ("crowding", "all", 1.0, "paper")
    assert params.resolve_iterations(100_000) == 18
    assert params == ParetoNRPA()


@given(st.integers(1, 10**9), st.integers(1, 6))
def test_iterations_are_the_smallest_that_cover_the_budget(budget, level):
    n = ParetoNRPA(level=level).resolve_iterations(budget)
    assert n**level >= budget
    assert n == 1 or (n - 1) ** level < budget


def test_preferences():
    assert ParetoNRPA(n_policies=2).preference_matrix(Knapsack()).tolist() == [[1, 0], [1, 0]]

    spread = ParetoNRPA(n_policies=5, preferences="spread").preference_matrix(Word())
    assert spread[0].tolist() == [1, 0, 0]
    assert spread[-1].tolist() == [0, 0, 1]
    np.testing.assert_allclose(spread.sum(axis=1), 1)


def test_a_budget_beyond_counting_is_a_sentence():
    assert ParetoNRPA(level=4).resolve_iterations(10**25) == 1_778_280
    with pytest.raises(ValueError, match="the budget is too large for level 1, got 10000"):
        ParetoNRPA(level=1).resolve_iterations(10**25)


# --- the same sequences, sampled from the same weights


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
