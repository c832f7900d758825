"""The examples run, stay as short as promised, and keep the promises of a problem."""

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pareto_nrpa import check_problem

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


def load_example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    # Registered, as the classes of a module that nobody knows cannot be found again by name.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


ALL = [
    pytest.param(path, id=path.stem, marks=[] if path.stem == "knapsack" else pytest.mark.slow)  # compiles, or trains
    for path in sorted(EXAMPLES.glob("*.py"))
]


@pytest.mark.parametrize("path", ALL)
def test_every_example_runs(path, tmp_path):
    command = [sys.executable, path, *(["8"] if path.stem == "digits" else [])]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    last = (done.stderr.splitlines() or [""])[-1]
    if done.returncode and ("pip install" in last or "data get" in last or "No module named" in last):
        pytest.skip(last)
    assert done.returncode == 0, done.stderr
    assert re.search("trade-offs by (pareto|polished)-nrpa", done.stdout)


GALLERY = ["job_shop", "course_timetable", "quadratic_assignment", "flow_shop", "nurse_roster"]


@pytest.mark.parametrize("name", GALLERY)
def test_programs_of_the_gallery_are_short(name):
    assert 25 <= len((EXAMPLES / f"{name}.py").read_text().splitlines()) <= 60


@pytest.mark.parametrize("name", ["knapsack", *GALLERY])
def test_the_plain_examples_keep_their_promises(name):
    check_problem(load_example(name).make(), n_games=5)


@pytest.mark.slow
def test_the_digits_search_goes_on_where_it_was(tmp_path):
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install pareto-nrpa[nas]")
    for n in (4, 8):
        command = [sys.executable, EXAMPLES / "digits.py", str(n)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
        assert f"{n} evaluations" in done.stdout
        lines = (tmp_path / "digits.jsonl").read_text().splitlines()
        assert len(lines) == len(set(lines)) == 1 + n


def test_the_plain_problem_takes_at_most_25_lines():
    tree = ast.parse((EXAMPLES / "knapsack.py").read_text())
    (knapsack,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
    assert knapsack.end_lineno - knapsack.lineno + 1 <= 25


def test_the_compiled_tour_takes_at_most_60_lines():
    text = (EXAMPLES / "compiled_tour.py").read_text().split("if __name__")[0].rstrip()
    assert len(text.splitlines()) <= 60


def test_the_compiled_tour_keeps_its_promises():
    check_problem(load_example("compiled_tour").tour(np.random.default_rng(1).random((2, 7, 7))))
