"""Neighbours that put near moves side by side, compared with solutions that are played."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest

from pareto_nrpa import PolishedNRPA
from pareto_nrpa.algorithms.polished import near_evaluation
from pareto_nrpa.algorithms.polished.candidate_lists import Arcs, CandidateLists
from pareto_nrpa.algorithms.polished.near_evaluation import Penalty
from pareto_nrpa.algorithms.polished.near_state import PLACE_NOW, SIZE
from pareto_nrpa.engine.arrays import FrontObjectives
from pareto_nrpa.engine.jit.kernels import python_function
from pareto_nrpa.engine.state import dump, load
from pareto_nrpa.routing import generate_tsp, generate_tsptw, generate_vrptw, mo_tsp

from .test_neighbour_evaluation import neighbours


def one_way(n, m, seed=1):
    """Return a tour whose costs depend on the direction."""
    return mo_tsp(np.random.default_rng(seed).random((m, n, n)))


PROBLEMS = {
    "tour": generate_tsp(9, seed=1),
    "tour, windows": generate_tsptw(9, seed=3, tightness=0.2),
    "tour, one way": one_way(9, 2),
    "tour, one way, three costs": one_way(8, 3),
    "tour, maximised": replace(one_way(9, 2), maximise=[True, False]),
    "tour, one cost": one_way(9, 1),
    "tour, costs of zero": mo_tsp(np.zeros((2, 8, 8))),
    "tour, huge costs": mo_tsp(np.random.default_rng(2).random((2, 8, 8)) * 1e150),
    "tour, three cities": generate_tsp(3, seed=1),
    "tour, two cities": generate_tsp(2, seed=1),
    "routes": generate_vrptw(10, seed=1, vehicles=3, objectives=("distance", "vehicles")),
    "routes, longest": generate_vrptw(10, seed=1, vehicles=3, objectives=("distance", "longest")),
    "routes, finish and waiting": generate_vrptw(10, seed=2, vehicles=3, objectives=("finish", "waiting")),
}


# What is maximised compiles for itself alone.
every_problem = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * ("maximised" in name)) for name in PROBLEMS]
)


def nothing(problem):
    return FrontObjectives(np.zeros((0, problem.n_objectives)), np.zeros((0, problem.n_objectives)))


def judge_of(problem, kicks=20):
    search = PolishedNRPA(kicks=kicks).start(problem)
    search.compile()
    return search.local.judge


def played(problem, moves):
    """Return minimised objectives and violations of moves in their canonical form."""
    moves = np.array(moves)
    if problem.canonical is not None:
        python_function(problem.canonical)(problem.data, moves, len(moves))
    free = replace(problem, legal_moves=problem.all_moves or problem.legal_moves, all_moves=None)
    objectives, violations = free.replay(moves.tolist())
    signs = np.where(np.broadcast_to(problem.maximise, problem.n_objectives), -1.0, 1.0)
    return objectives * signs, violations


def check(problem, judge):
    """Compare what was found, and the solution at hand, with what they are when they are played."""
    moves = sorted(problem.genotype.moves)
    for solution, objectives in judge.found():
        assert sorted(solution.tolist()) == moves
        expected, violations = played(problem, solution)
        assert violations == 0
        np.testing.assert_allclose(objectives, expected, rtol=1e-9)
    objectives, violations = played(problem, judge.moves)
    assert sorted(judge.moves.tolist()) == moves
    assert (judge.distance == 0) == (violations == 0)
    if violations == 0:
        np.testing.assert_allclose(judge.objectives, objectives, rtol=1e-9)


@every_problem
def test_what_is_found_is_worth_what_was_judged(name):
    problem, rng = PROBLEMS[name], np.random.default_rng(0)
    judge, m = judge_of(problem), PROBLEMS[name].n_objectives
    for repetition in range(12):
        start = rng.permutation(problem.genotype.moves)
        weights = np.zeros(m) if repetition % 3 == 0 else rng.random(m)
        terms = Penalty(10.0 ** rng.uniform(-3, 1), 1e9) if repetition % 4 == 1 else Penalty(0.0, 0.0)
        judge.begin(start, weights, terms=terms)
        while not judge.go_on(nothing(problem)):
            check(problem, judge)
        check(problem, judge)
        before, violations = played(problem, start)
        after, left = played(problem, judge.moves)
        if terms.price == 0.0 and violations == 0:
            assert left == 0
            assert weights @ after <= weights @ before * (1 + 1e-9) if (before > 0).all() else True


@pytest.mark.parametrize("name", ["tour", "tour, windows", "tour, one way", "routes", "routes, longest"])
def test_a_look_round_finds_all_neighbours_where_all_moves_are_near(name):
    problem, rng = PROBLEMS[name], np.random.default_rng(3)
    judge, moves = judge_of(problem), None
    for _ in range(200):
        moves = rng.permutation(problem.genotype.moves).tolist()
        judge.begin(moves, np.ones(2))
        judge.go_on(nothing(problem))
        if judge.distance == 0.0:
            break
    moves = judge.moves.tolist()
    here, violations = played(problem, moves)
    assert violations == 0
    judge.begin(moves, np.zeros(2))
    assert judge.go_on(nothing(problem))
    found = [objectives for _, objectives in judge.found()]
    for other in neighbours(moves):
        objectives, late = played(problem, other)
        if late == 0 and (objectives < here - 1e-6).any():
            assert any((one <= objectives + 1e-6).all() for one in found)


@every_problem
def test_all_that_is_archived_equals_its_replay_also_behind_a_checkpoint(name, tmp_path):
    problem, algorithm = PROBLEMS[name], PolishedNRPA(kicks=20)
    search = algorithm.start(problem, seed=1)
    search.advance(150)
    search.save(tmp_path / "search.npz")
    other = algorithm.resume(problem, tmp_path / "search.npz")
    for each in (search, other):
        each.advance(150)
        front = each.front()
        for solution, objectives, violations in zip(front.solutions, front.objectives, front.violations, strict=True):
            replayed = problem.replay(solution)
            assert (replayed[0].tolist(), replayed[1]) == (objectives.tolist(), violations)
        assert each.n_refused == 0
    assert search.log().tolist() == other.log().tolist()


def sizes_of(problem):
    return {"n": len(problem.genotype.moves), "M": problem.n_objectives}


@pytest.mark.parametrize("name", ["tour", "tour, windows", "routes, longest"])
def test_a_descent_that_is_saved_goes_on_alike(name, monkeypatch):
    monkeypatch.setattr(near_evaluation, "_MOST", 100)
    problem = PROBLEMS[name]
    one, other = judge_of(problem, 50), judge_of(problem, 50)
    start, weights = np.random.default_rng(1).permutation(problem.genotype.moves), np.array([0.3, 0.7])
    one.begin(start, weights)
    ended = one.go_on(nothing(problem))
    assert not ended
    load(other, deepcopy(dump(one)), sizes_of(problem))
    other._rng.bit_generator.state = one._rng.bit_generator.state
    while not ended:
        ended = one.go_on(nothing(problem))
        assert other.go_on(nothing(problem)) == ended
    assert one.moves.tolist() == other.moves.tolist()
    np.testing.assert_array_equal(one.objectives, other.objectives)
    assert one.n_judged == other.n_judged


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("order", 3, 4),
        ("order", 0, 1),
        ("kept", 2, 1),
        ("queue", 0, 9),
        ("numbers", PLACE_NOW, 10),
        ("numbers", SIZE, 99),
    ],
)
def test_a_descent_that_cannot_be_is_refused(name, place, value):
    judge, other = (judge_of(PROBLEMS["tour"]) for _ in range(2))
    judge.begin(np.arange(1, 9), np.ones(2))
    judge._here.kept[:] = judge._here.order
    judge._here.kept_current[:] = 1.0
    tree = deepcopy(dump(judge))
    load(other, deepcopy(tree), sizes_of(PROBLEMS["tour"]))
    tree["_here"][name][place] = value
    with pytest.raises(ValueError, match="must"):
        load(other, tree, sizes_of(PROBLEMS["tour"]))


def test_lists_hold_the_nearest_for_each_weight_and_no_closing():
    rng = np.random.default_rng(0)
    costs = rng.random((60, 60, 2))
    costs += costs.swapaxes(0, 1)
    costs[40:] = costs[0]
    costs[:, 40:] = costs[:, :1]
    costs[40:, 40:] = costs[0, 0] = costs[:1, 40:] = costs[40:, :1] = 0.0
    arcs = Arcs(costs, np.zeros((60, 60)))
    assert arcs.is_symmetric
    assert np.flatnonzero(arcs.closings()).tolist() == list(range(40, 60))
    lists = CandidateLists(arcs)
    for weights in (np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.array([0.5, 0.5])):
        near = lists.near(weights)[0]
        for move in (1, 7, 45):
            apart = costs[move] @ weights
            apart[[0, move, *range(40, 60)]] = np.inf
            assert len(set(near[move])) == near.shape[1]
            assert len(set(near[move]) & set(np.argsort(apart)[: near.shape[1]])) >= near.shape[1] - 1
    np.testing.assert_array_equal(lists.pool[0, 0], lists.pool[0, 50])
