"""Solomon's instances: distance, vehicles and feasibility of the default search, and what it could not play.

`python benchmarks/solomon.py [NAME ...]` reads them from `$PARETO_NRPA_DATA/solomon`; gaps are to the best known
distances, whose edges are cut to one decimal, so equal routes are some tenths of a per cent longer here.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np
from report import write

from pareto_nrpa import PolishedNRPA
from pareto_nrpa.routing.read import read_stops

SECONDS, SEEDS = 5.0, (1, 2, 3)
NAMES = ("C101", "C105", "C201", "R101", "R103", "R107", "R201", "RC101", "RC103", "RC203")


def best_known(file: Path) -> float:
    """Return the distance in a `.sol` file."""
    return float(file.read_text().split("Cost")[1].split()[0])


def row(folder: Path, name: str) -> list[str]:
    best = best_known(folder / f"{name}.sol")
    problem = read_stops(folder / f"{name}.txt", objectives=["distance"])
    found, vehicles, n_feasible, n_refused = [], [], 0, 0
    for seed in SEEDS:
        search = PolishedNRPA().start(problem, seed=seed, budget=None)
        search.compile()
        end = time.process_time() + SECONDS
        while time.process_time() < end:
            search.advance(search.slice_size)
        front = search.front()
        n_refused += search.n_refused
        n_feasible += front.is_feasible
        if front.is_feasible:
            found.append(front.objectives[0, 0])
            routes = " ".join(str(move) if move < len(problem.data.opens) else "|" for move in front.solutions[0])
            vehicles.append(sum(bool(route.strip()) for route in routes.split("|")))
    means = ["-"] * 3
    if found:
        means = [f"{np.mean(found):.1f}", f"{np.mean(vehicles):.1f}", f"{np.mean(found) / best - 1:+.1%}"]
    return [name, f"{best:.1f}", *means, f"{n_feasible} of {len(SEEDS)}", str(n_refused)]


def main() -> None:
    folder = Path(os.environ["PARETO_NRPA_DATA"]) / "solomon"
    rows = []
    for name in sys.argv[1:] or NAMES:
        rows.append(row(folder, name))
        print(rows[-1], flush=True)
    write(
        "default-search",
        "Solomon's instances: the distance alone",
        ["instance", "best known", "distance", "vehicles", "gap", "feasible runs", "feasible solutions not played"],
        rows,
        notes=f"The default search, {SECONDS:g} s of CPU time, mean of {len(SEEDS)} seeds.",
        command="solomon.py",
    )


if __name__ == "__main__":
    main()
