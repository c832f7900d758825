"""Seeded runs of every algorithm, stored: a change of any of them must be on purpose.

Record anew with: python -m tests.baselines.test_golden
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pareto_nrpa import MaxEvaluations, PolishedNRPA, generate_tsp, generate_tsptw, solve
from pareto_nrpa.algorithms import NAMES, algorithm

FILE = Path(__file__).parent / "golden.json"
INSTANCES = {"tsptw": generate_tsptw(12, seed=1), "mo-tsp": generate_tsp(12, seed=1)}
# With the defaults, 500 evaluations would hardly leave the first population, or the first search.
PARAMETERS = {
    "nsga-ii": {"population": 50},
    "nsga-iii": {"population": 50},
    "sms-emoa": {"population": 50},
    "moea-d": {"subproblems": 50},
    "pls": {"initial": 50},
    "pareto-mcts": {"playouts": 2},
    "nrpa": {"weights": 3},
    "nmcs": {"level": 1},
}
# Recorded before the default search took detours.
NO_DETOURS = "polished-nrpa without detours"
EVALUATIONS = 500


def run(name, instance):
    stop = MaxEvaluations(EVALUATIONS)
    chosen = PolishedNRPA(detour=0) if name == NO_DETOURS else algorithm(name, PARAMETERS.get(name))
    front = solve(INSTANCES[instance], chosen, stop=stop, seed=1).front
    return {
        "objectives": [[round(x, 6) for x in row] for row in front.objectives.tolist()],
        "violations": front.violations.tolist(),
        "solutions": front.solutions,
    }


def runs(names=NAMES):
    return {f"{name}, {instance}": run(name, instance) for name in names for instance in INSTANCES}


@pytest.mark.parametrize("instance", ["tsptw", pytest.param("mo-tsp", marks=pytest.mark.long)])
@pytest.mark.parametrize("name", NAMES)
def test_seeded_runs_are_what_they_were(name, instance):
    check_run(name, instance)


def test_without_detours_the_default_search_is_what_it_was():
    check_run(NO_DETOURS, "tsptw")


def check_run(name, instance):
    if name in ("nsga-ii", "moea-d") and np.lib.NumpyVersion(np.__version__) < "2.0.0":
        pytest.skip("these sort with NumPy, which puts equals in another order since version 2")
    now, then = run(name, instance), json.loads(FILE.read_text())[f"{name}, {instance}"]
    assert now["solutions"] == then["solutions"]
    assert now["violations"] == then["violations"]
    np.testing.assert_allclose(now["objectives"], then["objectives"], rtol=0, atol=1.5e-6)


def test_every_algorithm_has_its_runs_and_no_two_are_alike():
    stored = json.loads(FILE.read_text())
    assert set(stored) == {f"{name}, {instance}" for name in NAMES for instance in INSTANCES} | {f"{NO_DETOURS}, tsptw"}
    assert len({json.dumps(value) for value in stored.values()}) == len(stored)


@pytest.mark.slow
@pytest.mark.parametrize(
    "names", [("random", "pls", "pareto-mcts", "nmcs", "nrpa"), ("nsga-ii", "nsga-iii", "sms-emoa", "moea-d")]
)
def test_a_process_with_compiling_switched_off_gives_the_same(names):
    program = f"import json; from tests.baselines.test_golden import runs; print(json.dumps(runs({names!r})))"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    root = Path(__file__).parent.parent.parent
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=root, timeout=200)
    assert done.returncode == 0, done.stderr
    stored = json.loads(FILE.read_text())
    assert json.loads(done.stdout) == {key: value for key, value in stored.items() if key.split(",")[0] in names}


if __name__ == "__main__":
    stored = {**runs(), f"{NO_DETOURS}, tsptw": run(NO_DETOURS, "tsptw")}
    FILE.write_text(json.dumps(stored, indent=1) + "\n")
