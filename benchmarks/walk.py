"""Which files a call passes through, in order: how far a reader has to go. With kernels as plain Python.

python benchmarks/walk.py                        # this version
python benchmarks/walk.py path/to/old/src        # another one
"""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

os.environ["NUMBA_DISABLE_JIT"] = "1"
if len(sys.argv) > 1:
    sys.path.insert(0, str(Path(sys.argv[1]).resolve()))

import pareto_nrpa
from pareto_nrpa import MaxEvaluations, ParetoNRPA, Problem, certify, generate_tsptw, solve, solve_parallel
from pareto_nrpa.cli import main as command_line

ROOT = Path(pareto_nrpa.__file__).parent
PLAN = """
title = "One run"
problems = ["mo-tsp:n=6"]
evaluations = 20
seeds = 1

[[algorithm]]
label = "Random"
name = "random"
"""


class Bits(Problem):
    """Six decisions."""

    n_objectives = 2

    def initial_state(self):
        return ()

    def legal_moves(self, state):
        return (0, 1) if len(state) < 6 else ()

    def play(self, state, move):
        return (*state, move)

    def move_code(self, state, move):
        return len(state), move

    def evaluate(self, state):
        return sum(state), 6 - sum(state)


def calls() -> Iterator[tuple[str, Callable[[], object]]]:
    search = ParetoNRPA(level=2).start(generate_tsptw(6, seed=1), seed=1, budget=100)
    search.advance(3)  # what happens once is over
    yield "an evaluation", lambda: search.advance(1)
    Path("plan.toml").write_text(PLAN)
    yield "an experiment", lambda: command_line(["experiment", "run", "plan.toml", "--jobs", "1"])
    problem = generate_tsptw(4, seed=1)
    first = solve(problem, ParetoNRPA(level=1), stop=MaxEvaluations(20))
    yield "a proof", lambda: certify(problem, first)
    with ThreadPoolExecutor(1) as executor:
        yield "a costly search", lambda: solve_parallel(Bits(), stop=MaxEvaluations(4), executor=executor)


def passed(call: Callable[[], object]) -> list[str]:
    """Return the files of the package that a call passes, one entry whenever it goes from one to another."""
    files: list[str] = []

    def note(frame, event, argument):
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(ROOT):
            name = str(path.relative_to(ROOT))
            if files[-1:] != [name]:
                files.append(name)

    sys.setprofile(note)
    try:
        call()
    except SystemExit:  # the end of a command
        pass
    finally:
        sys.setprofile(None)
    return files


def main() -> None:
    os.chdir(tempfile.mkdtemp())
    for name, call in calls():
        files = passed(call)
        order = list(dict.fromkeys(files))
        print(f"{name}: {len(order)} files, {len(files):,} times from one to another\n  {' -> '.join(order)}")


if __name__ == "__main__":
    main()
