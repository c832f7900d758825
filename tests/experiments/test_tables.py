"""Tables from numbers made up by hand: what is bold, what is a dash, and that no label breaks a format."""

import csv
import io
import math
import re

import numpy as np
import pytest

from pareto_nrpa.experiments.box import Scale
from pareto_nrpa.experiments.measure import Measured
from pareto_nrpa.experiments.plan import Contender, Plan, load_plan
from pareto_nrpa.experiments.report import write_tables
from pareto_nrpa.experiments.rows import Row
from pareto_nrpa.experiments.tables import against_best_markdown, comparison, comparison_markdown, tables

pytest.importorskip("scipy.stats", reason="needs scipy: pip install pareto-nrpa[report]")

NAN = math.nan
# A label and a problem with all that Markdown, LaTeX and CSV care for.
ODD_LABEL = 'a|b_c*d<e>&f%g$h#i{j}k\\l,"m"`n[o]'
ODD_PROBLEM = "x|y_z*<i>&%$,1"


def make(values, *, metric="hypervolume", plan=None, errors=()):
    """Rows with one metric that matters: values by problem, label and seed; the other metrics are NaN but given."""
    problems = list(values)
    labels = list(dict.fromkeys(label for by_label in values.values() for label in by_label))
    if plan is None:
        contenders = tuple(Contender(label, "random", {"bias": float(i)}) for i, label in enumerate(labels))
        plan = Plan(
            "made-up", "Made up", tuple(problems), contenders, 2, 100, None, metrics=(metric,), reference=labels[-1]
        )
    rows = []
    for problem, by_label in values.items():
        for label, numbers in by_label.items():
            for seed, number in enumerate(numbers):
                rows.append(Row(problem, label, seed, 100, 0.1, 3, {metric: float(number)}))
    rows += [Row(p, label, seed, 0, 0.0, 0, {}, error=text) for p, label, seed, text in errors]
    records = {problem: {label: [] for label in labels} for problem in plan.problems}
    return Measured(plan, rows, records, dict.fromkeys(plan.problems, Scale(None, 0.0)))


def cells_of(line):
    """Split a line of a Markdown table at bars that are not escaped."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


# --- cells


def test_a_table_by_hand():
    (table,) = tables(
        make({"first": {"A": [0.25, 0.75], "B": [1.0, 1.0]}, "second": {"A": [0.5, 0.5], "B": [0.125, 0.125]}})
    )
    lines = table.markdown().splitlines()
    assert lines[0] == "| Instance | A (n=2) | B (n=2) |"
    assert lines[1] == "|---|---|---|"
    # The deviation of 0.25 and 0.75 is 0.25 * sqrt(2): 1.96 * 0.25 = 0.49.
    assert lines[2] == "| first | 0.50 ± 0.49 | **1.00 ± 0.00** |"
    assert lines[3] == "| second | **0.50 ± 0.00** | 0.12 ± 0.00 |"
    assert len(lines) == 4


def test_all_that_are_equal_in_print_are_bold():
    (table,) = tables(make({"p": {"A": [0.501], "B": [0.499], "C": [0.494]}}))
    assert table.markdown().splitlines()[2] == "| p | **0.50 ± 0.00** | **0.50 ± 0.00** | 0.49 ± 0.00 |"


@pytest.mark.parametrize("metric, best", [("spread", "B"), ("spacing", "A"), ("violations", "A"), ("hypervolume", "B")])
def test_what_is_best_depends_on_the_metric(metric, best):
    (table,) = tables(make({"p": {"A": [1.0], "B": [2.0]}}, metric=metric))
    bold = [column for column, cell in zip("AB", table.cells[0], strict=True) if cell.best]
    assert bold == [best]


def test_what_nobody_has_is_a_dash_and_not_bold():
    (table,) = tables(make({"p": {"A": [NAN, NAN], "B": [NAN]}, "q": {"A": [1.0], "B": [NAN]}}, metric="spacing"))
    assert table.markdown().splitlines()[2:] == ["| p | - | - |", "| q | **1.00 ± 0.00** | - |"]
    assert r"p & - & - \\" in table.latex()


def test_a_table_without_any_run_has_only_dashes():
    (table,) = tables(make({"p": {"A": [], "B": []}}))
    assert table.markdown().splitlines()[2] == "| p | - | - |"


def test_how_many_runs_there_are_is_said():
    (table,) = tables(make({"p": {"A": [1, 2, 3], "B": [1]}, "q": {"A": [1], "B": [1]}}))
    assert table.columns == ["A (n=1-3)", "B (n=1)"]


def test_a_fixed_reference_point_gives_a_table_of_its_own():
    measured = make({"p": {"A": [0.5], "B": [0.25]}}, metric="hypervolume")
    assert [table.name for table in tables(measured)] == ["hypervolume"]
    fixed = make({"p": {"A": [0.5], "B": [0.25]}}, metric="fixed_hypervolume", plan=measured.plan)
    assert [table.name for table in tables(fixed)] == ["hypervolume", "fixed_hypervolume"]


# --- beside the paper


def test_the_papers_number_stands_in_brackets():
    plan = load_plan("tsptw")
    (spread,) = [
        t for t in tables(make({"rc_204.3": {"NSGA-II": [0.4]}}, metric="spread", plan=plan)) if t.name == "spread"
    ]
    row = spread.markdown().splitlines()[2 + plan.problems.index("rc_204.3")]
    assert spread.has_paper
    assert re.fullmatch(r"\*\*0\.40 ± 0\.00\*\* \(0\.\d\d ± 0\.\d\d\)", cells_of(row)[1]), row


def test_a_dash_of_the_paper_stands_in_brackets():
    plan = load_plan("tsptw")
    (table,) = [
        t for t in tables(make({"rc_201.3": {"PLS": [1.0]}}, metric="spacing", plan=plan)) if t.name == "spacing"
    ]
    row = table.markdown().splitlines()[2 + plan.problems.index("rc_201.3")]
    assert "(-)" in row


def test_a_plan_of_ones_own_has_no_brackets():
    (table,) = tables(make({"rc_204.3": {"NSGA-II": [0.5]}}))
    assert not table.has_paper
    assert "(" not in table.markdown().splitlines()[2]


# --- formats


def test_csv_has_a_line_per_cell():
    (table,) = tables(make({ODD_PROBLEM: {ODD_LABEL: [0.25, 0.75], "B": [NAN]}}))
    read = list(csv.DictReader(io.StringIO(table.csv())))
    assert [(line["Instance"], line["column"]) for line in read] == [
        (ODD_PROBLEM, f"{ODD_LABEL} (n=2)"),
        (ODD_PROBLEM, "B (n=0)"),
    ]
    assert (read[0]["mean"], read[0]["interval"], read[0]["runs"], read[0]["paper_mean"]) == ("0.5", "0.49", "2", "")
    assert (read[1]["mean"], read[1]["interval"], read[1]["runs"]) == ("", "", "0")


def test_csv_of_a_paper_table_has_the_papers_numbers():
    plan = load_plan("tsptw")
    text = tables(make({"rc_204.3": {"NSGA-II": [0.4]}}, plan=plan))[0].csv()
    read = [line for line in csv.DictReader(io.StringIO(text)) if line["Instance"] == "rc_204.3"]
    assert len(read) == 6
    assert all(0 <= float(line["paper_mean"]) <= 1 for line in read)


def test_markdown_escapes_what_it_would_take_for_markup():
    (table,) = tables(make({ODD_PROBLEM: {ODD_LABEL: [1.0], "B": [0.0]}}))
    lines = table.markdown().splitlines()
    assert len(lines) == 3
    assert [len(cells_of(line)) for line in lines] == [3, 3, 3]
    for text in (cells_of(lines[0])[1], cells_of(lines[2])[0]):
        assert not re.search(r"(?<!\\)[*_`<>\[\]|]", text), text
    assert re.sub(r"\\(.)", r"\1", cells_of(lines[2])[0]) == ODD_PROBLEM


def test_latex_escapes_what_it_would_take_for_commands():
    (table,) = tables(make({ODD_PROBLEM: {ODD_LABEL: [1.0], "B": [0.0]}}))
    lines = table.latex().splitlines()
    assert lines[0] == r"\begin{table}"
    assert lines[-1] == r"\end{table}"
    assert r"\begin{tabular}{lcc}" in lines
    assert lines.index(r"\toprule") < lines.index(r"\midrule") < lines.index(r"\bottomrule")
    body = [line for line in lines if line.endswith(r" \\")]
    assert len(body) == 2
    for line in body:
        assert len(re.findall(r"(?<!\\)&", line)) == 2, line
        assert not re.search(r"(?<!\\)[%#_]", line), line
    assert r"\textbackslash{}l" in body[0]
    assert r"h\#i\{j\}k" in body[0]
    assert r"$\mathbf{1.00 \pm 0.00}$ & $0.00 \pm 0.00$" in body[1]


@pytest.mark.parametrize("character", ["^", "~"])
def test_latex_escapes_hats_and_tildes(character):
    (table,) = tables(make({"p": {f"N{character}2": [1.0], "B": [0.0]}}))
    assert f"N{character}2" not in table.latex()


def test_a_title_is_escaped_too():
    plan = Plan("p", "50 % & more_of_it", ("p",), (Contender("A", "random", {}),), 1, 1, None, metrics=("spread",))
    (table,) = tables(make({"p": {"A": [1.0]}}, plan=plan))
    assert r"\caption{Overall spread: 50 \% \& more\_of\_it}" in table.latex()


# --- layouts


def test_the_layout_by_metrics_has_a_table_per_problem():
    contenders = (Contender("A", "random", {}), Contender("B", "pls", {}))
    plan = Plan(
        "p", "T", ("first:n=1", "second"), contenders, 2, 9, None, layout="metrics", metrics=("hypervolume", "spacing")
    )
    measured = make({"first:n=1": {"A": [0.5, 0.5], "B": [1.0, 1.0]}}, plan=plan)
    first, second = tables(measured)
    assert first.name == "first-n-1"
    assert first.markdown().splitlines() == [
        "| Algorithm | Hypervolume | Spacing |",
        "|---|---|---|",
        "| A (n=2) | 0.50 ± 0.00 | - |",
        "| B (n=2) | **1.00 ± 0.00** | - |",
    ]
    assert second.rows == ["A (n=0)", "B (n=0)"]


def grid_plan(places):
    contenders = tuple(Contender(f"{p}/{a}", "pareto-nrpa", parameters) for p, a, parameters in places)
    return Plan("g", "Grid", ("p",), contenders, 1, 9, None, layout="grid", metrics=("hypervolume",), reference="4/0.5")


def test_the_grid_has_policies_by_learning_rates():
    plan = grid_plan(
        [
            (4, 0.5, {}),  # both as by default
            (1, 0.5, {"n_policies": 1}),
            (4, 2.0, {"alpha": 2.0}),
            (1, 0.25, {"n_policies": 1, "alpha": 0.25}),
        ]
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
    assert len(list(csv.DictReader(io.StringIO(table.csv())))) == 4


def test_the_grid_of_the_paper_is_full():
    plan = load_plan("grid")
    for table in tables(make({"rc_205.2": {}}, plan=plan)):
        assert (len(table.rows), len(table.columns)) == (3, 6)
        assert all(cell is not None and cell.paper is not None for row in table.cells for cell in row), table.name


# --- comparisons

LOW, HIGH = np.arange(10.0) / 100, np.arange(10.0) / 100 + 0.5


def some_comparison(n_problems=6):
    return make({f"p{i}": {"Bad": LOW, "Good": HIGH, "Fair": HIGH - 0.02 * (i + 1)} for i in range(n_problems)})


def test_a_comparison_takes_the_best_ranked_as_reference():
    found = comparison(some_comparison(), "hypervolume")
    assert (found.labels, found.n_problems) == (["Bad", "Good", "Fair"], 6)
    np.testing.assert_allclose(found.ranks, [3, 1, 2])
    against_bad, against_fair = found.pairs
    assert (against_bad.first, against_bad.second, against_bad.won, against_bad.tied) == ("Good", "Bad", 6, 0)
    assert against_fair.won + against_fair.tied == 6
    # Six problems, one way: 2 of 2^6 signs, twice that after Holm.
    assert against_bad.p_value == pytest.approx(2 * 2 / 64)
    text = comparison_markdown(found)
    assert text.startswith("Average ranks over 6 instances: Good 1.00, Fair 2.00, Bad 3.00. Friedman's test: p = ")
    assert "| Bad | 6 | 0 | 0 | 0.062 |" in text


def test_a_comparison_with_a_named_reference():
    found = comparison(some_comparison(), "hypervolume", "Bad")
    assert [(pair.first, pair.second, pair.lost) for pair in found.pairs] == [("Bad", "Good", 6), ("Bad", "Fair", 6)]


def test_a_comparison_of_what_should_be_small():
    values = {f"p{i}": {"A": LOW, "B": HIGH} for i in range(3)}
    found = comparison(make(values, metric="violations"), "violations")
    np.testing.assert_allclose(found.ranks, [1, 2])


def test_problems_that_one_algorithm_lacks_are_left_out():
    values = {"p0": {"A": LOW, "B": HIGH}, "p1": {"A": LOW, "B": HIGH}, "p2": {"A": LOW, "B": []}}
    assert comparison(make(values), "hypervolume").n_problems == 2


def test_too_little_to_compare():
    assert comparison(make({"p": {"A": LOW, "B": HIGH}}), "hypervolume") is None  # one problem
    assert comparison(make({"p": {"A": LOW}, "q": {"A": LOW}}), "hypervolume") is None  # one algorithm
    assert comparison(make({"p": {"A": [], "B": []}, "q": {"A": [], "B": []}}), "hypervolume") is None


def test_on_one_problem_the_seeds_are_paired():
    measured = make({"p": {"A": HIGH, "B": LOW, "C": HIGH}})
    text = against_best_markdown(measured, "p", "hypervolume")
    # Ten seeds, one way: 2 of 2^10 signs, twice that after Holm; C is equal.
    assert text.startswith("Hypervolume: A is best; Wilcoxon signed-rank over seeds, Holm-corrected: B p = ")
    assert "C p = 1." in text
    found = float(re.search(r"B p = ([\d.e-]+)", text).group(1))
    assert found <= 0.01


def test_on_one_problem_runs_without_a_number_are_left_out():
    values = {"p": {"A": [1.0, NAN, 1.5], "B": [NAN, 2.0, 2.5], "C": [NAN, NAN, NAN]}}
    text = against_best_markdown(make(values, metric="spacing"), "p", "spacing")
    assert "A is best" in text
    assert "B p = 1." in text
    assert "C" not in text.partition("best")[2]
    assert against_best_markdown(make({"p": {"A": [NAN], "B": [1.0]}}), "p", "hypervolume") == ""


# --- the page


def test_the_page_of_a_plan_and_its_files(tmp_path):
    measured = some_comparison()
    written = write_tables(measured, tmp_path)
    names = ["made-up.md", "made-up-runs.csv", "tables/made-up-hypervolume.csv", "tables/made-up-hypervolume.tex"]
    assert [path.relative_to(tmp_path).as_posix() for path in written] == names
    assert all(path.stat().st_size > 0 for path in written)
    page = (tmp_path / "made-up.md").read_text(encoding="utf-8")
    assert page.startswith("# Made up\n\nPlan `made-up`: 100 evaluations per run.\n")
    assert "| Good against | won | tied | lost | Wilcoxon (Holm) |" in page
    assert "| Fair against | won | tied | lost | Wilcoxon (Holm) |" in page  # the reference of the plan
    assert len(list(csv.DictReader(io.StringIO((tmp_path / "made-up-runs.csv").read_text())))) == 180


def test_the_page_tells_of_failed_runs(tmp_path):
    measured = make({"p": {"A": [1.0], "B": [0.5]}}, errors=[("p", "A", 1, "ValueError: broken"), ("p", "B", 1, "x")])
    page = write_tables(measured, tmp_path)[0].read_text(encoding="utf-8")
    assert "2 runs failed; the first one: ValueError: broken" in page
    assert "| p | **1.00 ± 0.00** | 0.50 ± 0.00 |" in page


def test_the_page_of_a_plan_with_odd_names(tmp_path):
    values = {ODD_PROBLEM: {ODD_LABEL: LOW, "B": HIGH}, "q": {ODD_LABEL: LOW, "B": HIGH}}
    page = write_tables(make(values), tmp_path)[0].read_text(encoding="utf-8")
    prose = [line for line in page.splitlines() if not line.startswith(("|", "!", "#"))]
    assert ODD_LABEL not in page
    assert not any(re.search(r"(?<!\\)<e", line) for line in prose)
    for table in re.findall(r"(?:^\|.*\n)+", page, flags=re.MULTILINE):
        assert len({len(cells_of(line)) for line in table.splitlines()}) == 1, table


def test_a_reference_that_was_left_out_is_compared_with_nobody(tmp_path):
    measured = some_comparison()
    plan = measured.plan.restricted(labels=["Bad", "Good"])  # the reference is Fair
    rows = [row for row in measured.rows if row.algorithm != "Fair"]
    left = Measured(plan, rows, measured.records, measured.scales)
    page = write_tables(left, tmp_path)[0].read_text(encoding="utf-8")
    assert "| Good against |" in page
    assert "Fair" not in page


@pytest.mark.parametrize("layout", ["instances", "metrics", "grid"])
def test_a_page_without_any_feasible_run_is_dashes(tmp_path, layout):
    contenders = (Contender("A", "pareto-nrpa", {}), Contender("B", "pareto-nrpa", {"alpha": 1.0}))
    plan = Plan(
        "p",
        "T",
        ("first", "second"),
        contenders,
        2,
        9,
        None,
        layout=layout,
        metrics=("hypervolume", "spacing"),
        reference="B",
    )
    rows = [
        Row(problem, label, seed, 9, 0.1, 1, {"hypervolume": 0.0, "spread": 0.0, "violations": 3.0})
        for problem in plan.problems for label in "AB" for seed in (0, 1)
    ]  # fmt: skip
    records = {problem: {"A": [], "B": []} for problem in plan.problems}
    measured = Measured(plan, rows, records, dict.fromkeys(plan.problems, Scale(None, 0.0)))
    page = write_tables(measured, tmp_path)[0].read_text(encoding="utf-8")
    assert "0.00 ± 0.00" in page
    assert "| - |" in page
    assert "nan" not in page.lower().replace("instance", "")
