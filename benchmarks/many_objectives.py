"""What an evaluation costs as the front grows, with few objectives and with many; and what a limited archive loses."""

import time

import numpy as np
from report import write

from pareto_nrpa import ParetoNRPA, PolishedNRPA, generate_tsp

CITIES, LIMIT = 50, 1_000
EARLY, WINDOW, MARKS = 2_500, 5_000, (10_000, 25_000, 50_000)


def microseconds(search, n: int) -> float:
    begin = time.process_time()
    search.advance(n)
    return (time.process_time() - begin) / n * 1e6


def measured(algorithm, n_objectives: int, limit: int | None) -> list[str]:
    search = algorithm.start(generate_tsp(CITIES, seed=0, n_objectives=n_objectives), seed=0, budget=MARKS[-1])
    if limit is not None:
        search.limit_archive(limit)
    search.compile()
    early = microseconds(search, EARLY)
    costs = []
    for mark in MARKS:
        search.advance(mark - WINDOW - search.evaluations)
        costs.append(microseconds(search, WINDOW))
    numbers = [f"{early:.0f}", *(f"{cost:.0f}" for cost in costs), f"{costs[-1] / early:.1f}x"]
    return [
        algorithm.name,
        str(n_objectives),
        str(limit or "none"),
        *numbers,
        f"{len(search.front()):,}",
        *lost(search),
    ]


def lost(search) -> list[str]:
    """Return how many trade-offs were discarded, and how far the farthest of all found is from one that was kept."""
    if not search.discarded:
        return ["0", ""]
    kept, found = search.best()[0], search.log()[:, 2:]
    span = np.ptp(found, axis=0)
    excess = max(((kept - point) / span).max(axis=1).min() for point in found)
    return [f"{search.discarded:,}", f"{excess:.3f}"]


def main() -> None:
    many = (2, 3, 5, 8)
    rows = [measured(ParetoNRPA(), n_objectives, limit) for n_objectives in many for limit in (None, LIMIT)]
    rows += [measured(PolishedNRPA(), n_objectives, None) for n_objectives in many]
    header = ["search", "objectives", "max_archive", f"us, first {EARLY:,}", *(f"us at {mark:,}" for mark in MARKS)]
    write(
        "many-objectives",
        "Many objectives",
        [*header, "last to first", "front", "discarded", "worst loss"],
        rows,
        f"Microseconds of CPU time an evaluation: mo-tsp with {CITIES} cities, the paper's settings and the default "
        f"search, seed 0; each over the {WINDOW:,} evaluations before. Worst loss: by how much the nearest trade-off "
        "kept is worse than the best one found, in the worst objective, as a part of its range.",
    )


if __name__ == "__main__":
    main()
