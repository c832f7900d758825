"""Results of every shape that a page must show, quickly made: no search is run."""

import itertools

import numpy as np

from pareto_nrpa import Front, Result
from pareto_nrpa.metrics import nondominated
from pareto_nrpa.routing.itinerary import Itinerary, Route, Timetable

NASTY = "</script><img src=x onerror=window.hacked=1>"
STREETS = ["Bakery", "School", "Town hall", "Clinic", "Library", "Station", "Café Ümit", "Harbour", "Florist", "Museum"]


def result_of(objectives, solutions, **changes):
    order = np.lexsort(np.asarray(objectives, dtype=float).T[::-1])
    front = Front(
        objectives=np.asarray(objectives, dtype=float)[order],
        violations=np.zeros(len(solutions)),
        solutions=[solutions[i] for i in order],
        policies=np.zeros(len(solutions), dtype=np.int64),
    )
    m = front.objectives.shape[1]
    values = {
        "instance": "stops.csv",
        "algorithm": "pareto-nrpa",
        "parameters": {"level": 4, "n_policies": 4, "alpha": 0.5, "iterations": None},
        "seed": 7,
        "evaluations": 100_000,
        "cpu_seconds": 2.5,
        "wall_seconds": 2.75,
        "stopped_by": "100,000 evaluations",
        "front": front,
        "history": np.array([[1, 0.0], [100, 300.0], [2_000, 410.0], [40_000, 440.0], [100_000, 440.0]]),
        "reference_point": [1.0] * m,
        "maximise": [False] * m,
        "versions": {"python": "3.11", "pareto-nrpa": "0.1.0"},
    }
    return Result(**{**values, **changes})


def make_plan(n, *, seed=0, geographic=False, names=None):
    rng = np.random.default_rng(seed)
    places = rng.random((n + 1, 2)).round(3) * 60
    travel = np.sqrt(((places[:, None] - places) ** 2).sum(axis=2))
    names = names or [*STREETS, *(f"Stop {i}" for i in range(n))]
    stops = []
    for i, (x, y) in enumerate(places.tolist()):
        opens = 480.0 if i == 0 else 480.0 + 30 * int(rng.integers(0, 12))
        where = {"lat": 51 + y / 100, "lon": 7 + x / 100} if geographic else {"x": x, "y": y}
        closes = None if i == 0 else opens + 180
        name = names[i - 1] if i else "Depot"
        more = {"service": 0.0 if i == 0 else 5.0, "demand": float(i > 0), "phone": f"555-{i:03d}"}
        stops.append({"name": name, **where, "opens": opens, "closes": closes, **more})
    return Timetable(stops, travel)


def saved_routes(plan, solutions):
    """Return what a result keeps of routes."""
    context = {"kind": "routes", "stops": plan.stops, "clock": True}
    return {
        "context": context,
        "details": [plan.details(solution) for solution in solutions],
        "descriptions": [plan.describe(solution) for solution in solutions],
    }


def schedule(plan, solution):
    """Return the routes of a solution, stop by stop."""
    itinerary = Itinerary(plan.stops, True, [Route(**route) for route in plan.details(solution)["routes"]])
    return [itinerary.rows(route) for route in itinerary.routes]


def tours(plan, *, vehicles=1, n_solutions=40, seed=1, n_objectives=2):
    """Return a front out of random tours: their length, when the last is back, and how long is waited."""
    rng, n = np.random.default_rng(seed), len(plan.stops)
    moves = [*range(1, n), *range(n, n + vehicles - 1)]
    solutions = [rng.permutation(moves).tolist() for _ in range(30 * n_solutions)]
    schedules = [schedule(plan, solution) for solution in solutions]
    legs = [[pair for route in schedule for pair in itertools.pairwise(route)] for schedule in schedules]
    lengths = [sum(plan.travel[a["stop"], b["stop"]] for a, b in driven) for driven in legs]
    late = [sum(row["lateness"] for r in s for row in r) for s in schedules]
    waits = [sum(row["waiting"] for r in s for row in r) for s in schedules]
    values = np.round(np.column_stack([lengths, late, waits][:n_objectives]), 2)
    front = {tuple(row) for row in nondominated(values).tolist()}
    rows = [values.tolist().index(list(row)) for row in sorted(front)][:n_solutions]
    names = ["Kilometres", "Lateness", "Waiting (min)"][:n_objectives]
    return result_of(
        values[rows], [solutions[i] for i in rows],
        objective_names=names, **saved_routes(plan, [solutions[i] for i in rows]),
        command="pareto-nrpa solve stops.csv --seconds 10 --report trade-offs.html",
    )  # fmt: skip


def with_solutions(plan, n):
    """Return a front of just so many tours: objectives are made up, timetables are not."""
    rng = np.random.default_rng(2)
    solutions = [rng.permutation(range(1, len(plan.stops))).tolist() for _ in range(n)]
    values = np.column_stack([np.arange(n) + 0.123456, (n - np.arange(n)) ** 1.3])
    return result_of(values, solutions, objective_names=["euros", "CO2 (kg)"], **saved_routes(plan, solutions))


def knapsack():
    loads = [(10, 3), (14, 6), (15, 7), (20, 9), (30, 10)]
    return result_of(
        [(load, profit) for load, profit in loads], [[i & 1, i >> 1 & 1, i >> 2 & 1] for i in range(1, 6)],
        objective_names=["load", "profit"], maximise=[False, True], instance="knapsack", reference_point=[31.0, 0.0],
        descriptions=[f"items of {load} kg" for load, _ in loads],
        truth={"points": 6, "found": 5, "igd_plus": 0.01, "share_of_hypervolume": 0.97},
    )  # fmt: skip
