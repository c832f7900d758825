"""Tables from numbers made up by hand, and statistics against published numbers and SciPy."""

import csv
import io
import math
import re
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

import pareto_nrpa.experiments
from pareto_nrpa.experiments.measure import _COLUMNS, Measured
from pareto_nrpa.experiments.metrics import METRICS, Scale
from pareto_nrpa.experiments.page import write_tables
from pareto_nrpa.experiments.plan import Contender, load_plan, plan_names
from pareto_nrpa.experiments.statistics import compare_means, holm, mean_and_interval, outcome, pairwise, rounded_mean
from pareto_nrpa.experiments.tables import published, tables

from .helpers import a_plan

pandas = pytest.importorskip("pandas", reason="needs pandas: pip install pareto-nrpa[experiments]")

NAN = math.nan
PACKAGE = Path(pareto_nrpa.experiments.__file__).parent
# A label and a problem with all that Markdown, LaTeX and CSV care for.
ODD_LABEL = 'a|b_c*d<e>&f%g$h#i{j}k\\l,"m"`n[o]^p~'
ODD_PROBLEM = "x|y_z*<i>&%$,1"


def make(values, *, metric="hypervolume", plan=None, errors=()):
    """Rows with one metric that matters: values by problem, label and seed; the other metrics are NaN."""
    labels = list(dict.fromkeys(label for by_label in values.values() for label in by_label))
    if plan is None:
        plan = a_plan(problems=values, labels=labels, metrics=(metric,), seeds=2)
    usual = {"evaluations": 100, "cpu_seconds": 0.1, "front_size": 3, "versions": "", "error": ""}
    places = [
        {"problem": p, "algorithm": label, "seed": seed, metric: float(x), **usual}
        for p, by_label in values.items()
        for label, numbers in by_label.items()
        for seed, x in enumerate(numbers)
    ]
    places += [{"problem": p, "algorithm": a, "seed": s, **usual, "error": text} for p, a, s, text in errors]
    frame = pandas.DataFrame(places, columns=_COLUMNS).astype(dict.fromkeys(METRICS, float))
    records = {problem: {label: [] for label in labels} for problem in plan.problems}
    return Measured(plan, frame, records, dict.fromkeys(plan.problems, Scale(None, 0.0)))


def cells_of(line):
    """Split a line of a Markdown table at bars that are not escaped."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


# --- cells


def test_a_table_by_hand():
    (table,) = tables(
        make({"first": {"A": [0.25, 0.75], "B": [1.0, 1.0]}, "second": {"A": [0.5, 0.5], "B": [0.125, 0.125]}})
    )
    assert table.markdown().splitlines() == [
        "| Instance | A (n=2) | B (n=2) |",
        "|---|---|---|",
        # The deviation of 0.25 and 0.75 is 0.25 * sqrt(2): 1.96 * 0.25 = 0.49.
        "| first | 0.50 ± 0.49 | **1.00 ± 0.00** |",
        "| second | **0.50 ± 0.00** | 0.12 ± 0.00 |",
    ]
    assert not table.has_paper


@pytest.mark.parametrize("metric, best", [("spread", "B"), ("spacing", "A"), ("violations", "A"), ("hypervolume", "B")])
def test_what_is_best_depends_on_the_metric(metric, best):
    (table,) = tables(make({"p": {"A": [1.0], "B": [2.0]}}, metric=metric))
    assert table.cells.set_index("algorithm")["best"].to_dict() == {label: label == best for label in "AB"}


# --- beside the paper


@pytest.mark.parametrize("name", plan_names())
def test_a_plan_finds_all_numbers_that_the_paper_prints_for_it(name):
    plan = load_plan(name)
    everything = pandas.read_csv(PACKAGE / "published.csv")
    printed = everything[everything["plan"] == name]
    back = {paper: ours for ours, paper in plan.published.items()}
    wanted = {(back.get(p, p), a, m) for p, a, m in printed[["problem", "algorithm", "metric"]].to_numpy()}
    assert set(published(plan).index) == wanted
    assert {(p, a, m) for p in plan.problems for a in plan.labels for m in plan.metrics} >= wanted


def test_the_papers_number_stands_in_brackets():
    plan = load_plan("tsptw")
    numbers = published(plan)
    assert numbers.loc["rc_204.3", "NSGA-II", "spread"]["paper_mean"] == 0.37
    # Two tables print it, the later one with its interval.
    assert numbers.loc["rc_204.3", "NSGA-II", "hypervolume"]["paper_interval"] >= 0
    measured = make({"rc_204.3": {"NSGA-II": [0.4]}}, metric="spread", plan=plan)
    (spread,) = [table for table in tables(measured) if table.name == "spread"]
    row = spread.markdown().splitlines()[2 + plan.problems.index("rc_204.3")]
    assert re.fullmatch(r"\*\*0\.40 ± 0\.00\*\* \(0\.\d\d ± 0\.\d\d\)", cells_of(row)[1])
    other = make({"rc_201.3": {"PLS": [1.0]}}, metric="spacing", plan=plan)
    (spacing,) = [table for table in tables(other) if table.name == "spacing"]
    assert "(-)" in spacing.markdown().splitlines()[2 + plan.problems.index("rc_201.3")]  # a dash of the paper
    lines = list(csv.DictReader(io.StringIO(spacing.csv())))
    assert sum(line["paper_mean"] != "" for line in lines) > 90


# --- formats


def test_markdown_escapes_what_it_would_take_for_markup():
    (table,) = tables(make({ODD_PROBLEM: {ODD_LABEL: [1.0], "B": [0.0]}}))
    lines = table.markdown().splitlines()
    assert [len(cells_of(line)) for line in lines] == [3, 3, 3]
    for text in (cells_of(lines[0])[1], cells_of(lines[2])[0]):
        assert not re.search(r"(?<!\\)[*_`<>\[\]|]", text), text
    assert re.sub(r"\\(.)", r"\1", cells_of(lines[2])[0]) == ODD_PROBLEM


def test_latex_escapes_what_it_would_take_for_commands():
    plan = a_plan(problems=[ODD_PROBLEM], labels=[ODD_LABEL, "B"], metrics=("spread",), title="50 % & more_of_it")
    (table,) = tables(make({ODD_PROBLEM: {ODD_LABEL: [1.0], "B": [0.0]}}, metric="spread", plan=plan))
    lines = table.latex().splitlines()
    assert (lines[0], lines[-1]) == (r"\begin{table}", r"\end{table}")
    assert r"\caption{Overall spread: 50 \% \& more\_of\_it}" in lines
    assert lines.index(r"\begin{tabular}{lcc}") < lines.index(r"\toprule") < lines.index(r"\midrule")
    head, row = [line for line in lines if line.endswith(r" \\")]
    for line in (head, row):
        assert len(re.findall(r"(?<!\\)&", line)) == 2, line
        assert not re.search(r"(?<!\\)[%#_^~]", line), line
    assert r"h\#i\{j\}k\textbackslash{}l" in head
    assert r"$\mathbf{1.00 \pm 0.00}$ & $0.00 \pm 0.00$" in row


# --- layouts


def test_the_grid_has_policies_by_learning_rates():
    places = {
        "4/0.5": {},
        "1/0.5": {"n_policies": 1},
        "4/2.0": {"alpha": 2.0},
        "1/0.25": {"n_policies": 1, "alpha": 0.25},
    }
    contenders = tuple(Contender("pareto-nrpa", label, parameters) for label, parameters in places.items())
    plan = structs.replace(
        load_plan("grid"), problems=("p",), contenders=contenders, metrics=("hypervolume",), reference="4/0.5"
    )
    values = {"p": {"4/0.5": [1.0], "1/0.5": [0.5], "4/2.0": [0.25], "1/0.25": [0.125]}}
    (table,) = tables(make(values, plan=plan))
    assert table.markdown().splitlines() == [
        "|  | alpha 0.25 | alpha 0.5 | alpha 2 |",
        "|---|---|---|---|",
        "| 1 policy | 0.12 ± 0.00 | 0.50 ± 0.00 |  |",
        "| 4 policies |  | **1.00 ± 0.00** | 0.25 ± 0.00 |",
    ]
    assert r"1 policy & $0.12 \pm 0.00$ & $0.50 \pm 0.00$ &  \\" in table.latex()
    for paper in tables(make({"rc_205.2": {}}, plan=load_plan("grid"))):
        assert len(paper.cells) == 3 * 6
        assert (paper.cells["paper"] != "").all(), paper.name


# --- comparisons

LOW, HIGH = np.arange(10.0) / 100, np.arange(10.0) / 100 + 0.5


def test_the_page_of_a_plan_and_its_files(tmp_path):
    compared = {f"p{i}": {"Bad": LOW, "Good": HIGH, "Fair": HIGH - 0.02 * (i + 1)} for i in range(6)}
    written = write_tables(make(compared), tmp_path)
    names = ["made-up.md", "made-up-runs.csv", "tables/made-up-hypervolume.csv", "tables/made-up-hypervolume.tex"]
    assert [path.relative_to(tmp_path).as_posix() for path in written] == names
    page = written[0].read_text(encoding="utf-8")
    assert page.startswith("# Made up\n\nPlan `made-up`: 100 evaluations per run.\n")
    assert "Average ranks over 6 instances: Good 1.00, Fair 2.00, Bad 3.00. Friedman's test: p = " in page
    best, reference = (
        page.index(f"| {label} against | won | tied | lost | Wilcoxon (Holm) |") for label in ("Good", "Fair")
    )
    # Six problems, one way: 2 of 2^6 signs, twice that after Holm.
    assert best < page.index("| Bad | 6 | 0 | 0 | 0.062 |") < reference
    assert len(list(csv.DictReader(io.StringIO(written[1].read_text())))) == 180
    one = make({"p": {"A": LOW, "B": HIGH}}, errors=[("p", "A", 10, "ValueError: broken"), ("p", "B", 10, "x")])
    page = write_tables(one, tmp_path)[0].read_text(encoding="utf-8")
    assert "2 runs failed; the first one: ValueError: broken" in page
    assert "Average ranks" not in page  # of one problem


# --- statistics


stats = pytest.importorskip("scipy.stats", reason="needs SciPy: pip install pareto-nrpa[experiments]")


def test_mean_and_interval_by_hand():
    """Deviations -1, 0, 1 have the variance 1 (divided by n - 1)."""
    assert mean_and_interval([1.0, 2.0, 3.0]) == (2, pytest.approx(1.96 / math.sqrt(3)))
    assert mean_and_interval([0.25]) == (0.25, 0.0)
    assert mean_and_interval([0.5] * 30) == (0.5, 0.0)
    assert all(math.isnan(x) for x in mean_and_interval([]))


def test_holm_by_hand():
    """In their order, p-values are multiplied by 4, 3, 2, 1, and may not decrease: 0.04, 0.06, 0.06, 0.04."""
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.02]), [0.04, 0.06, 0.06, 0.06])
    np.testing.assert_allclose(holm([0.6, 0.7]), [1.0, 1.0])
    np.testing.assert_allclose(holm([0.03]), [0.03])
    assert holm([]).size == 0


# --- tests of two samples


FEW, MANY_RUNS = np.arange(10.0), np.arange(10.0) + 100


def test_outcome_depends_on_what_is_better():
    assert [outcome(MANY_RUNS, FEW, more_is_better=better) for better in (True, False)] == [1, -1]
    assert [outcome(FEW, MANY_RUNS, more_is_better=better) for better in (True, False)] == [-1, 1]
    assert outcome(FEW, FEW + 0.5, more_is_better=True) == 0
    assert outcome([5.0], [1.0], more_is_better=True) == 0  # one run proves nothing
    assert outcome([], [1.0], more_is_better=True) == 0


# --- over several problems


def test_pairs_count_problems_won_tied_and_lost():
    samples = {
        "won": {"A": MANY_RUNS, "B": FEW, "C": MANY_RUNS},
        "lost": {"A": FEW, "B": MANY_RUNS, "C": FEW},
        "tied": {"A": FEW, "B": FEW + 0.1, "C": FEW},
        "won again": {"A": MANY_RUNS + 1, "B": FEW, "C": MANY_RUNS + 1},
        "not run": {"A": MANY_RUNS, "B": FEW[:0], "C": MANY_RUNS},
    }
    found = pairwise(samples, "A", more_is_better=True)
    assert found.loc["B", ["won", "tied", "lost"]].tolist() == [2, 1, 1]
    assert found.loc["C"].tolist() == [0, 5, 0, 1]
    assert pairwise(samples, "A", more_is_better=False).loc["B", ["won", "tied", "lost"]].tolist() == [1, 1, 2]
    assert pairwise({"p": {"A": FEW}}, "A", more_is_better=True).empty


def test_what_is_the_same_up_to_the_last_bit_ranks_the_same():
    """Means of equal runs differ by rounding, and ranks were told apart by it."""
    a, b = np.full(30, 0.1), np.full(7, 0.1)
    assert a.mean() != b.mean()
    assert rounded_mean(a) == rounded_mean(b)
    found = pairwise({p: {"A": a, "B": b} for p in "pqrs"}, "A", more_is_better=True)
    assert found.loc["B", ["tied", "p"]].tolist() == [4, 1.0]


def test_the_critical_difference_is_that_of_the_literature():
    """Four classifiers on 14 data sets (Demšar 2006)."""
    samples = {i: {k: np.array([float(k)]) for k in range(4)} for i in range(14)}
    assert compare_means(samples, more_is_better=True).difference == pytest.approx(1.25, abs=0.01)
