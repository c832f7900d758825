"""Local search on lists: what it evaluates and counts, how a problem's solutions are judged, and its parts."""

from itertools import pairwise

import numpy as np
import pytest

from pareto_nrpa import MaxEvaluations, Permutation, PolishedNRPA, Problem, solve
from pareto_nrpa.algorithms.polished.additive_model import AdditiveModel
from pareto_nrpa.algorithms.polished.credit import Credit
from pareto_nrpa.algorithms.polished.solution_front import COVERED, NEW
from pareto_nrpa.engine.dominance import is_covered
from pareto_nrpa.errors import ProblemError
from pareto_nrpa.metrics import hypervolume
from pareto_nrpa.problem.stepper import first_illegal

from ...helpers.problems import Bits, Moves
from ..baselines.test_genotype import Brittle, Trap

LATE = 4_500  # evaluations, so that chains are under way


def lengths(order):
    """Two costs of a round trip, whole numbers so that many trips are equal."""
    trip = [*order, order[0]]
    return sum(abs(a - b) for a, b in pairwise(trip)), sum((a * b) % 7 for a, b in pairwise(trip))


class Places(Moves):
    """A round trip as a class; counts how often it is asked for what."""

    def __init__(self, n=9):
        self.genotype, self.evaluated, self.asked = Permutation(range(n)), [], 0

    def legal_moves(self, state):
        self.asked += 1
        return [place for place in self.genotype.moves if place not in state]

    def move_code(self, state, place):
        return tuple(state[-1:]), place

    def evaluate(self, state):
        self.evaluated.append(tuple(state))
        return lengths(list(state))


class ListPlaces(Places):
    """The same with lists for states."""

    def initial_state(self):
        return []

    def play(self, state, place):
        return [*state, place]


def searched(problem, n=LATE, **parameters):
    search = PolishedNRPA(**parameters).start(problem, seed=1)
    search.advance(n)
    return search


def test_every_way_to_judge_leads_to_the_same_search():
    """A function of a list, states that are tuples, and states that have to be played."""
    built = Problem.from_permutation(lengths, range(9))
    logs = [searched(problem).log().tolist() for problem in (built, Places(), ListPlaces())]
    assert logs[0] == logs[1] == logs[2]
    assert len(logs[0]) > 10


def test_what_does_not_enter_the_front_is_not_asked_for_its_legal_moves():
    problem = Places()
    search = searched(problem)
    n_entered = len(search.log())
    assert len(problem.evaluated) == len(set(problem.evaluated)) <= LATE
    assert problem.asked <= 10 * n_entered + LATE  # ten questions for each, and for a few playouts


def test_a_state_that_is_no_tuple_of_moves_is_noticed_at_the_latest_when_it_enters():
    class Turning(Places):
        """States are tuples of moves, unless a trip begins at the last place: seldom, and it would be the best."""

        def play(self, state, place):
            return (*state, place) if (state or (place,))[0] != 8 else ("turned", *state[-8:], place)

        def evaluate(self, state):
            moves = [place for place in state if place != "turned"]
            return (1_000, 1_000) if "turned" in state else lengths(moves) if moves[0] != 8 else (-5, -5)

    front = searched(Turning(), 600).front()
    assert front.objectives.min() >= 0


def test_illegal_solutions_of_a_genotype_that_promises_too_much_enter_no_front():
    for problem in (Trap(), Brittle()):
        search = searched(problem, 1_500)
        assert search.n_refused > 0
        assert search.evaluations == 1_500
        assert all(first_illegal(problem, solution) is None for solution in search.front().solutions)


@pytest.mark.parametrize("n", [1_000, 3_400])
@pytest.mark.parametrize(
    "problem",
    [
        Problem.from_permutation(lengths, range(9)),
        Problem.from_choices(lambda x: (sum(x), sum(i * (3 - one) for i, one in enumerate(x))), [range(4)] * 12),
        Problem.from_permutation(lambda x: (x[0], x[1], x[2]), range(8), n_objectives=3),
    ],
    ids=["order", "choices", "three objectives"],
)
def test_it_resumes_exactly_before_and_in_chains(problem, n, tmp_path):
    whole = searched(problem)
    first = searched(problem, n)
    first.save(tmp_path / "saved")
    second = PolishedNRPA().resume(problem, tmp_path / "saved")
    second.advance(LATE - n)
    assert second.log().tolist() == whole.log().tolist()
    assert [second.player.draw() for _ in range(300)] == [whole.player.draw() for _ in range(300)]
    assert second.front().solutions == whole.front().solutions


def test_an_interrupted_search_has_counted_what_it_evaluated():
    calls = []

    def stops(order):
        calls.append(1)
        if len(calls) == 777:
            raise KeyboardInterrupt
        return lengths(order)

    result = solve(Problem.from_permutation(stops, range(9)), stop=MaxEvaluations(5_000), seed=1)
    assert result.stopped_by == "Ctrl-C"
    assert 770 <= result.evaluations <= 780


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (lambda: (1, float("nan")), "NaN or infinite"),
        (lambda: (1, 2, 3), "must return 2 objectives"),
        (lambda: "12", "must return 2"),
        (lambda: 1 / 0, r"evaluate\(\) of trips raised ZeroDivisionError"),
    ],
    ids=["nan", "three", "text", "raises"],
)
def test_what_a_function_returns_is_checked_late_too_and_nothing_is_lost(value, message):
    calls = []

    def wrong(order):
        calls.append(1)
        return lengths(order) if len(calls) < 500 else value()

    with pytest.raises(ProblemError, match=message) as caught:
        solve(Problem.from_permutation(wrong, range(9), name="trips"), stop=MaxEvaluations(5_000), seed=1)
    assert caught.value.result.evaluations == 499
    assert len(caught.value.result.front) > 1


def test_a_function_may_spoil_the_list_that_it_is_given():
    def spoils(order):
        values = lengths(order)
        order.sort()
        return values

    clean, spoiled = (searched(Problem.from_permutation(f, range(9)), 800) for f in (lengths, spoils))
    assert clean.log().tolist() == spoiled.log().tolist()
    assert clean.front().solutions == spoiled.front().solutions


def test_the_front_of_two_objectives_is_that_of_any_number():
    """A bisection tells what compiled code tells by comparing with all."""
    problem = Problem.from_permutation(lengths, range(9))
    search = searched(problem, 500)
    front, points = search.local._front, search.front().objectives
    assert len(front) == len(points)
    rng = np.random.default_rng(1)
    for point in rng.integers(points.min() - 2, points.max() + 2, (300, 2)).astype(float):
        standing = front.standing((0.0, *point.tolist()))
        assert (standing == NEW) == (not is_covered(points, len(points), point, np.zeros(2)))
        assert (standing not in (NEW, COVERED)) == (point.tolist() in points.tolist())


def test_kinds_that_bring_something_are_drawn_more_often(rng):
    credit = Credit(4, first_cost=10.0)
    for _ in range(300):
        for kind in range(4):
            credit.reward(kind, kind == 2)
    drawn = np.bincount([credit.draw(number) for number in rng.random(4_000)], minlength=4) / 4_000
    assert drawn[2] > 0.8
    assert drawn[1] == pytest.approx(0.05, abs=0.02)
    assert drawn[0] == pytest.approx(0.005, abs=0.005)


def test_among_kinds_without_success_those_of_known_proposals_are_drawn_less():
    credit, rng = Credit(2), np.random.default_rng(0)
    for _ in range(1_000):
        credit.reward(0, False, is_known=True)
        credit.reward(1, False)
    drawn = np.bincount([credit.draw(number) for number in rng.random(4_000)], minlength=2) / 4_000
    assert drawn[0] == pytest.approx(1 / 6, abs=0.03)


SPACES = {
    "one order": Problem.from_permutation(lambda x: (x[0], 1), 1),
    "one choice": Problem.from_choices(lambda x: (x[0], 1), [(3,), (4,)]),
    "one objective": Problem.from_permutation(lambda x: -x[0], 7, n_objectives=1),
    "five objectives": Problem.from_permutation(lambda x: x[:5], 7, n_objectives=5),
    "all alike": Problem.from_choices(lambda x: (1, 1), [range(4)] * 6),
    "whole numbers beyond floats' digits": Problem.from_choices(lambda x: (10**30 * sum(x), -x[0]), [range(4)] * 6),
    "numbers of NumPy": Problem.from_choices(lambda x: np.array([sum(x), -x[0]]), [range(4)] * 6),
    "never feasible": Problem.from_choices(lambda x: ((x[0], -x[0]), 1 + sum(x)), [range(4)] * 6, constrained=True),
    "orders of words": Problem.from_permutation(lambda x: (x.index("a"), -x.index("b")), "abcdef"),
}


@pytest.mark.parametrize("name", SPACES)
def test_every_kind_of_space_is_searched_into_the_chains(name):
    result = solve(SPACES[name], stop=MaxEvaluations(3_200), seed=1, max_archive=5)
    assert result.evaluations == 3_200
    assert 1 <= len(result.front) <= 5


# --- the additive model of single choices


OPTIONS = [[0, 1, 2], [5, 7], [3], [1, 2, 3, 4]]


def items(share):
    """Two profits of thirty items, of which a share of the weight may be carried."""
    weights, *profits = np.random.default_rng(4).integers(10, 100, (3, 30))

    def evaluate(taken):
        excess = float(weights @ taken - share * weights.sum())
        return [-float(profit @ taken) for profit in profits], max(0.0, excess)

    return Problem.from_choices(evaluate, [(0, 1)] * 30, constrained=True)


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
    problem = items(0.5)

    def volume(candidates, seed):
        front = solve(problem, PolishedNRPA(candidates=candidates), stop=MaxEvaluations(600), seed=seed).front
        return hypervolume(front.objectives[front.violations == 0], reference_point=[0, 0])

    assert np.mean([volume(16, seed) for seed in range(3)]) > np.mean([volume(1, seed) for seed in range(3)])


class EndsEarly(Bits):
    """Some playouts, not the first ones, are shorter than the genotype says."""

    def legal_moves(self, state):
        return () if state[:7] == (1, 0, 1, 0, 1, 0, 1) else super().legal_moves(state)

    def evaluate(self, state):
        return super().evaluate((*state, *[0] * (30 - len(state))))


def test_a_solution_shorter_than_the_genotype_ends_no_search():
    assert solve(EndsEarly(30), stop=MaxEvaluations(1500), seed=1).evaluations == 1500
