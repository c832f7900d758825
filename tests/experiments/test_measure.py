"""From runs to numbers, on fronts small enough for pencil and paper."""

import csv
import io
import math
import sys

import numpy as np
import pytest

from pareto_nrpa.experiments.measure import measure
from pareto_nrpa.experiments.metric_table import METRICS, METRICS_OF_THE_TRUTH
from pareto_nrpa.experiments.plan import load_plan
from pareto_nrpa.experiments.rows import Row, read_csv, to_csv
from pareto_nrpa.experiments.runner import execute
from pareto_nrpa.experiments.store import Store, fingerprint_of
from pareto_nrpa.experiments.worker import failed

from .helpers import OTHER, TINY, TSPTW, a_plan, a_record, save

# Measuring loads the problem, for its fixed reference point; the generated ones have none.
PLAN = a_plan(problems=[OTHER], labels=["A", "B"])


def measured_of(folder, records, plan=PLAN):
    """Store fronts by label and seed, and measure them."""
    store = Store(folder)
    for run, content in zip_runs(plan, records):
        store.put(
            run, failed(run, content) if isinstance(content, str) else a_record(run, content[0], violations=content[1])
        )
    return measure(plan, store)


def zip_runs(plan, records):
    for (problem, label, seed), content in records.items():
        (contender,) = [c for c in plan.contenders if c.label == label]
        yield plan.run(problem, contender, seed), content


def only(measured, label, seed=0):
    (row,) = [row for row in measured.rows if (row.algorithm, row.seed) == (label, seed)]
    return row


def test_the_papers_example_by_hand(tmp_path):
    """The worst values of all feasible points are 5 and 4, the best 1 and 1.

    A dominates (5-1)(4-3) + (5-2)(3-2) = 7 (its last point lies on the border), B 3 * 3 = 9.
    """
    measured = measured_of(
        tmp_path,
        {
            (OTHER, "A", 0): ([[1, 3], [2, 2], [5, 1]], 0.0),
            (OTHER, "B", 0): ([[2, 1]], 0.0),
            (OTHER, "B", 1): ([[1, 4]], 0.0),
            (OTHER, "A", 1): ([[100, 100], [0, 200]], 2.0),  # infeasible: moves no reference
        },
    )
    np.testing.assert_array_equal(measured.scales[OTHER].reference_point, [5, 4])
    assert measured.scales[OTHER].largest == 9
    a, b, corner, infeasible = only(measured, "A"), only(measured, "B"), only(measured, "B", 1), only(measured, "A", 1)
    assert [a["hypervolume"], b["hypervolume"], corner["hypervolume"], infeasible["hypervolume"]] == pytest.approx(
        [7 / 9, 1, 0, 0]
    )
    # The box is 4 by 3; A spans 4 by 2.
    assert [a["spread"], b["spread"], infeasible["spread"]] == pytest.approx([(4 / 4) * (2 / 3), 0, 0])
    # Manhattan distances to the nearest: 2, 2, 4.
    assert a["spacing"] == pytest.approx(math.sqrt(((2 - 8 / 3) ** 2 * 2 + (4 - 8 / 3) ** 2) / 2))
    assert math.isnan(b["spacing"])
    assert math.isnan(infeasible["spacing"])
    assert [a["violations"], b["violations"], infeasible["violations"]] == [0, 0, 2]
    assert [a.front_size, b.front_size, infeasible.front_size] == [3, 1, 2]
    assert (a.evaluations, a.cpu_seconds, a.error) == (100, 0.5, "")
    assert math.isnan(a["fixed_hypervolume"])


def test_the_best_run_has_hypervolume_one(tmp_path):
    rng = np.random.default_rng(1)
    records = {(OTHER, label, seed): (rng.random((5, 2)), 0.0) for label in "AB" for seed in (0, 1)}
    measured = measured_of(tmp_path, records)
    values = [row["hypervolume"] for row in measured.rows]
    assert max(values) == 1
    assert all(0 <= value <= 1 for value in values)
    assert all(0 <= row["spread"] <= 1 for row in measured.rows)


def test_no_feasible_run_at_all(tmp_path):
    measured = measured_of(
        tmp_path,
        {(OTHER, "A", 0): ([[1, 2]], 3.0), (OTHER, "A", 1): ([[2, 1]], 5.0), (OTHER, "B", 0): ([[9, 9]], 1.0)},
    )
    scale = measured.scales[OTHER]
    assert (scale.reference_point, scale.largest) == (None, 0.0)
    assert [(row["hypervolume"], row["spread"]) for row in measured.rows] == [(0, 0)] * 3
    assert all(math.isnan(row["spacing"]) for row in measured.rows)
    assert measured.values(OTHER, "A", "violations").tolist() == [3, 5]
    assert measured.values(OTHER, "A", "spacing").size == 0


def test_where_all_runs_find_the_same_single_point_it_is_all_there_is(tmp_path):
    measured = measured_of(tmp_path, {(OTHER, "A", 0): ([[3, 4]], 0.0), (OTHER, "B", 0): ([[3, 4]], 0.0)})
    assert [(row["hypervolume"], row["spread"]) for row in measured.rows] == [(1, 1), (1, 1)]
    assert all(math.isnan(row["spacing"]) for row in measured.rows)


def test_a_run_without_feasible_point_has_nothing_beside_a_single_point(tmp_path):
    measured = measured_of(tmp_path, {(OTHER, "A", 0): ([[3, 4]], 0.0), (OTHER, "B", 0): ([[3, 4]], 1.0)})
    assert (only(measured, "A")["hypervolume"], only(measured, "B")["hypervolume"]) == (1, 0)
    assert (only(measured, "A")["spread"], only(measured, "B")["spread"]) == (1, 0)


def test_a_failed_run_is_a_row_without_numbers(tmp_path):
    measured = measured_of(tmp_path, {(OTHER, "A", 0): "ValueError: broken", (OTHER, "B", 0): ([[1, 2], [2, 1]], 0.0)})
    row = only(measured, "A")
    assert row.error == "ValueError: broken"
    assert all(
        math.isnan(x)
        for x in (row["hypervolume"], row["fixed_hypervolume"], row["spread"], row["spacing"], row["violations"])
    )
    assert measured.values(OTHER, "A", "hypervolume").size == 0
    assert [len(records) for records in measured.records[OTHER].values()] == [0, 1]


def test_all_runs_failed(tmp_path):
    measured = measured_of(tmp_path, {(OTHER, "A", 0): "one", (OTHER, "B", 0): "two"})
    assert [row.error for row in measured.rows] == ["one", "two"]
    assert measured.scales[OTHER].reference_point is None


def test_nothing_was_run(tmp_path):
    measured = measured_of(tmp_path, {})
    assert measured.rows == []
    assert measured.values(OTHER, "A", "hypervolume").size == 0


def test_problems_do_not_disturb_each_other(tmp_path):
    plan = a_plan(problems=[OTHER, TSPTW], labels=["A"])
    measured = measured_of(
        tmp_path,
        {(OTHER, "A", 0): ([[1, 3], [3, 1], [2, 2]], 0.0), (TSPTW, "A", 0): ([[10, 30], [30, 10], [11, 11]], 0.0)},
        plan,
    )
    assert [row["hypervolume"] for row in measured.rows] == [1, 1]
    assert {problem: scale.largest for problem, scale in measured.scales.items()} == {OTHER: 1.0, TSPTW: 19.0**2}


def test_values_come_in_the_order_of_seeds(tmp_path):
    plan = a_plan(problems=[OTHER], labels=["A"], seeds=4)
    records = {(OTHER, "A", seed): ([[1, 1]], float(violations)) for seed, violations in [(3, 7), (0, 4), (2, 6)]}
    assert measured_of(tmp_path, records, plan).values(OTHER, "A", "violations").tolist() == [4, 6, 7]


def test_three_objectives(tmp_path):
    problem = "mo-tsp:n=8,seed=1,objectives=3"
    plan = a_plan(problems=[problem], labels=["A", "B"], seeds=1)
    store = Store(tmp_path)
    a, b = plan.runs()
    store.put(a, a_record(a, [[0, 0, 0]], n_objectives=3))
    store.put(b, a_record(b, [[1, 1, 1], [2, 4, 0]], n_objectives=3))
    measured = measure(plan, store)
    np.testing.assert_array_equal(measured.scales[problem].reference_point, [2, 4, 1])
    assert [row["hypervolume"] for row in measured.rows] == [1, 0]  # A: 2 * 4 * 1; B: all on the border


def test_the_fixed_reference_point_of_an_official_instance(tmp_path, official):
    point = np.asarray(official("rc_204.3").reference_point, dtype=float)
    plan = a_plan(problems=["rc_204.3"], labels=["A", "B"])
    measured = measured_of(
        tmp_path,
        {
            ("rc_204.3", "A", 0): ([point - [10, 10]], 0.0),
            ("rc_204.3", "B", 0): ([point - [5, 4], point - [-5, -5]], 0.0),
        },
        plan,
    )
    assert [row["fixed_hypervolume"] for row in measured.rows] == pytest.approx([1, 0.2])
    assert measured.rows[0]["hypervolume"] == 1
    assert measured.rows[1]["hypervolume"] == pytest.approx(10 * 9 / 15**2)


def test_real_runs_are_measured_as_by_hand(tmp_path):
    """The whole way once: real runs, and the definition written out again."""
    plan = load_plan(save(tmp_path, TINY))
    store = Store(tmp_path / "results")
    execute(plan.runs(), store)
    measured = measure(plan, store)
    for problem in plan.problems:
        runs = [run for run in plan.runs() if run.problem == problem]
        fronts = {(run.algorithm, run.seed): store.get(run).feasible for run in runs}
        worst = np.vstack(list(fronts.values())).max(axis=0)
        volumes = {key: staircase(front, worst) for key, front in fronts.items()}
        for row in [row for row in measured.rows if row.problem == problem]:
            expected = volumes[row.algorithm.lower(), row.seed] / max(volumes.values())
            assert row["hypervolume"] == pytest.approx(expected)


def staircase(front, reference):
    """Hypervolume in the plane: one strip after the other."""
    area, height = 0.0, reference[1]
    for x, y in sorted(map(tuple, front)):
        if y < height:
            area += (reference[0] - x) * (height - y)
            height = y
    return area


def test_stored_runs_can_be_measured_where_the_instance_is_not(tmp_path, monkeypatch):
    plan = a_plan(problems=["rc_204.3"], labels=["A"])
    monkeypatch.delenv("PARETO_NRPA_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    measured = measured_of(tmp_path, {("rc_204.3", "A", 0): ([[1, 2], [2, 1]], 0.0)}, plan)
    assert len(measured.rows) == 1


def test_the_data_of_a_problem_are_hashed_once_for_all_of_its_runs(tmp_path, monkeypatch):
    hashed = []

    def counted(name, problem):
        hashed.append(name)
        return fingerprint_of(name, problem)

    monkeypatch.setattr(sys.modules[measure.__module__], "fingerprint_of", counted)
    fronts = {(OTHER, label, seed): ([[1, 2]], 0.0) for label in "AB" for seed in range(2)}
    assert len(measured_of(tmp_path, fronts).rows) == 4
    assert hashed == [OTHER]


# --- as CSV


def test_rows_as_csv(tmp_path):
    versions = {"revision": "2", "numba": "0.68.0"}
    rows = [
        Row("mo-tsp:n=8,seed=1", 'A "quoted", with comma', 0, 100, 0.5, 3, {"hypervolume": 0.12345678, "spread": 1.0}),
        Row("p", "B", 1, 0, 0.0, 0, {}, versions=versions, error="ValueError: two\nlines"),
    ]
    text = to_csv(rows)
    read = list(csv.DictReader(io.StringIO(text)))
    assert list(read[0]) == [
        *("problem", "algorithm", "seed", "evaluations", "cpu_seconds", "front_size"),
        *(name for name in METRICS if name not in METRICS_OF_THE_TRUTH),
        *("versions", "error"),
    ]
    assert read[0]["problem"] == "mo-tsp:n=8,seed=1"
    assert read[0]["algorithm"] == 'A "quoted", with comma'
    assert (read[0]["hypervolume"], read[0]["fixed_hypervolume"], read[0]["spread"]) == ("0.123457", "", "1")
    assert (read[0]["spacing"], read[0]["error"]) == ("", "")
    assert read[1]["error"] == "ValueError: two\nlines"
    (tmp_path / "rows.csv").write_text(text)
    back = read_csv(tmp_path / "rows.csv")
    assert to_csv(back) == text
    assert (back[1].versions, back[1].error) == (versions, rows[1].error)


def test_whole_numbers_as_csv_keep_their_zeros():
    row = Row("p", "A", 0, 1000, 100.0, 10, {"spacing": 1200.0, "violations": 30.0})
    read = next(iter(csv.DictReader(io.StringIO(to_csv([row])))))
    assert (read["evaluations"], read["cpu_seconds"], read["spacing"], read["violations"]) == (
        "1000",
        "100",
        "1200",
        "30",
    )


# --- two points that span the box


def test_two_points_that_are_all_there_is_are_worth_one(tmp_path):
    """The only two tours of rc_206.1 span the whole box: the paper has 1.00 for all, we had 0.00."""
    measured = measured_of(
        tmp_path,
        {
            (OTHER, "A", 0): ([[1, 3], [3, 1]], 0.0),
            (OTHER, "A", 1): ([[1, 3]], 0.0),
            (OTHER, "B", 0): ([[3, 1], [1, 3]], 0.0),
            (OTHER, "B", 1): ([[1, 1]], 2.0),
        },
    )
    # A tenth of the range further is (3.2, 3.2): both points dominate 2 * 2.2 * 0.2 - 0.2^2 = 0.84, one alone 0.44.
    np.testing.assert_allclose(measured.scales[OTHER].reference_point, [3.2, 3.2])
    shares = [only(measured, *run)["hypervolume"] for run in [("A", 0), ("A", 1), ("B", 0), ("B", 1)]]
    assert shares == pytest.approx([1, 0.44 / 0.84, 1, 0])


def test_from_eight_objectives_on_no_hypervolume_is_measured(tmp_path):
    problem = "mo-tsp:n=8,seed=1,objectives=8"
    plan = a_plan(problems=[problem], labels=["A"], seeds=1)
    store = Store(tmp_path)
    (run,) = plan.runs()
    store.put(run, a_record(run, np.random.default_rng(1).random((200, 8)), n_objectives=8))
    (row,) = measure(plan, store).rows
    assert math.isnan(row["hypervolume"])
    assert row["spread"] == 1


# --- from rows that were measured before


def test_problems_without_runs_are_taken_from_earlier_rows(tmp_path):
    plan = a_plan(problems=[OTHER, TSPTW], labels=["A"], seeds=1)
    earlier = [Row(p, "A", seed, 9, 0.1, 1, {"hypervolume": 0.25}) for p in plan.problems for seed in (0, 1)]
    store = Store(tmp_path)
    run = plan.run(OTHER, plan.contenders[0], 0)
    store.put(run, a_record(run, [[1, 3], [2, 2], [3, 1]]))
    rows = measure(plan, store, earlier=earlier).rows
    assert [(row.problem, row.seed, row["hypervolume"]) for row in rows] == [(OTHER, 0, 1.0), (TSPTW, 0, 0.25)]
    assert len(measure(plan, store, earlier=earlier, all_seeds=True).rows) == 3
