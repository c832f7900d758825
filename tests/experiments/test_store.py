"""Stored runs: written and read again, whatever lies in the folder; and what thinning a log keeps."""

import json
import logging
import sys
from dataclasses import replace

import moocore
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pareto_nrpa import MaxEvaluations, load, solve
from pareto_nrpa.algorithms.registry import algorithm
from pareto_nrpa.errors import ParetoNRPAError
from pareto_nrpa.experiments.plan import Run
from pareto_nrpa.experiments.store import Record, Store, fingerprint_of
from pareto_nrpa.experiments.worker import failed, make_run, thinned
from pareto_nrpa.problem.base import data_fingerprint

from .helpers import OTHER, TSPTW, a_plan, a_record

RUN = Run(TSPTW, "pls", {}, 300, None, 1)


@pytest.fixture(scope="module")
def made():
    """A real run."""
    return Record.from_dict(make_run(RUN, None))


# --- there and back


def test_a_record_comes_back_as_it_was_stored(tmp_path, made):
    store = Store(tmp_path)
    assert store.get(RUN) is None
    path = store.put(RUN, made)
    back = store.get(RUN)
    assert path == store.path(RUN)
    assert back.run == RUN.to_dict()
    assert (back.error, back.evaluations, back.violations) == ("", 300, 0.0)
    assert back.cpu_seconds == pytest.approx(made.cpu_seconds, abs=1e-3)
    assert (back.solutions, back.policies, back.versions) == (made.solutions, made.policies, made.versions)
    assert back.objectives.tobytes() == made.objectives.tobytes()  # not rounded
    np.testing.assert_allclose(back.log, made.log, rtol=1e-8)
    assert len(back.objectives) == len(back.solutions) == len(back.policies) > 1


def test_a_stored_run_is_what_solve_finds(made):
    result = solve(load(TSPTW), algorithm("pls"), stop=MaxEvaluations(300), seed=1)
    np.testing.assert_array_equal(made.objectives, result.front.objectives)
    assert made.evaluations == result.evaluations
    assert made.versions["numpy"] == np.__version__


def test_a_run_that_counts_unique_evaluations_says_how_many_there_were(tmp_path):
    run = Run("tsptw:n=5,seed=1,tightness=0", "random", {}, 20, None, 1, "unique")
    store = Store(tmp_path)
    store.put(run, Record.from_dict(make_run(run, None)))
    assert store.get(run).unique_evaluations == 20
    assert store.get(run).evaluations > 20


def test_a_run_with_three_objectives_comes_back(tmp_path):
    run = Run("tsptw:n=7,seed=1,objectives=3", "random", {}, 50, None, 0)
    store = Store(tmp_path)
    store.put(run, Record.from_dict(make_run(run, None)))
    back = store.get(run)
    assert back.objectives.shape[1] == 3
    assert back.log.shape[1] == 5


def test_a_run_with_one_objective_comes_back(tmp_path):
    run = Run("tsptw:n=7,seed=1,objectives=1", "random", {}, 50, None, 0)
    store = Store(tmp_path)
    store.put(run, Record.from_dict(make_run(run, None)))
    back = store.get(run)
    assert not back.error
    assert back.objectives.shape == (1, 1)
    assert back.log[-1, 2] == pytest.approx(back.objectives[0, 0], rel=1e-8)


def test_a_failed_run_comes_back_with_its_error(tmp_path):
    store = Store(tmp_path)
    store.put(RUN, failed(RUN, "ValueError: it broke"))
    back = store.get(RUN)
    assert back.error == "ValueError: it broke"
    assert len(back.objectives) == len(back.feasible) == 0
    assert np.isnan(back.violations)


def test_an_infeasible_front_has_no_feasible_points():
    record = a_record(RUN, [[1, 2], [2, 1]], violations=3.0)
    assert record.feasible.shape == (0, 2)
    assert record.objectives.shape == (2, 2)


def test_a_file_is_valid_json_and_nothing_else_is_left_behind(tmp_path, made):
    store = Store(tmp_path)
    store.put(RUN, made)
    store.put(RUN, made)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(path.name for path in files) == sorted([f"{RUN.key}.json", "runs-format.txt"])
    json.loads(store.path(RUN).read_text(), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_an_interrupted_write_leaves_the_old_file(tmp_path, made, monkeypatch):
    store = Store(tmp_path)
    before = store.put(RUN, made).read_bytes()
    monkeypatch.setattr("os.fsync", lambda handle: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        store.put(RUN, failed(RUN, "another"))
    assert store.path(RUN).read_bytes() == before
    assert list(tmp_path.rglob("*.part")) == []


# --- what else may lie there

DAMAGED = {
    "empty": b"",
    "no JSON": b"hello",
    "no text": b"\xff\xfe\x00\x01",
    "a list": b"[]",
    "a number": b"3",
    "null": b"null",
    "an empty object": b"{}",
    "lists in lists": b"[" * 100_000,
    "a number of too many digits": b'{"format": ' + b"9" * 5000 + b"}",
    "another format": b'{"format": "pareto-nrpa run 99"}',
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED.keys())
def test_a_damaged_file_counts_as_not_made(tmp_path, content, caplog):
    store = Store(tmp_path)
    store.path(RUN).parent.mkdir(parents=True)
    store.path(RUN).write_bytes(content)
    with caplog.at_level(logging.WARNING, logger="pareto_nrpa.experiments.store"):  # whatever tests before have set
        assert store.get(RUN) is None
    assert "damaged" in caplog.text
    assert list(store.missing([RUN])) == [RUN]


def test_a_half_written_file_counts_as_not_made(tmp_path, made):
    store = Store(tmp_path)
    path = store.put(RUN, made)
    whole = path.read_bytes().rstrip()
    for length in range(0, len(whole), max(1, len(whole) // 40)):
        path.write_bytes(whole[:length])
        assert store.get(RUN) is None, f"{length} of {len(whole)} bytes"


WRONG_VALUES = {
    "evaluations": [-1, 1.5, None, "9", True, 2**70],
    "cpu_seconds": [-1, None, "1", float("nan"), float("inf")],
    "n_objectives": [0, 1, 3, 10**18, "2"],
    "objectives": [None, 1, [[1, 2, 3]], [[1, "a"]], [[1, None]], [[1e999, 1]], [[[1, 2]]], [{"a": 1}]],
    "violations": [-1, "0", [], float("nan")],
    "solutions": [[], None, 3, [1]],
    "policies": [[], ["a"], [0.5]],
    "log": [None, [[1, 2]], [[9, 0, 1, 1], [2, 0, 1, 1]], [[1, -1, 1, 1]], [[float("nan"), 0, 1, 1]]],
    "versions": [None, [], {"numpy": 2}],
    "error": [None, 3, "\ud800"],
    "fingerprint": [None, 3],
    "unique_evaluations": ["1", -1, 0.5],
}


@pytest.mark.parametrize("key, value", [(key, value) for key, values in WRONG_VALUES.items() for value in values])
def test_a_file_with_a_value_of_another_kind_counts_as_not_made(tmp_path, made, key, value):
    store = Store(tmp_path)
    path = store.put(RUN, made)
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    assert store.get(RUN) is None


def test_an_error_that_cannot_be_written_is_stored_as_far_as_it_can(tmp_path):
    store = Store(tmp_path)
    store.put(RUN, failed(RUN, "ValueError: half a character \ud800" + "x" * 10_000))
    assert len(store.get(RUN).error) == 1_000


def test_another_revision_on_another_machine_is_a_failed_run():
    asked = replace(RUN, revision=2)
    error = make_run(asked, None)["error"]
    assert "revision 2 of pls was asked for" in error
    assert "install the same version of pareto-nrpa everywhere" in error


@pytest.mark.parametrize("key", ["run", "error", "evaluations", "objectives", "violations", "solutions", "log"])
def test_a_file_that_lacks_something_counts_as_not_made(tmp_path, made, key):
    store = Store(tmp_path)
    path = store.put(RUN, made)
    content = json.loads(path.read_text())
    del content[key]
    path.write_text(json.dumps(content))
    assert store.get(RUN) is None


def test_a_folder_in_the_place_of_a_file_counts_as_not_made(tmp_path):
    store = Store(tmp_path)
    store.path(RUN).mkdir(parents=True)
    assert store.get(RUN) is None


def test_the_file_of_another_run_counts_as_not_made(tmp_path, made):
    store = Store(tmp_path)
    other = Run(TSPTW, "pls", {}, 300, None, 2)
    store.path(other).parent.mkdir(parents=True, exist_ok=True)
    store.path(other).write_bytes(store.put(RUN, made).read_bytes())
    assert store.get(other) is None


def test_runs_of_the_first_format_are_told_and_not_used(tmp_path):
    """They do not say with which defaults they were made."""
    (tmp_path / "runs-format.txt").write_text("pareto-nrpa run 1\n")
    with pytest.raises(ParetoNRPAError, match=r"earlier version, which are not used any more: .*--results"):
        Store(tmp_path)


def test_the_seeds_that_are_there(tmp_path):
    store = Store(tmp_path)
    assert store.seeds("p") == []
    runs = [Run("p", name, {}, 9, None, seed) for name, seed in (("pls", 3), ("random", 0), ("pls", 11))]
    for run in runs:
        store.put(run, a_record(run, [[1, 2]]))
    (store.path(runs[0]).parent / "notes.json").write_text("{}")
    assert store.seeds("p") == [0, 3, 11]
    assert sorted(run.seed for run in store.runs_on("p")) == [0, 3, 11]


def test_a_folder_of_another_version_is_refused(tmp_path):
    (tmp_path / "runs-format.txt").write_text("pareto-nrpa run 99\n")
    with pytest.raises(ParetoNRPAError, match=r"another version \('pareto-nrpa run 99'.*--results"):
        Store(tmp_path)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b""])
def test_a_folder_with_a_damaged_marker_is_refused(tmp_path, content):
    (tmp_path / "runs-format.txt").write_bytes(content)
    with pytest.raises(ParetoNRPAError, match=r"another version|cannot read"):
        Store(tmp_path)


def test_a_new_folder_gets_its_marker_with_the_first_run(tmp_path, made):
    folder = tmp_path / "new"
    store = Store(folder)
    assert not folder.exists()
    store.put(RUN, made)
    assert Store(folder).get(RUN) is not None


def test_missing_runs(tmp_path):
    runs = a_plan(problems=["p"]).runs()
    store = Store(tmp_path)
    store.put(runs[0], a_record(runs[0], [[1, 2]]))
    store.put(runs[1], failed(runs[1], "broken"))
    assert list(store.missing(runs)) == runs[2:]
    assert list(store.missing(runs, retry_failed=True)) == runs[1:]


def test_runs_on_files_with_long_or_odd_names_are_kept_apart(tmp_path):
    store = Store(tmp_path)
    names = [
        "/a/" + "x" * 300 + ".txt",
        "/b/" + "x" * 300 + ".txt",
        "../up.txt",
        "with space",
        "ümlaut.txt",
        "a:b",
        "a-b",
    ]
    runs = [Run(name, "random", {}, 9, None, 0) for name in names]
    for i, run in enumerate(runs):
        store.put(run, a_record(run, [[i, -i]]))
    assert [store.get(run).objectives[0, 0] for run in runs] == list(range(len(runs)))
    assert all(tmp_path in store.path(run).resolve().parents for run in runs)


# --- thinning


def front_of(log, evaluation):
    """Return what was best after so many evaluations, the slow and obvious way."""
    rows = [tuple(row[1:]) for row in log.tolist() if row[0] <= evaluation]
    fewest = min((row[0] for row in rows), default=0)
    points = {row[1:] for row in rows if row[0] == fewest}
    return {
        p for p in points if not any(q != p and all(a <= b for a, b in zip(q, p, strict=True)) for q in points)
    }  # fmt: skip


def checkpoints_of(log):
    last = int(log[-1, 0])
    return sorted({round(last ** (i / 149)) for i in range(150)})


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
def test_thinning_keeps_the_exact_front_at_the_end_and_at_every_checkpoint(log):
    thin = thinned(log)
    assert front_of(thin, log[-1, 0]) == front_of(log, log[-1, 0])
    for checkpoint in checkpoints_of(log):
        assert front_of(thin, checkpoint) == front_of(log, checkpoint), checkpoint


@given(logs())
def test_thinning_takes_lines_of_the_log_in_their_order(log):
    thin = thinned(log)
    lines = [tuple(line) for line in log.tolist()]
    places = [lines.index(tuple(line)) for line in thin.tolist()]
    assert places == sorted(set(places))


@given(logs())
def test_thinning_twice_changes_nothing(log):
    thin = thinned(log)
    if thin[-1, 0] == log[-1, 0]:
        np.testing.assert_array_equal(thinned(thin), thin)


def test_thinning_of_nothing():
    assert thinned(np.zeros((0, 4))).shape == (0, 4)


def test_thinning_leaves_the_log_alone():
    log = np.array([[1.0, 0, 3, 3], [2, 0, 2, 2], [5, 0, 1, 1]])
    before = log.copy()
    thinned(log)
    np.testing.assert_array_equal(log, before)


def test_thinning_drops_what_came_and_went_between_checkpoints():
    """1,000 points, each better than the last: at 150 checkpoints only 150 of them can be seen."""
    n = 1000
    log = np.column_stack([np.arange(1, n + 1), np.zeros(n), -np.arange(n), -np.arange(n)]).astype(float)
    assert len(thinned(log)) <= 150
    assert thinned(log)[-1].tolist() == log[-1].tolist()


@pytest.mark.parametrize("name", ["pls", "pareto-nrpa", "random"])
def test_the_thinned_log_of_a_real_run_ends_in_its_front(name):
    result = solve(load(OTHER), algorithm(name), stop=MaxEvaluations(500), seed=2)
    thin = thinned(result.log)
    assert front_of(thin, 500) == {tuple(point) for point in result.front.objectives.tolist()}


def test_a_long_run_is_a_small_file_with_an_exact_front(tmp_path):
    run = Run("tsptw:n=50,seed=1,tightness=0", "pls", {}, 100_000, None, 0)
    store = Store(tmp_path)
    record = Record.from_dict(make_run(run, None))
    path = store.put(run, record)
    assert not record.error
    assert record.evaluations == 100_000
    assert path.stat().st_size < 200_000
    best = record.log[moocore.is_nondominated(record.log[:, 2:])][:, 2:]
    assert len(best) == len(record.objectives)
    np.testing.assert_allclose(np.sort(best, axis=0), np.sort(record.objectives, axis=0), rtol=1e-8)


# --- data that changed under the same name


def test_runs_on_other_data_of_the_same_name_are_refused(tmp_path, made):
    store = Store(tmp_path)
    store.put(RUN, made)
    now = made.fingerprint
    assert now
    assert list(store.missing([RUN], fingerprints={TSPTW: now})) == []
    assert list(store.missing([RUN])) == []  # nobody asked
    with pytest.raises(ParetoNRPAError, match=f"holds runs on other data, .*, of the name {TSPTW}"):
        list(store.missing([RUN], fingerprints={TSPTW: "another"}))


def test_a_failed_run_has_no_data_to_compare(tmp_path):
    store = Store(tmp_path)
    store.put(RUN, failed(RUN, "broken"))
    assert list(store.missing([RUN], fingerprints={TSPTW: "another"})) == []


def test_changed_code_of_a_users_own_problem_is_another_problem(tmp_path):
    """Regression: runs with the old objectives were shown as those of the new."""
    file = tmp_path / "priced_anew.py"

    def fingerprint(price):
        sys.modules.pop(file.stem, None)
        text = "from pareto_nrpa import Problem\ndef value(moves): return {0} * moves[0], -moves[1]\n"
        file.write_text(text.format(price) + "def make(): return Problem.from_choices(value, [(0, 1)] * 2)\n")
        return fingerprint_of(f"{file}:make", load(f"{file}:make"))

    assert fingerprint("1.5") == fingerprint("1.5") != fingerprint("2.5 + 0")
    assert fingerprint_of(OTHER, load(OTHER)) == data_fingerprint(load(OTHER))
