"""The stack machine against recursion: same random numbers, same fronts."""

import threading

import numpy as np
import pytest

from pareto_nrpa import ParetoNRPA
from pareto_nrpa.algorithms.nrpa.reference import dominates
from pareto_nrpa.errors import CheckpointError, ProblemError
from pareto_nrpa.routing import generate_tsp, generate_tsptw

from ...helpers.oracles import AsPlain, WithOptions, nrpa
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
@pytest.mark.parametrize("problem", [Knapsack(), Word()], ids=["knapsack", "word"])
def test_a_plain_problem_gives_what_the_paper_s_recursion_gives(problem, params):
    compare(problem, budget=150, **params)


@pytest.mark.parametrize("params", SETTINGS, ids=str)
def test_a_compiled_problem_gives_what_the_paper_s_recursion_gives(small_tsptw, params):
    compare(small_tsptw, budget=120, **params)


@pytest.mark.parametrize("n_objectives", [1, 3])
def test_any_number_of_objectives(n_objectives):
    problem = generate_tsptw(7, seed=1, tightness=0.3, n_objectives=n_objectives)
    compare(problem, budget=120, level=2, n_policies=2)


def test_tours_without_windows():
    problem = generate_tsp(7, seed=2)
    compare(problem, budget=120, level=2, n_policies=2)


@pytest.mark.parametrize("weighting", ["crowding", "none"])
def test_one_objective_and_one_policy_is_nrpa_step_for_step(weighting):
    level, n, alpha, seed = 3, 6, 0.8, 11
    algorithm = ParetoNRPA(level=level, n_policies=1, alpha=alpha, iterations=n, weighting=weighting)
    search = algorithm.start(Digits(), seed=seed)
    search.advance(n**level)
    score, moves = nrpa(Digits(), level=level, alpha=alpha, iterations=n, rng=np.random.default_rng(seed))
    assert search.front().objectives.tolist() == [[score]]
    assert search.front().solutions == [moves]


def test_how_the_evaluations_are_sliced_changes_nothing(small_tsptw):
    whole = ParetoNRPA().start(small_tsptw, seed=2, budget=600)
    whole.advance(600)
    sliced = ParetoNRPA().start(small_tsptw, seed=2, budget=600)
    for n in (1, 2, 97, 300, 200):
        sliced.advance(n)
    assert sliced.front().objectives.tolist() == whole.front().objectives.tolist()
    np.testing.assert_array_equal(sliced.machine.weights, whole.machine.weights)


@pytest.mark.parametrize("problem", [Knapsack(), generate_tsptw(9, seed=4)], ids=["plain", "compiled"])
def test_ask_and_tell_one_by_one_is_advance(problem):
    twin = problem if isinstance(problem, Knapsack) else AsPlain(problem)
    driven = ParetoNRPA(level=2).start(problem, seed=3, budget=200)
    for _ in range(200):
        (candidate,) = driven.ask()
        state = twin.initial_state()
        for move in candidate.solution:
            state = twin.play(state, move)
        value = twin.evaluate(state)
        objectives, violations = value if twin.constrained else (value, 0)
        driven.tell([candidate], [objectives], [violations])
    own = ParetoNRPA(level=2).start(problem, seed=3, budget=200)
    own.advance(200)
    assert driven.front().objectives.tolist() == own.front().objectives.tolist()
    assert driven.front().solutions == own.front().solutions


def test_a_batch_is_asked_with_the_same_policies_and_may_be_told_in_part():
    search = ParetoNRPA(level=2).start(Knapsack(), seed=1, budget=100)
    batch = search.ask(10)
    assert search.evaluations == 0
    search.tell(batch[:4], [Knapsack().evaluate(c.state) for c in batch[:4]])
    search.tell(batch[4:], [Knapsack().evaluate(c.state) for c in batch[4:]])
    assert search.evaluations == 10
    assert search.pending == []


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


def test_violations_without_objectives_are_refused():
    search = ParetoNRPA(level=1).start(Knapsack(), seed=1, budget=10)
    with pytest.raises(ProblemError, match="violations require objectives"):
        search.add(search.ask()[0].solution, violations=1.0)


def test_telling_twice_is_refused():
    search = ParetoNRPA(level=1).start(Knapsack(), seed=1, budget=10)
    asked = search.ask()
    search.tell(asked, [[1.0, 2.0]])
    with pytest.raises(ValueError, match="not pending in this search"):
        search.tell(asked, [[1.0, 2.0]])


def test_the_archive_is_mutually_non_dominated_and_keeps_the_best_of_all(small_tsptw):
    search = ParetoNRPA(level=2).start(small_tsptw, seed=0, budget=400)
    search.advance(400)
    front, log = search.front(), search.log()
    for i, a in enumerate(front.objectives):
        for j, b in enumerate(front.objectives):
            assert i == j or not (a <= b).all()
    least = log[:, 1].min()
    assert (front.violations == least).all()
    for row in log[log[:, 1] == least]:
        assert any((point <= row[2:]).all() for point in front.objectives)


def test_large_learning_rates_never_overflow():
    for alpha in (50.0, 1e4, 1e8):
        search = ParetoNRPA(level=2, alpha=alpha).start(generate_tsptw(8, seed=3), seed=0, budget=300)
        search.advance(300)
        plain = ParetoNRPA(level=2, alpha=alpha).start(Word(), seed=0, budget=300)
        plain.advance(300)
        assert len(search.front()) > 0
        assert len(plain.front()) > 0


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


def test_a_plain_problem_with_many_codes_and_long_sequences_grows_its_arrays():
    problem = Knapsack(n=700)
    search = ParetoNRPA(level=1, n_policies=2).start(problem, seed=0, budget=5)
    search.advance(5)
    assert search.machine.weights.shape[2] >= 1400
    assert all(len(solution) == 700 for solution in search.front().solutions)


def test_dropped_candidates_teach_nothing_and_give_back_their_room():
    search = ParetoNRPA(level=2).start(Knapsack(), seed=1, budget=100)
    search.tell(kept := search.ask(3), [(1.0, 2.0)] * len(kept))
    weights, free = search.machine.weights.copy(), search.machine.counters.copy()
    search.drop(search.ask(4))
    assert search.pending == []
    assert search.evaluations == 3
    np.testing.assert_array_equal(search.machine.weights, weights)
    np.testing.assert_array_equal(search.machine.counters, free)


def test_dropping_what_was_not_asked_for_is_refused():
    search = ParetoNRPA(level=2).start(Knapsack(), seed=1, budget=100)
    asked = search.ask()
    search.drop(asked)
    with pytest.raises(ProblemError, match=r"drop\(\) got a candidate of Knapsack that is not pending in this search"):
        search.drop(asked)


def test_all_that_is_pending_can_be_told_at_once():
    search = ParetoNRPA(level=2).start(Knapsack(), seed=1, budget=50)
    asked = search.ask(6)
    values = {tuple(c.solution): (float(i), 6.0 - i) for i, c in enumerate(asked)}
    search.tell(search.pending, list(values.values()))
    assert search.pending == []
    front = search.front()
    assert len(front) == 6
    assert all(values[tuple(s)] == tuple(o) for s, o in zip(front.solutions, front.objectives, strict=True))


def test_all_that_is_pending_can_be_dropped_at_once():
    search = ParetoNRPA(level=2).start(Knapsack(), seed=1, budget=50)
    search.ask(5)
    search.drop(search.pending)
    assert search.pending == []


@pytest.mark.parametrize("n", [1.5, -1, "3", None])
@pytest.mark.parametrize("word", ["advance", "ask"])
def test_a_number_of_evaluations_is_whole(word, n):
    with pytest.raises(ValueError, match="n must be a whole number of at least 0, got"):
        getattr(ParetoNRPA(level=1).start(Knapsack()), word)(n)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda search: search.add(5, (1, 2)), "solution must be a list of moves, got 5"),
        (lambda search: search.tell(5, [1]), r"candidates must be a list as ask\(\) gives it, got 5"),
        (lambda search: search.drop(search.ask()[0]), r"candidates must be a list as ask\(\) gives it, got Candidate"),
    ],
    ids=["add", "tell", "drop"],
)
def test_what_is_no_list_is_a_sentence(call, message):
    with pytest.raises(ProblemError, match=message):
        call(ParetoNRPA(level=1).start(Knapsack(), seed=1))


def test_violations_that_are_no_numbers_are_a_sentence():
    search = ParetoNRPA(level=2).start(Knapsack(), seed=1, budget=50)
    with pytest.raises(ProblemError, match="violations must be numbers, got"):
        search.tell(search.ask(1), [(1.0, 2.0)], ["none"])


@pytest.mark.parametrize("problem", [Knapsack(), generate_tsptw(9, seed=4)], ids=["plain", "compiled"])
def test_policies_stay_as_they_are_between_two_steps_of_learning(problem):
    search = ParetoNRPA(level=1, iterations=10, playouts_per_step=4).start(problem, seed=1)
    search.advance(1)
    for step in range(4):
        before = search.machine.weights.copy()
        search.advance(2)
        is_met = ~np.isnan(before)  # what was not met yet starts from its bias when it is
        np.testing.assert_array_equal(search.machine.weights[is_met], before[is_met])
        search.advance(1)
        assert not np.array_equal(search.machine.weights[is_met], before[is_met]), step
        search.advance(1)


@pytest.mark.parametrize("level", [1, 2])
def test_stabilised_searches_are_saved_and_asked_and_given_solutions_between_two_steps(level, tmp_path):
    algorithm = ParetoNRPA(level=level, iterations=20, playouts_per_step=5)
    twins = [algorithm.start(Knapsack(), seed=1) for _ in range(2)]
    for n in (7, 8, 20):
        for search in twins:
            search.advance(n)
            search.add([0, 1] * 4)
            asked = search.ask(2)
            search.tell(asked, [Knapsack().evaluate(one.state) for one in asked])
        twins[1].save(tmp_path / f"{n}.npz")
        twins[1] = algorithm.resume(Knapsack(), tmp_path / f"{n}.npz")
    np.testing.assert_array_equal(twins[0].machine.weights[:, :, :10], twins[1].machine.weights[:, :, :10])
    assert twins[0].front().solutions == twins[1].front().solutions
    with pytest.raises(CheckpointError, match="was made with playouts_per_step=5, not None"):
        ParetoNRPA(level=level, iterations=20).resume(Knapsack(), tmp_path / "7.npz")
    twins[0] = ParetoNRPA(level=level, iterations=20).start(Knapsack(), seed=1)
    twins[0].save(tmp_path / "paper.npz")
    with pytest.raises(CheckpointError, match="was made without playouts_per_step"):
        algorithm.resume(Knapsack(), tmp_path / "paper.npz")
