"""The default search against what one would install or run instead, at equal CPU time on one thread.

Every run is a line in results/rivals.csv; those that are there are not made again, so that it can be stopped at any
time. PyVRP minimises one weighted sum after the other, and every feasible candidate that it looks at is kept. All
solutions are evaluated once more by the problem itself. `counted` is the default search with every neighbour that it
judges counted as an evaluation. The page is docs/results/default-search.md; `--seeds 0` writes it anew.

    python benchmarks/rivals.py --budget 10s --seeds 10 --instances hard --methods polished-nrpa pls pyvrp

Where no front is proved, runs are measured against that of all runs together. Until `--freeze` each keeps its front in
its line; from then on the common front is a yardstick in results/yardsticks.npz that later runs do not change.
"""

from __future__ import annotations

import argparse
import sys
import time
from math import nan
from typing import TYPE_CHECKING

import numpy as np
import rivals_page
import rivals_runs
from kinds import KINDS, problem_of

from pareto_nrpa import MaxCpuTime, MaxEvaluations, PolishedNRPA, solve
from pareto_nrpa.algorithms.registry import algorithm
from pareto_nrpa.metrics import nondominated

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pareto_nrpa import CompiledProblem
    from pareto_nrpa.problem.base import AnyProblem

_RC = {201: 4, 202: 4, 203: 4, 204: 4, 205: 4, 206: 4, 207: 4, 208: 3}
INSTANCES = {
    "hard": [
        "rc_201.3",
        "rc_202.1",
        "rc_203.3",
        "rc_204.1",
        "rc_204.2",
        "rc_204.3",
        "rc_205.3",
        "rc_206.4",
        "rc_207.2",
        "rc_208.1",
    ],
    "all": [f"rc_{family}.{number}" for family, n in _RC.items() for number in range(1, n + 1)],
    # Each ingredient taken out, one at a time; not among those that settings were chosen on.
    "ablation": [
        *(
            f"tsptw:n={n},seed={seed},tightness={t}"
            for n, seed, t in ((46, 5, 0.3), (46, 6, 0.6), (101, 5, 0.3), (101, 6, 0.6))
        ),
        "mo-tsp:n=50,seed=5",
    ],
    "mo-tsp": ["mo-tsp:n=50,seed=1", "mo-tsp:n=100,seed=1"],
    "tsplib": ["kroAB100", "kroAC100"],
    "three": ["tsptw:n=41,seed=1,tightness=0.5,objectives=3", "mo-tsp:n=50,seed=1,objectives=3"],
    "architectures": [
        "nas-bench-201",
        "nas-bench-201:objectives=c10_error+params+c10_latency",
        "nas-bench-101-surrogate",
    ],
    "kinds": [name for name in KINDS if not name.startswith("kro")],
    "generated": [
        f"tsptw:n={n},seed={seed},tightness={tightness}"
        for seed in (1, 2, 3)
        for n in (101, 201)
        for tightness in (0.3, 0.6, 0.9)
    ],
}
_SCALE = 1_000
COUNTED = "counted"
#: PyVRP at its best here: 5, 10, 20 and 40 sums were tried on five of the hard instances.
_SUMS = 20


def by_pyvrp(problem: CompiledProblem, seconds: float, seed: int) -> tuple[np.ndarray, float]:
    """Return the objectives of all feasible candidates, and when the first one was found."""
    from pyvrp import IteratedLocalSearchCallbacks, IteratedLocalSearchParams, SolveParams
    from pyvrp import solve as minimise

    data = _model(problem)
    costs = problem.data.costs
    kept: dict[tuple[int, ...], None] = {}
    first = float("nan")

    class Keeping(IteratedLocalSearchCallbacks):
        def on_iteration(self, current, candidate, best, evaluator) -> None:  # type: ignore[no-untyped-def]
            nonlocal first
            if candidate.is_feasible():
                if np.isnan(first):
                    first = time.process_time() - begin
                (route,) = candidate.routes()
                kept[tuple(activity.idx + 1 for activity in route if activity.is_client())] = None

    params = SolveParams(ils=IteratedLocalSearchParams(callbacks=Keeping()))
    begin = time.process_time()
    scale = costs.max(axis=(1, 2))
    for i, weight in enumerate(np.random.default_rng(seed).permutation(np.linspace(0, 1, _SUMS))):
        end = begin + seconds * (i + 1) / _SUMS
        mixed = weight * costs[0] / scale[0] + (1 - weight) * costs[1] / scale[1]
        weighed = data.replace(distance_matrices=[np.rint(mixed * 1e6).astype(int)])
        minimise(weighed, lambda _, end=end: time.process_time() > end, seed + i, False, False, params)
    scores = [problem.replay(moves) for moves in kept]
    points = [objectives for objectives, violations in scores if violations == 0]
    return np.array(points).reshape(-1, 2), first


def _model(problem: CompiledProblem):  # type: ignore[no-untyped-def]
    import pyvrp

    opens, closes = (
        np.minimum(np.floor(times * _SCALE), 2**40).astype(int).tolist()
        for times in (problem.data.opens, problem.data.closes)
    )
    model = pyvrp.Model()
    places = [model.add_location(0, 0) for _ in opens]
    depot = model.add_depot(places[0])
    model.add_vehicle_type(1, start_depot=depot, end_depot=depot, tw_early=opens[0], tw_late=closes[0])
    for place, early, late in zip(places[1:], opens[1:], closes[1:], strict=True):
        model.add_client(place, tw_early=early, tw_late=late)
    times = np.rint(problem.data.costs[0] * _SCALE).astype(int).tolist()
    for i, origin in enumerate(places):
        for j, target in enumerate(places):
            model.add_edge(origin, target, distance=0, duration=times[i][j])
    return model.data()


def by_us(problem: AnyProblem, method: str, budget: str, seed: int) -> tuple[np.ndarray, float, int, float]:
    """Return the front, when the first feasible solution was found, evaluations made and CPU time spent."""
    amount = float(budget[:-1])
    stop = MaxCpuTime(amount) if budget.endswith("s") else MaxEvaluations(int(amount))
    first = []

    def watch(progress) -> None:  # type: ignore[no-untyped-def]
        if not first and progress.violations == 0:
            first.append(progress.cpu_seconds)

    name, _, settings = method.partition(":")
    given = dict(part.split("=") for part in settings.split(",") if part)
    chosen = algorithm(name, {key: float(value) if "." in value else int(value) for key, value in given.items()})
    result = solve(problem, chosen, stop=stop, seed=seed, callbacks=[watch])
    if result.stopped_by in ("Ctrl-C", "SIGTERM"):
        raise KeyboardInterrupt  # a search keeps what it found so far, which is not what is compared here
    front = result.front
    signs = np.where(getattr(problem, "maximise", None) or [False] * problem.n_objectives, -1.0, 1.0)
    points = front.objectives[front.violations == 0] * signs
    return points, first[0] if first else float("nan"), result.evaluations, result.cpu_seconds


def by_counting(problem: CompiledProblem, most: int, seed: int) -> tuple[np.ndarray, int]:
    """Return what the default search knows before the neighbours it judged, and evaluations, are more than `most`."""
    search = PolishedNRPA().start(problem, seed=seed)
    n, points = 0, np.zeros((0, problem.n_objectives))
    while True:
        search.advance(1)
        n_now = search.evaluations + search.local.judge.n_judged
        if n_now > most:
            return points, n
        front = search.front()
        n, points = n_now, front.objectives[front.violations == 0]


def run(instance: str, method: str, budget: str, seed: int) -> dict[str, object]:
    problem = problem_of(instance)
    evaluations, seconds = 0, float("nan")
    if method == "pyvrp":
        points, first = by_pyvrp(problem, float(budget[:-1]), seed)
        seconds = float(budget[:-1])
    elif method == COUNTED:
        points, evaluations = by_counting(problem, int(budget[:-1]), seed)
        first = nan
    else:
        points, first, evaluations, seconds = by_us(problem, method, budget, seed)
    n_points = len(nondominated(points)) if len(points) else 0
    made = (instance, method, budget, seed, n_points, first, evaluations, seconds)
    scores = rivals_runs.scores(instance, problem.reference_front, points)
    return dict(zip(rivals_runs.MADE, made, strict=True)) | scores


def make(todo: Iterable[tuple[str, str, str, int]]) -> None:
    made = rivals_runs.keys()
    for what in todo:
        if what not in made:
            rivals_runs.add(run(*what))


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", nargs="+", default=["hard"])
    parser.add_argument("--methods", nargs="+", default=["polished-nrpa", "pls", "pyvrp"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--budget", default="10s", help="seconds of CPU time, as 10s, or evaluations, as 100000e")
    parser.add_argument("--freeze", action="store_true", help="let common fronts of all runs be yardsticks")
    given = parser.parse_args(arguments)
    names = [name for group in given.instances for name in INSTANCES.get(group, [group])]
    make((n, method, given.budget, seed) for seed in range(given.seeds) for n in names for method in given.methods)
    if given.freeze:
        rivals_runs.freeze()
    rivals_page.write_page(rivals_runs.stored(), INSTANCES)


if __name__ == "__main__":
    main(sys.argv[1:])
