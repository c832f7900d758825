"""Neighbours judged by segments, compared with all neighbours played one by one."""

from dataclasses import replace

import numpy as np
import pytest

from pareto_nrpa import Permutation, PolishedNRPA, Segments, check_problem
from pareto_nrpa.algorithms.polished.near_evaluation import Penalty
from pareto_nrpa.engine.arrays import FrontObjectives
from pareto_nrpa.engine.jit.kernels import kernel
from pareto_nrpa.errors import ProblemError
from pareto_nrpa.routing import generate_tsp, generate_tsptw
from pareto_nrpa.routing.matrices import cost_of, join_costs
from pareto_nrpa.routing.tsptw import join_limits

NOTHING = FrontObjectives(np.zeros((0, 2)), np.zeros((0, 2)))
WITH_ARCS = {"tsptw": generate_tsptw(9, seed=3, tightness=0.2), "tsp": generate_tsp(9, seed=1)}
PROBLEMS = {
    name: replace(problem, segments=replace(problem.segments, arc_of=None, near=None))
    for name, problem in WITH_ARCS.items()
}
# Each compiles a search of its own, for tens of seconds; routes in test_near_evaluation have no arcs either.
compiles = pytest.mark.slow
every_problem = pytest.mark.parametrize("name", ["tsptw", "tsp"])


def judge_of(problem):
    search = PolishedNRPA().start(problem)
    search.compile()
    return search.local.judge


def neighbours(moves):
    """Return all neighbours of a permutation: segments of one to three put elsewhere or turned, and 2-opt."""
    n, found = len(moves), set()
    for length in (1, 2, 3):
        for first in range(n - length + 1):
            segment, rest = moves[first : first + length], moves[:first] + moves[first + length :]
            for place in range(len(rest) + 1):
                found |= {tuple(rest[:place] + one + rest[place:]) for one in (segment, segment[::-1])}
    for first in range(n):
        for last in range(first + 1, n):
            found.add(tuple(moves[:first] + moves[first : last + 1][::-1] + moves[last + 1 :]))
    return found - {tuple(moves)}


@compiles
@every_problem
@pytest.mark.parametrize("seed", range(4))
def test_a_look_round_finds_all_that_nothing_covers(name, seed):
    problem, rng = PROBLEMS[name], np.random.default_rng(seed)
    judge, moves = judge_of(problem), rng.permutation(range(1, 9)).tolist()
    feasible = [problem.replay(other)[0] for other in neighbours(moves) if problem.replay(other)[1] == 0]
    is_feasible = problem.replay(moves)[1] == 0
    judge.begin(moves, np.zeros(2))
    assert judge.go_on(NOTHING) or not is_feasible
    found = [objectives for _, objectives in judge.found()]
    for solution, objectives in judge.found():
        played, violations = problem.replay(solution.tolist())
        np.testing.assert_allclose(objectives, played)
        assert violations == 0
    if is_feasible:  # of what is better in something, all that is found covers the rest
        here = problem.replay(moves)[0]
        for objectives in feasible:
            if (objectives < here - 1e-6).any():
                assert any((other <= objectives + 1e-6).all() for other in found)


@compiles
@every_problem
@pytest.mark.parametrize("seed", range(4))
def test_a_descent_ends_where_no_neighbour_is_better(name, seed):
    problem, rng = PROBLEMS[name], np.random.default_rng(seed)
    judge, weights = judge_of(problem), rng.random(2)
    judge.begin(rng.permutation(range(1, 9)), weights)
    assert judge.go_on(NOTHING)
    end = judge.moves.tolist()
    objectives, violations = problem.replay(end)
    values = [weights @ other for other, late in map(problem.replay, neighbours(end)) if late == 0]
    if violations == 0:
        assert min(values, default=np.inf) >= weights @ objectives - 1e-6


@compiles
@pytest.mark.parametrize(("price", "seed"), [(0.001, 0), (0.1, 1), (0.1, 2), (10.0, 3)])
def test_a_descent_at_a_price_ends_where_no_neighbour_costs_less_with_what_it_pays(seed, price):
    problem, rng = PROBLEMS["tsptw"], np.random.default_rng(seed)
    judge, weights = judge_of(problem), rng.random(2)

    def cost(moves):
        judge.begin(moves, np.zeros(2))
        judge.go_on(NOTHING)
        return weights @ problem.replay(list(moves))[0] + price * judge.distance

    judge.begin(rng.permutation(range(1, 9)), weights, terms=Penalty(price, 1e9))
    assert judge.go_on(NOTHING)
    end = judge.moves.tolist()
    assert cost(end) <= min(map(cost, neighbours(end))) + 1e-6


@kernel
def one_of(data, move, out):
    """Count moves."""
    out[0] = 0.0
    out[1] = 1.0 if move > 0 else 0.0


@kernel
def join_unevenly(data, left, right, out):
    """Be infeasible as a whole, a rounding error more where the end is joined last: so are whole solutions measured."""
    out[1] = left[1] + right[1]
    out[0] = 0.0
    if out[1] == 8:
        out[0] = 1e-4 if right[1] > 0 else 1e-4 + 1e-12


@compiles
def test_a_descent_ends_where_only_the_order_of_sums_promises_a_step():
    """Regression: on rc_205.4 a repair went round in a circle, each step nearer to feasible by a rounding error."""
    problem = replace(PROBLEMS["tsp"], segments=Segments(cost_of, join_costs, 4, one_of, join_unevenly, 2))
    judge = judge_of(problem)
    judge.begin(np.arange(1, 9), np.ones(2))
    assert judge.go_on(NOTHING)


@kernel
def forgetful(data, left, right, out):
    """Leave out what it costs to get from one stretch to the next."""
    for k in range(out.size):
        out[k] = left[k] + right[k]
    out[0] = left[0]
    out[1] = right[1]


@kernel
def careless(data, move, out):
    """Find every stretch feasible."""
    out[0] = 0.0


@kernel
def join_careless(data, left, right, out):
    """Find every stretch feasible."""
    out[0] = 0.0


@kernel
def cheap_arc(data, a, b, out):
    """Leave out what it costs to go out and to come back."""
    for k in range(out.size):
        out[k] = data.costs[k, a, b] if min(a, b) > 0 else 0.0


@kernel
def nearer_than_near(data, a, b):
    """Be no distance."""
    return -1.0


def test_arcs_that_do_not_add_up_are_found():
    tsp = WITH_ARCS["tsp"]
    with pytest.raises(ProblemError, match=r"the arcs of .* add up to .* and evaluate\(\) gives"):
        check_problem(replace(tsp, segments=replace(tsp.segments, arc_of=cheap_arc)))
    with pytest.raises(ProblemError, match=r"near\(\) of the segments of .* must be a finite number of at least 0"):
        check_problem(replace(tsp, segments=replace(tsp.segments, near=nearer_than_near)))


def test_segments_that_disagree_with_evaluate_are_found():
    tsp, tsptw = PROBLEMS["tsp"], PROBLEMS["tsptw"]
    check_problem(tsptw)
    with pytest.raises(ProblemError, match=r"the segments of .* give objectives .* and evaluate\(\) .* join_costs"):
        check_problem(replace(tsp, segments=Segments(cost_of, forgetful, 4)))
    with pytest.raises(ProblemError, match=r"are 0 from feasible for .* correct limit_of or join_limits"):
        check_problem(replace(tsptw, segments=Segments(cost_of, join_costs, 4, careless, join_careless, 1)))
    with pytest.raises(ProblemError, match=r"have no limits, and evaluate\(\) gives .* add limit_of and join_limits"):
        check_problem(replace(tsptw, segments=Segments(cost_of, join_costs, 4)))


@kernel
def forgiving(data, left, right, out):
    """Forget most of what stretches lack."""
    join_limits(data, left, right, out)
    out[0] *= 0.1


def test_a_whole_that_is_nearer_to_feasible_than_its_parts_is_found():
    tight = generate_tsptw(15, seed=1, tightness=0.9)
    with pytest.raises(ProblemError, match="which must not exceed the whole"):
        check_problem(replace(tight, segments=replace(tight.segments, join_limits=forgiving)))


@pytest.mark.parametrize(
    ("segments", "message"),
    [
        (lambda: Segments(cost_of, join_costs, 1), r"cost_width of segments must be at least .* \(2\)"),
        (lambda: Segments(cost_of, join_costs, 4, careless), "both limit_of and join_limits, or neither"),
        (lambda: Segments(cost_of, lambda *_: None, 4), "join_costs of segments is not a kernel"),
    ],
)
def test_segments_that_do_not_fit_together_are_refused(segments, message):
    with pytest.raises(ProblemError, match=message):
        replace(PROBLEMS["tsp"], segments=segments())
    with pytest.raises(ProblemError, match="segments need solutions that are permutations"):
        replace(PROBLEMS["tsp"], genotype=None)
    assert isinstance(PROBLEMS["tsp"].genotype, Permutation)
