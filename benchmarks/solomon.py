"""Solomon's instances: the distance that the default search finds, and PyVRP in the same time.

    python benchmarks/solomon.py [NAME ...] [--seconds 10] [--seeds 1] [--methods polished-nrpa pyvrp]

reads them from `$PARETO_NRPA_DATA/solomon`. Best known are the routes of the `.sol` files, measured without cutting
edges to one decimal. Runs are lines of results/solomon.csv, and are not repeated.
"""

from __future__ import annotations

import argparse
import os
import re
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from report import write
from routing import by_pyvrp
from stored import RESULTS, append_row, read_rows

from pareto_nrpa import MaxCpuTime, solve
from pareto_nrpa.routing import read_stops

if TYPE_CHECKING:
    from pareto_nrpa import CompiledProblem

STORE = RESULTS / "solomon.csv"
FOLDER = Path(os.environ.get("PARETO_NRPA_DATA", "."), "solomon")


def best_known(name: str, lengths: np.ndarray) -> float:
    """Return the length of the routes in a `.sol` file."""
    routes = re.findall(r"Route #\d+:(.*)", (FOLDER / f"{name}.sol").read_text())
    tours = (np.array([0, *map(int, route.split()), 0]) for route in routes)
    return float(sum(lengths[tour[:-1], tour[1:]].sum() for tour in tours))


def ours(problem: CompiledProblem, seed: int, seconds: float) -> float:
    """Return the distance that the default search finds."""
    result = solve(problem, stop=MaxCpuTime(seconds), seed=seed)
    if result.stopped_by in ("Ctrl-C", "SIGTERM"):
        raise KeyboardInterrupt
    front = result.front
    assert problem.replay(front.solutions[0])[0][0] == front.objectives[0, 0]
    return float(front.objectives[0, 0]) if front.is_feasible else np.inf


METHODS = {"polished-nrpa": ours, "pyvrp": by_pyvrp}


def run(name: str, method: str, seconds: float, seed: int) -> None:
    problem = read_stops(FOLDER / f"{name}.txt", objectives=["distance"])
    row = {"instance": name, "method": method, "seed": seed, "best": best_known(name, problem.data.costs[0])}
    append_row(STORE, {**row, "distance": float(METHODS[method](problem, seed, seconds))})


def write_page(seconds: float) -> None:
    rows, lines = read_rows(STORE), []
    gaps: dict[str, list[float]] = {method: [] for method in METHODS}
    for name in sorted({row["instance"] for row in rows}):
        own = [row for row in rows if row["instance"] == name]
        best = float(own[0]["best"])
        line = [name, f"{best:.1f}"]
        for method, of_method in gaps.items():
            found = [float(row["distance"]) / best - 1 for row in own if row["method"] == method]
            line += [f"{np.mean(found):+.2%}" if found else "-", f"{np.isfinite(found).sum()} of {len(found)}"]
            of_method += [np.mean(found)] if found else []
        lines.append(line)
    means = "; ".join(f"{m}: {np.mean(g):+.2%} and {max(g):+.2%} of {len(g)}" for m, g in gaps.items() if g)
    write(
        "default-search",
        "Solomon's instances: the distance alone",
        ["instance", "best known", "default search", "feasible", "PyVRP", "feasible"],
        lines,
        notes=f"{seconds:g} s of CPU time, gap to the best known routes. Mean and worst gap: {means}.",
        command="solomon.py",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=sorted(file.stem for file in FOLDER.glob("*.txt")))
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    given = parser.parse_args()
    made = {(row["instance"], row["method"], row["seed"]) for row in read_rows(STORE)}
    for seed in range(1, given.seeds + 1):
        for name, method in product(given.names, given.methods):
            if (name, method, str(seed)) not in made:
                run(name, method, given.seconds, seed)
    write_page(given.seconds)


if __name__ == "__main__":
    main()
