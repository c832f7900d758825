"""Playouts driven from outside, solutions made elsewhere, copies of a search, and what a move is."""

import numpy as np
import pytest

from pareto_nrpa import MaxEvaluations, ParetoNRPA, Problem, solve
from pareto_nrpa.algorithms.nrpa.driven import DrivenProblem
from pareto_nrpa.errors import ProblemError
from pareto_nrpa.routing import generate_tsptw

from ...helpers.problems import Knapsack, Word


def driven(search, problem):
    """Play a problem from outside, as `ask` does inside."""
    playout = search.playout()
    state = problem.initial_state()
    preference = search.machine.preferences[playout.policy]
    while moves := list(problem.legal_moves(state)):
        codes = [problem.move_code(state, move) for move in moves]
        bias = [problem.bias(state, move, preference) for move in moves] if problem.bias else None
        state = problem.play(state, moves[playout.choose(codes, bias, moves=moves)])
    return playout.finish(), state


@pytest.mark.parametrize("problem", [Knapsack(), Word()], ids=["knapsack", "word"])
def test_ask_is_a_loop_around_a_playout(problem):
    inside, outside = (ParetoNRPA(level=2, n_policies=3).start(problem, seed=3, budget=100) for _ in range(2))
    for _ in range(60):
        (candidate,) = inside.ask()
        other, state = driven(outside, problem)
        assert (other.solution, other.policy) == (candidate.solution, candidate.policy)
        value = problem.evaluate(candidate.state)
        assert problem.evaluate(state) == value
        objectives, violations = value if problem.constrained else (value, 0)
        inside.tell([candidate], [objectives], [violations])
        outside.tell([other], [objectives], [violations])
    assert np.array_equal(inside.machine.weights, outside.machine.weights)


@pytest.mark.parametrize(
    ("drive", "message"),
    [
        (lambda p: p.choose([]), "codes must have at least one"),
        (lambda p: p.choose(["a", "a"]), "codes must all differ"),
        (lambda p: p.choose(["a", "b"], [1.0, np.nan]), "bias must be a finite number"),
        (lambda p: p.choose([1, 2], ["a", "b"]), r"bias must be a finite number .*, got \['a', 'b'\]"),
        (lambda p: p.choose([[1], [2]]), r"codes must be a list of hashable values .*, got \[\[1\], \[2\]\]"),
        (lambda p: p.choose({1, 2}), "must be a list with an entry for each of the 2 codes, got {1, 2}"),
        (lambda p: p.choose([1, 2, 3], moves=[1]), r"moves.* with an entry for each of the 3 codes, got \[1\]"),
        (lambda p: p.take(2, ["a", "b"]), "position must be a whole number between 0 and 1, got 2"),
        (lambda p: p.take(0.5, [1, 2]), "position must be a whole number between 0 and 1, got 0.5"),
        (lambda p: p.finish(), "no move at the start"),
        (lambda p: (p.choose("ab"), p.finish(), p.choose("ab")), "this playout is finished"),
        (lambda p: (p.choose("ab"), p.finish(), p.finish()), "finish.. was called twice"),
    ],
)
def test_what_a_caller_does_wrong_is_said(drive, message):
    search = ParetoNRPA().start(DrivenProblem(2), seed=1)
    before = search.machine.counters.copy()
    with pytest.raises(ProblemError, match=message):
        drive(search.playout())
    assert len(search.pending) == before[1] - search.machine.counters[1]  # no slot is lost


def test_a_compiled_problem_plays_itself(small_tsptw):
    with pytest.raises(ProblemError, match=r"is compiled; use ask"):
        ParetoNRPA().start(small_tsptw).playout()


def test_one_is_not_true(tmp_path):
    """Moves that compare equal and are not the same."""
    mixed = Problem.from_choices(lambda x: -sum(x), [(0, 1), (False, True), (0.0, 1.0)], n_objectives=1)
    algorithm = ParetoNRPA(level=1)
    search = algorithm.start(mixed, seed=0)
    search.advance(40)
    (solution,) = search.front().solutions
    assert [type(move) for move in solution] == [int, bool, float]
    search.save(tmp_path / "half")
    again = algorithm.resume(mixed, tmp_path / "half")
    search.advance(10)
    again.advance(10)
    assert [list(map(type, s)) for s in again.front().solutions] == [[int, bool, float]]
    assert again.player.moves == search.player.moves


@pytest.mark.parametrize("problem", [Knapsack(), Word()], ids=["knapsack", "word"])
def test_what_was_added_is_learned_at_the_highest_level(problem):
    best = solve(problem, ParetoNRPA(level=2), stop=MaxEvaluations(400), seed=1).front
    search = ParetoNRPA(level=2, n_policies=2).start(problem, seed=0, budget=100)
    fresh = search.machine.weights.copy()
    for solution in best.solutions:
        search.add(solution)
    assert search.front().objectives.tolist() == best.objectives.tolist()
    assert search.front().solutions == best.solutions
    assert search.evaluations == len(best)
    assert search.machine.levels[:, 1].tolist() == [0, 0]  # no iteration is counted
    assert search.machine.levels[1, 0] >= len(best)
    learned = search.machine.weights
    assert not np.array_equal(learned, fresh, equal_nan=True)
    assert np.array_equal(learned[0], learned[1], equal_nan=True)  # and handed down
    search.advance(50)
    assert search.evaluations == len(best) + 50


@pytest.mark.parametrize(
    ("problem", "solution", "message"),
    [
        (Knapsack(n=3), [0, 2, 1], r"2 at depth 1 is not legal in Knapsack"),
        (Knapsack(n=3), [0, 1], r"legal moves left after its 2 moves"),
        (generate_tsptw(5, seed=1), [1, 2, 2, 3], r"2 at depth 2 is not legal"),
        (generate_tsptw(5, seed=1), [1, 2], r"legal moves left after its 2 moves"),
        (generate_tsptw(5, seed=1), ["a"], r"whole numbers as moves"),
    ],
)
def test_what_cannot_be_added_is_said(problem, solution, message):
    search = ParetoNRPA().start(problem, seed=0)
    with pytest.raises(ProblemError, match=message):
        search.add(solution)
    assert search.evaluations == 0
    search.advance(3)


def test_a_search_begins_with_what_it_is_given():
    problem = Knapsack(n=14)
    first = solve(problem, "pareto-nrpa", stop=MaxEvaluations(2_000), seed=1)
    again = solve(problem, ParetoNRPA(), stop=MaxEvaluations(100), seed=2, start=first)
    alone = solve(problem, ParetoNRPA(), stop=MaxEvaluations(100), seed=2, reference_point=again.reference_point)
    assert again.hypervolume > alone.hypervolume
    assert again.evaluations == 100
    rows = np.array(first.front.solutions)
    for start in (rows, list(rows)):
        same = solve(problem, ParetoNRPA(), stop=MaxEvaluations(100), seed=2, start=start)
        assert same.front.solutions == again.front.solutions
    with pytest.raises(ValueError, match=r"^several searches cannot begin with solutions; leave out start, or"):
        solve(generate_tsptw(8), start=[[1, 2, 3, 4, 5, 6, 7]], searches=2, stop=MaxEvaluations(10))
    with pytest.raises(ValueError, match="pareto-mcts cannot begin with solutions"):
        solve(problem, "pareto-mcts", stop=MaxEvaluations(10), start=first.front.solutions)
    with pytest.raises(TypeError, match="start must be lists of moves"):
        solve(problem, stop=MaxEvaluations(10), start=["ab"])
