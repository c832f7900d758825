"""The default search and its rivals: sections of docs/results/default-search.md, made from stored runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from report import PAGES, conditions, table, write_section

from pareto_nrpa import PolishedNRPA
from pareto_nrpa._util.files import write_atomically
from pareto_nrpa.experiments.drawing import add_legend, house_style, look_of, new_figure
from pareto_nrpa.experiments.statistics import rank_sum, signed_rank

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from matplotlib.figure import Figure

    Row = dict[str, str]

DEFAULT = "polished-nrpa"
_LEAST_RUNS = 4
_LEAST_PAIRS = 6  # fewer cannot be significant
# What a figure shows as missing of a front that is complete.
_NOTHING_MISSING = 1e-5
_TITLES = {
    "hard": "Ten hard tours with windows",
    "all": "All 31 official tours with windows",
    "generated": "Generated windows, 100 and 200 stops",
    "tsplib": "kroAB100 and kroAC100",
    "mo-tsp": "Tours without windows",
    "three": "Three costs",
    "architectures": "Neural architectures",
    "kinds": "Other kinds of problems",
    "ablation": "Each part taken out, one at a time",
}
_HEADER = (
    "instances", "budget", "method", "of them", "seeds", "mean share", "lowest share", "points found", "feasible runs",
    "first feasible, s", "ms an evaluation", "default ahead / behind", "means ahead / behind",
)  # fmt: skip
_NOTES = f"""\
Share: of the hypervolume of the proved front, or where none is proved of the common front of all runs up to the day it
was frozen as a yardstick (`--freeze`; a later run can have a share above 1), up to its worst point and a tenth of its
range more; mean over instances of means over seeds. Points found: of the same front. A budget in s is CPU time on one
thread, in e evaluations: calls of `evaluate`; neighbours that the default search judges by segments are not among them.
For `counted` every one of those is an evaluation too, as for Pareto Local Search, which plays its neighbours. What
follows a colon is set otherwise; `detour=0` is the default search as it was before it took detours. First feasible: the
slowest instance, median of the seeds. Milliseconds are of CPU time. Ahead and behind: on how many instances the default
search is significantly better and worse than that method (rank sums, 5 %, each instance for itself, not corrected for
their number, instances with {_LEAST_RUNS} runs of each or more). The last column: on how many its mean over seeds is
higher and lower, and whether that is chance (signed ranks of the means; where there are fewer than {_LEAST_PAIRS}
instances, of runs with one instance and seed). PyVRP: twenty weighted sums one after the other, every feasible
candidate kept.

Runs were made in several sittings, beside other programs, on machines of two kinds (AMD EPYC and Intel Xeon) whose
speed varied by a third: a second of CPU time is not worth the same in all of them. The first runs of the default search
are of revisions of it that differ in details: a seed may give another front of about the same share now.

Where nothing is proved, shares flatter the search that found most of the common front, which is the default search.
Settings were chosen on some of these instances: [the page on the default search](../default-search.md) says which.

The default: `{PolishedNRPA()}`."""


def write_page(rows: list[Row], groups: dict[str, list[str]]) -> None:
    """Write the page, and a figure of how much of each proved front is missing after ten seconds."""
    rows = [row for row in rows if row["share"] != "nan"]
    write_section(
        "default-search", "What was measured", f"Made by `python benchmarks/rivals.py`. {conditions()}.\n\n{_NOTES}"
    )
    for group, title in _TITLES.items():
        text = table(_HEADER, _lines_of(rows, group, groups[group]))
        if group == "all":
            _save(_missing(rows, groups[group], "10s"), PAGES / "figures" / "rivals-10s.svg")
            text = f"![What is missing of each front after ten seconds](figures/rivals-10s.svg)\n\n{text}"
        write_section("default-search", title, text)


def _lines_of(rows: list[Row], group: str, names: list[str]) -> list[list[str]]:
    """Return the lines of a table; what differs too much for a mean has lines of its own."""
    parts = [[name] for name in names] if group in ("architectures", "kinds", "mo-tsp", "three") else [names]
    lines = []
    for part in parts:
        own = [row for row in rows if row["instance"] in part]
        for budget in dict.fromkeys(row["budget"] for row in own):
            at_budget = [row for row in own if row["budget"] == budget]
            lines += _compared(at_budget, group if len(part) > 1 else part[0])
    return lines


def _compared(rows: list[Row], title: str) -> list[list[str]]:
    """Return a line for each method, over the instances that all of them were run on."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    common = set.intersection(*({row["instance"] for row in rows if row["method"] == m} for m in methods))
    runs = {m: [row for row in rows if row["method"] == m and row["instance"] in common] for m in methods}
    ours = runs.get(DEFAULT, [])
    lines = []
    for method in sorted(methods, key=lambda m: -float(_summary(runs[m])[2])):
        against = ["-", "-"]
        if ours and method != DEFAULT:
            against = [_ahead_and_behind(ours, runs[method]), _means_ahead_and_behind(ours, runs[method])]
        lines.append([title, rows[0]["budget"], method, *_summary(runs[method]), *against])
    return lines


def _summary(rows: list[Row]) -> list[str]:
    """Return what the runs of one method come to: means over seeds, then over instances."""
    by_instance: dict[str, list[Row]] = {}
    for row in rows:
        by_instance.setdefault(row["instance"], []).append(row)

    def each(field: str, mean: Callable[..., float] = np.mean) -> dict[str, float]:
        return {name: mean([float(row[field]) for row in group]) for name, group in by_instance.items()}

    n_seeds = sorted({len(group) for group in by_instance.values()})
    shares = each("share")
    lowest = min(shares, key=shares.__getitem__)
    first = np.max(list(each("first_feasible", np.median).values()))
    return [
        str(len(shares)),
        "-".join(map(str, dict.fromkeys((n_seeds[0], n_seeds[-1])))),
        f"{np.mean(list(shares.values())):.4f}",
        f"{shares[lowest]:.4f}" + (f" ({lowest})" if len(shares) > 1 else ""),
        f"{np.mean(list(each('found').values())):.0%}",
        f"{np.mean([int(row['points']) > 0 for row in rows]):.0%}",
        "-" if np.isnan(first) else f"{first:.3f}",
        _price_of_an_evaluation(rows),
    ]


def _price_of_an_evaluation(rows: list[Row]) -> str:
    """Return the milliseconds of CPU time for each evaluation of all runs, where both were counted."""
    seconds, evaluations = (sum(float(row[field]) for row in rows) for field in ("seconds", "evaluations"))
    return f"{1_000 * seconds / evaluations:.3g}" if evaluations and not np.isnan(seconds) else "-"


def _ahead_and_behind(ours: list[Row], theirs: list[Row]) -> str:
    """Return on how many instances we are significantly ahead and behind, by rank sums of shares (5 %, two-sided)."""
    ahead = behind = tested = 0
    for name in {row["instance"] for row in theirs}:
        a, b = ([float(row["share"]) for row in rows if row["instance"] == name] for rows in (ours, theirs))
        if min(len(a), len(b)) < _LEAST_RUNS:
            continue
        tested += 1
        if rank_sum(a, b) < 0.05:
            ahead += np.mean(a) > np.mean(b)
            behind += np.mean(a) < np.mean(b)
    return f"{ahead} / {behind} of {tested}" if tested else "-"


def _means_ahead_and_behind(ours: list[Row], theirs: list[Row]) -> str:
    """Return on how many instances our mean is higher and lower, and how likely that were by chance."""
    names = sorted({row["instance"] for row in theirs})
    if len(names) == 1:
        return "-"
    a, b = (
        np.array([np.mean([float(row["share"]) for row in rows if row["instance"] == name]) for name in names])
        for rows in (ours, theirs)
    )
    pairs = (a, b) if len(names) >= _LEAST_PAIRS else _runs_in_pairs(ours, theirs)
    chance = f" (p = {signed_rank(*pairs):.1g})" if len(pairs[0]) >= _LEAST_PAIRS else ""
    return f"{(a > b).sum()} / {(a < b).sum()} of {len(a)}{chance}"


def _runs_in_pairs(ours: list[Row], theirs: list[Row]) -> tuple[list[float], list[float]]:
    """Return the shares of all runs with an instance and a seed that both have."""
    mine, others = ({(row["instance"], row["seed"]): float(row["share"]) for row in rows} for rows in (ours, theirs))
    common = [key for key in mine if key in others]
    return [mine[key] for key in common], [others[key] for key in common]


def _save(figure: Figure, path: Path) -> None:
    # Without a date, equal figures are equal files.
    write_atomically(path, lambda file: figure.savefig(file, format="svg", metadata={"Date": None}))


@house_style()
def _missing(rows: list[Row], names: list[str], budget: str) -> Figure:
    """Draw what is missing of the hypervolume of each instance, the mean over seeds, for methods as they are."""
    own = [row for row in rows if row["budget"] == budget and row["instance"] in names and ":" not in row["method"]]
    methods = sorted({row["method"] for row in own}, key=lambda m: (m != DEFAULT, m))
    missing = {
        m: [_mean_missing([row for row in own if row["method"] == m and row["instance"] == name]) for name in names]
        for m in methods
    }
    order = np.argsort(missing[DEFAULT], kind="stable")
    figure, (axes,) = new_figure(f"Missing of the hypervolume after {budget} of CPU time", width=5.5, height=6.0)
    lines = []
    for i, method in enumerate(methods):
        look = {**look_of(i), "linestyle": "none"}
        lines += axes.plot(np.array(missing[method])[order], range(len(names)), markersize=5, zorder=10 - i, **look)
    axes.set_xscale("log")
    axes.set_xlabel(f"1 - share ({_NOTHING_MISSING:g}: nothing is missing)")
    axes.set_yticks(range(len(names)), [names[i] for i in order])
    add_legend(figure, lines, methods)
    return figure


def _mean_missing(rows: list[Row]) -> float:
    return max(_NOTHING_MISSING, 1.0 - float(np.mean([float(row["share"]) for row in rows]))) if rows else float("nan")
