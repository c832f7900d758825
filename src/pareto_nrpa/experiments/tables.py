"""Tables of an experiment: means and intervals beside the paper's, as Markdown, CSV and LaTeX."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._util.csv_text import csv_text
from .measure import library
from .metrics import METRICS, METRICS_OF_THE_TRUTH, Scale
from .statistics import mean_and_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pandas as pd

    from .measure import Measured
    from .plan import Plan

_DASH = "-"
_CURVE_DIGITS = 3  # after few evaluations values are close to each other
_KEYS = ["problem", "algorithm", "metric"]


@dataclass(frozen=True, eq=False)
class ResultTable:
    """A table.

    `cells` has a row per cell: the names of its row and column, mean, interval, runs, the paper's mean and interval,
    the texts of both, and whether it is among the best.
    """

    name: str  # for files
    title: str
    corner: str
    cells: pd.DataFrame

    @property
    def has_paper(self) -> bool:
        """Whether the paper prints a number for one of the cells."""
        return bool((self.cells["paper"] != "").any())

    def markdown(self) -> str:
        """Return the table in Markdown: best in bold, the paper's figure in brackets."""
        text = self.cells["text"].mask(self.cells["best"], "**" + self.cells["text"] + "**")
        text = text.mask(self.cells["paper"] != "", text + " (" + self.cells["paper"] + ")")
        head, *rows = self._lines(text, escape_markdown)
        lines = [markdown_row(head), "|" + "---|" * len(head), *map(markdown_row, rows)]
        return "\n".join(lines) + "\n"

    def latex(self) -> str:
        """Return the table in LaTeX, for the booktabs package."""
        number = self.cells["text"].str.replace("±", r"\pm")
        text = ("$" + number.mask(self.cells["best"], r"\mathbf{" + number + "}") + "$").replace(f"${_DASH}$", _DASH)
        head, *rows = (" & ".join(line) + r" \\" for line in self._lines(text, _escape_latex))
        columns = "l" + "c" * self.cells["column"].nunique()
        lines = [r"\begin{table}", r"\centering", rf"\caption{{{_escape_latex(self.title)}}}"]
        lines += [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *rows]
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])

    def _lines(self, text: pd.Series[str], escape: Callable[[str], str]) -> Iterator[list[str]]:
        """Yield the head and the rows of the table with some text in its cells."""
        rows, columns = self.cells["row"].unique(), self.cells["column"].unique()
        grid = self.cells.assign(text=text).pivot(index="row", columns="column", values="text")
        yield [escape(name) for name in (self.corner, *columns)]
        for row, *cells in grid.reindex(index=rows, columns=columns, fill_value="").fillna("").itertuples():
            yield [escape(row), *cells]

    def csv(self) -> str:
        """Return the table as CSV, one line per cell."""
        numbers = self.cells[["mean", "interval", "runs", "paper_mean", "paper_interval"]]
        shown = numbers.map(lambda x: "" if math.isnan(x) else f"{x:.6g}")
        names = self.cells[["row", "column"]].rename(columns={"row": self.corner or "row"})
        whole = names.join(shown)
        return csv_text([whole.columns, *whole.to_numpy().tolist()])


def escape_markdown(text: str) -> str:
    """Return text escaped for Markdown and HTML."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", " ".join(text.split()))


def markdown_row(cells: Sequence[str]) -> str:
    """Return the row of a table in Markdown."""
    return f"| {' | '.join(cells)} |"


def _escape_latex(text: str) -> str:
    words = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
    return "".join(words.get(c, rf"\{c}" if c in "&%$#_{}" else c) for c in " ".join(text.split()))


def tables(measured: Measured) -> list[ResultTable]:
    """Return all tables of a plan, in its layout."""
    plan, metrics = measured.plan, _metrics(measured)
    cells = _cells(measured, metrics)
    if plan.layout == "metrics":
        found = [_of_problem(measured, problem, cells) for problem in plan.problems]
        curved = [p for p in plan.problems if plan.curve and any(measured.records[p].values())]
        return found + [_of_curve(measured, problem) for problem in curved]
    by_metric = _of_grid if plan.layout == "grid" else _of_metric
    return [by_metric(measured, cells[cells["metric"] == metric], metric) for metric in metrics]


def _metrics(measured: Measured) -> list[str]:
    """Return the metrics of the plan, and those of a fixed reference point and of true fronts where available."""
    wanted, there = list(measured.plan.metrics), measured.frame[list(METRICS)].notna().any()
    if "hypervolume" in wanted and "fixed_hypervolume" not in wanted and there["fixed_hypervolume"]:
        wanted.insert(wanted.index("hypervolume") + 1, "fixed_hypervolume")
    # Where all solutions are known, the fixed hypervolume equals the true one.
    is_fixed = there["fixed_hypervolume"] and all(known.is_table for known in measured.known.values())
    for metric in METRICS_OF_THE_TRUTH:
        if metric not in wanted and there[metric] and not (metric == "true_hypervolume" and is_fixed):
            wanted.append(metric)
    return wanted


def _cells(measured: Measured, metrics: list[str]) -> pd.DataFrame:
    """Return the mean of each metric of each algorithm on each problem, beside the paper's."""
    pandas, plan = library("pandas"), measured.plan
    values = measured.frame.melt(_KEYS[:2], metrics, var_name="metric").dropna(subset="value")
    places = pandas.MultiIndex.from_product([plan.problems, plan.labels, metrics], names=_KEYS)
    found: Any = values.groupby(_KEYS)["value"].agg(
        mean=lambda runs: mean_and_interval(runs)[0], interval=lambda runs: mean_and_interval(runs)[1], runs="size"
    )
    cells: pd.DataFrame = found.reindex(places).fillna({"runs": 0}).astype({"runs": int})
    cells = cells.join(published(plan)).reset_index()
    # Comparison with the true front, where that is known.
    is_known = cells["problem"].isin(measured.known) | ~cells["metric"].isin(METRICS_OF_THE_TRUTH)
    return cells.loc[is_known | cells["metric"].isin(plan.metrics)]


@cache
def _all_published() -> Any:
    return library("pandas").read_csv(Path(__file__).with_name("published.csv"))


def published(plan: Plan) -> pd.DataFrame:
    """Return the paper's numbers by problem, label and metric: paper_mean, NaN for a dash, and paper_interval.

    If two tables have a number, the later one, which has an interval, is used.
    """
    found = _all_published()[lambda numbers: numbers["plan"] == plan.name]
    found = found.iloc[found["ci"].notna().argsort(kind="stable")].drop_duplicates(_KEYS, keep="last")
    names = {problem: plan.published.get(problem, problem) for problem in plan.problems}
    places = library("pandas").DataFrame({"place": names.keys(), "problem": names.values()})
    numbers: pd.DataFrame = places.merge(found, on="problem").drop(columns="problem")
    numbers = numbers.rename(columns={"place": "problem", "mean": "paper_mean", "ci": "paper_interval"})
    return numbers.set_index(_KEYS)[["table", "paper_mean", "paper_interval"]]


def _table(
    name: str, title: str, corner: str, cells: pd.DataFrame, *, best_in: list[str], digits: dict[str, int] | int
) -> ResultTable:
    """Return a table of cells that have a row and a column, the best of each group marked.

    As in the paper, all values equal to the best in print are marked.
    """
    of_cell = cells["metric"].map(digits) if isinstance(digits, dict) else digits
    cells = cells.assign(digits=of_cell)
    signs = cells["metric"].map(lambda metric: 1 if METRICS[metric].more_is_better else -1)
    best = (cells["mean"] * signs).groupby([cells[key] for key in best_in]).transform("max") * signs
    texts = [_printed(*row) for row in zip(cells["mean"], cells["digits"], cells["interval"], strict=True)]
    papers = [
        "" if isinstance(table, float) else _printed(mean, 2, interval)
        for table, mean, interval in zip(cells["table"], cells["paper_mean"], cells["paper_interval"], strict=True)
    ]
    is_best = [
        not math.isnan(mean) and f"{mean:.{d}f}" == f"{top:.{d}f}"
        for mean, top, d in zip(cells["mean"], best, cells["digits"], strict=True)
    ]
    return ResultTable(name, title, corner, cells.assign(text=texts, paper=papers, best=is_best))


def _printed(mean: float, digits: int, interval: float) -> str:
    """Return a mean with its interval as the paper prints them; some of its numbers have no interval."""
    if math.isnan(mean):
        return _DASH
    return f"{mean:.{digits}f}" + ("" if math.isnan(interval) else f" ± {interval:.{digits}f}")


def _digits(cells: pd.DataFrame) -> dict[str, int]:
    return {metric: METRICS[metric].digits for metric in cells["metric"].unique()}


def _headed(cells: pd.DataFrame) -> pd.Series[str]:
    """Return the label of each cell with its number of runs."""
    runs = cells.groupby("algorithm")["runs"].agg(["min", "max"])
    heads = {label: f"{label} {_runs(*row)}" for label, *row in runs.itertuples()}
    return cells["algorithm"].map(heads)


def _runs(least: int, most: int) -> str:
    return f"(n={most})" if least == most else f"(n={least}-{most})"


def _of_metric(measured: Measured, cells: pd.DataFrame, metric: str) -> ResultTable:
    """Return a table of problems by algorithms."""
    cells = cells.assign(row=cells["problem"], column=_headed(cells))
    title = f"{METRICS[metric].title}: {measured.plan.title}"
    return _table(metric, title, "Instance", cells, best_in=["row"], digits=_digits(cells))


def _of_problem(measured: Measured, problem: str, cells: pd.DataFrame) -> ResultTable:
    """Return a table of algorithms by metrics."""
    cells = cells[cells["problem"] == problem]
    first = cells[cells["metric"] == cells["metric"].iloc[0]]
    heads = dict(zip(first["algorithm"], _headed(first), strict=True))
    titles = cells["metric"].map(lambda metric: METRICS[metric].title)
    cells = cells.assign(row=cells["algorithm"].map(heads), column=titles)
    title = f"{problem}: {measured.plan.title}"
    return _table(_stem(problem), title, "Algorithm", cells, best_in=["column"], digits=_digits(cells))


def _stem(problem: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", problem)


def _of_curve(measured: Measured, problem: str) -> ResultTable:
    """Return the hypervolume after some numbers of evaluations, as a share of the true front's where that is known."""
    plan, known, runs = measured.plan, measured.known.get(problem), measured.records[problem]
    scale = measured.scales[problem] if known is None else Scale.of_front(known)
    # A reduced plan ends earlier.
    steps = [n for n in plan.curve if plan.evaluations is None or n <= plan.evaluations] or [plan.evaluations or 1]
    rows = []
    for label, records in runs.items():
        for n in steps:
            logs = [record.feasible_log for record in records]
            mean, interval = mean_and_interval([scale.share(log[log[:, 0] <= n, 1:]) for log in logs])
            place = {"row": f"{label} {_runs(len(records), len(records))}", "column": f"{n:,}", "runs": len(records)}
            rows.append({**place, "mean": mean, "interval": interval})
    nothing = {"table": math.nan, "paper_mean": math.nan, "paper_interval": math.nan}
    cells = library("pandas").DataFrame(rows).assign(metric="hypervolume", **nothing)
    what = "the largest hypervolume of any run" if known is None else "the true front's hypervolume"
    title = f"{problem}: share of {what} after some evaluations"
    name = f"{_stem(problem)}-curve"
    return _table(name, title, "Algorithm", cells, best_in=["column"], digits=_CURVE_DIGITS)


def _of_grid(measured: Measured, cells: pd.DataFrame, metric: str) -> ResultTable:
    """Return a table of policies by learning rates, read from the parameters."""
    plan, problem = measured.plan, measured.plan.problems[0]
    cells = cells[cells["problem"] == problem]
    places = {c.label: (c.parameters["n_policies"], c.parameters["alpha"]) for c in plan.contenders}
    cells = cells.assign(place=cells["algorithm"].map(places)).sort_values("place")
    rows = ["1 policy" if policies == 1 else f"{policies:g} policies" for policies, _ in cells["place"]]
    cells = cells.assign(row=rows, column=[f"alpha {alpha:g}" for _, alpha in cells["place"]])
    runs = _runs(cells["runs"].min(), cells["runs"].max())
    title = f"{METRICS[metric].title} on {problem} {runs}: {plan.title}"
    return _table(metric, title, "", cells, best_in=["problem"], digits=_digits(cells))
