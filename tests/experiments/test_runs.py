"""Stored runs: written and read again, whatever the folder holds; and what thinning a log keeps."""

import json
import sys

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pareto_nrpa import MaxEvaluations, load, solve
from pareto_nrpa.algorithms.registry import algorithm
from pareto_nrpa.errors import ParetoNRPAError
from pareto_nrpa.experiments.plan import Run
from pareto_nrpa.experiments.runs import RunStore
from pareto_nrpa.experiments.worker import load_once, make_run, thinned
from pareto_nrpa.problem.base import data_fingerprint

from .helpers import OTHER, TSPTW, a_plan, a_record, stored

RUN = Run(TSPTW, "pls", {}, 300, None, 1)


@pytest.fixture(scope="module")
def made():
    """The line of a real run."""
    line, error = make_run(RUN, None)
    assert error == ""
    return line


def written(folder, *lines, name="runs"):
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    (folder / "runs" / f"{name}.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
    return RunStore(folder)


def test_a_stored_run_is_what_solve_finds(tmp_path, made):
    result = solve(load(TSPTW), algorithm("pls"), stop=MaxEvaluations(300), seed=1)
    record = written(tmp_path, made).get(RUN)
    assert record.run == RUN
    assert record.objectives == result.front.objectives.tolist()  # not rounded
    assert json.loads(bytes(record.solutions)) == [list(solution) for solution in result.front.solutions]
    assert (record.evaluations, record.violations, record.versions["numpy"]) == (300, 0.0, np.__version__)
    np.testing.assert_allclose(record.log, result.log, rtol=1e-8)
    np.testing.assert_array_equal(record.feasible, result.front.objectives)


def test_a_failed_run_has_its_error_and_an_infeasible_front_no_feasible_points(tmp_path):
    other = Run(TSPTW, "pls", {}, 300, None, 2)
    text = "ValueError: half a character \ud800" + "x" * 10_000
    store = stored(tmp_path, (RUN, text), a_record(other, [[1, 2], [2, 1]], violations=3.0))
    assert len(store.get(RUN).error) == 1_000
    assert store.get(RUN).feasible.shape == store.get(other).feasible.shape == (0, 2)


def test_missing_runs(tmp_path):
    runs = a_plan(problems=["p"]).runs()
    store = stored(tmp_path, a_record(runs[0], [[1, 2]]), (runs[1], "broken"))
    assert list(store.missing(runs)) == runs[2:]
    assert list(store.missing(runs, retry_failed=True)) == runs[1:]
    assert store.runs_on("p") == runs[:2]
    assert store.runs_on("q") == []


def test_journals_in_one_folder_are_read_together_and_the_last_line_of_a_run_counts(tmp_path):
    one, two, three = a_plan(problems=["p"], seeds=2).runs()[:3]
    stored(tmp_path, (one, "broken"), a_record(one, [[1, 2]]))
    (tmp_path / "runs" / "runs.jsonl").rename(tmp_path / "runs" / "another.jsonl")
    store = stored(tmp_path, a_record(two, [[3, 4]]))
    store = RunStore(tmp_path)
    assert [store.get(run).objectives for run in (one, two)] == [[[1, 2]], [[3, 4]]]
    assert store.get(three) is None


def test_a_journal_that_is_cut_anywhere_loses_its_last_run_only(tmp_path, made):
    line = msgspec.json.encode(a_record(Run("p", "pls", {}, 9, None, 0), [[1, 2]]))
    written(tmp_path, line, made)
    path = tmp_path / "runs" / "runs.jsonl"
    whole = path.read_bytes()
    for length in range(len(line) + 1, len(whole) - 1, len(whole) // 40):
        path.write_bytes(whole[:length])
        store = RunStore(tmp_path)
        assert store.get(RUN) is None
        with store.opened():
            store.put(made)
        assert path.read_bytes() == whole


WRONG = {"no JSON": b"hello", "no text": b"\xff\xfe\x00\x01", "lists in lists": b'{"run": ' + b"[" * 100_000}
WRONG_VALUES = {"run": None, "objectives": [[1, "a"]], "policies": []}


@pytest.mark.parametrize("damage", [*WRONG, *WRONG_VALUES])
def test_a_damaged_line_counts_as_not_made_and_the_others_stay(tmp_path, made, caplog, damage):
    changed = json.dumps({**json.loads(made), damage: WRONG_VALUES.get(damage)}).encode()
    other = a_record(Run("p", "pls", {}, 9, None, 0), [[1, 2]])
    store = written(tmp_path, WRONG.get(damage, changed), msgspec.json.encode(other))
    assert list(store.missing([RUN, other.run])) == [RUN]
    assert "line 1 of" in caplog.text


def test_runs_on_other_data_of_the_same_name_are_refused(tmp_path, made):
    store = written(tmp_path, made)
    now = store.get(RUN).fingerprint
    assert list(store.missing([RUN], fingerprints={TSPTW: now})) == []
    with pytest.raises(ParetoNRPAError, match=f"holds runs of {TSPTW} on other data"):
        list(store.missing([RUN], fingerprints={TSPTW: "another"}))
    failed = stored(tmp_path / "failed", (RUN, "broken"))
    assert list(failed.missing([RUN], fingerprints={TSPTW: "another"})) == []


def test_changed_code_of_a_users_own_problem_is_another_problem(tmp_path):
    """Regression: runs with the old objectives were shown as those of the new."""
    file = tmp_path / "priced_anew.py"

    def fingerprint(price):
        sys.modules.pop(file.stem, None)
        text = "from pareto_nrpa import Problem\ndef value(moves): return {0} * moves[0], -moves[1]\n"
        file.write_text(text.format(price) + "def make(): return Problem.from_choices(value, [(0, 1)] * 2)\n")
        return load_once(f"{file}:make", None)[1]

    assert fingerprint("1.5") == fingerprint("1.5") != fingerprint("2.5 + 0")
    assert load_once(OTHER, None)[1] == data_fingerprint(load(OTHER))


# --- thinning


def front_of(log, evaluation):
    """Return what was best after so many evaluations, the slow and obvious way."""
    rows = [tuple(row[1:]) for row in log.tolist() if row[0] <= evaluation]
    fewest = min((row[0] for row in rows), default=0)
    points = {row[1:] for row in rows if row[0] == fewest}
    return {p for p in points if not any(q != p and np.less_equal(q, p).all() for q in points)}


@st.composite
def logs(draw):
    """A log as a search writes it: what enters an archive, in order, on a small grid so that all cases occur."""
    m = draw(st.integers(1, 3))
    steps = draw(st.lists(st.integers(1, 40), min_size=1, max_size=60))
    rows, evaluation = [], 0
    for step in steps:
        evaluation += step
        row = (float(draw(st.integers(0, 2))), *(float(draw(st.integers(0, 6))) for _ in range(m)))
        weakly_better = [r for r in rows if r[1] < row[0] or (r[1] == row[0] and all(np.less_equal(r[2:], row[1:])))]
        if not weakly_better:
            rows.append((float(evaluation), *row))
    return np.array(rows)


@given(logs())
def test_thinning_keeps_lines_in_order_and_the_exact_front_at_every_checkpoint(log):
    thin, last = thinned(log), int(log[-1, 0])
    for checkpoint in {round(last ** (i / 149)) for i in range(150)}:
        assert front_of(thin, checkpoint) == front_of(log, checkpoint), checkpoint
    lines = [tuple(line) for line in log.tolist()]
    places = [lines.index(tuple(line)) for line in thin.tolist()]
    assert places == sorted(set(places))
