"""Searches killed (kill -9) at random moments and gone on with: they must come to the front of one left in peace.

python benchmarks/kills.py [--kills 30] [SEARCH ...]
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import random
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mutations.searches import Chosen, Order, Subset

from pareto_nrpa import MaxEvaluations, ParetoNRPA, generate_tsp, generate_tsptw, solve
from pareto_nrpa.problem import CompiledProblem

SAVED_EVERY = 0.02


@dataclass(frozen=True)
class Case:
    """A search that is long enough to be killed several times."""

    problem: Any
    evaluations: int
    options: dict[str, Any] = field(default_factory=dict)

    def front(self, **where: Any) -> str:
        """Make the search, or what is left of it; returns a hash of all that it found and how."""
        result = solve(self.problem, stop=MaxEvaluations(self.evaluations), seed=3, **self.options, **where)
        found = result.front.objectives.tolist(), result.front.solutions, result.evaluations
        return hashlib.sha256(repr(found).encode()).hexdigest()


TOURS = generate_tsptw(30, seed=1)
CASES = {
    "segments": Case(TOURS, 20_000),
    "segments, three objectives": Case(generate_tsp(30, seed=1, n_objectives=3), 4_000),
    "no segments": Case(replace(TOURS, segments=None), 5_000),
    "plain, choices": Case(Chosen(), 1_000),
    "plain, permutation": Case(Order(), 3_000),
    "plain, nothing known": Case(Subset(), 1_000),
    "segments, limited archive": Case(generate_tsp(30, seed=1, n_objectives=3), 4_000, {"max_archive": 20}),
    "two searches, segments": Case(TOURS, 20_000, {"searches": 2}),
    "two searches on two threads": Case(TOURS, 20_000, {"searches": 2, "workers": 2}),
    "two searches, plain": Case(Order(), 4_000, {"searches": 2}),
    "the paper's": Case(TOURS, 300_000, {"algorithm": ParetoNRPA(level=3)}),
}


def save_often() -> None:
    """Let checkpoints be written as often as makes a kill in the middle of one likely."""
    name = "_SECONDS_BETWEEN_CHECKPOINTS"
    modules = [module for key, module in sys.modules.items() if key.startswith("pareto_nrpa") and hasattr(module, name)]
    assert modules
    for module in modules:
        setattr(module, name, SAVED_EVERY)


def killed(case: Case, n_kills: int, rng: random.Random, path: Path) -> tuple[int, str]:
    """Kill a search up to so many times and let the last one end; returns how often that was, and what it found."""
    context = multiprocessing.get_context("fork")
    n_killed = 0
    while True:
        ours, theirs = context.Pipe(duplex=False)
        child = context.Process(target=_go_on, args=(case, path, theirs))
        child.start()
        theirs.close()
        before = path.stat().st_mtime_ns if path.exists() else 0
        while n_killed < n_kills and child.is_alive() and _is_as_before(path, before):
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 2 * SAVED_EVERY))
        if n_killed < n_kills and child.is_alive():
            child.kill()
        try:
            found = ours.recv()
        except EOFError:
            found = None
        child.join()
        if found is not None:
            return n_killed, found
        if child.exitcode != -signal.SIGKILL:
            return n_killed, f"ended with code {child.exitcode}"
        n_killed += 1


def _is_as_before(path: Path, before: int) -> bool:
    return not path.exists() or path.stat().st_mtime_ns == before


def _go_on(case: Case, path: Path, pipe: Any) -> None:
    pipe.send(case.front(checkpoint=path, resume=True))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("cases", nargs="*", metavar="SEARCH", help=f"all by default: {'; '.join(CASES)}")
    parser.add_argument("--kills", type=int, default=30, help="of each search, at most")
    options = parser.parse_args()
    rng, all_kept = random.Random(1), True
    save_often()
    for name in options.cases or CASES:
        case = CASES[name]
        undisturbed = case.front()
        with tempfile.TemporaryDirectory() as folder:
            n_killed, found = killed(case, options.kills, rng, Path(folder) / "search.npz")
        is_same = found == undisturbed
        all_kept &= is_same
        kind = "compiled" if isinstance(case.problem, CompiledProblem) else "plain"
        said = "the same front" if is_same else f"ANOTHER front ({found})"
        print(f"{name} ({kind}): {n_killed} kills, {said}", flush=True)
    return int(not all_kept)


if __name__ == "__main__":
    sys.exit(main())
