from itertools import permutations

import numpy as np
import pytest

from pareto_nrpa import MaxEvaluations, PolishedNRPA, check_problem, load, solve
from pareto_nrpa.engine.jit.kernels import python_function
from pareto_nrpa.errors import InstanceError, ProblemError
from pareto_nrpa.problem.segments import check_judgement
from pareto_nrpa.problem.stepper import canonical_form
from pareto_nrpa.routing import generate_vrptw
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


@pytest.mark.parametrize("unit", [1e-11, 1e-6, 1.0, 1e9])
def test_measures_are_exact_to_twelve_digits_of_the_day_whatever_the_unit(unit):
    times = unit * np.array([[0.0, 24.0], [28.0, 0.0]])
    problem = vrptw(times, [0, 17 * unit], [62 * unit, np.inf], vehicles=1, objectives=("finish", "longest"))
    assert problem.replay([1])[0] == pytest.approx([52 * unit, 52 * unit], rel=1e-10)


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


# Times that break the triangle inequality: after stop 4 no stop can be served from which the others are reached.
DETOURS = (
    [
        [0, 32.16, 13.58, 5.83, 12.40],
        [10.72, 0, 6.88, 17.42, 7.38],
        [4.53, 6.88, 0, 1.32, 0.51],
        [5.83, 5.81, 1.32, 0, 1.78],
        [4.13, 22.15, 0.51, 5.34, 0],
    ],
    [0, 30.10, 50.77, 45.57, 33.84],
    [63.17, 44.16, 58.84, 57.99, 43.75],
)


@pytest.mark.parametrize("vehicles", [1, 2])
def test_pruning_of_the_last_route_leaves_distinct_moves_where_none_is_kept(vehicles):
    problem = vrptw(*DETOURS, vehicles=vehicles)
    check_problem(problem)
    front = solve(problem, stop=MaxEvaluations(300), seed=1).front
    assert front.is_feasible
    assert front.objectives.tolist() == [[47.2, 1.0]]


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
