"""Every solution of a tiny instance, evaluated in whole numbers; written from the documentation alone.

An instance is given in whole numbers, so that ties, arrivals at closing time and dominance are exact. What the package
is given are these numbers times a unit (`instances`), and what it reports is divided by the unit before it is compared.
"""

from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np

#: A time that stands for infinity.
NEVER = 10**9


@dataclass(frozen=True)
class Instance:
    """Stops 0 to n - 1, stop 0 the depot; a single vehicle without windows is the travelling salesman problem."""

    family: str  # tsp, tsptw or vrptw
    kind: str
    seed: int
    costs: dict[str, np.ndarray]  # [n, n] each; the one called time is the travel time
    opens: np.ndarray  # [n]
    closes: np.ndarray  # [n], NEVER for infinity
    objectives: tuple[str, ...]
    units: dict[str, float] = field(default_factory=dict)  # by name of the matrix; 1 by default
    metric: bool = False  # whether the package is told that travel times keep the triangle inequality
    check_return: bool = True
    vehicles: int = 1
    demand: np.ndarray | None = None
    capacity: int | None = None
    late_costs: bool = False

    @property
    def n(self) -> int:
        """How many stops there are, the depot among them."""
        return len(self.opens)

    def __str__(self) -> str:
        rows = [f"{self.family}, kind {self.kind}, seed {self.seed}, objectives {'+'.join(self.objectives)}"]
        rows += [f"  {name} = {matrix.tolist()}" for name, matrix in self.costs.items()]
        closes = ["inf" if time == NEVER else int(time) for time in self.closes]
        rows.append(f"  opens = {self.opens.tolist()}, closes = {closes}, units = {self.units}")
        rows.append(f"  metric = {self.metric}")
        if self.family == "tsptw":
            rows.append(f"  check_return = {self.check_return}")
        if self.family == "vrptw":
            demand = None if self.demand is None else self.demand.tolist()
            rows.append(f"  vehicles = {self.vehicles}, late_costs = {self.late_costs}")
            rows.append(f"  demand = {demand}, capacity = {self.capacity}")
        return "\n".join(rows)


class Driven(NamedTuple):
    """What the routes of one vehicle come to, a number for each of k routes."""

    violations: np.ndarray
    costs: dict[str, np.ndarray]
    back: np.ndarray
    waiting: np.ndarray
    lateness: np.ndarray
    duration: np.ndarray


def drive(instance, routes):
    """Send a vehicle along each route [k, r] of at least one stop, as soon as the depot opens and then later.

    Starting after a window closes is a violation, on return to the depot too, unless late arrivals cost. So is every
    stop beyond the capacity. The vehicle leaves as late as it can be back equally early, and no later anywhere.
    """
    k, n_stops = routes.shape
    path = np.hstack([np.zeros((k, 1), int), routes, np.zeros((k, 1), int)])
    legs = instance.costs["time"][path[:, :-1], path[:, 1:]]
    closes = instance.closes.copy()
    if not instance.check_return:
        closes[0] = NEVER
    early = _starts(instance, path, legs, np.full(k, instance.opens[0]))
    late = early > closes[path[:, 1:]]
    violations = np.zeros(k, int) if instance.late_costs else late.sum(axis=1)
    if instance.capacity is not None:
        violations += (np.cumsum(instance.demand[routes], axis=1) > instance.capacity).sum(axis=1)
    # From the end to the beginning: when each start may be without any harm.
    latest = early[:, n_stops]
    for i in range(n_stops - 1, -1, -1):
        latest = np.minimum(latest - legs[:, i + 1], np.maximum(closes[routes[:, i]], early[:, i]))
    leaves = np.maximum(latest - legs[:, 0], instance.opens[0])
    starts = _starts(instance, path, legs, leaves)
    assert (starts[:, n_stops] == early[:, n_stops]).all()
    lateness = np.maximum(starts - closes[path[:, 1:]], 0).sum(axis=1)
    assert (lateness == np.maximum(early - closes[path[:, 1:]], 0).sum(axis=1)).all()
    duration = starts[:, n_stops] - leaves
    costs = {name: matrix[path[:, :-1], path[:, 1:]].sum(axis=1) for name, matrix in instance.costs.items()}
    return Driven(violations, costs, starts[:, n_stops], duration - legs.sum(axis=1), lateness, duration)


def _starts(instance, path, legs, leaves):
    """Return when service begins at each stop, and last when the vehicle is back."""
    now, starts = leaves, []
    for i in range(legs.shape[1]):
        now = now + legs[:, i]
        if i < legs.shape[1] - 1:
            now = np.maximum(now, instance.opens[path[:, i + 1]])
        starts.append(now)
    return np.stack(starts, axis=1)


def evaluate(instance, plans):
    """Return violations [k] and objectives [k, m] of k solutions: a list of routes [k, r], one for each vehicle."""
    driven = [drive(instance, routes) for routes in plans]

    def worth(name):
        if name in instance.costs:
            return sum(route.costs[name] for route in driven)
        if name == "vehicles":
            return np.full(len(plans[0]), len(driven))
        if name in ("waiting", "lateness"):
            return sum(getattr(route, name) for route in driven)
        of_each = {"finish": "back", "longest": "duration"}[name]
        return np.max([getattr(route, of_each) for route in driven], axis=0)

    violations = sum(route.violations for route in driven)
    return violations, np.stack([worth(name) for name in instance.objectives], axis=1)


@cache
def _orders(n):
    return np.array(list(permutations(range(1, n))), dtype=np.int64)


def all_plans(n, vehicles):
    """Yield all ways to part all orders of the stops into routes: a list of routes [k, r] for each way to cut."""
    orders = _orders(n)
    for n_cuts in range(min(vehicles, n - 1)):
        for cuts in combinations(range(1, n - 1), n_cuts):
            yield np.split(orders, cuts, axis=1)


class Truth(NamedTuple):
    """What there is to know of an instance."""

    least: int  # the least number of violations
    front: set[tuple[int, ...]]  # the efficient objectives of solutions that have no more
    feasible: set[tuple[tuple[int, ...], ...]]  # all plans without violations, each as its routes in rising order


def truth_of(instance):
    """Try every solution."""
    found, feasible = [], set()
    for plans in all_plans(instance.n, instance.vehicles):
        violations, objectives = evaluate(instance, plans)
        found.append(np.column_stack([violations, objectives]))
        chosen = [routes[violations == 0].tolist() for routes in plans]
        feasible.update(tuple(sorted(map(tuple, plan))) for plan in zip(*chosen, strict=True))
    rows = np.vstack(found)
    least = int(rows[:, 0].min())
    return Truth(least, efficient(rows[rows[:, 0] == least, 1:]), feasible)


def efficient(points):
    """Return the points that no other one is as good as."""
    kept = np.zeros((0, points.shape[1]), points.dtype)
    for point in np.unique(points, axis=0):  # sorted: none is dominated by a later one
        if not (kept <= point).all(axis=1).any():
            kept = np.vstack([kept, point])
    return set(map(tuple, kept.tolist()))
