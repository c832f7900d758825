"""Problems of one's own by name: a file of Python and what in it makes the problem."""

import subprocess
import sys
from pathlib import Path

import pytest

from pareto_nrpa import InstanceError, load

EXAMPLE = Path(__file__).parents[2] / "examples" / "knapsack.py"
SOURCE = """
from pareto_nrpa import Problem
import helper_of_mine

def light(taken):
    return sum(taken), taken.count(0)

def small():
    return Problem.from_choices(light, [(0, 1)] * helper_of_mine.n)

ready = small()
number = 3

def broken():
    raise RuntimeError("no data")
"""


@pytest.fixture
def own(tmp_path):
    (tmp_path / "mine.py").write_text(SOURCE)
    (tmp_path / "helper_of_mine.py").write_text("n = 4")
    return tmp_path / "mine.py"


@pytest.mark.parametrize("factory", ["small", "ready"])
def test_a_function_or_a_problem_of_a_file(own, factory):
    problem = load(f"{own}:{factory}")
    assert problem.evaluate((1, 0, 0, 1)) == (2, 2)
    assert problem.name == factory
    assert type(load(f"{own}:{factory}")) is type(problem)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("{own}:smal", "has nothing called 'smal'; it has: light, small, ready, broken"),
        ("{own}:number", "number of .* must be a problem, or a function or class that gives one .* got int"),
        ("{own}:broken", r"broken\(\) of .* raised RuntimeError: no data"),
        ("{own}:light", r"light\(\) of .* raised TypeError"),
        ("nowhere.py:small", "there is no file nowhere.py"),
    ],
)
def test_mistakes_are_said(own, name, message):
    with pytest.raises(InstanceError, match=message):
        load(name.format(own=own))


def test_a_file_that_cannot_be_imported_is_said(tmp_path):
    (tmp_path / "bad.py").write_text("import nothing_of_that_name")
    with pytest.raises(InstanceError, match="cannot be imported: ModuleNotFoundError"):
        load(f"{tmp_path}/bad.py:f")


def test_the_command_line_takes_it_and_begins_where_it_ended(own, tmp_path):
    def run(*arguments):
        command = [sys.executable, "-m", "pareto_nrpa", "solve", f"{own}:small", "--level", "1", *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)

    first = run("--evaluations", "60", "--json", "first.json")
    assert first.returncode == 0, first.stderr
    again = run("--evaluations", "5", "--start", "first.json", "--json", "again.json")
    assert again.returncode == 0, again.stderr
    assert "small: 5 trade-offs" in again.stdout
    wrong = run("--evaluations", "5", "--start", "mine.py")
    assert wrong.returncode == 2
    assert "is not a result of pareto-nrpa" in wrong.stderr
