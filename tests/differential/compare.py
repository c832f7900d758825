"""Where the package and brute force differ on one instance."""

import itertools
from typing import NamedTuple

import numpy as np

from pareto_nrpa import MaxEvaluations, ParetoNRPA, PolishedNRPA, solve
from pareto_nrpa.engine.jit.kernels import python_function
from pareto_nrpa.problem.segments import END, START

from .brute_force import efficient, evaluate
from .instances import problem_of, unit_of

#: Evaluations within which the default has to find the whole front, and what others have for correct points.
BUDGET, SHORT_BUDGET = 5_000, 300
# A reported number divided by its unit is a whole number but for the rounding of sums and that of the package.
_TOLERANCE = 1e-4


class Difference(NamedTuple):
    """What the package says, and what brute force says."""

    kind: str
    package: str
    brute_force: str

    def __str__(self) -> str:
        return f"  {self.kind}: package {self.package}; brute force {self.brute_force}"


def search_differences(instance, truth, budget=BUDGET):
    """Yield where the reported points of two algorithms are wrong, and which ones the default search did not find."""
    problem = problem_of(instance)

    def is_found(progress):
        is_least = progress.violations == truth.least
        return is_least and _whole(instance, progress.objectives) == truth.front

    default, paper = PolishedNRPA(), ParetoNRPA(level=2)
    for algorithm, stop in ((default, MaxEvaluations(budget) | is_found), (paper, MaxEvaluations(SHORT_BUDGET))):
        try:
            front = solve(problem, algorithm, stop=stop, seed=1).front
        except Exception as error:
            yield Difference("error", f"{algorithm.name}: {type(error).__name__}: {error}", "no error")
            continue
        yield from _wrong_points(instance, front, algorithm.name)
        if algorithm is default:
            yield from _missing_points(instance, front, truth)


def given_differences(instance, truth):
    """Yield where a search that is given all solutions, and evaluates them as compiled code, does not report the front.

    Closings stand in any order here, and routes of vehicles that stay at the depot anywhere.
    """
    problem = problem_of(instance)
    solutions = list(map(list, itertools.permutations(problem.genotype.moves)))
    front = solve(problem, start=solutions, stop=MaxEvaluations(len(solutions)), seed=1).front
    yield from _wrong_points(instance, front, "all solutions given")
    yield from _missing_points(instance, front, truth)


def construction_differences(instance, truth):
    """Yield what is wrong with legal moves, evaluation and rows of segments, all of them as plain Python."""
    problem = problem_of(instance)
    yield from _wrong_moves(instance, problem, truth)
    yield from _wrong_rows(instance, problem)


def routes_of(instance, solution):
    """Return the routes of a solution, without those of vehicles that stay at the depot."""
    routes = [[]]
    for move in solution:
        if move < instance.n:
            routes[-1].append(move)
        else:
            routes.append([])
    return [route for route in routes if route]


def judged(instance, solution):
    """Return violations and objectives of one solution by brute force."""
    violations, objectives = evaluate(instance, [np.array([route]) for route in routes_of(instance, solution)])
    return int(violations[0]), tuple(objectives[0].tolist())


def in_units(instance, objectives):
    """Return reported objectives as multiples of their units."""
    return np.asarray(objectives) / [unit_of(instance, name) for name in instance.objectives]


def _whole(instance, points):
    """Return reported points as a set of whole numbers of units."""
    return set(map(tuple, np.rint(in_units(instance, points)).astype(int).tolist()))


def _is_solution(instance, solution):
    n_moves = instance.n - 1 + min(instance.vehicles, instance.n - 1) - 1
    return sorted(solution) == list(range(1, n_moves + 1))


def _is_equal(reported, exact):
    return bool(np.all(np.abs(reported - exact) <= _TOLERANCE))


def _wrong_points(instance, front, algorithm):
    """Yield what is wrong with reported points by themselves, and with any two of them."""
    exact = []
    for solution, reported, violations in zip(front.solutions, front.objectives, front.violations, strict=True):
        if not _is_solution(instance, solution):
            yield Difference("solution", f"{algorithm}: {solution}", "no order of all moves")
            continue
        counted, objectives = judged(instance, solution)
        exact.append(objectives)
        multiples = in_units(instance, reported)
        where = f"{algorithm}: {solution} has"
        if violations != counted:
            yield Difference("violations", f"{where} {violations:g} violations", f"{counted}")
        if not _is_equal(multiples, objectives):
            yield Difference("objectives", f"{where} {multiples.tolist()}", f"{list(objectives)}")
    if len(exact) != len(efficient(np.array(exact))):
        yield Difference("dominated", f"{algorithm}: {sorted(exact)}", f"{sorted(efficient(np.array(exact)))}")


def _missing_points(instance, front, truth):
    """Yield what the default search did not find."""
    if front.violations.max() > truth.least:
        yield Difference("not least", f"{front.violations.max():g} violations", f"{truth.least}")
        return
    if missing := truth.front - _whole(instance, front.objectives):
        kind = "incomplete" if truth.least == 0 else "incomplete least"
        yield Difference(kind, f"without {sorted(missing)}", f"{len(truth.front)} points, {truth.least} violations")


def _wrong_moves(instance, problem, truth):
    """Yield what is wrong with the legal moves: what they lead to, and which feasible plans they never lead to."""
    legal_after, ends = _built(problem)
    for moves, legal in legal_after.items():
        if len({*legal, *moves}) < len(legal) + len(moves):
            yield Difference("moves", f"after {moves}: {legal}", "each move once, and none that was played")
        elif not legal and not _is_solution(instance, moves):
            yield Difference("moves", f"after {moves}: none", "moves until all are played")
    complete = {moves: scores for moves, scores in ends.items() if _is_solution(instance, moves)}
    yield from itertools.islice(_wrong_ends(instance, complete), 1)
    playable = {tuple(sorted(map(tuple, routes_of(instance, moves)))) for moves in complete}
    for plan in sorted(truth.feasible - playable)[:1]:
        yield Difference("pruned", f"{plan} cannot be built", "it is feasible")


def _built(problem):
    """Build all that legal moves lead to: the legal moves after each beginning, and the scores of each end."""
    words = {word: python_function(kernel) for word, kernel in problem.kernels.items()}
    legal_after, ends = {}, {}

    def build(state, moves):
        out = np.zeros(problem.max_legal, dtype=np.int64)
        legal = legal_after[moves] = out[: words["legal_moves"](problem.data, state, out)].tolist()
        if not legal:
            objectives = np.empty(problem.n_objectives)
            ends[moves] = words["evaluate"](problem.data, state, objectives), objectives
        for move in set(legal) - set(moves):
            following = type(state)(*(array.copy() for array in state))
            words["play"](problem.data, following, move)
            build(following, (*moves, move))

    build(words["initial_state"](problem.data), ())
    return legal_after, ends


def _wrong_ends(instance, ends):
    for moves, (violations, objectives) in ends.items():
        counted, exact = judged(instance, moves)
        multiples = in_units(instance, objectives)
        if violations != counted or not _is_equal(multiples, exact):
            yield Difference("evaluation", f"{moves}: {violations}, {multiples.tolist()}", f"{counted}, {exact}")


def _wrong_rows(instance, problem, n_solutions=12):
    """Yield a solution of which the rows of its segments, joined in some grouping, say other than brute force."""
    if problem.segments is None:
        return
    rng = np.random.default_rng(instance.seed)
    for _ in range(n_solutions):
        solution = rng.permutation(problem.genotype.moves).tolist()
        violations, objectives = judged(instance, solution)
        rows = _Rows(problem, rng)
        moves = [START, *solution, END]
        is_feasible = problem.segments.limit_of is None or rows.of(moves, "limit")[0] == 0
        if is_feasible != (violations == 0):
            yield Difference("rows", f"{solution} is {'' if is_feasible else 'in'}feasible", f"{violations} violations")
            return
        multiples = in_units(instance, rows.of(moves, "cost")[-problem.n_objectives :])
        if violations == 0 and not _is_equal(multiples, objectives):
            yield Difference("rows", f"{solution} has {multiples.tolist()}", f"{list(objectives)}")
            return


class _Rows:
    """Rows of stretches, joined in a random grouping."""

    def __init__(self, problem, rng):
        self.data, self.rng = problem.data, rng
        self.words = {word: python_function(kernel) for word, kernel in problem.segments.kernels.items()}
        self.width = {"cost": problem.segments.cost_width, "limit": problem.segments.limit_width}

    def of(self, moves, what):
        row = np.full(self.width[what], np.nan)
        if len(moves) == 1:
            self.words[f"{what}_of"](self.data, moves[0], row)
            return row
        cut = int(self.rng.integers(1, len(moves)))
        left, right = self.of(moves[:cut], what), self.of(moves[cut:], what)
        self.words["join_costs" if what == "cost" else "join_limits"](self.data, left, right, row)
        return row
