"""The figures of a report: fronts, progress, policies, costs and attainment surfaces."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

import moocore
import numpy as np

from ..metrics import MANY_OBJECTIVES, nondominated
from .drawing import COLOURS, GREY, add_legend, finish, house_style, literal, look_of, new_figure, say, widen
from .measure import library
from .statistics import mean_and_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike, NDArray

    from .metrics import Scale
    from .runs import RunRecord
    from .statistics import MetricComparison

_NO_RUN = "no feasible run"
_OBJECTIVES = ("f1", "f2")
_CLOUD = "#b8b8b8"
_CLOUD_BEFORE, _CLOUD_BEHIND = 0.05, 0.4  # how far around the fronts solutions are shown, in units of their range
_FIRST_EVALUATION = 100  # earlier values are mostly random
_STEPS = 60
# Line styles by the share of runs that attain a surface, in per cent.
_SURFACES: dict[int, dict[str, Any]] = {
    25: {"linestyle": "--", "linewidth": 1.0},
    50: {"linestyle": "-", "linewidth": 1.8},
    75: {"linestyle": ":", "linewidth": 1.4},
}
_MOST_PANELS = 6


@house_style()
def aggregated_fronts(
    records: dict[str, list[RunRecord]],
    title: str,
    objectives: Sequence[str] = _OBJECTIVES,
    cloud: NDArray[np.float64] | None = None,
    true_front: NDArray[np.float64] | None = None,
) -> Figure:
    """Draw for each label the non-dominated feasible points of all its runs.

    Parameters
    ----------
    cloud
        All solutions, if known: those near the fronts are drawn in grey behind them.
    true_front
        The true front, if known: drawn as a staircase behind the fronts.
    """
    figure, (axes,) = new_figure(title, width=5.6, height=4.2)
    message = _why_no_front(_all_feasible(records))
    if cloud is not None and not message:
        _draw_cloud(axes, cloud, _all_feasible(records))
    lines = []
    for index, runs in enumerate(records.values()):
        front = nondominated(_feasible(runs)) if not message else np.zeros((0, 2))
        lines += axes.plot(*front.T, **look_of(index), linewidth=0.8, markersize=5, markerfacecolor="none")
    labels = _labels(records)
    if true_front is not None and not message:
        lines += _draw_true_front(axes, true_front)
        labels.append(f"true front ({len(true_front)} points)")
    finish(axes, objectives, message)
    add_legend(figure, lines, labels)
    return figure


@house_style()
def hypervolume_history(records: dict[str, list[RunRecord]], title: str, scale: Scale) -> Figure:
    """Draw how the hypervolume grew: the mean over the runs of each label, with its 95 % confidence interval."""
    figure, (axes,) = new_figure(title, width=5.6, height=4.2)
    message = _why_no_history(_all_feasible(records))
    lines = []
    for index, runs in enumerate(records.values()):
        history = _mean_history(runs, scale) if runs and not message else np.zeros((0, 3))
        evaluations, mean, interval = history.T
        look = look_of(index)
        # Markers start at different steps, so that coinciding lines are visible.
        lines += axes.plot(evaluations, mean, **look, linewidth=1.3, markersize=5, markevery=(index % 10, 10))
        least = np.maximum(mean - interval, 0)  # hypervolumes are not negative
        axes.fill_between(evaluations, least, mean + interval, color=look["color"], alpha=0.15, linewidth=0)
    if not message:  # a logarithmic axis without data has no ticks, and that is an error
        axes.set_xscale("log")
    finish(axes, ("evaluations", "normalised hypervolume"), message)
    add_legend(figure, lines, _labels(records))
    return figure


@house_style()
def policy_distribution(record_list: Sequence[RunRecord], title: str) -> Figure:
    """Draw the fronts of one run or two, each point coloured by the policy that sampled it."""
    runs = list(record_list)[:2]
    figure, panels = new_figure(title, columns=max(1, len(runs)), width=3.8, height=3.6, share=True)
    if not runs:
        finish(panels[0], _OBJECTIVES, _NO_RUN)
    lines: dict[int, Line2D] = {}
    for axes, run in zip(panels, runs, strict=False):
        axes.set_title(f"seed {run.run.seed}")
        lines |= _draw_policies(axes, run)
    policies = sorted(lines)
    add_legend(figure, [lines[policy] for policy in policies], [f"policy {policy}" for policy in policies])
    return figure


@house_style()
def cost_matrices(costs: ArrayLike, title: str) -> Figure:
    """Draw cost matrices [m, n, n] as heat maps side by side."""
    matrices = np.asarray(costs, dtype=float)
    names = ["primary cost", "secondary cost"]
    if len(matrices) != len(names):
        names = [f"cost {i + 1}" for i in range(len(matrices))]
    figure, panels = new_figure(title, columns=max(1, len(matrices)), width=3.8, height=3.4)
    if matrices.size == 0:
        say(panels[0], "no costs")
        return figure
    for axes, matrix, name in zip(panels, matrices, names, strict=True):
        image = axes.imshow(np.ma.masked_invalid(matrix), cmap="cividis", interpolation="nearest")
        figure.colorbar(image, ax=axes, shrink=0.85)
        axes.grid(visible=False)
        axes.set_title(name)
        finish(axes, ("to city", "from city"))
    return figure


@house_style()
def average_ranks(found: MetricComparison, title: str) -> Figure:
    """Draw average ranks on an axis, the best on the left; bars join insignificant differences (Demšar 2006)."""
    posthocs, pandas = library("scikit_posthocs"), library("pandas")
    labels = [literal(str(label)) for label in found.ranks.index]
    ranks = pandas.Series(found.ranks.to_numpy(), index=labels)
    distances = np.abs(np.subtract.outer(ranks.to_numpy(), ranks.to_numpy()))
    p_values = pandas.DataFrame(np.where(distances < found.difference, 1.0, 0.0), index=labels, columns=labels)
    title = f"{title} (critical difference {found.difference:.2f})"
    figure, (axes,) = new_figure(title, width=4.5, height=1.1 + 0.15 * len(labels))
    drawn = posthocs.critical_difference_diagram(
        ranks,
        p_values,
        ax=axes,
        label_fmt_left="{label} ({rank:.2f})  ",
        label_fmt_right="  {label} ({rank:.2f})",
        elbow_props={"color": "black", "linewidth": 0.8},
        marker_props={"s": 0},
        crossbar_props={"color": GREY, "linewidth": 3.5, "solid_capstyle": "butt"},
    )
    axes.grid(visible=False)
    axes.spines["top"].set_visible(True)
    half = (len(labels) + 1) // 2
    widen(figure, drawn["labels"][:half])
    widen(figure, drawn["labels"][half:])
    return figure


@house_style()
def attainment(records: dict[str, list[RunRecord]], title: str) -> Figure:
    """Draw for each of up to 6 labels the surfaces attained by a quarter, half and three quarters of its runs."""
    shown = dict(list(records.items())[:_MOST_PANELS])
    if len(shown) < len(records):
        title = f"{title} (the first {len(shown)} of {len(records)})"
    rows = 1 if len(shown) <= 3 else 2
    columns = max(1, math.ceil(len(shown) / rows))
    figure, panels = new_figure(title, rows=rows, columns=columns, width=2.9, height=2.7, share=True)
    for axes in panels[len(shown) :]:
        axes.set_axis_off()
    points = _all_feasible(shown)
    message = _why_no_front(points)
    if not shown:
        say(panels[0], message)
    for index, (axes, (label, runs)) in enumerate(zip(panels, shown.items(), strict=False)):
        axes.set_title(literal(f"{textwrap.fill(label, width=36)}\n({_count(runs)})"))
        if message or len(_feasible(runs)) == 0:
            say(axes, message or _NO_RUN)
        else:
            _draw_surfaces(axes, runs, points, COLOURS[index])
    figure.supxlabel(_OBJECTIVES[0])
    figure.supylabel(_OBJECTIVES[1])
    if not message:
        _add_surface_legend(figure)
    return figure


def _labels(records: dict[str, list[RunRecord]]) -> list[str]:
    """Return each label with its number of runs."""
    return [f"{label} ({_count(runs)})" for label, runs in records.items()]


def _count(runs: Sequence[RunRecord]) -> str:
    """Return the number of runs, and of feasible ones if not all are."""
    feasible = sum(len(run.feasible) > 0 for run in runs)
    if feasible == 0:
        return _NO_RUN
    if feasible < len(runs):
        return f"{feasible} of {len(runs)} runs feasible"
    return "1 run" if feasible == 1 else f"{feasible} runs"


def _feasible(runs: Sequence[RunRecord]) -> NDArray[np.float64]:
    """Return the feasible points of all runs together."""
    found = [run.feasible for run in runs if len(run.feasible)]
    return np.vstack(found) if found else np.zeros((0, 2))


def _all_feasible(records: dict[str, list[RunRecord]]) -> NDArray[np.float64]:
    """Return the feasible points of all labels together."""
    return _feasible([run for runs in records.values() for run in runs])


def _why_no_front(points: NDArray[np.float64]) -> str:
    """Return why points cannot be drawn in a plane; empty if they can."""
    if len(points) == 0:
        return _NO_RUN
    m = points.shape[1]
    return "" if m == 2 else f"drawn for 2 objectives only, not for {m}"


def _why_no_history(points: NDArray[np.float64]) -> str:
    """Return why the hypervolume is not drawn; empty if it is."""
    if len(points) == 0:
        return _NO_RUN
    m = points.shape[1]
    return "" if m < MANY_OBJECTIVES else f"not measured from {MANY_OBJECTIVES} objectives on; there are {m}"


def _mean_history(runs: Sequence[RunRecord], scale: Scale) -> NDArray[np.float64]:
    """Return [k, 3]: evaluation, mean over the runs of the normalised hypervolume, half-width of its interval."""
    # Under equal time, runs end at different evaluations; a finished run keeps its last value.
    last = max(1, *(run.evaluations for run in runs))
    evaluations = np.unique(np.geomspace(min(_FIRST_EVALUATION, last), last, _STEPS).round())
    histories = np.array([_history(run, evaluations, scale) for run in runs])
    return np.array([(at, *mean_and_interval(values)) for at, values in zip(evaluations, histories.T, strict=True)])


def _history(run: RunRecord, evaluations: NDArray[np.float64], scale: Scale) -> list[float]:
    """Return the normalised hypervolume of a run after each of these evaluations."""
    found = run.feasible_log
    counts = np.searchsorted(found[:, 0], evaluations, side="right").tolist()
    # The front often stays the same between two evaluations; each count is measured once.
    volumes = {count: scale.share(found[:count, 1:]) for count in set(counts)}
    return [volumes[count] for count in counts]


def _draw_cloud(axes: Axes, cloud: NDArray[np.float64], points: NDArray[np.float64]) -> None:
    """Draw all solutions in the neighbourhood of some points."""
    low, high = points.min(axis=0), points.max(axis=0)
    margin = np.where(high > low, high - low, np.maximum(np.abs(high), 1.0))
    low, high = low - _CLOUD_BEFORE * margin, high + _CLOUD_BEHIND * margin
    near = cloud[((cloud >= low) & (cloud <= high)).all(axis=1)]
    # As pixels: hundreds of thousands of points would make a file too large to open.
    axes.plot(*near.T, ".", color=_CLOUD, markersize=2.5, markeredgewidth=0, rasterized=True, zorder=0)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))


def _draw_true_front(axes: Axes, front: NDArray[np.float64]) -> list[Line2D]:
    """Draw a true front as the edge of the region that it dominates."""
    look: dict[str, Any] = {"color": GREY, "linewidth": 3.0, "alpha": 0.35, "zorder": 1}
    return axes.plot(*nondominated(front).T, drawstyle="steps-post", **look)


def _draw_policies(axes: Axes, run: RunRecord) -> dict[int, Line2D]:
    """Draw the front of a run, and return the legend entries of its policies."""
    message = _why_no_front(run.feasible)
    finish(axes, _OBJECTIVES, message)
    if message:
        return {}
    policies = np.asarray(run.policies)
    lines = {}
    for policy in np.unique(policies).tolist():
        look = look_of(policy) | {"linestyle": ""}
        (lines[policy],) = axes.plot(*run.feasible[policies == policy].T, **look, markersize=5)
    return lines


def _draw_surfaces(axes: Axes, runs: Sequence[RunRecord], points: NDArray[np.float64], colour: str) -> None:
    """Draw the attainment surfaces of some runs as staircases that reach the edges around all points."""
    low, high = points.min(axis=0), points.max(axis=0)
    margin = np.where(high > low, 0.05 * (high - low), 1.0)
    low, high = low - margin, high + margin
    for share, look in _SURFACES.items():
        corners = _surface(runs, share)
        if len(corners):
            x, y = np.vstack([(corners[0, 0], high[1]), corners, (high[0], corners[-1, 1])]).T
            axes.plot(x, y, drawstyle="steps-post", color=colour, **look)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))


def _surface(runs: Sequence[RunRecord], share: int) -> NDArray[np.float64]:
    """Return the corners of the surface attained by this share of runs, in per cent; none if fewer are feasible."""
    fronts = [run.feasible for run in runs if len(run.feasible)]
    needed = math.ceil(share * len(runs) / 100)
    if needed > len(fronts):
        return np.zeros((0, 2))
    # The share among the feasible runs, which moocore gets; half a run less, because it rounds up.
    percentile = 100 * (needed - 0.5) / len(fronts)
    sets = np.repeat(np.arange(len(fronts)), [len(front) for front in fronts])
    corners: NDArray[np.float64] = moocore.eaf(np.vstack(fronts), sets, percentiles=[percentile])[:, :2]
    return corners[np.argsort(corners[:, 0])]


def _add_surface_legend(figure: Figure) -> None:
    """Add a legend of the line styles of attainment surfaces."""
    from matplotlib.lines import Line2D

    lines = [Line2D([], [], color=GREY, **look) for look in _SURFACES.values()]
    add_legend(figure, lines, [f"attained by {share} % of runs" for share in _SURFACES])
