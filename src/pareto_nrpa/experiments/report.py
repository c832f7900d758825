"""Writes what a plan comes to: a page, tables and figures for one plan, and the page of claims for all."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from .._util.csv_text import csv_text
from .._util.files import file_name, write_atomically
from ..catalogue import load
from . import figures
from .claims import CLAIMS, judge
from .drawing import save_figure
from .rank_figure import critical_difference
from .rows import to_csv
from .tables import against_best_markdown, comparison, comparison_markdown, escape_markdown, tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path
    from typing import BinaryIO

    from matplotlib.figure import Figure

    from .measure import Measured
    from .tables import ResultTable


def write_tables(measured: Measured, folder: Path) -> list[Path]:
    """Write the page of a plan, its tables as CSV and LaTeX, the metrics of every run, and true fronts."""
    plan = measured.plan
    found = tables(measured)
    written = [
        _write(folder / f"{plan.name}.md", _page(measured, found)),
        _write(folder / f"{plan.name}-runs.csv", to_csv(measured.rows)),
    ]
    for table in found:
        stem = f"{plan.name}-{file_name(table.name)}"
        written.append(_write(folder / "tables" / f"{stem}.csv", table.csv()))
        written.append(_write(folder / "tables" / f"{stem}.tex", table.latex()))
    for problem, known in measured.known.items():
        digits = 6 if known.is_table else 12
        rows = [[_number(x, digits) for x in point] for point in known.front.tolist()]
        written.append(_write(folder / _true_front(problem), csv_text([measured.names[problem], *rows])))
    return written


def _true_front(problem: str) -> str:
    """Return where the true front of a problem is: in one place for all plans."""
    return f"true-fronts/{file_name(problem)}.csv"


def _number(value: float, digits: int) -> str:
    return f"{value:.0f}" if value.is_integer() else f"{value:.{digits}g}"


def _page(measured: Measured, found: list[ResultTable]) -> str:
    plan = measured.plan
    lines = [f"# {escape_markdown(plan.title)}", ""]
    paper = f", {escape_markdown(plan.paper)} of the paper" if plan.paper else ""
    lines += [f"Plan `{plan.name}`{paper}: {plan.budget} per run.", ""]
    brackets = "; the paper's figure in brackets" if any(table.has_paper for table in found) else ""
    lines += [f"Mean ± 95 % confidence interval over n runs, best in bold{brackets}.", ""]
    for problem, known in measured.known.items():
        if not known.is_table:
            continue
        lines += [
            f"All {len(known.points):,} solutions of {escape_markdown(problem)} are known, and so is its true front: "
            f"[{len(known.front)} points]({_true_front(problem)}). Up to the fixed reference point "
            "the hypervolume is a share of the true front's.",
            "",
        ]
    lines += _proved(measured)
    lines += _versions(measured)
    failed = [row for row in measured.rows if row.error]
    if failed:
        lines += [f"{len(failed)} runs failed; the first one: {escape_markdown(failed[0].error)}", ""]
    for table in found:
        lines += [f"## {escape_markdown(table.title)}", "", table.markdown()]
        lines += _tests(measured, table)
    for stem, caption, _ in _figures(measured):
        lines += [f"![{escape_markdown(caption)}](figures/{plan.name}-{stem}.svg)", ""]
    return "\n".join(lines).rstrip() + "\n"


def _proved(measured: Measured) -> list[str]:
    """Say which true fronts are proved, and what is measured against them."""
    proved = {problem: known for problem, known in measured.known.items() if not known.is_table}
    if not proved:
        return []
    links = ", ".join(
        f"{escape_markdown(problem)} ([{len(known.front)}]({_true_front(problem)}))"
        for problem, known in proved.items()
    )
    return [
        f"The true front is proved for {len(proved)} of {len(measured.plan.problems)} problems (with its points): "
        f"{links}. Only the tables that name the true front compare with it: its hypervolume up to the worst of it and "
        "a tenth of its range more, and IGD+ in units of its range.",
        "",
    ]


def _versions(measured: Measured) -> list[str]:
    """Say with what the runs were made, where they say so."""
    found: dict[str, dict[str, None]] = {}
    for row in measured.rows:
        for name, number in row.versions.items():
            found.setdefault("algorithm revision" if name == "revision" else name, {})[number] = None
    parts = [f"{name} {' and '.join(numbers)}" for name, numbers in sorted(found.items())]
    silent = sum(not row.versions for row in measured.rows)
    said = f"Made with {', '.join(parts)}." if parts else ""
    if silent:
        said += f" {silent:,} of {len(measured.rows):,} runs are from before versions were kept."
    return [escape_markdown(said), ""]


def _tests(measured: Measured, table: ResultTable) -> list[str]:
    plan = measured.plan
    if plan.layout == "instances":
        found = comparison(measured, table.name)
        if found is None:
            return []
        lines = [comparison_markdown(found)]
        if found.pairs[0].first != plan.reference:
            other = comparison(measured, table.name, plan.reference)
            lines += [] if other is None else [comparison_markdown(other).partition("\n\n")[2]]
        return lines
    if plan.layout == "grid":
        return [against_best_markdown(measured, plan.problems[0], table.name)]
    problem = next((p for p in plan.problems if file_name(p) == file_name(table.name)), None)
    return [against_best_markdown(measured, problem, metric) for metric in plan.metrics] if problem else []


def write_figures(measured: Measured, folder: Path, data: str | None = None) -> list[Path]:
    """Write the figures of a plan as PNG and SVG."""
    written = []
    for stem, _, draw in _figures(measured, data):
        written += save_figure(draw(), folder / "figures" / f"{measured.plan.name}-{stem}")
    return written


def _figures(measured: Measured, data: str | None = None) -> Iterator[tuple[str, str, Callable[[], Figure]]]:
    """Yield file name, caption and drawing of each figure; problems of the plan stand in for those it does not have."""
    plan, records = measured.plan, measured.records

    def chosen(kind: str) -> list[str]:
        wanted = [p for p in plan.figures.get(kind, ()) if p in plan.problems]
        return wanted or (list(plan.problems[:1]) if plan.figures.get(kind) else [])

    for problem in chosen("fronts"):
        known = measured.known.get(problem)
        cloud = "" if known is None or not known.is_table else " over all solutions"
        caption = f"Aggregated fronts on {problem}{cloud}"
        yield f"fronts-{file_name(problem)}", caption, partial(_fronts, measured, problem, caption)
    for problem in chosen("history"):
        caption = f"Hypervolume over evaluations on {problem}"
        yield (
            f"history-{file_name(problem)}",
            caption,
            partial(figures.hypervolume_history, records[problem], caption, measured.scales[problem]),
        )
    for problem in chosen("attainment"):
        caption = f"Attainment surfaces on {problem}"
        yield f"attainment-{file_name(problem)}", caption, partial(figures.attainment, records[problem], caption)
    for problem in chosen("policies"):
        caption = f"Policies over the front on {problem}, two runs"
        runs = records[problem].get(plan.reference, [])[:2]
        yield f"policies-{file_name(problem)}", caption, partial(figures.policy_distribution, runs, caption)
    for problem in chosen("matrices"):
        caption = f"The cost matrices of {problem}"
        yield f"matrices-{file_name(problem)}", caption, partial(_matrices, problem, caption, data)
    found = comparison(measured, "hypervolume") if plan.layout == "instances" else None
    if found is not None:
        caption = f"Average ranks by hypervolume over {found.n_problems} instances"
        ranked = found.ranks, found.labels, found.difference
        yield "ranks", caption, partial(critical_difference, *ranked, caption)


def _fronts(measured: Measured, problem: str, caption: str) -> Figure:
    known = measured.known.get(problem)
    if known is None:
        return figures.aggregated_fronts(measured.records[problem], caption)
    return figures.aggregated_fronts(
        measured.records[problem],
        caption,
        measured.names[problem],
        known.points if known.is_table else None,
        known.front,
    )


def _matrices(problem: str, caption: str, data: str | None) -> Figure:
    return figures.cost_matrices(load(problem, data=data).data.costs, caption)


def write_claims(measured: Mapping[str, Measured], folder: Path) -> Path:
    """Write the page that holds the paper's claims against the runs of all plans."""
    lines = ["# The paper's claims, one by one", ""]
    lines += ["Verdicts by count allow two instances less than the paper's; runs are those of each algorithm.", ""]
    lines += ["| claim | where | plan | runs | verdict | measured |", "|" + "---|" * 6]
    for claim in CLAIMS:
        runs = measured.get(claim.plan)
        verdict = judge(claim, runs)
        has_page = (folder / f"{claim.plan}.md").exists()
        plan = f"[{claim.plan}]({claim.plan}.md)" if has_page else claim.plan
        cells = [claim.text, claim.where, plan, "" if runs is None else _counts(runs), f"**{verdict.word}**"]
        lines.append("| " + " | ".join([*cells, verdict.measured]) + " |")
    return _write(folder / "claims.md", "\n".join(lines) + "\n")


def _counts(measured: Measured) -> str:
    """Return how many runs the algorithms of a plan have on each problem, from the fewest to the most."""
    places = [(p, c.label) for p in measured.plan.problems for c in measured.plan.contenders]
    counts = {len(measured.values(problem, label, "violations")) for problem, label in places}
    return f"{min(counts)}" if len(counts) == 1 else f"{min(counts)}-{max(counts)}"


def _write(path: Path, text: str) -> Path:
    def write(file: BinaryIO) -> None:
        file.write(text.encode())

    return write_atomically(path, write)
