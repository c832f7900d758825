"""Routes for several vehicles: the distance alone against PyVRP, and trade-offs against NSGA-II with the same moves."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from report import write

from pareto_nrpa import MaxCpuTime, ParetoNRPA, PolishedNRPA, solve
from pareto_nrpa.algorithms import NSGA2
from pareto_nrpa.metrics import nondominated, share_of_hypervolume
from pareto_nrpa.routing import generate_vrptw

if TYPE_CHECKING:
    from pareto_nrpa import CompiledProblem

SECONDS, TRADE_OFF_SECONDS = 10.0, 5.0  # of CPU time, as machines are shared
SEEDS = range(1)
SIZES = (25, 50, 100)
TRADE_OFFS = (("distance", "vehicles"), ("distance", "longest"))
_SCALE = 10_000  # PyVRP counts in whole numbers

ONE_OBJECTIVE = {
    "polished-nrpa (default)": PolishedNRPA(),
    "pareto-nrpa, level 3, one policy, alpha 1": ParetoNRPA(level=3, n_policies=1, alpha=1.0),
}
TWO_OBJECTIVES = {
    "polished-nrpa (default)": PolishedNRPA(),
    "nsga-ii, population 100": NSGA2(population=100, offspring=100, pruning=True),
}


def instance(n_stops: int, objectives: tuple[str, ...] = ("distance",)) -> CompiledProblem:
    """Two vehicles more than one for every ten stops: how many are used is a question."""
    return generate_vrptw(n_stops + 1, seed=n_stops, vehicles=n_stops // 10 + 2, objectives=objectives)


def by_pyvrp(problem: CompiledProblem, seed: int, seconds: float = SECONDS) -> float:
    """Return the distance that PyVRP finds, as the problem measures it."""
    import pyvrp

    data = problem.data
    early = np.ceil(data.opens * _SCALE).astype(int).tolist()
    late = np.floor(np.minimum(data.latest, 2**30) * _SCALE).astype(int).tolist()
    demand = np.rint(data.demand).astype(int).tolist()
    assert np.array_equal(demand, data.demand)
    model = pyvrp.Model()
    places = [model.add_location(0, 0) for _ in early]
    depot = model.add_depot(places[0])
    model.add_vehicle_type(
        len(data.closings) + 1,
        capacity=int(data.capacity[0]),
        start_depot=depot,
        end_depot=depot,
        tw_early=early[0],
        tw_late=late[0],
    )
    for i in range(1, len(places)):
        model.add_client(places[i], delivery=demand[i], tw_early=early[i], tw_late=late[i])
    lengths, times = (np.ceil(matrix * _SCALE).astype(int).tolist() for matrix in (data.costs[0], data.times))
    for i, origin in enumerate(places):
        for j, target in enumerate(places):
            model.add_edge(origin, target, distance=lengths[i][j], duration=times[i][j])
    end = time.process_time() + seconds
    result = model.solve(lambda _: time.process_time() > end, seed=seed, display=False, collect_stats=False)
    moves, closings = [], data.closings.tolist()
    for route in result.best.routes():
        moves += [activity.idx + 1 for activity in route if activity.is_client()] + closings[:1]
        closings = closings[1:]
    objectives, violations = problem.replay(moves + closings)
    return float(objectives[0]) if violations == 0 else np.inf


def distances() -> None:
    rows = []
    for n in SIZES:
        problem = instance(n)
        best = np.mean([by_pyvrp(problem, seed) for seed in SEEDS])
        gaps = []
        for algorithm in ONE_OBJECTIVE.values():
            found = [solve(problem, algorithm, stop=MaxCpuTime(SECONDS), seed=seed).front for seed in SEEDS]
            feasible = [front.objectives.min() for front in found if front.is_feasible]
            gaps.append(f"{np.mean(feasible) / best - 1:+.1%}" if len(feasible) == len(found) else "infeasible")
        rows.append([str(n), f"{best:.1f}", *gaps])
        print(rows[-1], flush=True)
    write(
        "default-search",
        "Routes: the distance alone, against PyVRP",
        ["stops", "PyVRP", *ONE_OBJECTIVE],
        rows,
        notes=f"Generated instances (`generate_vrptw`), {SECONDS:g} s of CPU time, mean over {len(SEEDS)} seed(s): the "
        "distance that PyVRP finds, and how much longer ours are. PyVRP is made for this; it knows one objective.",
        command="routing.py",
    )


def trade_offs() -> None:
    rows = []
    for n in SIZES:
        for objectives in TRADE_OFFS:
            problem = instance(n, objectives)
            fronts = {
                name: [solve(problem, algorithm, stop=MaxCpuTime(TRADE_OFF_SECONDS), seed=seed).front for seed in SEEDS]
                for name, algorithm in TWO_OBJECTIVES.items()
            }
            feasible = [front.objectives for found in fronts.values() for front in found if front.is_feasible]
            best = nondominated(np.concatenate(feasible))
            worst = np.concatenate(feasible).max(axis=0)
            point = worst + 0.1 * (worst - best.min(axis=0))
            shares = [
                np.mean(
                    [
                        share_of_hypervolume(front.objectives, best, reference_point=point) * front.is_feasible
                        for front in found
                    ]
                )
                for found in fronts.values()
            ]
            rows.append([str(n), " and ".join(objectives), *(f"{share:.3f}" for share in shares)])
            print(rows[-1], flush=True)
    write(
        "default-search",
        "Routes: trade-offs, against NSGA-II with the same moves",
        ["stops", "objectives", *TWO_OBJECTIVES],
        rows,
        notes=f"Generated instances, {TRADE_OFF_SECONDS:g} s of CPU time, {len(SEEDS)} seed(s): share of hypervolume "
        "of the best of all runs, up to their worst value and a tenth of the range more. NSGA-II samples its first "
        "population by the same bias and with the same pruning.",
        command="routing.py",
    )


def main() -> None:
    distances()
    trade_offs()


if __name__ == "__main__":
    main()
