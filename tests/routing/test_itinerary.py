import json

import numpy as np
import pytest

from pareto_nrpa.routing import generate_tsptw
from pareto_nrpa.routing.itinerary import Itinerary, Route, Timetable

from ..helpers.results import schedule


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


def test_a_van_leaves_as_late_as_the_windows_before_the_wait_allow():
    rows = [("hub", 0, None), ("a", 0, 20), ("b", 50, 60)]
    stops = [{"name": name, "opens": o, "closes": c, "service": 0, "demand": 0} for name, o, c in rows]
    (route,) = schedule(Timetable(stops, 10.0 * np.abs(np.subtract.outer(range(3), range(3)))), [1, 2])
    assert [(row["start"], row["waiting"]) for row in route] == [(10, 0), (20, 0), (50, 20), (70, 0)]


def test_empty_routes_are_left_out(two_vans):
    assert two_vans.routes([4, 1, 5, 2, 3]) == [[1], [2, 3]]


def test_a_generated_problem_has_a_timetable_that_agrees_with_its_evaluation():
    problem = generate_tsptw(8, seed=3)
    tour = list(range(1, 8))
    itinerary = Itinerary(problem.context["stops"], False, [Route(**problem.details(tour)["routes"][0])])
    _, violations = problem.replay(tour)
    assert sum(row["lateness"] > 1e-6 for row in itinerary.rows(itinerary.routes[0])) == violations
    assert itinerary.routes[0].load is None  # nothing is asked for
    json.dumps([problem.context, problem.details(tour)], allow_nan=False)
