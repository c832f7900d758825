"""Double signals: `pareto-nrpa solve` is sent Ctrl-C or SIGTERM twice at random moments, and must not lose its front.

python benchmarks/signals.py [RUNS]

Says how many fronts were kept, and how long it took from the first signal to the end of the process. Processes are
forks of one that has loaded everything: loading is not what is tried here.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

from pareto_nrpa import MaxEvaluations, load, solve
from pareto_nrpa.cli import main as command_line
from pareto_nrpa.progress import ProgressBar

PROBLEM = "mo-tsp:n=30,objectives=3"
OPTIONS = [PROBLEM, "--evaluations", "1000000000", "--seconds", "60"]


def search(target: Path, is_on: Any) -> None:
    """Solve as the command line does, and say when the search is on."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what is started in the background is deaf to Ctrl-C
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    shown = ProgressBar.on_progress

    def on_progress(self: ProgressBar, progress: Any) -> None:
        is_on.set()
        shown(self, progress)

    ProgressBar.on_progress = on_progress  # type: ignore[method-assign]
    sys.argv = ["pareto-nrpa", "solve", *OPTIONS, "--json", str(target)]
    command_line()


def once(rng: random.Random, folder: Path) -> tuple[str, float]:
    """Return what became of one search, kept or lost, and what it was sent; and how long it took to end."""
    first, second = (rng.choice([signal.SIGINT, signal.SIGTERM]) for _ in range(2))
    target = folder / "front.json"
    target.unlink(missing_ok=True)
    context = multiprocessing.get_context("fork")
    is_on = context.Event()
    process = context.Process(target=search, args=(target, is_on))
    process.start()
    assert process.pid is not None
    is_on.wait()
    time.sleep(rng.uniform(0, 0.5))
    begin = time.perf_counter()
    for number, pause in ((first, rng.uniform(0, 0.4)), (second, 0)):
        os.kill(process.pid, number)  # it is our child, not waited for yet: nobody else has its number
        time.sleep(pause)
    process.join(60)
    process.kill()
    seconds = time.perf_counter() - begin
    is_kept = target.exists() and len(json.loads(target.read_text())["objectives"]) > 0
    return f"{'kept' if is_kept else 'LOST'}: {first.name} {second.name}", seconds


def main() -> None:
    """Make all runs and count."""
    rng = random.Random(1)
    solve(load(PROBLEM), stop=MaxEvaluations(100))  # compiled and loaded
    counts: Counter[str] = Counter()
    times = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 100):
            outcome, seconds = once(rng, Path(folder))
            counts[outcome] += 1
            times.append(seconds)
            print(f"\r{sum(counts.values())} runs", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for outcome, count in sorted(counts.items()):
        print(f"{count:4d} {outcome}")
    print(f"seconds to the end: median {median(times):.2f}, at most {max(times):.2f}")
    sys.exit(any("LOST" in outcome for outcome in counts))


if __name__ == "__main__":
    main()
