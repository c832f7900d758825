"""Routes of several vehicles, besides what `differential` compares with brute force; and their timetables."""

import json

import numpy as np
import pytest

from pareto_nrpa import PolishedNRPA, load
from pareto_nrpa.errors import InstanceError, ProblemError
from pareto_nrpa.problem.stepper import canonical_form
from pareto_nrpa.routing import generate_tsptw, generate_vrptw
from pareto_nrpa.routing.itinerary import Itinerary, Route, Timetable
from pareto_nrpa.routing.vehicles import vrptw

from ..helpers.results import schedule


def small(**options):
    """Six stops at random times and distances, with loads."""
    rng = np.random.default_rng(0)
    times, distance = rng.integers(1, 30, (2, 6, 6)).astype(float)
    demand = [0, *rng.integers(0, 5, 5)]
    defaults = {"vehicles": 3, "objectives": ("distance",), "costs": {"distance": distance}, "demand": demand}
    return vrptw(times, np.zeros(6), np.full(6, 110.0), **(defaults | {"capacity": 6.0} | options))


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
        assert canonical_form(problem, solution) == [1, 6, 2, 3, 7, 4, 5, 8]
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
