"""How much of what local search proposes cannot be played: `python benchmarks/refused.py`.

A proposal is a complete solution made by local search. It is refused where the problem, or its pruning, forbids it.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from pareto_nrpa import PolishedNRPA, Problem, load
from pareto_nrpa.routing import generate_tsp, generate_tsptw, generate_vrptw
from pareto_nrpa.routing.read import read_stops

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
from flow_shop import make as flow_shop
from knapsack import make as knapsack
from nurse_roster import make as roster

SECONDS = 4.0
ROUTES = (("distance",), ("distance", "vehicles"), ("distance", "longest"), ("finish", "time"), ("waiting", "vehicles"))


def assignment(n: int = 40, n_workers: int = 6) -> Problem:
    """Tasks to workers: total cost and the largest load."""
    costs = [[(7 * task + 13 * worker) % 23 + 1 for worker in range(n_workers)] for task in range(n)]

    def judge(chosen: list[int]) -> tuple[float, float]:
        loads = [0.0] * n_workers
        for task, worker in enumerate(chosen):
            loads[worker] += costs[task][worker]
        return sum(loads), max(loads)

    return Problem.from_choices(judge, [list(range(n_workers))] * n, name="assignment")


def problems():
    yield "tour with windows, 46 stops", generate_tsptw(46, seed=1)
    yield "tour, 50 cities", generate_tsp(50, seed=1)
    yield "tour, three costs", generate_tsp(50, seed=1, n_objectives=3)
    for objectives in ROUTES:
        yield (
            f"routes, 50 stops: {', '.join(objectives)}",
            generate_vrptw(51, seed=1, vehicles=8, objectives=objectives),
        )
    folder = Path(os.environ.get("PARETO_NRPA_DATA", "")) / "solomon"
    for name in ("R107", "RC203"):
        if (folder / f"{name}.txt").exists():
            yield name, read_stops(folder / f"{name}.txt", objectives=["distance"])
    yield "flow shop", flow_shop()
    yield "knapsack", knapsack()
    yield "nurse roster", roster()
    yield "assignment", assignment()
    for name in ("nas-bench-201", "nas-bench-101-surrogate"):
        try:
            yield name, load(name)
        except Exception as error:  # the table is not there
            print(f"{name}: {error}")


def counted(problem) -> tuple[int, int]:
    """Return how many solutions local search proposed, and how many of them were refused."""
    search = PolishedNRPA().start(problem, seed=1, budget=None)
    search.compile()
    counts, follow = [0, 0], search.player.follow

    def counting(*arguments, **more):
        answer = follow(*arguments, **more)
        counts[0] += 1
        counts[1] += not answer[0]
        return answer

    search.player.follow = counting
    end = time.process_time() + SECONDS
    while time.process_time() < end:
        search.advance(search.slice_size)
    return counts[0], counts[1]


def main() -> None:
    print("| problem | proposed | refused |\n|---|---|---|")
    for name, problem in problems():
        proposed, refused = counted(problem)
        print(f"| {name} | {proposed:,} | {refused:,} |", flush=True)


if __name__ == "__main__":
    main()
