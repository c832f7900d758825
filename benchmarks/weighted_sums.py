"""Tours without windows against weighted sums by LKH (the package elkai), and routes of the length and of the longest.

    python benchmarks/weighted_sums.py [--seeds 3] [--longest 300] [NAME ...]

LKH minimises 101 weighted sums of two costs, or 105 of three, one after the other, or as many as begin within 300 s (45
s in the row of 1,000 cities). The default search, in a process of its own, has the CPU time that this takes, and for
kro instances also ten seconds. Shares are of the box between 0 and the reference point of the tables of neural solvers
(Chen et al. 2025): cities lie in a square of side 1, those of kro instances are divided by the largest coordinate of
each axis. There, LKH has 0.7022, 0.7017 and 0.7430 on kroAB100, 150 and 200. `thinned` is the share of the 101 points
of a front that matter most. Up to 500 solutions of each front are replayed, and have to have the objectives reported.
GB: the peak of the process; in rows of two seeds or more it also has LKH and other runs. Runs are lines of
results/weighted-sums.csv, and are not repeated.
"""

from __future__ import annotations

import argparse
import itertools
import os
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from report import write
from stored import RESULTS, append_row, read_rows

from pareto_nrpa import MaxCpuTime, solve
from pareto_nrpa.metrics import hypervolume, nondominated
from pareto_nrpa.routing import mo_tsp
from pareto_nrpa.routing.matrices import euclidean
from pareto_nrpa.routing.vehicles import vrptw

if TYPE_CHECKING:
    from pareto_nrpa import CompiledProblem, Front

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
_MOST_REPLAYED = 500
_ROUTE_CORNER = (80.0, 4.0)
DEFAULT = "polished-nrpa"
STORE = RESULTS / "weighted-sums.csv"
NAMES = (
    *("uniform 100", "uniform 200", "uniform 500", "uniform 1000", "kroAB100", "kroAB150", "kroAB200"),
    *("three costs 50", "asymmetric 50", *(f"routes {seed}" for seed in range(12))),
)


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


def weights(m: int, count: int) -> list[np.ndarray]:
    steps = count - 1 if m == 2 else 13
    parts = (part for part in itertools.product(range(steps + 1), repeat=m) if sum(part) == steps)
    return [np.array(part) / steps for part in parts]


def by_lkh(costs: np.ndarray, seconds: float) -> tuple[np.ndarray, int]:
    """Return the front of as many sums as fit into the time, and their number; distant weights come first."""
    import elkai

    points, end = [], time.process_time() + seconds
    spread = sorted(enumerate(weights(len(costs), _N_POINTS)), key=lambda pair: f"{pair[0]:07b}"[::-1])
    for _, weight in spread:
        if time.process_time() > end:
            break
        mixed = np.rint(np.tensordot(weight, costs, 1) * _SCALE).astype(int)
        tour = np.array(elkai.DistanceMatrix(mixed.tolist()).solve_tsp(runs=1))
        points.append([matrix[tour[:-1], tour[1:]].sum() for matrix in costs])
    return nondominated(np.array(points)), len(points)


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


def checked(problem: CompiledProblem, seconds: float, seed: int) -> Front:
    """Return the front of the default search, after a replay of its solutions, of so many of a large one."""
    result = solve(problem, stop=MaxCpuTime(seconds), seed=seed)
    if result.stopped_by in ("Ctrl-C", "SIGTERM"):
        raise KeyboardInterrupt  # a search keeps what it found so far, which is not what is compared here
    front = result.front
    for i in np.unique(np.linspace(0, len(front.solutions) - 1, _MOST_REPLAYED).astype(int)):
        objectives, violations = problem.replay(front.solutions[i])
        assert violations == 0
        assert np.array_equal(objectives, front.objectives[i])
    return front


def run_lkh(name: str, longest: float) -> float:
    """Return the CPU time that LKH takes."""
    costs, corner = instance(name)
    begin = time.process_time()
    points, count = by_lkh(costs, longest)
    seconds = time.process_time() - begin
    append_row(STORE, _row(name, f"lkh, {count} sums", seconds, 0, share(points, corner)))
    return round(seconds, 1)


def run_default(name: str, seconds: float, seed: int) -> None:
    costs, corner = instance(name)
    points = checked(mo_tsp(costs), seconds, seed).objectives
    few = share(thinned(points, corner), corner) if len(costs) == 2 else np.nan
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    append_row(STORE, _row(name, DEFAULT, seconds, seed, share(points, corner), few, memory))


def run_tour(name: str, n_seeds: int, longest: float) -> None:
    rows = [row for row in read_rows(STORE) if row["instance"] == name]
    known = [float(row["seconds"]) for row in rows if row["method"].startswith("lkh")]
    seconds = known[0] if known else run_lkh(name, longest)
    made = {(float(row["seconds"]), int(row["seed"])) for row in rows if row["method"] == DEFAULT}
    for limit in (seconds, *([_KRO_SECONDS] if name.startswith("kro") else [])):
        for seed in range(n_seeds):
            if (limit, seed) not in made:  # by a process of its own, for its memory
                with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                    pool.submit(run_default, name, limit, seed).result()


def _row(name: str, method: str, seconds: float, seed: int, value: float, few: float = np.nan, memory: float = np.nan):
    numbers = {"seconds": round(seconds, 1), "seed": seed, "share": value, "thinned": few, "gigabytes": memory}
    return {"instance": name, "method": method, **numbers}


def write_tours() -> None:
    rows, lines = read_rows(STORE), []
    for name in dict.fromkeys(row["instance"] for row in rows if row["method"].startswith("lkh")):
        own = [row for row in rows if row["instance"] == name]
        ((method, lkh),) = ((row["method"], float(row["share"])) for row in own if row["method"].startswith("lkh"))
        for seconds in dict.fromkeys(row["seconds"] for row in own if row["method"] == DEFAULT):
            runs = [row for row in own if (row["method"], row["seconds"]) == (DEFAULT, seconds)]
            shares, few, memory = (
                [float(row[key] or "nan") for row in runs] for key in ("share", "thinned", "gigabytes")
            )
            means = (f"{np.mean(few):.4f}", f"{np.mean(shares) / lkh - 1:+.2%}", f"{max(memory):.2f}")
            line = [
                name,
                seconds,
                f"{lkh:.4f}{method.removeprefix('lkh')}",
                " ".join(f"{value:.4f}" for value in shares),
                *means,
            ]
            lines.append(["-" if value == "nan" else value for value in line])
    write(
        "default-search",
        "Tours without windows, against weighted sums by LKH",
        ["instance", "seconds", "LKH", "default search, each seed", "thinned", "ahead", "GB"],
        lines,
        notes=(__doc__ or "").split("\n\n", 2)[2].strip(),
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


def run_routes(seed: int) -> None:
    points = checked(route_problem(seed), _ROUTE_SECONDS, seed).objectives
    value = hypervolume(points, reference_point=_ROUTE_CORNER) / np.prod(_ROUTE_CORNER)
    append_row(STORE, _row(f"routes {seed}", DEFAULT, _ROUTE_SECONDS, seed, float(value)))


def write_routes() -> None:
    shares = [float(row["share"]) for row in read_rows(STORE) if row["instance"].startswith("routes")]
    write(
        "default-search",
        "Routes: the length and the longest",
        ["instances", "seconds", "mean", "lowest", "highest"],
        [[str(len(shares)), f"{_ROUTE_SECONDS:g}", *(f"{of(shares):.4f}" for of in (np.mean, min, max))]],
        notes="100 customers in a square of side 1, demands of 1 to 9, capacity 50, up to 30 vehicles: the share of "
        "the box between 0 and (80, 4).",
        command="weighted_sums.py",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES, help="instances, such as 'uniform 500' or 'routes 3'")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--longest", type=float, default=300.0, help="seconds after which LKH begins no other sum")
    given = parser.parse_args()
    for name in given.names:
        if name.startswith("routes"):
            if all(row["instance"] != name for row in read_rows(STORE)):
                run_routes(int(name.split()[1]))
        else:
            run_tour(name, given.seeds, given.longest)
    write_tours()
    write_routes()


if __name__ == "__main__":
    main()
