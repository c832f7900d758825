"""What several workers bring: evaluations a second, what they find, what cooperation brings, what a cluster carries.

    python benchmarks/workers.py speed|quality|searches|stabilised|dask

Every run is a line in results/workers.csv; those that are there are not made again, so that it can be stopped at any
time. `speed`, `quality` and `dask` measure wall time: they need an idle machine. The clock of a search does not run
while code is compiled and processes start; how long that takes is measured apart.
"""

from __future__ import annotations

import hashlib
import json
import logging
import multiprocessing
import os
import sys
import threading
import time
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

import numpy as np
from report import write
from stored import RESULTS, append_row, read_rows

from pareto_nrpa import Callbacks, MaxEvaluations, MaxRuntime, ParetoNRPA, load, solve
from pareto_nrpa.metrics import share_of_hypervolume
from pareto_nrpa.parallel.islands import search as cooperating

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
from knapsack import Knapsack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pareto_nrpa import Result

FILE = RESULTS / "workers.csv"
SECONDS = float(os.environ.get("WORKERS_SECONDS", "10"))
SEEDS = int(os.environ.get("WORKERS_SEEDS", "10"))
HARD = [f"rc_{n}" for n in (201.3, 202.1, 203.3, 204.1, 204.2, 204.3, 205.3, 206.4, 207.2, 208.1)]
#: Chosen on rc_203.3, rc_207.2, rc_208.1 and mo-tsp:n=100; reported on others.
COOPERATING = ["rc_204.1", "rc_204.2", "rc_206.4", "tsptw:n=60", "mo-tsp:n=60"]
# What one core makes of the smaller ones in ten seconds: with fewer, 16 searches would end before they first exchange.
EVALUATIONS = int(os.environ.get("WORKERS_EVALUATIONS", "40000"))


#: Where the true front is not known, by part and instance: the reference point, and the hypervolume of what all runs up
#: to 2026-11-18 found together.
YARDSTICKS = {
    ("quality", "rc_204.1"): ((958.1187193999999, 1360.4339353), 29277.012522349585),
    ("searches", "rc_204.1"): ((964.4865446, 1360.3336659000001), 32226.470762603618),
    ("searches", "tsptw:n=60"): ((3909.7475123, 3213.248064), 4500439.393604703),
    ("searches", "mo-tsp:n=60"): ((31.407611, 32.3285391), 579.913752761917),
    ("stabilised", "rc_204.1"): ((950.96066, 1238.9512947), 8489.31354884136),
}


def stored(part: str) -> list[dict[str, str]]:
    """Return the runs of a part."""
    return [row for row in read_rows(FILE) if row["part"] == part]


def keep(part: str, instance: str, how: str, seed: int, made: Callable[[], Result]) -> None:
    """Make a run unless it is there."""
    key = (part, instance, how, str(seed))
    if key in {(row["part"], row["instance"], row["how"], row["seed"]) for row in stored(part)}:
        return
    began = time.perf_counter()
    result = made()
    if result.stopped_by in ("Ctrl-C", "SIGTERM"):
        sys.exit(f"{part}: ended by {result.stopped_by}; go on with the same command.")
    apart = time.perf_counter() - began - result.wall_seconds  # compiling, processes, what is measured at the end
    points = result.front.objectives if result.front.is_feasible else result.front.objectives[:0]
    share = result.truth.get("share_of_hypervolume", "")
    if (part, instance) in YARDSTICKS:
        worst, volume = YARDSTICKS[part, instance]
        share = share_of_hypervolume(points, volume, reference_point=worst)
    row = dict(zip(("part", "instance", "how", "seed"), key, strict=True))
    row |= {"evaluations": result.evaluations, "seconds": result.wall_seconds, "cpu_seconds": result.cpu_seconds}
    digest = hashlib.sha256(json.dumps(points.round(6).tolist()).encode()).hexdigest()[:12] if part == "dask" else ""
    append_row(FILE, row | {"share": share, "apart": apart, "digest": digest})


def means(part: str, instance: str, how: str, field: str = "share") -> float:
    """Return the mean over all seeds."""
    rows = [row for row in stored(part) if (row["instance"], row["how"]) == (instance, how)]
    return mean(float(row[field]) for row in rows) if rows else float("nan")


def rate(part: str, instance: str, how: str) -> float:
    """Return the evaluations a second over all runs."""
    return means(part, instance, how, "evaluations") / means(part, instance, how, "seconds")


def problems() -> dict:
    rng = np.random.default_rng(1)
    plain = Knapsack(*(rng.integers(1, 100, 60).tolist() for _ in range(2)))
    return {"rc_204.1": load("rc_204.1"), "mo-tsp:n=500": load("mo-tsp:n=500"), "knapsack, 60 items, plain": plain}


def numbers() -> list[int]:
    """Return how many workers to measure: 1, 2, 4 ... as far as there are cores."""
    return [n for n in (1, 2, 4, 8, 16) if n <= max(2, os.cpu_count() or 1)]


def speed() -> None:
    """Evaluations a second of 1, 2, 4 ... workers, and of as many searches in separate processes.

    The latter is what the machine can give: cores share caches and memory, and a busy one slows the others down.
    """
    rows = []
    for name, problem in problems().items():
        for n in numbers():
            solve(problem, stop=MaxEvaluations(100), workers=n)  # compiles
        for seed in range(min(SEEDS, 5)):
            for n in numbers():  # in turns: what changes on the machine meanwhile concerns all alike
                keep("speed", name, f"{n} workers", seed, lambda n=n, s=seed, p=problem: timed(p, s, n))
                if n > 1:
                    _apart(name, n, seed)
        one = rate("speed", name, "1 workers")
        for n in numbers():
            how = f"{n} workers"
            apart = rate("speed", name, f"{n} apart") * n / one if n > 1 else 1.0
            cores = means("speed", name, how, "cpu_seconds") / means("speed", name, how, "seconds")
            cells = (f"{rate('speed', name, how):,.0f}", f"{rate('speed', name, how) / one:.2f}", f"{apart:.2f}")
            rows.append([name, str(n), *cells, f"{cores:.2f}", f"{means('speed', name, how, 'apart'):.1f}"])
    header = [
        "problem",
        "workers",
        "evaluations a second",
        "times one",
        "separate processes, times one",
        "cores it got",
        "seconds before and after",
    ]
    notes = (
        f"{SECONDS:g} s of wall time each, {min(SEEDS, 5)} seeds in turns, polished-nrpa, as many searches as "
        "workers. Separate processes: as many independent searches, the limit of the machine. Seconds before and "
        "after: start of processes and loading of code."
    )
    write("speed", "Evaluations a second by several workers", header, rows, command="workers.py", notes=notes)


def timed(problem, seed: int, workers: int) -> Result:
    return solve(problem, stop=MaxRuntime(SECONDS), seed=seed, workers=workers)


def _apart(name: str, n: int, turn: int) -> None:
    """Measure n single searches in as many processes at once, one core each where that can be said."""
    context = multiprocessing.get_context("spawn")
    seeds = range(turn * n, turn * n + n)
    made = {row["seed"] for row in stored("speed") if (row["instance"], row["how"]) == (name, f"{n} apart")}
    if made.issuperset(map(str, seeds)):
        return
    barrier = context.Barrier(n)
    with context.Pool(n, initializer=_pin, initargs=(barrier,)) as pool:
        results = pool.starmap(_alone, [(name, seed) for seed in seeds], chunksize=1)
    for seed, result in zip(seeds, results, strict=True):
        keep("speed", name, f"{n} apart", seed, lambda result=result: result)


def _pin(barrier) -> None:
    global together
    together = barrier


def _alone(name: str, seed: int) -> Result:
    problem = problems()[name]
    solve(problem, stop=MaxEvaluations(100))
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[seed % len(cores)]})
    together.wait()
    return solve(problem, stop=MaxRuntime(SECONDS), seed=seed)


def quality() -> None:
    """The share of the true hypervolume after some seconds of wall time, on one and on two workers."""
    for seed in range(SEEDS):  # all instances for one seed, then the next
        for name in HARD:
            for n in (1, 2):
                run = lambda n=n, s=seed, x=name: solve(load(x), stop=MaxRuntime(SECONDS), seed=s, workers=n)  # noqa: E731
                keep("quality", name, f"{n} workers", seed, run)
    rows = []
    for name in HARD:
        one, two = (means("quality", name, f"{n} workers") for n in (1, 2))
        rows.append([name, f"{one:.4f}", f"{two:.4f}", "yes" if two >= one else "NO"])
    rows.append(["mean", *(f"{mean(float(row[i]) for row in rows):.4f}" for i in (1, 2)), ""])
    header = ["instance", "one worker", "two workers", "two are not worse"]
    notes = (
        f"Share of the true hypervolume after {SECONDS:g} s of wall time, mean of {SEEDS} seeds; of the best front of "
        "all runs on rc_204.1."
    )
    write("speed", "What two workers find in the same time", header, rows, command="workers.py", notes=notes)


def searches() -> None:
    """1 to 16 searches at equal evaluations in all, with exchanges and without."""
    counts = (1, 2, 4, 8, 16)
    for seed in range(min(SEEDS, 5)):  # all instances for one seed, then the next: what is there is a fair sample
        for name in COOPERATING:
            for n in counts:
                for how in ("together", "independent")[: 2 if n > 1 else 1]:
                    run = lambda x=name, n=n, s=seed, h=how: cooperated(x, n, s, h)  # noqa: E731
                    keep("searches", name, f"{n} {how}", seed, run)
    rows = []
    for n in counts:
        for how in ("together", "independent")[: 2 if n > 1 else 1]:
            found = [means("searches", name, f"{n} {how}") for name in COOPERATING]
            rows.append([str(n), how if n > 1 else "", *(f"{x:.4f}" for x in found), f"{mean(found):.4f}"])
    header = ["searches", "", *COOPERATING, "mean"]
    notes = (
        f"Share of the true hypervolume, or of that of all runs if it is unknown, after {EVALUATIONS:,} "
        f"evaluations in total, mean of {min(SEEDS, 5)} seeds."
    )
    write("speed", "What cooperation brings", header, rows, command="workers.py", notes=notes)


def cooperated(name: str, n: int, seed: int, how: str) -> Result:
    usual = cooperating.FIRST_ROUND
    try:
        if how == "independent":
            cooperating.FIRST_ROUND = 10**9  # a round that never ends
        return solve(load(name), stop=MaxEvaluations(EVALUATIONS), seed=seed, searches=n)
    finally:
        cooperating.FIRST_ROUND = usual


def stabilised() -> None:
    """Several playouts with the same policies before each step of learning, Pareto-NRPA, 100,000 evaluations."""
    names, counts = ("rc_204.1", "rc_201.3"), (1, 2, 4, 8)
    for name in names:
        for seed in range(min(SEEDS, 5)):
            for n in counts:
                algorithm = ParetoNRPA(playouts_per_step=n)
                run = lambda x=name, a=algorithm, s=seed: solve(load(x), a, stop=MaxEvaluations(100_000), seed=s)  # noqa: E731
                keep("stabilised", name, f"{n} playouts", seed, run)
    rows = [[str(n), *(f"{means('stabilised', name, f'{n} playouts'):.4f}" for name in names)] for n in counts]
    notes = (
        f"Share of the true hypervolume, or of that of all runs if it is unknown, after 100,000 "
        f"evaluations, mean of {min(SEEDS, 5)} seeds; Pareto-NRPA with the paper's parameters otherwise."
    )
    title = "Playouts with the same policies before each step of learning"
    write("speed", title, ["playouts", *names], rows, command="workers.py", notes=notes)


def dask() -> None:
    """A search of a minute on one worker, then on a Dask cluster of two processes, with a worker killed in between."""
    from distributed import Client, LocalCluster

    name, n = "rc_204.1", int(os.environ.get("WORKERS_DASK_EVALUATIONS", "300000"))

    def run(**options) -> Result:
        return solve(load(name), stop=MaxEvaluations(n), seed=1, searches=2, **options)

    keep("dask", name, "1 worker", 1, run)
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
        ) as cluster,
        Client(cluster) as client,
    ):
        client.run(solve, load(name), stop=MaxEvaluations(100))  # compiles
        keep("dask", name, "2 processes", 1, lambda: run(executor=client.get_executor()))
        options = {"executor": client.get_executor(), "callbacks": Kill(cluster, n // 2)}
        keep("dask", name, "2 processes, one killed", 1, lambda: run(**options))
    rows = []
    for how in ("1 worker", "2 processes", "2 processes, one killed"):
        seconds = means("dask", name, how, "seconds")
        rows.append([how, f"{seconds:.1f}", f"{means('dask', name, '1 worker', 'seconds') / seconds:.2f}"])
    digests = [row["digest"] for row in stored("dask")]
    same = "the same front" if len(set(digests)) == 1 else "DIFFERENT FRONTS"
    notes = f"{name}, {n:,} evaluations, two searches; {same} in all {len(digests)} runs."
    write(
        "speed",
        "Two searches on a Dask cluster of two processes",
        ["", "seconds", "times one"],
        rows,
        command="workers.py dask",
        notes=notes,
    )


class Kill(Callbacks):
    """Kills a worker of a cluster in the middle of a search."""

    def __init__(self, cluster, at: int) -> None:
        self.cluster, self.at = cluster, at

    def on_progress(self, progress) -> None:
        if progress.evaluations >= self.at:
            self.at = sys.maxsize
            pid = next(nanny.process.pid for nanny in self.cluster.workers.values() if nanny.process is not None)
            threading.Thread(target=os.kill, args=(pid, 9)).start()


PARTS = {part.__name__: part for part in (speed, quality, searches, stabilised, dask)}


def main(names: Iterable[str] = ()) -> None:
    for name in list(names) or PARTS:
        if name not in PARTS:
            sys.exit(f"unknown part {name!r}; there are: {', '.join(PARTS)}")
        began = time.perf_counter()
        PARTS[name]()
        print(f"{name}: {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
