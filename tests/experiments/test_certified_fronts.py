"""Experiments on instances whose front is proved: more tables, and the paper's as they were."""

from dataclasses import replace

import numpy as np
import pytest

from pareto_nrpa import certify, load
from pareto_nrpa.experiments import measure as measuring
from pareto_nrpa.experiments.measure import measure
from pareto_nrpa.experiments.report import write_figures, write_tables
from pareto_nrpa.experiments.rows import to_csv
from pareto_nrpa.experiments.store import Store
from pareto_nrpa.experiments.tables import tables
from pareto_nrpa.result.reference import ReferenceFront

from .helpers import TSPTW, a_plan, a_record

OTHER = "tsptw:n=9,seed=2,tightness=0.5"
TRUE_TABLES = ["true_hypervolume", "found", "igd_plus"]


@pytest.fixture(scope="module")
def certificate():
    return certify(load(TSPTW))


def measured_runs(folder, certificate, *, layout="instances"):
    """A finds the whole front, B its first point, both on a second problem too, whose front nobody knows."""
    plan = replace(a_plan(problems=[TSPTW, OTHER], labels=["A", "B"]), seeds=1, layout=layout)
    plan = replace(plan, figures={"fronts": [TSPTW]})
    store = Store(folder / "results")
    for problem in plan.problems:
        a, b = (plan.run(problem, contender, 0) for contender in plan.contenders)
        store.put(a, a_record(a, certificate.objectives))
        store.put(b, a_record(b, certificate.objectives[:1]))
    return measure(plan, store)


@pytest.fixture
def shipped(tmp_path, certificate, monkeypatch):
    """The first problem carries its proved front."""
    proved = replace(load(TSPTW), reference_front=ReferenceFront.of(certificate.objectives, is_complete=True))
    monkeypatch.setattr(measuring, "load", lambda name, data=None: proved if name == TSPTW else load(name))
    return tmp_path


def test_runs_are_measured_against_the_proved_front(shipped, certificate):
    measured = measured_runs(shipped, certificate)
    a, b, *others = measured.rows
    assert (a["found"], a["true_hypervolume"], a["igd_plus"]) == (1, pytest.approx(1), 0)
    assert b["found"] == pytest.approx(1 / len(certificate.solutions))
    assert 0 < b["true_hypervolume"] < 1 and b["igd_plus"] > 0
    assert all(np.isnan([row["found"], row["true_hypervolume"], row["igd_plus"]]).all() for row in others)
    assert measured.known[TSPTW].is_complete and not measured.known[TSPTW].is_table
    assert to_csv(measured.rows).splitlines()[0].endswith("true_hypervolume,found,igd_plus,versions,error")


def test_the_tables_of_the_paper_stay_as_they_are(shipped, certificate, monkeypatch):
    proved = replace(measuring.load(TSPTW), reference_point=(9999.0, 9999.0))
    unknown = replace(proved, reference_front=None)
    monkeypatch.setattr(measuring, "load", lambda name, data=None: proved if name == TSPTW else load(name))
    with_truth = tables(measured_runs(shipped, certificate))
    monkeypatch.setattr(measuring, "load", lambda name, data=None: unknown if name == TSPTW else load(name))
    without = tables(measured_runs(shipped, certificate))
    assert [table.name for table in with_truth] == [*(table.name for table in without), *TRUE_TABLES]
    assert [table.csv() for table in with_truth[: len(without)]] == [table.csv() for table in without]


def test_tables_of_the_truth_have_the_problems_whose_front_is_known(shipped, certificate):
    found = {table.name: table for table in tables(measured_runs(shipped, certificate))}
    assert all(found[name].rows == [TSPTW] for name in TRUE_TABLES)
    assert found["hypervolume"].rows == [TSPTW, OTHER]
    assert "**1.000" in found["true_hypervolume"].markdown()
    assert "**0.0000" in found["igd_plus"].markdown()


def test_a_table_for_each_problem_has_columns_of_the_truth_where_it_is_known(shipped, certificate):
    first, second = tables(measured_runs(shipped, certificate, layout="metrics"))
    assert first.columns[-3:] == [
        "Share of the true hypervolume",
        "Share of the true front found",
        "IGD+ to the true front",
    ]
    assert first.columns[:-3] == second.columns


def test_where_no_front_is_known_nothing_changes(tmp_path, certificate):
    measured = measured_runs(tmp_path, certificate)
    assert not {table.name for table in tables(measured)} & set(TRUE_TABLES)
    assert to_csv(measured.rows).splitlines()[0].endswith("violations,versions,error")
    page, *_ = write_tables(measured, tmp_path)
    assert "true front" not in page.read_text()


def test_the_page_says_which_fronts_are_proved(shipped, certificate):
    measured = measured_runs(shipped, certificate)
    page, *_ = write_tables(measured, shipped)
    text = page.read_text()
    assert "The true front is proved for 1 of 2 problems" in text
    (front,) = (shipped / "true-fronts").glob("*.csv")
    head, *lines = front.read_text().splitlines()
    assert head == "f1,f2"
    assert np.allclose(
        [[float(x) for x in line.split(",")] for line in lines], certificate.objectives, rtol=0, atol=1e-8
    )
    assert write_figures(measured, shipped)
