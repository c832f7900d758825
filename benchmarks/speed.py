"""Evaluations per second with the paper's settings, beside the research code, C++ and the machine's limit."""

import statistics
import subprocess
import sys
import time

from report import write

from pareto_nrpa import ParetoNRPA, load
from pareto_nrpa.errors import InstanceError

EVALUATIONS, REPETITIONS = 100_000, 10
# Figures of this project's design study: public research code, plain C++ -O3, micro-kernel at the limit, wanted.
ANCHORS = {
    "rc_204.3": (35, 78_000, 300_000, 110_000),
    "rc_201.3": (56, 110_000, 300_000, 140_000),
    "rc_204.1": (8.9, 30_500, 140_000, 60_000),
}
_PEAK = (
    "import resource, sys; from pareto_nrpa import *; "
    "solve(load(sys.argv[1]), ParetoNRPA(), stop=MaxEvaluations(100_000), seed=0); "
    "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
)


def rate(name: str, seed: int) -> float:
    search = ParetoNRPA().start(load(name), seed=seed, budget=EVALUATIONS)
    search.compile()
    begin = time.process_time()
    search.advance(EVALUATIONS)
    return EVALUATIONS / (time.process_time() - begin)


def peak_megabytes(name: str) -> float:
    command = [sys.executable, "-c", _PEAK, name]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    try:
        for name in ANCHORS:
            load(name)
    except InstanceError as error:
        print(f"speed not measured: {error}")
        return
    # In turns, so that a busy moment of the machine does not fall on one instance alone.
    rates: dict[str, list[float]] = {name: [] for name in ANCHORS}
    for seed in range(REPETITIONS):
        for name in ANCHORS:
            rates[name].append(rate(name, seed))
    rows = []
    for name, (research, cpp, limit, wanted) in ANCHORS.items():
        best = max(rates[name])
        numbers = [f"{research:g}", f"{cpp:,}", f"about {limit:,}", f"{wanted:,}", f"**{best:,.0f}**"]
        numbers += [f"{statistics.median(rates[name]):,.0f}", f"{best / research:,.0f}x"]
        rows.append([name, *numbers, f"{peak_megabytes(name):.0f} MB"])
    header = ["instance", "research code", "plain C++ -O3", "machine's limit", "wanted", "ours, best", "ours, median"]
    write(
        "speed",
        "Evaluations per second",
        [*header, "to research code", "peak memory"],
        rows,
        notes=f"Level 4, 4 policies, alpha 0.5, {EVALUATIONS:,} evaluations, seeds 0 to {REPETITIONS - 1}, one thread, "
        "CPU time, compiling apart.",
        command="speed.py",
    )


if __name__ == "__main__":
    main()
