"""Tables of an experiment: cells first, then Markdown, CSV and LaTeX from the same cells."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._util.csv_text import csv_text
from ..algorithms.registry import algorithm
from .box import Scale
from .metric_table import METRICS, METRICS_OF_THE_TRUTH
from .published import published
from .statistics import (
    PairwiseComparison,
    average_ranks,
    critical_difference,
    friedman,
    holm,
    mean_and_interval,
    pairwise_comparisons,
    rounded_mean,
    signed_rank,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from .measure import Measured
    from .published import Published

_DASH = "-"
_CURVE_DIGITS = 3  # after few evaluations all are close to each other


@dataclass(frozen=True)
class TableCell:
    """Mean and interval of some runs, beside what the paper prints."""

    mean: float
    interval: float
    n: int
    paper: Published | None
    best: bool = False
    digits: int = 2  # as the paper prints

    @property
    def text(self) -> str:
        """The cell as the paper prints it."""
        d = self.digits
        return _DASH if math.isnan(self.mean) else f"{self.mean:.{d}f} ± {self.interval:.{d}f}"

    @property
    def paper_text(self) -> str:
        """The paper's number, a dash where it has one, empty where it says nothing."""
        if self.paper is None:
            return ""
        if math.isnan(self.paper.mean):
            return _DASH
        interval = "" if math.isnan(self.paper.interval) else f" ± {self.paper.interval:.2f}"
        return f"{self.paper.mean:.2f}{interval}"


@dataclass(frozen=True)
class ResultTable:
    """A table of cells with a name for each row and column."""

    name: str  # for files
    title: str
    corner: str
    rows: list[str]
    columns: list[str]
    cells: list[list[TableCell | None]]
    has_paper: bool

    def markdown(self) -> str:
        """Return the table in Markdown: best in bold, the paper's figure in brackets."""
        return _grid(self, _markdown_cell, _markdown_row, escape_markdown)

    def latex(self) -> str:
        """Return the table in LaTeX, for the booktabs package."""
        body = _grid(self, _latex_cell, lambda cells: " & ".join(cells) + r" \\", _escape_latex, rule=r"\midrule")
        columns = "l" + "c" * len(self.columns)
        lines = [r"\begin{table}", r"\centering", rf"\caption{{{_escape_latex(self.title)}}}"]
        lines += [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", body.rstrip(), r"\bottomrule", r"\end{tabular}"]
        return "\n".join([*lines, r"\end{table}", ""])

    def csv(self) -> str:
        """Return the table as CSV, one line per cell."""
        lines: list[list[str]] = [
            [self.corner or "row", "column", "mean", "interval", "runs", "paper_mean", "paper_interval"]
        ]
        for row, cells in zip(self.rows, self.cells, strict=True):
            for column, cell in zip(self.columns, cells, strict=True):
                if cell is not None:
                    paper = (math.nan, math.nan) if cell.paper is None else (cell.paper.mean, cell.paper.interval)
                    numbers = [cell.mean, cell.interval, cell.n, *paper]
                    lines.append([row, column, *("" if math.isnan(x) else f"{x:.6g}" for x in numbers)])
        return csv_text(lines)


def _grid(
    table: ResultTable,
    show: Callable[[TableCell | None], str],
    join: Callable[[list[str]], str],
    escape: Callable[[str], str],
    rule: str | None = None,
) -> str:
    head = [escape(text) for text in [table.corner, *table.columns]]
    lines = [join(head), rule if rule is not None else "|" + "---|" * len(head)]
    for row, cells in zip(table.rows, table.cells, strict=True):
        lines.append(join([escape(row), *map(show, cells)]))
    return "\n".join(lines) + "\n"


def _markdown_row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _markdown_cell(cell: TableCell | None) -> str:
    if cell is None:
        return ""
    text = f"**{cell.text}**" if cell.best else cell.text
    return f"{text} ({cell.paper_text})" if cell.paper_text else text


def _latex_cell(cell: TableCell | None) -> str:
    if cell is None:
        return ""
    if cell.text == _DASH:
        return _DASH
    number = cell.text.replace("±", r"\pm")
    return rf"$\mathbf{{{number}}}$" if cell.best else f"${number}$"


def escape_markdown(text: str) -> str:
    """Return text that Markdown shows as it is, HTML included."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", " ".join(text.split()))


def _escape_latex(text: str) -> str:
    words = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
    return "".join(words.get(c, rf"\{c}" if c in "&%$#_{}" else c) for c in " ".join(text.split()))


def tables(measured: Measured) -> list[ResultTable]:
    """Return all tables of a plan, in its layout."""
    if measured.plan.layout == "metrics":
        found = [_of_problem(measured, problem) for problem in measured.plan.problems]
        curved = [p for p in measured.plan.problems if measured.plan.curve and any(measured.records[p].values())]
        return found + [_of_curve(measured, problem) for problem in curved]
    if measured.plan.layout == "grid":
        return [_of_grid(measured, metric) for metric in _metrics(measured)]
    return [_of_metric(measured, metric) for metric in _metrics(measured)]


def _metrics(measured: Measured) -> list[str]:
    wanted = list(measured.plan.metrics)
    has_fixed = any(not math.isnan(row["fixed_hypervolume"]) for row in measured.rows)
    if "hypervolume" in wanted and "fixed_hypervolume" not in wanted and has_fixed:
        wanted.insert(wanted.index("hypervolume") + 1, "fixed_hypervolume")
    # Where all solutions are known, the fixed hypervolume is the true one already.
    is_fixed = has_fixed and all(known.is_table for known in measured.known.values())
    for metric in METRICS_OF_THE_TRUTH:
        is_there = metric in wanted or all(math.isnan(row[metric]) for row in measured.rows)
        if not is_there and not (metric == "true_hypervolume" and is_fixed):
            wanted.append(metric)
    return wanted


def _cell(measured: Measured, problem: str, label: str, metric: str) -> TableCell:
    values = measured.values(problem, label, metric)
    paper = published(measured.plan, problem, label, metric)
    return TableCell(*mean_and_interval(values), len(values), paper, digits=METRICS[metric].digits)


def _mark_best(cells: list[TableCell], metric: str) -> list[TableCell]:
    """Mark the best of a row as the paper does: all that are equal to it in print."""
    means = [cell.mean for cell in cells if not math.isnan(cell.mean)]
    if not means:
        return cells
    digits = cells[0].digits
    best = f"{max(means) if METRICS[metric].more_is_better else min(means):.{digits}f}"
    return [replace(c, best=f"{c.mean:.{digits}f}" == best) for c in cells]


def _of_metric(measured: Measured, metric: str) -> ResultTable:
    plan = measured.plan
    labels = [contender.label for contender in plan.contenders]
    problems = [p for p in plan.problems if metric in plan.metrics or _applies(measured, p, metric)]
    cells = [_mark_best([_cell(measured, p, label, metric) for label in labels], metric) for p in problems]
    headed = [f"{label} {_runs([row[i].n for row in cells])}" for i, label in enumerate(labels)]
    return _table(metric, f"{METRICS[metric].title}: {plan.title}", "Instance", problems, headed, cells)


def _applies(measured: Measured, problem: str, metric: str) -> bool:
    """Tell whether a metric can be had: without a true front there is nothing to compare with."""
    return not METRICS[metric].of_the_truth or problem in measured.known


def _of_problem(measured: Measured, problem: str) -> ResultTable:
    plan = measured.plan
    metrics = [m for m in _metrics(measured) if m in plan.metrics or _applies(measured, problem, m)]
    labels = [contender.label for contender in plan.contenders]
    columns = [_mark_best([_cell(measured, problem, label, m) for label in labels], m) for m in metrics]
    cells = [[column[i] for column in columns] for i in range(len(labels))]
    headed = [f"{label} {_runs([row[0].n])}" for label, row in zip(labels, cells, strict=True)]
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", problem)
    return _table(name, f"{problem}: {plan.title}", "Algorithm", headed, [METRICS[m].title for m in metrics], cells)


def _of_curve(measured: Measured, problem: str) -> ResultTable:
    """Return the hypervolume after some numbers of evaluations, as a share of the true front's where that is known."""
    plan, known = measured.plan, measured.known.get(problem)
    scale = measured.scales[problem] if known is None else Scale.of_front(known)
    runs = measured.records[problem]
    columns = []
    # A plan that was made smaller ends earlier.
    steps = [n for n in plan.curve if plan.evaluations is None or n <= plan.evaluations] or [plan.evaluations or 1]
    for n in steps:
        shares = {label: [scale.share(record.found_by(n)) for record in runs[label]] for label in runs}
        cells = [TableCell(*mean_and_interval(s), len(s), None, digits=_CURVE_DIGITS) for s in shares.values()]
        columns.append(_mark_best(cells, "hypervolume"))
    cells_by_label = [[column[i] for column in columns] for i in range(len(runs))]
    headed = [f"{label} {_runs([row[0].n])}" for label, row in zip(runs, cells_by_label, strict=True)]
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", problem)
    what = "the largest hypervolume of any run" if known is None else "the true front's hypervolume"
    title = f"{problem}: share of {what} after some evaluations"
    return _table(f"{name}-curve", title, "Algorithm", headed, [f"{n:,}" for n in steps], cells_by_label)


def _of_grid(measured: Measured, metric: str) -> ResultTable:
    """Return a table of policies by learning rates, read from the parameters."""
    plan, (problem, *_) = measured.plan, measured.plan.problems
    made: dict[str, Any] = {c.label: algorithm(c.name, c.parameters) for c in plan.contenders}
    places = {label: (params.n_policies, params.alpha) for label, params in made.items()}
    rows, columns = sorted({p for p, _ in places.values()}), sorted({a for _, a in places.values()})
    flat = _mark_best([_cell(measured, problem, label, metric) for label in places], metric)
    at = dict(zip(places.values(), flat, strict=True))
    cells = [[at.get((p, a)) for a in columns] for p in rows]
    names = [f"{p:g} policies" if p != 1 else "1 policy" for p in rows]
    title = f"{METRICS[metric].title} on {problem} {_runs([cell.n for cell in flat])}: {plan.title}"
    return _table(metric, title, "", names, [f"alpha {a:g}" for a in columns], cells)


def _table(
    name: str,
    title: str,
    corner: str,
    rows: list[str],
    columns: list[str],
    cells: list[list[TableCell]] | list[list[TableCell | None]],
) -> ResultTable:
    has_paper = any(cell is not None and cell.paper is not None for row in cells for cell in row)
    return ResultTable(name, title, corner, rows, columns, [list(row) for row in cells], has_paper)


def _runs(counts: list[int]) -> str:
    least, most = min(counts), max(counts)
    return f"(n={most})" if least == most else f"(n={least}-{most})"


@dataclass(frozen=True, eq=False)
class MetricComparison:
    """Who is better at a metric, over all problems of a plan that every algorithm has runs on."""

    metric: str
    labels: list[str]
    n_problems: int
    ranks: NDArray[np.float64]
    difference: float
    friedman: float
    pairs: list[PairwiseComparison]


def comparison(measured: Measured, metric: str, reference: str | None = None) -> MetricComparison | None:
    """Compare all algorithms of a plan with the reference, the best-ranked one unless named; None with too few runs."""
    samples = {
        problem: {c.label: measured.values(problem, c.label, metric) for c in measured.plan.contenders}
        for problem in measured.plan.problems
    }
    labels = [c.label for c in measured.plan.contenders]
    complete = {p: s for p, s in samples.items() if all(len(s[label]) for label in labels)}
    if len(complete) < 2 or len(labels) < 2:
        return None
    means = np.array([[rounded_mean(s[label]) for label in labels] for s in complete.values()])
    ranks = average_ranks(means, more_is_better=METRICS[metric].more_is_better)
    chosen = reference or labels[int(ranks.argmin())]
    return MetricComparison(
        metric=metric,
        labels=labels,
        n_problems=len(complete),
        ranks=ranks,
        difference=critical_difference(len(labels), len(complete)),
        friedman=friedman(means),
        pairs=pairwise_comparisons(complete, chosen, more_is_better=METRICS[metric].more_is_better),
    )


def comparison_markdown(found: MetricComparison) -> str:
    """Return ranks and pairwise comparisons as text and a table."""
    order = np.argsort(found.ranks, kind="stable")
    ranking = ", ".join(f"{escape_markdown(found.labels[i])} {found.ranks[i]:.2f}" for i in order)
    lines = [f"Average ranks over {found.n_problems} instances: {ranking}."]
    if not math.isnan(found.friedman):
        lines[0] += f" Friedman's test: p = {found.friedman:.2g}; critical difference {found.difference:.2f}."
    first = found.pairs[0].first
    lines += [
        "",
        f"| {escape_markdown(first)} against | won | tied | lost | Wilcoxon (Holm) |",
        "|---|---|---|---|---|",
    ]
    for pair in found.pairs:
        cells = [escape_markdown(pair.second), f"{pair.won}", f"{pair.tied}", f"{pair.lost}", f"{pair.p_value:.2g}"]
        lines.append(_markdown_row(cells))
    return "\n".join(lines) + "\n"


def against_best_markdown(measured: Measured, problem: str, metric: str) -> str:
    """Return, for one problem, the signed-rank tests of all algorithms against the best, over common seeds."""
    by_seed = {
        c.label: {r.seed: r[metric] for r in measured.rows if (r.problem, r.algorithm) == (problem, c.label)}
        for c in measured.plan.contenders
    }
    means = {
        label: mean_and_interval([v for v in runs.values() if not math.isnan(v)])[0] for label, runs in by_seed.items()
    }
    known = {label: mean for label, mean in means.items() if not math.isnan(mean)}
    if len(known) < 2:
        return ""
    best = (max if METRICS[metric].more_is_better else min)(known, key=lambda label: known[label])
    others = [label for label in known if label != best]
    p_values = []
    for label in others:
        seeds = sorted(set(by_seed[best]) & set(by_seed[label]))
        pairs = np.array([(by_seed[best][s], by_seed[label][s]) for s in seeds]).reshape(-1, 2)
        pairs = pairs[~np.isnan(pairs).any(axis=1)]
        p_values.append(signed_rank(pairs[:, 0], pairs[:, 1]))
    tests = ", ".join(f"{escape_markdown(label)} p = {p:.2g}" for label, p in zip(others, holm(p_values), strict=True))
    tested = f"Wilcoxon signed-rank over seeds, Holm-corrected: {tests}"
    return f"{METRICS[metric].title}: {escape_markdown(best)} is best; {tested}.\n"
