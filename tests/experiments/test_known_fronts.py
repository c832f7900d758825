"""Problems whose solutions are all known: how much of the true front was found, after how many evaluations."""

from dataclasses import replace

import numpy as np
import pytest

from pareto_nrpa import load
from pareto_nrpa.experiments import measure as measuring
from pareto_nrpa.experiments.box import Scale
from pareto_nrpa.experiments.measure import measure
from pareto_nrpa.experiments.metric_table import METRICS_OF_THE_TRUTH
from pareto_nrpa.experiments.report import write_figures, write_tables
from pareto_nrpa.experiments.rows import to_csv
from pareto_nrpa.experiments.store import Store
from pareto_nrpa.experiments.tables import tables
from pareto_nrpa.metrics import n_found, nondominated
from pareto_nrpa.result.reference import ReferenceFront

from .helpers import OTHER, a_plan, a_record

# The front is (1, 3), (2, 2), (3, 1); up to (4, 4) its hypervolume is 6.
POINTS = np.array([[1, 3], [2, 2], [3, 1], [3, 3], [2, 4], [2, 2]], dtype=float)
LOG = np.array([[5, 0, 3, 3], [10, 0, 2, 2], [50, 0, 1, 3]], dtype=float)


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """Two algorithms on a problem that knows all of its solutions: A finds two points of the front, B one other."""
    front = ReferenceFront.of(POINTS, is_table=True, reference_point=(4.0, 4.0))
    problem = replace(load(OTHER), reference_front=front, reference_point=(4.0, 4.0), objective_names=("cost", "delay"))
    monkeypatch.setattr(measuring, "load", lambda name, data=None: problem)
    plan = replace(
        a_plan(problems=[OTHER], labels=["A", "B"]),
        layout="metrics",
        metrics=("hypervolume", "found"),
        curve=(5, 20, 100),
        figures={"fronts": [OTHER]},
        evaluations=100,
        seeds=1,
    )
    store = Store(tmp_path / "results")
    a, b = (plan.run(OTHER, contender, 0) for contender in plan.contenders)
    store.put(a, replace(a_record(a, [[2, 2], [1, 3]]), log=LOG))
    store.put(b, replace(a_record(b, [[3, 3]]), log=LOG[:1]))
    return measure(plan, store)


def test_the_front_of_all_points():
    assert nondominated(POINTS).tolist() == [[1, 3], [2, 2], [3, 1]]
    assert nondominated(np.array([[3.0], [1.0], [2.0], [1.0]])).tolist() == [[1.0]]
    assert nondominated(np.zeros((0, 2))).shape == (0, 2)
    assert n_found([[2, 2], [9, 9], [1, 3]], nondominated(POINTS)) == 2


def test_shares_are_of_the_true_front(measured):
    a, b = measured.rows
    assert (a["found"], b["found"]) == (pytest.approx(2 / 3), 0)
    # (2, 2) and (1, 3) dominate 5 of the 6 that the true front does; (3, 3) dominates 1.
    assert (a["fixed_hypervolume"], b["fixed_hypervolume"]) == pytest.approx((5 / 6, 1 / 6))
    assert to_csv(measured.rows).splitlines()[0].endswith("true_hypervolume,found,igd_plus,versions,error")


def test_a_problem_that_is_not_known_has_no_such_column(measured):
    nothing = dict.fromkeys(METRICS_OF_THE_TRUTH, float("nan"))
    rows = [replace(row, metrics={**row.metrics, **nothing}) for row in measured.rows]
    assert to_csv(rows).splitlines()[0].endswith("violations,versions,error")


def test_the_curve_says_what_was_found_by_then(measured):
    _, curve = tables(measured)
    assert curve.columns == ["5", "20", "100"]
    assert [[round(cell.mean, 3) for cell in row] for row in curve.cells] == [[0.167, 0.667, 0.833], [0.167] * 3]
    assert [cell.best for cell in curve.cells[0]] == [True, True, True]
    assert [cell.best for cell in curve.cells[1]] == [True, False, False]
    assert "0.667 ± 0.000" in curve.markdown() or "0.667 ± nan" in curve.markdown()
    assert "true front's hypervolume" in curve.title


def test_a_shorter_plan_has_a_shorter_curve(measured):
    _, curve = tables(replace(measured, plan=replace(measured.plan, evaluations=20)))
    assert curve.columns == ["5", "20"]
    _, curve = tables(replace(measured, plan=replace(measured.plan, evaluations=3)))
    assert curve.columns == ["3"]


def test_a_share_of_nothing(measured):
    record = measured.records[OTHER]["A"][0]
    assert Scale(np.array([4.0, 4.0]), 6.0).share(record.found_by(1)) == 0
    assert Scale(None, 0.0).share(record.found_by(10)) == 0
    assert Scale(np.array([2.0, 2.0]), 0.0).share(record.found_by(10)) == 0


def test_the_page_and_the_figure_over_the_cloud(measured, tmp_path):
    page, *_ = write_tables(measured, tmp_path)
    text = page.read_text()
    assert "Share of the true front found" in text
    assert f"All 6 solutions of {OTHER} are known, and so is its true front: [3 points](true-fronts/" in text
    (front,) = (tmp_path / "true-fronts").glob("*.csv")
    assert front.read_text() == "cost,delay\n1,3\n2,2\n3,1\n"
    assert "share of the true front's hypervolume after some evaluations" in text
    paths = write_figures(measured, tmp_path)
    assert [path.suffix for path in paths] == [".png", ".svg"]
    drawn = paths[1].read_text()
    assert "cost" in drawn and "delay" in drawn
    assert "<image" in drawn  # the cloud is pixels
    assert "true front (3 points)" in drawn
