"""Tours with time windows: the kernels, run as plain Python, against slow and obvious twins."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pareto_nrpa.engine.jit.kernels import python_function
from pareto_nrpa.errors import InstanceError
from pareto_nrpa.routing import generate_tsp, generate_tsptw
from pareto_nrpa.routing.matrices import rounded, rounded_all, shortest_times, step_below
from pareto_nrpa.routing.tsp import mo_tsp
from pareto_nrpa.routing.tsptw import mo_tsptw

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


def is_feasible(data, tour):
    """Drive along the closed tour."""
    now, late = drive(data, tour)
    return late == 0 and now + data.costs[0, tour[-1], 0] <= data.closes[0]


def drive(data, tour):
    """Return the time at the last city of a tour, and how many windows were missed."""
    now, late = data.opens[0], 0
    for a, b in pairwise((0, *tour)):
        arrival = now + data.costs[0, a, b]
        late += int(arrival > data.closes[b])
        now = max(arrival, data.opens[b])
    return now, late


def quickest(data, here, to, over):
    """Return the least time from one city to another, over any of some cities."""
    direct = data.costs[0, here, to]
    return min([direct, *(data.costs[0, here, k] + quickest(data, k, to, over - {k}) for k in over)])


def slow_legal_moves(data, tour, detours=True):
    """The rule word for word: play a city that is out of reach; else drop what makes another city late."""
    now, _ = drive(data, tour)
    here = tour[-1] if tour else 0
    unvisited = set(range(1, len(data.opens))) - set(tour)
    customers = set(range(1, len(data.opens))) if detours else set()
    room = 1 + 1e-11

    def deadline(city):
        to_depot = quickest(data, city, 0, customers - {city})
        return min(data.closes[city] * room, data.closes[0] * room - to_depot)

    deadlines = {city: deadline(city) for city in unvisited}
    lost = {city for city in unvisited if now + quickest(data, here, city, customers - {here, city}) > deadlines[city]}
    if lost:
        return lost

    def makes_another_late(city):
        start = max(now + data.costs[0, here, city], data.opens[city])
        return any(start > deadlines[other] for other in unvisited)

    in_time = {city for city in unvisited if not makes_another_late(city)}
    return in_time or {min(unvisited, key=lambda city: (deadlines[city], city))}


def play_against_the_twin(problem, rng, *, detours=False):
    game = Game(problem)
    while moves := game.legal_moves():
        assert len(moves) == len(set(moves))
        assert set(moves) == slow_legal_moves(problem.data, game.tour, detours)
        game.play(rng.choice(moves))
    return game


@given(seed=seeds, n=st.integers(2, 20), tightness=tightnesses)
def test_legal_moves_follow_the_rule(seed, n, tightness):
    game = play_against_the_twin(generate_tsptw(n, seed, tightness), np.random.default_rng(seed))
    assert sorted(game.tour) == list(range(1, n))


def random_windows(seed, n):
    """Windows put anywhere, feasible or not, with many equal times; detours are often shorter than the direct way."""
    rng = np.random.default_rng(seed)
    opens = rng.integers(0, 20, n)
    costs, closes = rng.integers(0, 8, (2, n, n)), opens + rng.integers(0, 20, n)
    return mo_tsptw(costs, opens, closes, check_return=bool(seed % 2))


@given(seed=seeds, n=st.integers(2, 6))
def test_legal_moves_follow_the_rule_where_nothing_is_feasible(seed, n):
    game = play_against_the_twin(random_windows(seed, n), np.random.default_rng(seed), detours=True)
    assert sorted(game.tour) == list(range(1, n))


def can_be_played(problem, tour):
    game = Game(problem)
    for move in tour:
        if move not in game.legal_moves():
            return False
        game.play(move)
    return True


def feasible_tours(problem):
    n = len(problem.data.opens)
    return [tour for tour in permutations(range(1, n)) if is_feasible(problem.data, tour)]


@given(seed=seeds, n=st.integers(2, 7), tightness=tightnesses)
def test_every_generated_instance_has_a_feasible_tour_and_none_is_pruned(seed, n, tightness):
    problem = generate_tsptw(n, seed, tightness)
    feasible = feasible_tours(problem)
    assert feasible
    assert all(can_be_played(problem, tour) for tour in feasible)


def test_no_feasible_tour_is_pruned_by_sums_made_in_another_order():
    """Windows close at the very moment that a tour arrives, over ways whose sums no double holds exactly."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = 3 + seed % 4
        times = np.round(rng.random((n, n)) * 3, 1)
        tour, now, closes = rng.permutation(np.arange(1, n)), 0.0, np.zeros(n)
        for a, b in pairwise((0, *tour, 0)):
            now += times[a, b]
            closes[b] = now / (1 + 1e-9)  # what is added to it is lost again
        problem = mo_tsptw(times, np.zeros(n), closes)
        assert all(can_be_played(problem, tour) for tour in feasible_tours(problem)), seed


@pytest.mark.parametrize("closes, late", [(2, 0), (1.99, 1), (0, 1), (np.inf, 0)])
def test_a_tour_must_be_back_before_the_depot_closes(closes, late):
    problem = mo_tsptw(np.ones((2, 2)), [0, 0], [closes, 9])
    assert problem.replay([1])[1] == late
    unchecked = mo_tsptw(np.ones((2, 2)), [0, 0], [closes, 9], check_return=False)
    assert unchecked.replay([1])[1] == 0


def test_a_sum_of_decimals_that_ends_at_closing_time_is_in_time():
    times = [[0, 0.1, 9], [9, 0, 0.2], [0.3, 9, 0]]
    assert 0.1 + 0.2 > 0.3
    problem = mo_tsptw(times, [0, 0, 0], [0.6, 9, 0.3])
    assert problem.replay([1, 2])[1] == 0
    assert can_be_played(problem, [1, 2])
    assert mo_tsptw(times, [0, 0, 0], [0.6, 9, 0.2999999]).replay([1, 2])[1] == 1
    assert mo_tsptw(times, [0, 0, 0], [0.5999999, 9, 0.3]).replay([1, 2])[1] == 1


@pytest.mark.parametrize("shift", [480, 1440, 1e6])
def test_another_beginning_of_the_day_changes_nothing(shift):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        n = 6
        times = np.round(rng.random((n, n)) * 3, 1)
        opens, closes = np.zeros(n), np.zeros(n)
        for tour in (rng.permutation(np.arange(1, n)) for _ in range(2)):
            now = 0.0
            for a, b in pairwise((0, *tour, 0)):
                now = round(now + times[a, b], 1)
                closes[b] = max(closes[b], now)
        here, there = mo_tsptw(times, opens, closes), mo_tsptw(times, opens + shift, closes + shift)
        assert feasible_tours(here)
        assert feasible_tours(here) == feasible_tours(there)


@pytest.mark.parametrize(
    ("opens", "closes", "words"),
    [
        ([0], [9, 9], r"opens must have one time for each of the 2 cities, got shape \(1,\)"),
        ([0, 0], [9, 9, 9], r"closes must have one time for each of the 2 cities, got shape \(3,\)"),
        ([0, -1], [9, 9], "opens must be times of at least 0, got -1"),
        ([0, 0], [9, np.nan], "closes must be times of at least 0, got nan"),
        ([0, 5], [9, 4], "the window of city 1 closes at 4, before it opens at 5"),
        ([0, np.inf], [9, np.inf], "opens must be finite times, got infinity for city 1"),
        ("soon", [9, 9], "opens must be 2 times, one for each city"),
        ([0, 0], [9, [9]], "closes must be 2 times, one for each city"),
    ],
)
def test_bad_windows_are_refused(opens, closes, words):
    with pytest.raises(InstanceError, match=words):
        mo_tsptw(np.ones((2, 2)), opens, closes)


# --- generated instances


@pytest.mark.parametrize("generate", [generate_tsptw, generate_tsp])
def test_the_seed_alone_decides_what_the_instance_is(generate):
    np.random.seed(1)  # noqa: NPY002 - disturbing it is the point
    first, second, other = (generate(10, seed=seed) for seed in (4, 4, 5))
    for a, b in zip(first.data, second.data, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(first.data.costs, other.data.costs)


@pytest.mark.parametrize("generate", [generate_tsptw, generate_tsp])
@pytest.mark.parametrize("n_objectives", [1, 2, 3])
def test_any_number_of_objectives(generate, n_objectives):
    problem = generate(6, seed=1, n_objectives=n_objectives)
    assert problem.n_objectives == n_objectives
    assert problem.data.costs.shape == (n_objectives, 6, 6)
    assert len({costs.tobytes() for costs in problem.data.costs}) == n_objectives


def test_names_say_how_to_get_the_instance_again():
    assert generate_tsptw(6, 1, 0.25, 3).name == "tsptw:n=6,seed=1,tightness=0.25,objectives=3"
    assert generate_tsp(6, 1, 3).name == "mo-tsp:n=6,seed=1,objectives=3"
    assert generate_tsptw(6, name="mine").name == "mine"


# --- costs of tours: what they may be, and how they are rounded; differential compares tours with brute force


def test_the_bias_is_minus_ten_times_the_normalised_cost():
    problem = mo_tsp(np.array([[[0.0, 2], [4, 0]], [[0, 3], [3, 0]]]))
    initial_state, bias = map(python_function, (problem.initial_state, problem.bias))
    for preference, expected in (([1, 0], -5), ([0, 1], -10), ([0.5, 0.5], -7.5)):
        value = bias(problem.data, initial_state(problem.data), 1, np.array(preference, dtype=float))
        assert value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        (np.ones((2, 3, 4)), r"costs must be square matrices \[m, n, n\], got shape \(2, 3, 4\)"),
        ([np.ones((3, 3)), np.ones((4, 4))], "costs must be square matrices of numbers, all of one size"),
        ([[0, 1j], [1, 0]], "costs must be square matrices of numbers"),
        (np.ones((0, 3, 3)), "costs must be at least one matrix"),
        (np.ones((1, 1)), "costs must be for at least 2 cities, got 1"),
        ([[0, np.nan], [1, 0]], "costs must be finite numbers, got NaN or infinity"),
        ([[0, -2], [1, 0]], "costs must not be negative, got -2"),
        ([[0, 1e300], [1, 0]], r"costs must be 0 or from 1e-200 to 1e\+200, got 1e\+300"),
        ([[0, 1e-300], [1, 0]], r"costs must be 0 or from 1e-200 to 1e\+200, got 1e-300"),
    ],
)
def test_bad_costs_are_refused(costs, words):
    for make in (mo_tsp, lambda costs: mo_tsptw(costs, [0, 0], [9, 9])):
        with pytest.raises(InstanceError, match=words):
            make(costs)


def test_small_costs_are_not_rounded_away():
    """Regression: rounded to 1e-9 whatever their size, all tours seemed equally good."""
    costs = np.random.default_rng(1).random((2, 6, 6))
    tour = [3, 1, 2, 5, 4]
    objectives = mo_tsp(costs).replay(tour)[0]
    for scale in (1e-5, 1e-12, 1e-100):
        np.testing.assert_allclose(mo_tsp(scale * costs).replay(tour)[0], scale * objectives, rtol=1e-9)


# --- rounding of costs, and times over detours


costs = st.one_of(
    st.just(0.0), st.floats(1e-200, 1e6), st.floats(-200, 200).map(lambda e: 10.0**e), st.integers(0, 10**6).map(float)
)


@given(cost=costs)
def test_one_cost_is_rounded_as_many_are(cost):
    assert python_function(rounded)(cost) == rounded_all([cost])[0]


@given(cost=costs)
def test_costs_from_1_on_are_rounded_to_a_billionth_and_smaller_ones_to_twelve_digits(cost):
    assert rounded_all(cost) == (float(np.round(cost, 9)) if cost >= 1 else pytest.approx(cost, rel=5.01e-12, abs=0))


@given(cost=costs, share=st.floats(0, 1e-9))
def test_what_is_more_is_never_rounded_to_less(cost, share):
    assert rounded_all(cost * (1 + share)) >= rounded_all(cost) * (1 - 1e-15)


@given(cost=costs, share=st.floats(-1e-8, 0))
def test_a_rounded_cost_below_another_is_a_step_below(cost, share):
    high, low = rounded_all([cost, cost * (1 + share)])
    if low < high:
        assert high - low >= 0.99 * step_below(np.array([high]))[0] - 1e-15 * high


@given(seed=st.integers(0, 10_000), n=st.integers(2, 9))
def test_the_shortest_time_is_that_of_all_ways(seed, n):
    times = np.random.default_rng(seed).random((n, n)) ** 3
    expected = times.copy()
    for _ in range(n):  # Bellman and Ford
        for i in range(n):
            for j in range(n):
                if i != j:
                    expected[i, j] = min([expected[i, j], *(times[i, k] + expected[k, j] for k in range(1, n))])
    np.testing.assert_allclose(shortest_times(times), expected, rtol=1e-13)
