"""From runs to numbers, on fronts small enough for pencil and paper; beside true fronts where these are known."""

import csv
import io
import math
from dataclasses import replace

import numpy as np
import pytest

from pareto_nrpa import load
from pareto_nrpa.errors import ParetoNRPAError
from pareto_nrpa.experiments import worker
from pareto_nrpa.experiments.measure import measure, read_csv, to_csv
from pareto_nrpa.experiments.metrics import METRICS, METRICS_OF_THE_TRUTH
from pareto_nrpa.experiments.page import write_tables
from pareto_nrpa.experiments.plan import Figures
from pareto_nrpa.experiments.tables import tables
from pareto_nrpa.result.reference import ReferenceFront
from pareto_nrpa.routing.exact import certify

from .helpers import OTHER, TSPTW, a_plan, a_record, stored

# Measuring loads the problem, for its fixed reference point; the generated ones have none.
PLAN = a_plan(problems=[OTHER], labels=["A", "B"])


def measured_of(folder, fronts, plan=PLAN, **options):
    """Store fronts by label and seed (a text is the error of a failed run), and measure them."""
    runs = {(c.label, seed): plan.run(p, c, seed) for p in plan.problems for c in plan.contenders for seed in range(9)}
    records = [
        (runs[place], front) if isinstance(front, str) else a_record(runs[place], front[0], violations=front[1])
        for place, front in fronts.items()
    ]
    return measure(plan, stored(folder, *records), **options)


def only(measured, label, seed=0):
    rows = measured.frame
    return rows[(rows["algorithm"] == label) & (rows["seed"] == seed)].iloc[0]


def test_the_papers_example_by_hand(tmp_path):
    """The worst values of all feasible points are 5 and 4, the best 1 and 1.

    A dominates (5-1)(4-3) + (5-2)(3-2) = 7 (its last point lies on the border), B 3 * 3 = 9.
    """
    fronts = {
        ("A", 0): ([[1, 3], [2, 2], [5, 1]], 0.0),
        ("B", 0): ([[2, 1]], 0.0),
        ("B", 1): ([[1, 4]], 0.0),
        ("A", 1): ([[100, 100], [0, 200]], 2.0),  # infeasible: moves no reference
    }
    measured = measured_of(tmp_path, fronts)
    np.testing.assert_array_equal(measured.scales[OTHER].reference_point, [5, 4])
    a, b, corner, infeasible = only(measured, "A"), only(measured, "B"), only(measured, "B", 1), only(measured, "A", 1)
    assert [row["hypervolume"] for row in (a, b, corner, infeasible)] == pytest.approx([7 / 9, 1, 0, 0])
    # The box is 4 by 3; A spans 4 by 2.
    assert [a["spread"], b["spread"], infeasible["spread"]] == pytest.approx([(4 / 4) * (2 / 3), 0, 0])
    # Manhattan distances to the nearest: 2, 2, 4.
    assert a["spacing"] == pytest.approx(math.sqrt(((2 - 8 / 3) ** 2 * 2 + (4 - 8 / 3) ** 2) / 2))
    assert math.isnan(b["spacing"]) and math.isnan(infeasible["spacing"]) and math.isnan(a["fixed_hypervolume"])
    assert [row["violations"] for row in (a, b, infeasible)] == [0, 0, 2]
    assert [row["front_size"] for row in (a, b, infeasible)] == [3, 1, 2]
    assert (a["evaluations"], a["cpu_seconds"], a["error"]) == (100, 0.5, "")


def test_no_feasible_run_a_failed_one_and_none_at_all(tmp_path):
    fronts = {("A", 1): ([[2, 1]], 5.0), ("A", 0): ([[1, 2]], 3.0), ("B", 0): "ValueError: broken"}
    measured = measured_of(tmp_path / "some", fronts)
    assert (measured.scales[OTHER].reference_point, measured.scales[OTHER].largest) == (None, 0.0)
    assert measured.values(OTHER, "A", "violations").tolist() == [3, 5]  # in the order of seeds
    assert measured.values(OTHER, "A", "spacing").size == 0
    assert (
        measured.values(OTHER, "A", "hypervolume").tolist() == measured.values(OTHER, "A", "spread").tolist() == [0, 0]
    )
    failed = only(measured, "B")
    assert failed["error"] == "ValueError: broken"
    assert all(math.isnan(failed[metric]) for metric in METRICS)
    assert [len(records) for records in measured.records[OTHER].values()] == [2, 0]
    nothing = measured_of(tmp_path / "none", {})
    assert len(nothing.frame) == nothing.values(OTHER, "A", "hypervolume").size == 0


def test_the_fixed_reference_point_of_an_official_instance(tmp_path, official):
    point = np.asarray(official("rc_204.3").reference_point, dtype=float)
    plan = a_plan(problems=["rc_204.3"], labels=["A", "B"])
    fronts = {("A", 0): ([point - [10, 10]], 0.0), ("B", 0): ([point - [5, 4], point - [-5, -5]], 0.0)}
    measured = measured_of(tmp_path, fronts, plan)
    assert measured.frame["fixed_hypervolume"].tolist() == pytest.approx([1, 0.2])
    assert measured.frame["hypervolume"].tolist() == pytest.approx([1, 10 * 9 / 15**2])


def test_a_problem_is_loaded_and_hashed_once_for_all_of_its_runs(tmp_path, monkeypatch):
    hashed = []
    fingerprint = worker.data_fingerprint
    fronts = {(label, seed): ([[1, 2]], 0.0) for label in "AB" for seed in range(2)}
    monkeypatch.setattr(worker, "data_fingerprint", lambda problem: hashed.append(1) or fingerprint(problem))
    assert len(measured_of(tmp_path, fronts).frame) == 4
    assert hashed == [1]


def test_runs_on_other_data_are_not_measured(tmp_path):
    run = PLAN.run(OTHER, PLAN.contenders[0], 0)
    store = stored(tmp_path, a_record(PLAN.run(TSPTW, PLAN.contenders[0], 0), [[1, 2]]))
    record = store.get(PLAN.run(TSPTW, PLAN.contenders[0], 0))
    line = worker.msgspec.json.encode(worker.msgspec.structs.replace(record, run=run))
    with store.opened():
        store.put(line)
    with pytest.raises(ParetoNRPAError, match=r"holds runs of .* on other data"):
        measure(PLAN, store)


# --- as CSV


def test_rows_as_csv_and_back(tmp_path):
    fronts = {("A", 0): ([[1, 3], [2, 2], [5, 1]], 0.0), ("B", 0): "ValueError: =two\nlines", ("B", 1): ([[9, 2]], 3.0)}
    plan = a_plan(problems=[OTHER], labels=['A "quoted", with comma', "=B"])
    named = {(plan.labels["AB".index(label)], seed): front for (label, seed), front in fronts.items()}
    text = to_csv(measured_of(tmp_path / "runs", named, plan).frame)
    first, second, _ = csv.DictReader(io.StringIO(text))
    there = [name for name in METRICS if name not in METRICS_OF_THE_TRUTH]
    head = ["problem", "algorithm", "seed", "evaluations", "cpu_seconds", "front_size"]
    assert list(first) == [*head, *there, "versions", "error"]
    assert (first["problem"], first["algorithm"]) == (OTHER, 'A "quoted", with comma')
    assert (first["hypervolume"], first["fixed_hypervolume"], first["evaluations"]) == ("1", "", "100")
    assert (first["versions"], first["spacing"]) == ("revision 1; python 3", "1.154701")
    assert second["hypervolume"] == ""
    (tmp_path / "rows.csv").write_text(text)
    back = read_csv(tmp_path / "rows.csv")
    assert to_csv(back) == text
    assert back["error"].tolist() == ["", "ValueError: =two\nlines", ""]
    assert back["algorithm"].tolist() == ['A "quoted", with comma', "=B", "=B"]


def test_rows_of_several_plans_in_one_file(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(f"plan,{COLUMNS}one,p,A,0,9,0.1,1,0.25,\ntwo,p,A,0,9,0.1,1,0.5,\n")
    assert read_csv(path, "two")["hypervolume"].tolist() == [0.5]
    assert read_csv(path, "three").empty


COLUMNS = "problem,algorithm,seed,evaluations,cpu_seconds,front_size,hypervolume,error\n"
NO_ROWS = {
    "nothing": "",
    "other columns": "a,b\n1,2\n",
    "a seed that is no number": COLUMNS + "p,A,x,9,0.1,1,0.25,\n",
    "no seed": COLUMNS + "p,A,,9,0.1,1,0.25,\n",
    "a negative count": COLUMNS + "p,A,0,-9,0.1,1,0.25,\n",
    "infinity": COLUMNS + "p,A,0,9,0.1,1,inf,\n",
    "a line too long": COLUMNS + "p,A,0,9,0.1,1,0.25,,,,\n" * 2,
}


@pytest.mark.parametrize("content", NO_ROWS.values(), ids=NO_ROWS)
def test_a_file_that_is_no_table_of_runs(tmp_path, content):
    (tmp_path / "rows.csv").write_text(content)
    with pytest.raises(ParetoNRPAError, match=r"rows\.csv is not a table of runs \(PLAN-runs\.csv\), or is damaged"):
        read_csv(tmp_path / "rows.csv")


# --- where the true front is known

# The front is (1, 3), (2, 2), (3, 1); up to (4, 4) its hypervolume is 6.
POINTS = np.array([[1, 3], [2, 2], [3, 1], [3, 3], [2, 4], [2, 2]], dtype=float)
LOG = [[5, 0, 3, 3], [10, 0, 2, 2], [50, 0, 1, 3]]


def known(monkeypatch, problem, **changes):
    """Let a problem be another one whenever it is loaded."""
    changed = replace(load(problem), **changes)
    monkeypatch.setattr(worker, "load", lambda name, data=None: changed if name == problem else load(name))


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Two algorithms on a problem that knows all of its solutions: A finds two points of the front, B one other."""
    front = ReferenceFront.of(POINTS, is_table=True, reference_point=(4.0, 4.0))
    known(monkeypatch, OTHER, reference_front=front, reference_point=(4.0, 4.0), objective_names=("cost", "delay"))
    settings = {"layout": "metrics", "metrics": ("hypervolume", "found"), "curve": (5, 20, 100), "seeds": 1}
    plan = a_plan(problems=[OTHER], figures=Figures(fronts=(OTHER,)), **settings)
    a, b = (plan.run(OTHER, contender, 0) for contender in plan.contenders)
    return measure(plan, stored(tmp_path, a_record(a, [[2, 2], [1, 3]], log=LOG), a_record(b, [[3, 3]], log=LOG[:1])))


def test_shares_are_of_the_true_front(table):
    assert table.frame["found"].tolist() == pytest.approx([2 / 3, 0])
    # (2, 2) and (1, 3) dominate 5 of the 6 that the true front does; (3, 3) dominates 1.
    assert table.frame["fixed_hypervolume"].tolist() == pytest.approx([5 / 6, 1 / 6])
    assert to_csv(table.frame).splitlines()[0].endswith("true_hypervolume,found,igd_plus,versions,error")


@pytest.mark.parametrize(
    ("evaluations", "steps", "means"),
    [(100, ["5", "20", "100"], [0.167, 0.667, 0.833]), (20, ["5", "20"], [0.167, 0.667]), (3, ["3"], [0.0])],
)
def test_the_curve_says_what_was_found_by_then(table, evaluations, steps, means):
    _, curve = tables(replace(table, plan=worker.msgspec.structs.replace(table.plan, evaluations=evaluations)))
    cells = curve.cells.assign(mean=curve.cells["mean"].round(3))
    assert cells["column"][: len(steps)].tolist() == steps
    assert cells["mean"][: len(steps)].tolist() == means
    assert cells["best"].tolist() == [True] * (len(steps) + 1) + [False] * (len(steps) - 1) or steps == ["3"]
    assert "true front's hypervolume" in curve.title


PROVED_AND_NOT = [TSPTW, "tsptw:n=9,seed=2,tightness=0.5"]
TRUE_TABLES = ["true_hypervolume", "found", "igd_plus"]


@pytest.fixture(scope="module")
def efficient():
    return certify(load(TSPTW)).objectives


@pytest.mark.parametrize("is_proved", [True, False])
def test_tables_beside_a_proved_front(tmp_path, monkeypatch, efficient, is_proved):
    """A finds the whole front, B its first point, both also on a second problem, whose front is not known."""
    front = ReferenceFront.of(efficient, is_complete=True) if is_proved else None
    known(monkeypatch, TSPTW, reference_front=front, reference_point=(9999.0, 9999.0))
    plan = a_plan(problems=PROVED_AND_NOT, labels=["A", "B"], seeds=1)
    runs = {(p, c.label): plan.run(p, c, 0) for p in plan.problems for c in plan.contenders}
    fronts = {"A": efficient, "B": efficient[:1]}
    measured = measure(plan, stored(tmp_path, *(a_record(run, fronts[label]) for (_, label), run in runs.items())))
    a, b, *others = measured.frame[TRUE_TABLES].to_numpy()
    found = {table.name: table for table in tables(measured)}
    page, *_ = write_tables(measured, tmp_path)
    usual = ["hypervolume", "fixed_hypervolume", "spread", "spacing", "violations"]
    assert list(found["hypervolume"].cells["row"].unique()) == PROVED_AND_NOT
    if not is_proved:
        assert list(found) == usual
        assert "true front" not in page.read_text()
        return
    assert a.tolist() == pytest.approx([1, 1, 0])
    assert (0 < b[0] < 1, b[1], b[2] > 0) == (True, pytest.approx(1 / len(efficient)), True)
    assert np.isnan(others).all()
    assert list(found) == [*usual, *TRUE_TABLES]
    assert all(list(found[name].cells["row"].unique()) == [TSPTW] for name in TRUE_TABLES)
    assert "**1.000" in found["true_hypervolume"].markdown() and "**0.0000" in found["igd_plus"].markdown()
    assert "The true front is proved for 1 of 2 problems" in page.read_text()
    (file,) = (tmp_path / "true-fronts").glob("*.csv")
    lines = [[float(x) for x in line.split(",")] for line in file.read_text().splitlines()[1:]]
    assert np.allclose(lines, efficient, rtol=0, atol=1e-8)
    by_metrics = replace(measured, plan=worker.msgspec.structs.replace(plan, layout="metrics"))
    first, second = (table.cells["column"].unique().tolist() for table in tables(by_metrics))
    assert first[:-3] == second and first[-3:] == [METRICS[name].title for name in TRUE_TABLES]
