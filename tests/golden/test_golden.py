"""Seeded runs find exactly what is stored, whole and saved in the middle: a change of any of them must be on purpose.

`runs` defines them, `golden.json` holds what they find. To record anew what was changed on purpose:
`python -m tests.golden.record` with the beginnings of the names of runs.
"""

import json
from importlib.metadata import version

import numpy as np
import pytest

from pareto_nrpa.algorithms.registry import NAMES

from ..helpers.command_line import python
from .entry import differences, this_platform
from .problems import PROBLEMS
from .record import FILE, WHERE, made, stored
from .runs import RUNS, WHOLE

STORED = stored()
CASES = [
    pytest.param(name, way, marks=[getattr(pytest.mark, run.marks[way])] if way in run.marks else [])
    for name, run in RUNS.items()
    for way in run.ways
]


@pytest.mark.parametrize(("name", "way"), CASES)
def test_runs_find_what_is_stored(name, way):
    run = RUNS[name]
    if run.library:
        pytest.importorskip(run.library)
        if version(run.library) != STORED[WHERE][run.library]:
            pytest.skip(f"recorded with {run.library} {STORED[WHERE][run.library]}, which draws other numbers")
    if "nsga-ii," in name or "moea-d," in name:
        skip_other_sorting()
    compare(name, made(run, way))


def skip_other_sorting():
    if np.lib.NumpyVersion(np.__version__) < "2.0.0":
        pytest.skip("these sort with NumPy, which puts equals in another order since version 2")


def compare(name, found):
    exactly = STORED[WHERE]["platform"] == this_platform()
    lines = differences(STORED[name], found, bit_for_bit=exactly)
    if lines:
        text = "\n".join(lines)
        pytest.fail(f"{name} differs; on purpose: python -m tests.golden.record {name!r}\n{text}", pytrace=False)


def test_what_is_stored_are_the_runs_and_no_two_are_alike():
    entries = {name: entry for name, entry in STORED.items() if name != WHERE}
    assert set(entries) == set(RUNS)
    assert len({json.dumps(entry) for entry in entries.values()}) == len(entries)
    assert FILE.stat().st_size < 300_000


@pytest.mark.parametrize("name", NAMES)
def test_every_algorithm_has_quick_runs(name):
    quick = [run for run in RUNS if run.startswith(f"{name}, ") and WHOLE not in RUNS[run].marks]
    assert len(quick) >= 4


def test_every_problem_is_run_on():
    assert {run.problem for run in RUNS.values()} >= set(PROBLEMS)


@pytest.mark.parametrize("problem", ["tsptw, infeasible", "choices, infeasible"])
def test_no_algorithm_finds_a_feasible_solution_where_there_is_none(problem):
    for name in NAMES:
        assert float.fromhex(STORED[f"{name}, {problem}"]["violations"][0]) > 0


def test_a_difference_is_shown_in_numbers():
    entry = STORED["paper, the defaults"]
    other = json.loads(json.dumps(entry))
    other["objectives"][0][1] = (1.5).hex()
    other["random"] = "0"
    assert differences(entry, entry, bit_for_bit=True) == differences(entry, entry, bit_for_bit=False) == []
    first, second = differences(entry, other, bit_for_bit=True)
    assert first.startswith("objectives[0]: [")
    assert "1.5 (0x1.8000000000000p+0)] found" in first
    assert second == f"random: {entry['random']} stored, 0 found"
    assert differences(entry, other, bit_for_bit=False) == [first]
    other["objectives"][0][1] = (float.fromhex(entry["objectives"][0][1]) + 1e-7).hex()
    assert differences(entry, other, bit_for_bit=False) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "beginnings",
    [
        ("paper, ",),
        ("polished-nrpa, ", "pareto-nrpa, "),
        ("random, ", "pls, ", "pareto-mcts, ", "nmcs, ", "nrpa, "),
        ("nsga-", "sms-emoa, ", "moea-d, "),
    ],
    ids=lambda names: names[0],
)
def test_a_process_with_compiling_switched_off_finds_the_same(beginnings):
    skip_other_sorting()
    names = [name for name in RUNS if name.startswith(beginnings) and name != "paper, long"]
    program = f"import json; from tests.golden.record import recorded; print(json.dumps(recorded({names!r})))"
    found = json.loads(python(program, NUMBA_DISABLE_JIT="1")[0])
    assert list(found) == names
    assert len(names) >= 10
    for name, entry in found.items():
        compare(name, entry)


def test_plain_problems_are_solved_with_compiling_switched_off():
    program = "from tests.helpers.problems import Knapsack; from pareto_nrpa import MaxEvaluations, solve; "
    program += "print(solve(Knapsack(), stop=MaxEvaluations(20)).evaluations)"
    assert python(program, NUMBA_DISABLE_JIT="1") == ("20\n", "")
