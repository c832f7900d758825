"""Writes the results of a plan: page, tables, rows of all runs, figures."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from .._util.csv_text import csv_text
from .._util.files import file_name, write_text
from ..catalogue import load
from . import figures
from .drawing import save_figure
from .measure import to_csv, versions_of
from .metrics import METRICS
from .statistics import compare_means, holm, pairwise, signed_rank
from .tables import escape_markdown, markdown_row, tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from .measure import Measured
    from .tables import ResultTable


def write_tables(measured: Measured, folder: Path) -> list[Path]:
    """Write the page of a plan, its tables as CSV and LaTeX, the metrics of every run, and true fronts."""
    plan, found = measured.plan, tables(measured)
    written = [
        write_text(folder / f"{plan.name}.md", _page(measured, found)),
        write_text(folder / f"{plan.name}-runs.csv", to_csv(measured.frame)),
    ]
    for table in found:
        stem = f"{plan.name}-{file_name(table.name)}"
        written.append(write_text(folder / "tables" / f"{stem}.csv", table.csv()))
        written.append(write_text(folder / "tables" / f"{stem}.tex", table.latex()))
    for problem, known in measured.known.items():
        digits = 6 if known.is_table else 12
        rows = [[_number(x, digits) for x in point] for point in known.front.tolist()]
        written.append(write_text(folder / _true_front(problem), csv_text([measured.names[problem], *rows])))
    return written


def _true_front(problem: str) -> str:
    """Return the path of the true front of a problem, shared by all plans."""
    return f"true-fronts/{file_name(problem)}.csv"


def _number(value: float, digits: int) -> str:
    return f"{value:.0f}" if value.is_integer() else f"{value:.{digits}g}"


def _page(measured: Measured, found: list[ResultTable]) -> str:
    plan = measured.plan
    paper = f", {escape_markdown(plan.paper)} of the paper" if plan.paper else ""
    brackets = "; the paper's figure in brackets" if any(table.has_paper for table in found) else ""
    lines = [f"# {escape_markdown(plan.title)}", "", f"Plan `{plan.name}`{paper}: {plan.budget} per run.", ""]
    lines += [f"Mean ± 95 % confidence interval over n runs, best in bold{brackets}.", ""]
    lines += [*_known(measured), *_versions(measured)]
    failed = measured.frame["error"][measured.frame["error"] != ""]
    if len(failed):
        lines += [f"{len(failed)} runs failed; the first one: {escape_markdown(failed.iloc[0])}", ""]
    for table in found:
        lines += [f"## {escape_markdown(table.title)}", "", table.markdown(), *_tests(measured, table)]
    for stem, caption, _ in _figures(measured):
        lines += [f"![{escape_markdown(caption)}](figures/{plan.name}-{stem}.svg)", ""]
    return "\n".join(lines).rstrip()


def _known(measured: Measured) -> list[str]:
    """Return which true fronts are known, and what is compared with them."""
    lines = []
    for problem, known in measured.known.items():
        if known.is_table:
            lines += [
                f"All {len(known.points):,} solutions of {escape_markdown(problem)} are known, and so is its true "
                f"front: [{len(known.front)} points]({_true_front(problem)}). Up to the fixed reference point "
                "the hypervolume is a share of the true front's.",
                "",
            ]
    proved = {problem: known for problem, known in measured.known.items() if not known.is_table}
    links = ", ".join(
        f"{escape_markdown(problem)} ([{len(known.front)}]({_true_front(problem)}))"
        for problem, known in proved.items()
    )
    if proved:
        lines += [
            f"The true front is proved for {len(proved)} of {len(measured.plan.problems)} problems (with its points): "
            f"{links}. Only the tables that name the true front compare with it: its hypervolume up to the worst of it "
            "and a tenth of its range more, and IGD+ in units of its range.",
            "",
        ]
    return lines


def _versions(measured: Measured) -> list[str]:
    """Return the versions that the runs were made with, if recorded."""
    found = {"algorithm revision" if n == "revision" else n: v for n, v in versions_of(measured.frame).items()}
    parts = [f"{name} {' and '.join(numbers)}" for name, numbers in sorted(found.items())]
    silent = int((measured.frame["versions"] == "").sum())
    said = f"Made with {', '.join(parts)}." if parts else ""
    if silent:
        said += f" {silent:,} of {len(measured.frame):,} runs have no recorded versions."
    return [escape_markdown(said), ""]


def _tests(measured: Measured, table: ResultTable) -> list[str]:
    """Return the statistics below a table."""
    plan = measured.plan
    if plan.layout == "instances":
        return _over_problems(measured, table.name)
    if plan.layout == "grid":
        return [against_best(measured, plan.problems[0], table.name)]
    problem = next((p for p in plan.problems if file_name(p) == file_name(table.name)), None)
    return [against_best(measured, problem, metric) for metric in plan.metrics] if problem else []


def _samples(measured: Measured, metric: str) -> dict[str, dict[str, NDArray[np.float64]]]:
    """Return all values of a metric by problem and label."""
    plan = measured.plan
    return {p: {label: measured.values(p, label, metric) for label in plan.labels} for p in plan.problems}


def _over_problems(measured: Measured, metric: str) -> list[str]:
    """Return average ranks, and comparisons of the best-ranked algorithm and the plan's reference with all others."""
    better, samples = METRICS[metric].more_is_better, _samples(measured, metric)
    found = compare_means(samples, more_is_better=better)
    if found is None:
        return []
    ranking = ", ".join(f"{escape_markdown(str(n))} {r:.2f}" for n, r in found.ranks.sort_values(kind="stable").items())
    text = f"Average ranks over {len(found.means)} instances: {ranking}."
    if not math.isnan(found.friedman):
        text += f" Friedman's test: p = {found.friedman:.2g}; critical difference {found.difference:.2f}."
    lines = [text, ""]
    complete = {str(problem): samples[str(problem)] for problem in found.means.index}
    for reference in dict.fromkeys([found.best, measured.plan.reference]):
        head = [f"{escape_markdown(reference)} against", "won", "tied", "lost", "Wilcoxon (Holm)"]
        lines += [markdown_row(head), "|" + "---|" * len(head)]
        for label, won, tied, lost, p in pairwise(complete, reference, more_is_better=better).itertuples():
            lines.append(markdown_row([escape_markdown(label), f"{won}", f"{tied}", f"{lost}", f"{p:.2g}"]))
        lines.append("")
    return lines


def against_best(measured: Measured, problem: str, metric: str) -> str:
    """Return for one problem the signed-rank tests of all algorithms against the best over common seeds."""
    frame = measured.frame[measured.frame["problem"] == problem]
    by_seed = frame.pivot(index="seed", columns="algorithm", values=metric)
    by_seed = by_seed.reindex(columns=measured.plan.labels).dropna(axis=1, how="all")
    if by_seed.shape[1] < 2:
        return ""
    means = by_seed.mean()
    best = str(means.idxmax() if METRICS[metric].more_is_better else means.idxmin())
    others = [label for label in by_seed.columns if label != best]
    pairs = [by_seed[[best, label]].dropna().to_numpy(dtype=float) for label in others]
    p_values = holm([signed_rank(*pair.T) for pair in pairs])
    tests = ", ".join(f"{escape_markdown(label)} p = {p:.2g}" for label, p in zip(others, p_values, strict=True))
    tested = f"Wilcoxon signed-rank over seeds, Holm-corrected: {tests}"
    return f"{METRICS[metric].title}: {escape_markdown(best)} is best; {tested}.\n"


def write_figures(measured: Measured, folder: Path, data: Path | None = None) -> list[Path]:
    """Write the figures of a plan as PNG and SVG."""
    written = []
    for stem, _, draw in _figures(measured, data):
        written += save_figure(draw(), folder / "figures" / f"{measured.plan.name}-{stem}")
    return written


def _figures(measured: Measured, data: Path | None = None) -> Iterator[tuple[str, str, Callable[[], Figure]]]:
    """Yield file name, caption and drawing of each figure; problems of the plan replace missing ones."""
    plan, records = measured.plan, measured.records
    for kind, caption, draw in (
        ("fronts", "Aggregated fronts on {}", _fronts),
        ("history", "Hypervolume over evaluations on {}", _history),
        ("attainment", "Attainment surfaces on {}", lambda _, p, title: figures.attainment(records[p], title)),
        ("policies", "Policies over the front on {}, two runs", _policies),
        ("matrices", "The cost matrices of {}", partial(_matrices, data)),
    ):
        wanted = getattr(plan.figures, kind)
        for problem in [p for p in wanted if p in plan.problems] or plan.problems[: bool(wanted)]:
            known = measured.known.get(problem)
            cloud = " over all solutions" if kind == "fronts" and known is not None and known.is_table else ""
            title = caption.format(problem) + cloud
            yield f"{kind}-{file_name(problem)}", title, partial(draw, measured, problem, title)
    if plan.layout == "instances":
        found = compare_means(_samples(measured, "hypervolume"), more_is_better=True)
        if found is not None:
            title = f"Average ranks by hypervolume over {len(found.means)} instances"
            yield "ranks", title, partial(figures.average_ranks, found, title)


def _fronts(measured: Measured, problem: str, title: str) -> Figure:
    known = measured.known.get(problem)
    if known is None:
        return figures.aggregated_fronts(measured.records[problem], title)
    cloud = known.points if known.is_table else None
    return figures.aggregated_fronts(
        measured.records[problem], title, measured.names[problem], cloud=cloud, true_front=known.front
    )


def _history(measured: Measured, problem: str, title: str) -> Figure:
    return figures.hypervolume_history(measured.records[problem], title, measured.scales[problem])


def _policies(measured: Measured, problem: str, title: str) -> Figure:
    runs = measured.records[problem].get(measured.plan.reference, [])
    return figures.policy_distribution(runs[:2], title)


def _matrices(data: Path | None, _: Measured, problem: str, title: str) -> Figure:
    return figures.cost_matrices(load(problem, data=data).data.costs, title)
