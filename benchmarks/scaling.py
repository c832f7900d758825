"""How the cost of an evaluation grows with the number of cities of MO-TSP."""

import time

from report import write

from pareto_nrpa import ParetoNRPA
from pareto_nrpa.routing import generate_tsp

# Cities, evaluations measured in a repetition, milliseconds wanted at most.
SIZES = ((50, 5_000, None), (100, 2_000, None), (200, 1_000, None), (500, 300, 2.0), (1000, 100, 8.0))
REPETITIONS = 10
RESEARCH_CODE = {500: 979.0}  # milliseconds per evaluation


def milliseconds(n: int, evaluations: int) -> float:
    search = ParetoNRPA().start(generate_tsp(n, seed=1), seed=1, budget=100_000)
    search.advance(evaluations // 2)
    best = float("inf")
    for _ in range(REPETITIONS):
        begin = time.process_time()
        search.advance(evaluations)
        best = min(best, (time.process_time() - begin) / evaluations * 1e3)
    return best


def main() -> None:
    rows = []
    for n, evaluations, wanted in SIZES:
        cost = milliseconds(n, evaluations)
        research = f"{RESEARCH_CODE[n]:g}" if n in RESEARCH_CODE else ""
        per_pair = cost * 1e6 / (n * n)
        rows.append([str(n), f"{cost:.3f}", "" if wanted is None else f"{wanted:g}", research, f"{per_pair:.1f}"])
    header = ["cities", "ms per evaluation", "wanted at most", "research code", "ns per pair of cities"]
    notes = (
        "MO-TSP, two objectives, level 4, 4 policies, alpha 0.5. The last column is flat where the cost is quadratic."
    )
    write("speed", "Cost of an evaluation of MO-TSP", header, rows, command="scaling.py", notes=notes)


if __name__ == "__main__":
    main()
