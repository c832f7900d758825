"""What several workers bring: evaluations a second, share of the true hypervolume, cooperation against none."""

import os
import sys
from pathlib import Path

import numpy as np
from report import write

from pareto_nrpa import InstanceError, MaxEvaluations, MaxRuntime, load, solve
from pareto_nrpa.cooperation import search as cooperating

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
from knapsack import Knapsack

SECONDS = float(os.environ.get("WORKERS_SECONDS", "10"))
SEEDS = range(int(os.environ.get("WORKERS_SEEDS", "10")))
HARD = [
    "rc_204.1",
    "rc_203.1",
    "rc_207.1",
    "rc_208.1",
    "rc_202.2",
    "rc_204.2",
    "rc_206.3",
    "rc_205.4",
    "rc_201.4",
    "rc_208.3",
]
EVALUATIONS = 20_000


def problems() -> dict:
    rng = np.random.default_rng(1)
    plain = Knapsack(*(rng.integers(1, 100, 60).tolist() for _ in range(2)))
    return {"rc_204.1": load("rc_204.1"), "mo-tsp:n=500": load("mo-tsp:n=500"), "knapsack, 60 items, plain": plain}


def numbers() -> list[int]:
    """Return how many workers to measure: 1, 2, 4 ... as far as there are cores."""
    return [n for n in (1, 2, 4, 8, 16) if n <= max(2, os.cpu_count() or 1)]


def speed() -> None:
    rows = []
    for name, problem in problems().items():
        rates = {}
        for n in numbers():
            solve(problem, stop=MaxEvaluations(100), workers=n)  # compiles
            result = solve(problem, stop=MaxRuntime(SECONDS), workers=n)
            rates[n] = result.evaluations / result.wall_seconds
            used = result.cpu_seconds / result.wall_seconds
            row = [name, str(n), f"{rates[n]:,.0f}", f"{rates[n] / rates[1]:.2f}", f"{used:.2f}"]
            rows.append([*row, f"{result.evaluations / result.cpu_seconds:,.0f}"])
    header = [
        "problem",
        "workers",
        "evaluations a second",
        "times one",
        "cores that it got",
        "evaluations a CPU second",
    ]
    notes = (
        f"{SECONDS:g} s of wall time each, polished-nrpa. On a busy machine the cores it got say how much "
        "of the rest is due to others; wanted are 1.9 times one on two cores of an idle one."
    )
    write("workers", "Evaluations a second by several workers", header, rows, notes)


def shares() -> None:
    rows = []
    for name in HARD:
        try:
            problem = load(name)
        except InstanceError as error:
            print(f"workers on {name} not measured: {error}")
            continue
        if problem.reference_front is None:
            print(f"workers on {name} not measured: its true front is not known")
            continue
        means = [
            np.mean([share(solve(problem, stop=MaxRuntime(SECONDS), seed=s, workers=n)) for s in SEEDS]) for n in (1, 2)
        ]
        rows.append([name, *(f"{mean:.4f}" for mean in means), "yes" if means[1] >= means[0] else "NO"])
    header = ["instance", "one worker", "two workers", "two are not worse"]
    notes = f"Share of the true hypervolume after {SECONDS:g} s of wall time, mean of {len(SEEDS)} seeds."
    write("workers-shares", "What two workers find in the same time", header, rows, notes, part="workers")


def share(result) -> float:
    return result.truth["share_of_hypervolume"]


def cooperation() -> None:
    """Measure 1 to 16 searches at equal evaluations in all, with exchanges and without."""
    names = [name for name in HARD if load(name).reference_front is not None][:3]
    rows = []
    for n in (1, 2, 4, 8, 16):
        row = [str(n)]
        for slices in (cooperating.SLICES_PER_ROUND, 10**9):  # a round that never ends: independent searches
            usual, cooperating.SLICES_PER_ROUND = cooperating.SLICES_PER_ROUND, slices
            try:
                stop = MaxEvaluations(EVALUATIONS)
                found = [share(solve(load(x), stop=stop, seed=s, searches=n)) for x in names for s in SEEDS]
            finally:
                cooperating.SLICES_PER_ROUND = usual
            row.append(f"{np.mean(found):.4f}")
        rows.append(row)
    header = ["searches", "working together", "independent"]
    notes = (
        f"Share of the true hypervolume after {EVALUATIONS:,} evaluations in all, mean over {', '.join(names)} and "
        f"{len(SEEDS)} seeds. One search is the same in both columns."
    )
    write("workers-searches", "What cooperation brings", header, rows, notes, part="workers")


def main() -> None:
    speed()
    shares()
    cooperation()


if __name__ == "__main__":
    main()
