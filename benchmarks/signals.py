"""Double signals: `pareto-nrpa solve` is sent Ctrl-C or SIGTERM twice at random moments, and must not lose its front.

python benchmarks/signals.py [RUNS]
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

# What a shell starts in the background is deaf to Ctrl-C; this one listens again, and says when the search is on.
PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from pareto_nrpa.cli import main
from pareto_nrpa.progress import ProgressBar
first = ProgressBar.on_progress
def on_progress(self, progress):
    if ProgressBar.on_progress is not first:
        ProgressBar.on_progress = first
        print("on", flush=True)
    first(self, progress)
ProgressBar.on_progress = on_progress
main()
"""
OPTIONS = ["mo-tsp:n=30,objectives=3", "--evaluations", "1000000000", "--seconds", "60"]


def once(rng: random.Random, folder: Path) -> str:
    """Return what became of one search: kept or lost, and what it was sent."""
    first, second = (rng.choice([signal.SIGINT, signal.SIGTERM]) for _ in range(2))
    target = folder / "front.json"
    target.unlink(missing_ok=True)
    command = [sys.executable, "-c", PROGRAM, "solve", *OPTIONS, "--json", str(target)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(rng.uniform(0, 0.5))
        begin = time.perf_counter()
        process.send_signal(first)
        time.sleep(rng.uniform(0, 0.4))
        process.send_signal(second)
        process.communicate(timeout=60)
        seconds = time.perf_counter() - begin
    is_kept = target.exists() and len(json.loads(target.read_text())["objectives"]) > 0
    late = " (after more than 3 s)" if seconds > 3 else ""
    return f"{'kept' if is_kept else 'LOST'}{late}: {first.name} {second.name}"


def main() -> None:
    """Make all runs and count."""
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        counts = Counter(once(rng, Path(folder)) for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 100))
    for outcome, count in sorted(counts.items()):
        print(f"{count:4d} {outcome}")
    sys.exit(any("LOST" in outcome for outcome in counts))


if __name__ == "__main__":
    main()
