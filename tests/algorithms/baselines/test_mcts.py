"""Pareto-MCTS against a tree of dictionaries and the formula of its bounds."""

import itertools
import math

import numpy as np
import pytest

from pareto_nrpa.algorithms.baselines import mcts_kernels as kernels
from pareto_nrpa.algorithms.baselines.mcts import ParetoMCTS
from pareto_nrpa.routing import generate_tsp, generate_tsptw

from ...helpers.oracles import PlainParetoMCTS, best_of
from ...helpers.problems import PlainTour, RecordedBits, RecordedWindows, RecordedWord

PROBLEMS = {
    "bits": RecordedBits,
    "word": RecordedWord,
    "windows": lambda: RecordedWindows(generate_tsptw(6, seed=2, tightness=0.6)),
}


def visit_counts(search):
    """Read how often each position was visited from the arrays of the tree."""
    tree, counts = search._tree, {}

    def walk(node, moves):
        counts[moves] = int(tree.visits[node])
        first = int(tree.first_child[node])
        for child in range(first, first + int(tree.n_children[node])) if first >= 0 else ():
            walk(child, (*moves, *search.player.solution([int(tree.moves[child])])))

    walk(kernels.ROOT, ())
    return counts


@pytest.mark.parametrize("where", PROBLEMS)
@pytest.mark.parametrize(
    "parameters", [{"playouts": 1}, {"playouts": 4, "exploration": 0.2}, {"playouts": 3, "bias": 0.0}], ids=str
)
def test_it_visits_and_evaluates_what_a_tree_of_dictionaries_does(where, parameters):
    problem = PROBLEMS[where]()
    search = ParetoMCTS(**parameters).start(problem, seed=8)
    budget = 120 * parameters["playouts"]
    search.advance(budget)
    slow = PlainParetoMCTS(PROBLEMS[where](), seed=8, budget=budget, **parameters).run()
    assert [tuple(state) for state, _ in problem.diary] == [moves for moves, _, _ in slow.evaluated]
    counts = visit_counts(search)
    expected = slow.visit_counts()
    # A node whose children were never looked at has none in either tree, or not yet in one of them.
    assert {moves: n for moves, n in counts.items() if n} == {moves: n for moves, n in expected.items() if n}
    assert counts[()] == budget


def test_a_bound_worked_out_by_hand():
    # Means 4 and 2 of objective 1, 10 and 30 of objective 2; 8 visits in all; ranges 2 and 20.
    visits, sums = np.array([8, 2, 6]), np.array([[0.0, 0.0], [8.0, 20.0], [12.0, 180.0]])
    bounds = np.zeros((2, 2))
    kernels.fill_bounds(0, visits, sums, 1, 2, bounds, 0.5)
    inside = 4 * math.log(8) + math.log(2)
    first, second = math.sqrt(inside / 4), math.sqrt(inside / 12)
    assert bounds == pytest.approx(np.array([[4 - first, 10 - 10 * first], [2 - second, 30 - 10 * second]]))


@pytest.mark.parametrize("playouts", [1, 4])
def test_a_complete_tree_is_searched_further(playouts):
    problem = RecordedBits(3)
    search = ParetoMCTS(playouts=playouts).start(problem, seed=1)
    search.advance(2_000)
    assert search.evaluations == len(problem.diary) == 2_000
    counts = visit_counts(search)
    assert sum(n for moves, n in counts.items() if len(moves) == 3) <= 2_000
    assert set(counts) == {moves for n in range(4) for moves in itertools.product((0, 1), repeat=n)}
    best = best_of([(0.0, problem.evaluate(bits)) for bits in itertools.product((0, 1), repeat=3)])
    assert {tuple(row) for row in search.front().objectives.tolist()} == {objectives for _, objectives in best}


@pytest.mark.slow
def test_a_tree_that_grows_is_the_one_of_dictionaries():
    compiled = generate_tsp(80, seed=1)
    search = ParetoMCTS(playouts=1, bias=0.0).start(compiled, seed=5)
    search.advance(250)
    assert search._tree.visits.size > 4_096
    assert search._tree.bounds.shape[0] > 64
    slow = PlainParetoMCTS(PlainTour(compiled), seed=5, budget=250, playouts=1, bias=0.0).run()
    assert {moves: n for moves, n in visit_counts(search).items() if n} == {
        moves: n for moves, n in slow.visit_counts().items() if n
    }
