"""Solomon's instances: the distance that the default search finds, and PyVRP in the same time.

    python benchmarks/solomon.py [--seconds 10] [--seeds 1] [NAME ...]

reads them from `$PARETO_NRPA_DATA/solomon`. Best known are the routes of the `.sol` files, measured without cutting
edges to one decimal. `wrong` counts solutions whose replay gives other objectives, and feasible solutions that could
not be played.
"""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path

import numpy as np
from report import write
from weighted_sums import n_wrong

from pareto_nrpa import MaxCpuTime, solve
from pareto_nrpa.routing import read_stops
from routing import by_pyvrp

FOLDER = Path(os.environ.get("PARETO_NRPA_DATA", "."), "solomon")


def best_known(name: str, lengths: np.ndarray) -> float:
    """Return the length of the routes in a `.sol` file."""
    routes = re.findall(r"Route #\d+:(.*)", (FOLDER / f"{name}.sol").read_text())
    tours = (np.array([0, *map(int, route.split()), 0]) for route in routes)
    return float(sum(lengths[tour[:-1], tour[1:]].sum() for tour in tours))


def row(name: str, seconds: float, n_seeds: int) -> tuple[list[str], float, float]:
    problem = read_stops(FOLDER / f"{name}.txt", objectives=["distance"])
    best = best_known(name, problem.data.costs[0])
    fronts = [solve(problem, stop=MaxCpuTime(seconds), seed=seed).front for seed in range(n_seeds)]
    found = [front.objectives[0, 0] if front.is_feasible else np.inf for front in fronts]
    wrong = sum(n_wrong(problem, front) for front in fronts)
    gap, rival = np.mean(found) / best - 1, by_pyvrp(problem, 0, seconds) / best - 1
    numbers = f"{best:.1f}", f"{np.mean(found):.1f}", f"{gap:+.2%}", f"{max(found) / best - 1:+.2%}"
    line = [name, *numbers, f"{np.isfinite(found).sum()} of {n_seeds}", str(wrong), f"{rival:+.2%}"]
    return line, float(gap), float(rival)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=sorted(file.stem for file in FOLDER.glob("*.txt")))
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--seeds", type=int, default=1)
    given = parser.parse_args()
    rows, gaps = [], []
    for name in given.names:
        line, *both = row(name, given.seconds, given.seeds)
        rows.append(line)
        gaps.append(both)
        print(line, flush=True)
    ours, theirs = np.array(gaps).T
    write(
        "default-search",
        "Solomon's instances: the distance alone",
        ["instance", "best known", "distance", "gap", "worst gap", "feasible", "wrong", "PyVRP"],
        rows,
        notes=f"{given.seconds:g} s of CPU time, {given.seeds} seed(s). Mean and worst gap: {ours.mean():+.2%} and "
        f"{ours.max():+.2%}; PyVRP {theirs.mean():+.2%} and {theirs.max():+.2%}.",
        command="solomon.py",
    )


if __name__ == "__main__":
    main()
