"""Tiny random instances of all kinds, in whole numbers and a unit, and the problems that the package makes of them."""

import numpy as np

from pareto_nrpa.routing import mo_tsp, mo_tsptw, vrptw

from .brute_force import NEVER, Instance

#: Units of times and costs. Sums in units that no double holds exactly end a little beside the whole multiple.
UNITS = {"integer": (1.0,), "decimal": (0.1, 1 / 3), "huge": (1e7, 1e9, 1e12), "tiny": (1e-6, 1e-8 / 3, 1e-11)}
MEASURES = ("time", "finish", "waiting", "lateness", "vehicles", "longest")


def _grid(rng, n):
    """Manhattan distances, which keep the triangle inequality; some stops lie at the same place."""
    places = rng.integers(0, 12, (n, 2))
    return np.abs(places[:, None] - places[None]).sum(axis=2)


def _directed(rng, n):
    """Every arc by itself: asymmetric, and many detours are shorter than the direct arc."""
    return rng.integers(1, 30, (n, n))


def _ties(rng, n):
    """Few different numbers, so that many solutions are equal."""
    return rng.integers(0, 3, (n, n))


def _zeros(rng, n):
    """Most arcs, or all, cost nothing."""
    return rng.integers(1, 9, (n, n)) * (rng.random((n, n)) < rng.choice([0.0, 0.4]))


MATRICES = {"grid": _grid, "directed": _directed, "ties": _ties, "zeros": _zeros}

FAMILIES = ("tsp", "tsptw", "vrptw")
KINDS = tuple(f"{matrices}-{units}" for matrices in MATRICES for units in UNITS)


def _windows(rng, times, check_return):
    """Return windows around the visits of a random tour, or anywhere: some leave nothing feasible."""
    n = len(times)
    opens, closes = np.zeros(n, int), np.full(n, NEVER)
    opens[0] = rng.choice([0, 0, 4])
    width = int(rng.choice([0, 4, 15, 60]))
    now, here = opens[0], 0
    is_around = rng.random() < 0.7
    for stop in (1 + rng.permutation(n - 1)).tolist():
        now, here = now + times[here, stop], stop
        middle = now if is_around else int(rng.integers(0, 60))
        opens[stop] = max(0, middle - rng.integers(0, width + 1))
        closes[stop] = opens[stop] if rng.random() < 0.1 else max(opens[stop], middle + rng.integers(0, width + 1))
        if is_around:
            now = max(now, opens[stop])
    closes[1:][rng.random(n - 1) < rng.choice([0.0, 0.3])] = NEVER
    back = now + times[here, 0] + rng.choice([-2, 0, 0, 10])
    closes[0] = max(opens[0], back) if check_return and rng.random() < 0.7 else NEVER
    if not check_return and rng.random() < 0.5:
        closes[0] = opens[0] + rng.integers(0, 20)  # which nothing looks at
    return opens, closes


def instance(family, kind, seed, most_stops):
    """Return a random instance; `kind` is a kind of matrices and one of units, such as `grid-tiny`."""
    rng = np.random.default_rng([seed, most_stops, *map(ord, family + kind)])
    matrices, units = kind.split("-")
    n_objectives = int(rng.integers(1, 5 if family == "vrptw" else 4))
    n = 1 + int(rng.integers(1, most_stops + 1))
    time = MATRICES[matrices](rng, n)
    check_return = bool(rng.random() < 0.6) or family == "vrptw"
    opens, closes = _windows(rng, time, check_return)
    if family == "vrptw":
        return _for_vehicles(rng, kind, seed, n_objectives, time, opens, closes)
    costs = {"time": time, **{f"cost{k}": MATRICES[matrices](rng, n) for k in range(1, n_objectives)}}
    if family == "tsp":
        opens, closes = np.zeros(n, int), np.full(n, NEVER)
    drawn = {name: float(rng.choice(UNITS[units])) for name in costs}
    metric = matrices == "grid" and bool(rng.random() < 0.5)
    return Instance(family, kind, seed, costs, opens, closes, tuple(costs), drawn, metric, check_return)


def _for_vehicles(rng, kind, seed, n_objectives, time, opens, closes):
    n = len(time)
    matrices, units = kind.split("-")
    costs = {"time": time, "distance": MATRICES[matrices](rng, n), "euros": MATRICES[matrices](rng, n)}
    late_costs = bool(rng.random() < 0.3)
    names = list(dict.fromkeys([*MEASURES, *costs]))
    objectives = rng.permutation(names)[:n_objectives].tolist()
    if late_costs and "lateness" not in objectives:
        objectives[rng.integers(n_objectives)] = "lateness"
    drawn = {name: float(rng.choice(UNITS[units])) for name in (*costs, "demand")}
    demand = capacity = None
    if rng.random() < 0.6:
        demand = rng.integers(0, 5, n)
        demand[0] = 0
        capacity = int(rng.integers(0, 10))
    vehicles = int(rng.integers(1, 4))
    chosen = tuple(map(str, objectives))
    metric = matrices == "grid" and bool(rng.random() < 0.5)
    windows = (opens, closes, chosen, drawn, metric, True)
    return Instance("vrptw", kind, seed, costs, *windows, vehicles, demand, capacity, late_costs)


def unit_of(instance, objective):
    """Return what one unit of an objective is in the numbers that the package is given."""
    if objective == "vehicles":
        return 1.0
    return instance.units.get(objective if objective in instance.costs else "time", 1.0)


def problem_of(instance):
    """Return the problem that the package makes of an instance."""
    unit = instance.units.get("time", 1.0)
    matrices = {name: matrix * instance.units.get(name, 1.0) for name, matrix in instance.costs.items()}
    opens = instance.opens * unit
    closes = np.where(instance.closes == NEVER, np.inf, instance.closes * unit)
    if instance.family == "tsp":
        return mo_tsp(np.stack(list(matrices.values())))
    if instance.family == "tsptw":
        options = {"check_return": instance.check_return, "metric": instance.metric}
        return mo_tsptw(np.stack(list(matrices.values())), opens, closes, **options)
    load = instance.units.get("demand", 1.0)
    return vrptw(
        matrices.pop("time"),
        opens,
        closes,
        vehicles=instance.vehicles,
        objectives=instance.objectives,
        costs=matrices,
        demand=None if instance.demand is None else instance.demand * load,
        capacity=None if instance.capacity is None else instance.capacity * load,
        late_costs=instance.late_costs,
        metric=instance.metric,
    )
