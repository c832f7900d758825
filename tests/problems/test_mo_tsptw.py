"""Tours with time windows: the kernels, run as plain Python, against slow and obvious twins."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pareto_nrpa import InstanceError, check_problem, generate_tsptw
from pareto_nrpa.kernels._jit import python_function
from pareto_nrpa.problems.mo_tsptw import mo_tsptw

seeds = st.integers(0, 10_000)
tightnesses = st.sampled_from([0.0, 0.3, 0.6, 0.9, 1.0])


class Game:
    """A playout through the words of a problem, in plain Python."""

    def __init__(self, problem):
        self.data, self.problem = problem.data, problem
        self.words = {word: python_function(function) for word, function in problem.kernels.items()}
        self.state = self.words["initial_state"](self.data)
        self.tour = []

    def legal_moves(self):
        out = np.full(self.problem.max_legal, -1, dtype=np.int64)
        count = self.words["legal_moves"](self.data, self.state, out)
        return out[:count].tolist()

    def play(self, move):
        self.words["play"](self.data, self.state, move)
        self.tour.append(move)


def drive(data, tour):
    """Return the time at the last city of a tour, costs so far, and how many windows were missed."""
    now, late, sums = data.opens[0], 0, np.zeros(len(data.costs))
    for a, b in pairwise((0, *tour)):
        arrival = now + data.costs[0, a, b]
        late += int(arrival > data.closes[b])
        now = max(arrival, data.opens[b])
        sums += data.costs[:, a, b]
    return now, sums, late


def slow_legal_moves(data, tour):
    """The rule word for word: play a city that is already late; else drop what makes another city late."""
    now, _, _ = drive(data, tour)
    here = tour[-1] if tour else 0
    unvisited = set(range(1, len(data.opens))) - set(tour)
    arrival = {city: now + data.costs[0, here, city] for city in unvisited}
    late = {city for city in unvisited if arrival[city] > data.closes[city]}
    if late:
        return late

    def makes_another_late(city):
        start = max(arrival[city], data.opens[city])
        return any(start > data.closes[other] for other in unvisited if other != city)

    return {city for city in unvisited if not makes_another_late(city)}


def play_against_the_twin(problem, rng):
    game = Game(problem)
    while moves := game.legal_moves():
        assert len(moves) == len(set(moves))
        assert set(moves) == slow_legal_moves(problem.data, game.tour)
        game.play(rng.choice(moves))
    return game


@settings(deadline=None, max_examples=150)
@given(seed=seeds, n=st.integers(2, 20), tightness=tightnesses)
def test_legal_moves_follow_the_rule(seed, n, tightness):
    game = play_against_the_twin(generate_tsptw(n, seed, tightness), np.random.default_rng(seed))
    assert sorted(game.tour) == list(range(1, n))


def random_windows(seed, n):
    """Windows put anywhere, feasible or not, with many equal times."""
    rng = np.random.default_rng(seed)
    opens = rng.integers(0, 20, n)
    return mo_tsptw(rng.integers(0, 8, (2, n, n)), opens, opens + rng.integers(0, 20, n))


@settings(deadline=None, max_examples=150)
@given(seed=seeds, n=st.integers(2, 12))
def test_legal_moves_follow_the_rule_where_nothing_is_feasible(seed, n):
    game = play_against_the_twin(random_windows(seed, n), np.random.default_rng(seed))
    assert sorted(game.tour) == list(range(1, n))


def test_legal_moves_follow_the_rule_on_official_instances(official, rng):
    for name in ("rc_201.3", "rc_204.3", "rc_206.1"):
        game = play_against_the_twin(official(name), rng)
        assert len(set(game.tour)) == game.problem.max_moves


def can_be_played(problem, tour):
    game = Game(problem)
    for move in tour:
        if move not in game.legal_moves():
            return False
        game.play(move)
    return True


@settings(deadline=None, max_examples=40)
@given(seed=seeds, n=st.integers(2, 7), tightness=tightnesses)
def test_no_feasible_tour_is_ever_pruned(seed, n, tightness):
    problem = generate_tsptw(n, seed, tightness)
    feasible = [tour for tour in permutations(range(1, n)) if drive(problem.data, tour)[2] == 0]
    assert feasible
    assert all(can_be_played(problem, tour) for tour in feasible)


def test_a_city_that_is_late_must_be_played():
    costs = np.ones((3, 3))
    problem = mo_tsptw(costs, [0, 0, 0], [9, 0.5, 9])
    assert Game(problem).legal_moves() == [1]


def test_a_move_that_makes_another_city_late_is_dropped():
    problem = mo_tsptw(np.ones((3, 3)), [0, 5, 0], [9, 9, 4])
    assert Game(problem).legal_moves() == [2]


def test_a_city_does_not_make_itself_late():
    problem = mo_tsptw(np.ones((3, 3)), [0, 0, 0], [9, 1, 1])
    assert sorted(Game(problem).legal_moves()) == [1, 2]


@settings(deadline=None, max_examples=150)
@given(seed=seeds, n=st.integers(2, 12), tightness=tightnesses, m=st.integers(1, 3))
def test_evaluation_is_what_a_drive_along_the_closed_tour_costs(seed, n, tightness, m):
    problem = generate_tsptw(n, seed, tightness, m)
    tour = (1 + np.random.default_rng(seed).permutation(n - 1)).tolist()
    objectives, violations = problem.replay(tour)
    _, sums, late = drive(problem.data, tour)
    np.testing.assert_allclose(objectives, sums + problem.data.costs[:, tour[-1], 0])
    assert violations == late


def test_waiting_costs_time_but_no_distance():
    problem = mo_tsptw(np.ones((3, 3)), [0, 50, 0], [99, 99, 51])
    objectives, violations = problem.replay([1, 2])
    assert (objectives.tolist(), violations) == ([3], 0)
    late = mo_tsptw(np.ones((3, 3)), [0, 50, 0], [99, 99, 50.5])
    assert late.replay([1, 2])[1] == 1


def test_arriving_when_a_window_closes_is_in_time():
    problem = mo_tsptw(np.ones((2, 2)), [0, 0], [9, 1])
    assert problem.replay([1])[1] == 0


def test_every_window_that_is_missed_counts():
    problem = mo_tsptw(np.ones((4, 4)), [0, 0, 0, 0], [9, 0.5, 0.5, 3])
    assert problem.replay([1, 2, 3])[1] == 2


def test_the_window_of_the_depot_is_not_checked_on_return():
    problem = mo_tsptw(np.ones((2, 2)), [0, 0], [0, 9])
    assert problem.replay([1])[1] == 0


def test_the_day_starts_when_the_depot_opens():
    problem = mo_tsptw(np.ones((2, 2)), [5, 0], [9, 5.5])
    assert problem.replay([1])[1] == 1


def test_costs_may_differ_by_direction():
    costs = np.array([[0.0, 1, 2], [4, 0, 8], [16, 32, 0]])
    problem = mo_tsptw([costs, 10 * costs], [0, 0, 0], [99, 99, 99])
    assert problem.replay([1, 2])[0].tolist() == [25, 250]
    assert problem.replay([2, 1])[0].tolist() == [38, 380]


@pytest.mark.parametrize("objective", [0, 1])
def test_the_bias_is_minus_ten_times_the_normalised_distance(objective):
    problem = generate_tsptw(6, seed=3)
    costs = problem.data.costs[objective].copy()
    if objective == 0:
        costs[1:] -= 10  # service is no distance
        np.fill_diagonal(costs, 0)
    preference = np.eye(2)[objective]
    game = Game(problem)
    for here, to in pairwise((0, 2, 5, 1, 3, 4)):
        value = game.words["bias"](game.data, game.state, to, preference)
        assert value == pytest.approx(-10 * costs[here, to] / costs.max())
        game.play(to)


def test_a_preference_mixes_the_biases():
    game = Game(generate_tsptw(6, seed=3))
    values = [game.words["bias"](game.data, game.state, 4, np.array(p)) for p in ((1.0, 0.0), (0.0, 1.0), (0.5, 0.5))]
    assert values[2] == pytest.approx((values[0] + values[1]) / 2)


def test_distances_for_the_bias_may_be_given():
    problem = mo_tsptw(np.ones((2, 2)), [0, 0], [9, 9], distances=[[0, 2], [8, 0]])
    game = Game(problem)
    assert game.words["bias"](game.data, game.state, 1, np.ones(1)) == -2.5


def test_where_all_distances_are_zero_there_is_no_bias():
    game = Game(mo_tsptw(np.zeros((2, 2)), [0, 0], [9, 9]))
    assert game.words["bias"](game.data, game.state, 1, np.ones(1)) == 0


@settings(deadline=None, max_examples=10)
@given(seed=seeds, n=st.integers(2, 15), tightness=tightnesses)
def test_it_keeps_the_promises_of_a_problem(seed, n, tightness):
    assert check_problem(generate_tsptw(n, seed, tightness), n_games=3, seed=seed) is None


def test_an_instance_does_not_change_with_the_arrays_it_was_made_of():
    costs, opens, closes = np.ones((1, 3, 3)), np.zeros(3), np.full(3, 9.0)
    problem = mo_tsptw(costs, opens, closes)
    costs[:], opens[:], closes[:] = 7, 7, 0
    assert problem.replay([1, 2])[0].tolist() == [3]
    assert problem.replay([1, 2])[1] == 0


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        (np.ones((2, 3)), r"costs must be square matrices \[m, n, n\], got shape \(1, 2, 3\)"),
        (np.ones(3), r"costs must be square matrices \[m, n, n\], got shape \(3,\)"),
        ([[0, 1], [1]], "costs must be square matrices of numbers, all of one size"),
        (np.ones((1, 1)), "costs must be for at least 2 cities, got 1"),
        ([[0, np.nan], [1, 0]], "costs must be finite numbers, got NaN or infinity"),
        ([[0, -2], [1, 0]], "costs must not be negative, got -2"),
    ],
)
def test_bad_costs_are_refused(costs, words):
    with pytest.raises(InstanceError, match=words):
        mo_tsptw(costs, [0, 0], [9, 9])


@pytest.mark.parametrize(
    ("opens", "closes", "words"),
    [
        ([0], [9, 9], r"opens must have one time for each of the 2 cities, got shape \(1,\)"),
        ([0, 0], [9, 9, 9], r"closes must have one time for each of the 2 cities, got shape \(3,\)"),
        ([0, -1], [9, 9], "opens must be times of at least 0, got -1"),
        ([0, 0], [9, np.nan], "closes must be times of at least 0, got nan"),
        ([0, 5], [9, 4], "the window of city 1 closes at 4, before it opens at 5"),
    ],
)
def test_bad_windows_are_refused(opens, closes, words):
    with pytest.raises(InstanceError, match=words):
        mo_tsptw(np.ones((2, 2)), opens, closes)


@pytest.mark.parametrize("shape", [(1, 3, 3), (2, 4, 4), (3, 3, 3)])
def test_distances_must_have_the_shape_of_the_costs(shape):
    with pytest.raises(InstanceError, match="distances must have the shape of the costs"):
        mo_tsptw(np.ones((2, 3, 3)), [0] * 3, [9] * 3, distances=np.ones(shape))
