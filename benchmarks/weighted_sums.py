"""Tours without windows against weighted sums by LKH (the package elkai), and routes of the length and of the longest.

    python benchmarks/weighted_sums.py [--seeds 3] [NAME ...]

LKH minimises 101 weighted sums of two costs, or 105 of three, one after the other. The default search has the CPU time
that this takes, and for kro instances also ten seconds. Hypervolumes are shares of the box between 0 and the reference
point of the tables of neural solvers (Lin et al. 2022): cities lie in a square of side 1, those of kro instances are
divided by the largest coordinate of each axis. `thinned` is the share of the 101 points of a front that matter most.
Every solution of a front is replayed; `wrong` counts those whose objectives are others.
"""

from __future__ import annotations

import argparse
import itertools
import os
import resource
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from report import write

from pareto_nrpa import MaxCpuTime, solve
from pareto_nrpa.metrics import hypervolume, nondominated
from pareto_nrpa.routing import mo_tsp
from pareto_nrpa.routing.matrices import euclidean
from pareto_nrpa.routing.vehicles import vrptw

FILES = Path(os.environ.get("PARETO_NRPA_DATA", "."), "tsplib")
# kro instances of 150 and 200 cities are made of those of 100: two files, and which cities of the second.
_KRO = {
    "kroA100": "A",
    "kroB100": "B",
    "kroA150": ("A", "E", slice(50)),
    "kroB150": ("C", "E", slice(50, 100)),
    "kroA200": ("C", "A", slice(100)),
    "kroB200": ("B", "D", slice(100)),
}
_CORNERS = {50: 35.0, 100: 65.0, 150: 85.0, 200: 115.0, 500: 300.0, 1000: 600.0}
_KRO_SECONDS, _ROUTE_SECONDS = 10.0, 6.0
_SCALE = 100_000  # LKH counts in whole numbers
_N_POINTS = 101
NAMES = ("uniform 100", "uniform 200", "kroAB100", "kroAB150", "kroAB200", "three costs 50", "asymmetric 50")


class Tour(NamedTuple):
    costs: np.ndarray  # [M, n, n]
    corner: float


def _kro(name: str) -> np.ndarray:
    first, *rest = _KRO[name]

    def read(letter: str) -> np.ndarray:
        text = (FILES / f"kro{letter}100.tsp").read_text().split("NODE_COORD_SECTION")[1].split("EOF")[0]
        return np.array(text.split(), dtype=float).reshape(-1, 3)[:, 1:]

    places = np.concatenate([read(first), *([read(rest[0])[rest[1]]] if rest else [])])
    return euclidean(places / places.max(axis=0))


def instance(name: str, seed: int = 1) -> Tour:
    kind, n = name.rstrip("0123456789").strip(), int(name[len(name.rstrip("0123456789")) :])
    rng = np.random.default_rng(seed)
    if kind == "kroAB":
        return Tour(np.stack([_kro(f"kro{letter}{n}") for letter in "AB"]), _CORNERS[n])
    if kind == "asymmetric":
        costs = rng.random((2, n, n))
        costs[:, np.arange(n), np.arange(n)] = 0.0
        return Tour(costs, n / 2)
    return Tour(np.stack([euclidean(rng.random((n, 2))) for _ in range(3 if "three" in kind else 2)]), _CORNERS[n])


def weights(m: int) -> list[np.ndarray]:
    steps = _N_POINTS - 1 if m == 2 else 13
    parts = (part for part in itertools.product(range(steps + 1), repeat=m) if sum(part) == steps)
    return [np.array(part) / steps for part in parts]


def by_lkh(costs: np.ndarray) -> np.ndarray:
    import elkai

    points = []
    for weight in weights(len(costs)):
        mixed = np.rint(np.tensordot(weight, costs, 1) * _SCALE).astype(int)
        tour = np.array(elkai.DistanceMatrix(mixed.tolist()).solve_tsp(runs=1))
        points.append([matrix[tour[:-1], tour[1:]].sum() for matrix in costs])
    return nondominated(np.array(points))


def thinned(points: np.ndarray, corner: float) -> np.ndarray:
    """Return the points that are left when the one that matters least goes, again and again."""
    points = points[np.argsort(points[:, 0])]
    while len(points) > _N_POINTS:
        right = np.append(points[1:, 0], corner)
        above = np.append(corner, points[:-1, 1])
        points = np.delete(points, np.argmin((right - points[:, 0]) * (above - points[:, 1])), axis=0)
    return points


def share(points: np.ndarray, corner: float) -> float:
    return hypervolume(points, reference_point=[corner] * points.shape[1]) / corner ** points.shape[1]


def n_wrong(problem, front) -> int:
    replayed = (problem.replay(solution) for solution in front.solutions)
    return sum(
        violations != 0 or not np.array_equal(objectives, row)
        for (objectives, violations), row in zip(replayed, front.objectives, strict=True)
    )


def tours(names: list[str], n_seeds: int) -> None:
    rows = []
    for name in names:
        costs, corner = instance(name)
        begin = time.process_time()
        theirs = by_lkh(costs)
        seconds = time.process_time() - begin
        problem, lkh = mo_tsp(costs), share(theirs, corner)
        for limit in (seconds, *([_KRO_SECONDS] if name.startswith("kro") else [])):
            fronts = [solve(problem, stop=MaxCpuTime(limit), seed=seed).front for seed in range(n_seeds)]
            ours = [share(front.objectives, corner) for front in fronts]
            few = "-"
            if len(costs) == 2:
                few = f"{np.mean([share(thinned(front.objectives, corner), corner) for front in fronts]):.4f}"
            rows.append(
                [
                    name,
                    f"{limit:.1f}",
                    f"{lkh:.4f}",
                    " ".join(f"{value:.4f}" for value in ours),
                    few,
                    f"{np.mean(ours) / lkh - 1:+.2%}",
                    str(sum(n_wrong(problem, front) for front in fronts)),
                ]
            )
            print(rows[-1], f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB", flush=True)
    write(
        "default-search",
        "Tours without windows, against weighted sums by LKH",
        ["instance", "seconds", "LKH", "default search, each seed", "thinned", "ahead", "wrong"],
        rows,
        notes=(__doc__ or "").split("\n\n", 2)[2],
        command="weighted_sums.py",
    )


def route_problem(seed: int, n: int = 100, capacity: int = 50, vehicles: int = 30):
    rng = np.random.default_rng(seed)
    lengths = euclidean(rng.random((n + 1, 2)))
    demand = np.append(0, rng.integers(1, 10, n))
    return vrptw(
        lengths,
        np.zeros(n + 1),
        np.full(n + 1, 1e6),
        vehicles=vehicles,
        objectives=("distance", "longest"),
        costs={"distance": lengths},
        demand=demand,
        capacity=capacity,
        metric=True,
    )


def routes(n_instances: int = 12) -> None:
    shares, wrong = [], 0
    for seed in range(n_instances):
        problem = route_problem(seed)
        front = solve(problem, stop=MaxCpuTime(_ROUTE_SECONDS), seed=seed).front
        wrong += n_wrong(problem, front)
        shares.append(hypervolume(front.objectives, reference_point=[80.0, 4.0]) / 320)
        print(f"routes {seed}: {shares[-1]:.4f}, {wrong} wrong", flush=True)
    write(
        "default-search",
        "Routes: the length and the longest",
        ["instances", "seconds", "mean", "lowest", "highest", "wrong"],
        [[str(n_instances), f"{_ROUTE_SECONDS:g}", *(f"{of(shares):.4f}" for of in (np.mean, min, max)), str(wrong)]],
        notes="100 customers in a square of side 1, demands of 1 to 9, capacity 50, up to 30 vehicles: the share of "
        "the box between 0 and (80, 4).",
        command="weighted_sums.py routes",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES, help="instances, such as 'uniform 500', or routes")
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    if names := [name for name in given.names if name != "routes"]:
        tours(names, given.seeds)
    if "routes" in given.names:
        routes()


if __name__ == "__main__":
    main()
