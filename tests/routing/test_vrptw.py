"""Routes of several vehicles: kernels and timetables against slow twins."""

import json
from itertools import permutations

import numpy as np
import pytest

from pareto_nrpa import PolishedNRPA, load
from pareto_nrpa.engine.jit.kernels import python_function
from pareto_nrpa.errors import InstanceError, ProblemError
from pareto_nrpa.problem.segments import check_judgement
from pareto_nrpa.problem.stepper import canonical_form
from pareto_nrpa.routing import generate_tsptw, generate_vrptw
from pareto_nrpa.routing.itinerary import Itinerary, Route, Timetable
from pareto_nrpa.routing.vehicles import MEASURES, vrptw

from ..helpers.results import schedule

EVERYTHING = ("distance", *MEASURES)


def small(n=6, seed=0, vehicles=3, **options):
    """Random times that break the triangle inequality, windows and loads of which some can be kept."""
    rng = np.random.default_rng(seed)
    times, distance = rng.integers(1, 30, (2, n, n)).astype(float)
    opens = rng.integers(0, 40, n).astype(float)
    closes = opens + rng.integers(5, 90, n)
    opens[0], closes[0] = 3.0, 110.0
    demand = rng.integers(0, 5, n).astype(float)
    demand[0] = 0.0
    costs = {"distance": distance}
    defaults = {"vehicles": vehicles, "objectives": EVERYTHING, "costs": costs, "demand": demand, "capacity": 6.0}
    return vrptw(times, opens, closes, **(defaults | options))


def routes_of(problem, solution):
    routes = [[]]
    for move in solution:
        if move < len(problem.data.opens):
            routes[-1].append(move)
        else:
            routes.append([])
    return [route for route in routes if route]


def drive(data, route, leave):
    """Return violations, lateness, waiting and the time of return of one vehicle that leaves at a given time."""
    time, here, load, wrong, lateness, waiting = leave, 0, 0.0, 0, 0.0, 0.0
    for stop in [*route, 0]:
        arrival = time + data.times[here, stop]
        time = max(arrival, data.opens[stop]) if stop else arrival
        waiting += time - arrival
        load += data.demand[stop]
        wrong += int(time > data.latest[stop]) + int(stop != 0 and load > data.capacity[0])
        lateness += max(0.0, time - data.closes[stop])
        here = stop
    return wrong, lateness, waiting, time


def judged(problem, solution, distance):
    """The slow twin: whole numbers only, so that all times to leave can be tried."""
    data = problem.data
    values = dict.fromkeys(EVERYTHING, 0.0)
    violations = 0
    for route in routes_of(problem, solution):
        wrong, lateness, waiting, back = drive(data, route, data.opens[0])
        later = data.opens[0]
        while drive(data, route, later + 1)[1] == lateness and drive(data, route, later + 1)[3] == back:
            later += 1
        path = [0, *route, 0]
        violations += wrong
        values["distance"] += distance[path[:-1], path[1:]].sum()
        values["time"] += data.times[path[:-1], path[1:]].sum()
        values["finish"] = max(values["finish"], back)
        values["waiting"] += waiting - (later - data.opens[0])
        values["lateness"] += lateness
        values["vehicles"] += 1
        values["longest"] = max(values["longest"], back - later)
    return np.array([values[name] for name in problem.objective_names]), violations


@pytest.mark.parametrize("late_costs", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_objectives_and_violations_are_those_of_the_slow_twin(seed, late_costs):
    problem = small(seed=seed, late_costs=late_costs)
    distance = problem.data.costs[0]  # as distance is the first objective
    rng = np.random.default_rng(seed)
    for _ in range(40):
        solution = 1 + rng.permutation(len(problem.genotype.moves))
        objectives, violations = problem.replay(solution.tolist())
        expected, wrong = judged(problem, solution.tolist(), distance)
        assert objectives == pytest.approx(expected, abs=1e-4)
        assert violations == wrong


def playable(problem, solution):
    """Tell whether pruning lets a solution be built."""
    words = {word: python_function(function) for word, function in problem.kernels.items()}
    state, out = words["initial_state"](problem.data), np.zeros(problem.max_legal, dtype=np.int64)
    for move in solution:
        if move not in out[: words["legal_moves"](problem.data, state, out)]:
            return False
        words["play"](problem.data, state, move)
    return True


def usual_form(problem, solution):
    """Return the same routes with closings in order and vehicles that stay at home last, as playouts build them."""
    n = len(problem.data.opens)
    closings = [move for move in problem.genotype.moves if move >= n]
    routes = routes_of(problem, solution)
    moves = [move for i, route in enumerate(routes) for move in ([closings[i - 1]] if i else []) + route]
    return [*moves, *closings[len(routes) - 1 :]]


@pytest.mark.parametrize("vehicles", [1, 2, 3])
def test_pruning_removes_no_feasible_routes(vehicles):
    n_feasible = 0
    for seed in range(6):
        problem = small(n=5, seed=seed, vehicles=vehicles, capacity=20.0 if vehicles == 1 else 7.0)
        for solution in permutations(problem.genotype.moves):
            if list(solution) == usual_form(problem, solution) and problem.replay(solution)[1] == 0:
                n_feasible += 1
                assert playable(problem, solution)
    assert n_feasible > 10


def test_numbers_of_closings_and_places_of_empty_routes_do_not_make_another_solution():
    problem = small(vehicles=4, objectives=("distance",))
    search = PolishedNRPA().start(problem, seed=1, budget=None)
    search.count_unique()
    for solution in (
        [1, 6, 2, 3, 7, 4, 5, 8],
        [1, 8, 2, 3, 6, 4, 5, 7],
        [7, 1, 8, 2, 3, 6, 4, 5],
        [1, 7, 6, 2, 3, 8, 4, 5],
    ):
        assert canonical_form(problem, solution) == usual_form(problem, solution) == [1, 6, 2, 3, 7, 4, 5, 8]
        search.add(solution)
    assert search.unique_evaluations == 1
    assert search.front().solutions == [[1, 6, 2, 3, 7, 4, 5, 8]]
    with pytest.raises(ProblemError, match="9 at depth 1 is not legal"):
        search.add([1, 9, 2, 3, 6, 4, 5, 7])


@pytest.mark.parametrize(
    "objectives", [("distance",), ("distance", "vehicles"), ("longest", "time"), ("waiting", "finish")]
)
def test_every_neighbour_that_is_judged_feasible_can_be_played(objectives):
    problem = generate_vrptw(25, seed=3, vehicles=6, objectives=objectives)
    search = PolishedNRPA().start(problem, seed=1, budget=None)
    search.advance(1_500)
    assert search.front().is_feasible
    assert search.n_refused == 0


def test_the_timetable_agrees_with_the_evaluation():
    problem = generate_vrptw(12, seed=1, vehicles=3, objectives=("waiting", "finish", "longest", "vehicles"))
    rng = np.random.default_rng(2)
    for _ in range(20):
        solution = (1 + rng.permutation(13)).tolist()
        routes = schedule(problem.details.__self__, solution)
        rows = [row for route in routes for row in route]
        expected = [
            sum(row["waiting"] for row in rows),
            max(row["arrival"] for row in rows),
            max(route[-1]["arrival"] - route[0]["arrival"] for route in routes),
            len(routes),
        ]
        objectives, violations = problem.replay(solution)
        assert objectives == pytest.approx(expected, abs=1e-4)
        late = sum(row["lateness"] > 1e-6 for row in rows)
        over = sum(row["load"] > problem.data.capacity[0] for row in rows if row["stop"])
        assert violations == late + over


@pytest.mark.parametrize(
    "objectives", [("distance", "vehicles", "time"), ("finish", "distance", "waiting", "longest", "vehicles")]
)
def test_rows_of_stretches_agree_with_playing_them(objectives):
    n_feasible = 0
    rng = np.random.default_rng(5)
    for seed in range(6):
        problem = small(n=6, seed=seed, vehicles=4, objectives=objectives, capacity=7.0)
        for _ in range(60):
            solution = (1 + rng.permutation(8)).tolist()
            check_judgement(problem, solution, rng)
            n_feasible += problem.replay(solution)[1] == 0
    assert n_feasible > 20
    assert small(late_costs=True).segments is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"objectives": ("distanc",)}, "objectives must be among .*did you mean 'distance'"),
        ({"objectives": ()}, "at least one name"),
        ({"objectives": ("time", "time")}, "each once"),
        ({"late_costs": True, "objectives": ("time",)}, "requires lateness"),
        ({"costs": {"waiting": np.ones((6, 6))}}, "names of measures .*, got 'waiting'"),
        ({"costs": {"distance": np.ones((5, 5))}}, "6 stops"),
        ({"demand": [1, 2]}, "demand must be 6 finite numbers"),
        ({"demand": [1, 0, 3, 0, 0, 0]}, r"demand\[0\] is that of the depot and must be 0, got 1"),
        ({"capacity": float("nan")}, "capacity must be a finite number"),
    ],
)
def test_mistakes_are_told_in_a_sentence(options, words):
    with pytest.raises(InstanceError, match=words):
        small(**options)


def test_a_spec_names_vehicles_and_objectives():
    problem = load("vrptw:n=12,seed=1,vehicles=2,objectives=distance+longest")
    assert problem.name == "vrptw:n=12,seed=1,tightness=0.5,vehicles=2,objectives=distance+longest"
    assert load(problem.name).data.times.tolist() == problem.data.times.tolist()
    with pytest.raises(InstanceError, match="objectives must be among time, distance"):
        load("vrptw:n=12,objectives=cost")


# ---


@pytest.fixture(scope="module")
def two_vans():
    """Three stops on a line, one window that makes the van wait and one that it misses: all a timetable can show."""
    columns = ("name", "x", "opens", "closes", "service", "demand")
    rows = [("hub", 0, 0, 100, 5, 0), ("near", 10, 30, 40, 2, 3), ("far", 20, 0, 25, 2, 4), ("late", 30, 0, 10, 1, 1)]
    stops = [dict(zip(columns, row, strict=True)) for row in rows]
    x = np.array([stop["x"] for stop in stops], dtype=float)
    return Timetable(stops, np.abs(x[:, None] - x[None]))


def test_a_timetable_goes_from_depot_to_depot(two_vans):
    first, second = schedule(two_vans, [1, 4, 2, 3])
    assert [row["name"] for row in first] == ["hub", "near", "hub"]
    # It leaves the depot so that no stop is waited for: 15 instead of 0, as 5 are spent there and the way takes 10.
    assert first[0] == {"stop": 0, "name": "hub", "arrival": 15, "waiting": 0, "start": 15, "lateness": 0} | {
        "departure": 20,
        "load": 0,
    }
    assert [row["arrival"] for row in first] == [15, 30, 42]
    assert [row["lateness"] for row in second] == [0, 0, 27, 0]
    assert [row["load"] for row in second] == [0, 4, 5, 5]


def test_a_generated_problem_has_a_timetable_that_agrees_with_its_evaluation():
    problem = generate_tsptw(8, seed=3)
    tour = list(range(1, 8))
    itinerary = Itinerary(problem.context["stops"], False, [Route(**problem.details(tour)["routes"][0])])
    _, violations = problem.replay(tour)
    assert sum(row["lateness"] > 1e-6 for row in itinerary.rows(itinerary.routes[0])) == violations
    assert itinerary.routes[0].load is None  # nothing is asked for
    json.dumps([problem.context, problem.details(tour)], allow_nan=False)
