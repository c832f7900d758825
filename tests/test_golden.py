"""Tiny seeded runs, stored: a change of any of them must be on purpose.

Record anew with: python -m tests.test_golden
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pareto_nrpa import MaxEvaluations, ParetoNRPA, generate_tsp, generate_tsptw, solve

from .problems_for_tests import Knapsack, Word

FILE = Path(__file__).parent / "golden" / "pareto_nrpa.json"
RUNS = {
    "tsptw, paper": (generate_tsptw(12, seed=1), {}, 500),
    "tsptw, three objectives, spread": (generate_tsptw(9, seed=2, n_objectives=3), {"preferences": "spread"}, 300),
    "mo-tsp, one sequence, no weights": (generate_tsp(10, seed=3), {"adapt": "one", "weighting": "none"}, 300),
    "knapsack, level 2": (Knapsack(), {"level": 2}, 200),
    "word, limited repetitions": (Word(), {"level": 3, "limited_repetitions": 3, "iterations": 8}, 300),
    "tsptw, stabilised": (generate_tsptw(12, seed=1), {"level": 3, "playouts_per_step": 4}, 500),
}


def run(name):
    problem, params, evaluations = RUNS[name]
    front = solve(problem, ParetoNRPA(**params), stop=MaxEvaluations(evaluations), seed=42).front
    return {
        "objectives": [[round(x, 9) for x in row] for row in front.objectives.tolist()],
        "solutions": front.solutions,
        "policies": front.policies.tolist(),
    }


@pytest.mark.parametrize("name", RUNS)
def test_seeded_runs_are_what_they_were(name):
    assert run(name) == json.loads(FILE.read_text())[name]


@pytest.mark.long
def test_a_process_with_compiling_switched_off_gives_the_same():
    program = "import json; from tests.test_golden import RUNS, run; print(json.dumps({n: run(n) for n in RUNS}))"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    root = Path(__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, cwd=root)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads(FILE.read_text())


if __name__ == "__main__":
    FILE.write_text(json.dumps({name: run(name) for name in RUNS}, indent=1) + "\n")
