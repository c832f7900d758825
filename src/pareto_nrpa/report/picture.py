"""A front as HTML without a script, for notebooks and where scripts are disabled; and drawn by matplotlib."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from .._util.checks import shown
from .._util.lazy import needed
from .._util.text import cut, rows_to_show
from ..errors import ParetoNRPAError
from ..result.choose import marks, scaled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..result.result import Result

_WIDTH, _HEIGHT, _LEFT, _MARGIN = 460, 260, 84, 44
_LONGEST_WORDS = 80


def front_as_html(result: Result) -> str:
    """Return a front as sentences, a picture where there are two objectives, and a table."""
    lines = "".join(f"<p>{escape(line)}</p>" for line in result.headline())
    picture = _scatter(result) if len(result.maximise) == 2 and len(result.front) else ""
    return lines + picture + _table(result)


def _table(result: Result) -> str:
    rows = rows_to_show(len(result.front))
    words, standing_out = result.words(), marks(result)
    columns = ("number", *result.columns(), "stands out", "solution")
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(
        f'<tr><th scope="row">{i + 1}</th>'
        + "".join(f"<td>{x:.6g}</td>" for x in result.front.objectives[i])
        + f"<td>{escape(', '.join(standing_out.get(i, [])))}</td><td>{escape(cut(words[i], _LONGEST_WORDS))}</td></tr>"
        for i in rows
    )
    note = f"<p>{len(rows)} of {len(result.front)} shown</p>" if len(rows) < len(result.front) else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}" if rows else ""


def _scatter(result: Result) -> str:
    """Return the front as SVG in the colour of the surrounding text."""
    values = result.front.objectives
    across, up = scaled(values).T
    x = _LEFT + across * (_WIDTH - _LEFT - _MARGIN)
    y = _HEIGHT - _MARGIN - up * (_HEIGHT - 2 * _MARGIN)
    standing_out = marks(result)
    first, second = (escape(name) for name in result.columns())
    words = [
        ", ".join([f"{i + 1}: {first} {a:.6g}", f"{second} {b:.6g}", *map(escape, standing_out.get(i, []))])
        for i, (a, b) in enumerate(values.tolist())
    ]
    dots = "".join(
        f'<circle cx="{x[i]:.1f}" cy="{y[i]:.1f}" r="{6 if i in standing_out else 4}" fill="currentColor" '
        f'fill-opacity="{1 if i in standing_out else 0.55}"><title>{words[i]}</title></circle>'
        for i in range(len(values))
    )
    (left, bottom), (right, top) = values.min(axis=0), values.max(axis=0)
    floor, side = _HEIGHT - _MARGIN + 14, _LEFT - 14
    texts = [
        (_LEFT, floor + 14, "middle", f"{left:.6g}"),
        (_WIDTH - _MARGIN, floor + 14, "middle", f"{right:.6g}"),
        (_WIDTH / 2, floor + 14, "middle", f"{first} &#8594;"),
        (side - 4, _HEIGHT - _MARGIN, "end", f"{bottom:.6g}"),
        (side - 4, _MARGIN, "end", f"{top:.6g}"),
        (2, 16, "start", f"{second} &#8593;"),
    ]
    labels = "".join(
        f'<text x="{at:g}" y="{down:g}" text-anchor="{anchor}" font-size="12" fill="currentColor">{text}</text>'
        for at, down, anchor, text in texts
    )
    axes = (
        f'<path d="M{side} {_MARGIN - 14}V{floor}H{_WIDTH - _MARGIN + 14}" fill="none" stroke="currentColor" '
        'stroke-opacity="0.5"/>'
    )
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{len(values)} trade-offs between {first} and {second}">{axes}{labels}{dots}</svg>'
    )


def plot_front(result: Result, ax: Axes | None = None) -> Axes:
    """Draw a front into axes, new ones by default: points for two objectives, lines across all axes for others."""
    with needed("plot()", "matplotlib", "experiments"):
        from matplotlib import axes, pyplot
    if ax is None:
        _, ax = pyplot.subplots(layout="constrained")
    if not isinstance(ax, axes.Axes):
        raise ParetoNRPAError(
            f"ax must be one Axes of matplotlib, as pyplot.subplots() gives, got {shown(ax)}; leave it out for new."
        )
    ax.set_title(_literal(result.headline()[0]), fontsize="medium")
    if len(result.maximise) == 2:
        _points(result, ax)
    else:
        _lines(result, ax)
    return ax


def _points(result: Result, ax: Axes) -> None:
    values = result.front.objectives
    ax.scatter(values[:, 0], values[:, 1], s=24)
    for i, words in marks(result).items():
        is_right = values[i, 0] > values[:, 0].mean()  # labels to the left, so that they stay inside
        ax.annotate(
            _literal(", ".join(words)),
            (values[i, 0], values[i, 1]),
            xytext=(-6 if is_right else 6, 6),
            textcoords="offset points",
            ha="right" if is_right else "left",
        )
        ax.scatter(values[i, 0], values[i, 1], s=60, facecolors="none", edgecolors="black")
    first, second = map(_literal, result.columns())
    ax.set_xlabel(first)
    ax.set_ylabel(second)


def _lines(result: Result, ax: Axes) -> None:
    """Draw a line per solution; each axis goes from the worst, above, to the best, below."""
    values = result.front.objectives * np.where(result.maximise, -1.0, 1.0)
    standing_out = marks(result)
    places = np.arange(len(result.maximise))
    for i, row in enumerate(scaled(values) if len(values) else values):
        words = _literal(", ".join(standing_out.get(i, []))) or None
        ax.plot(places, row, marker="o", alpha=1.0 if words else 0.3, linewidth=2 if words else 1, label=words)
    names = [
        f"{name} (more is better)" if more else name
        for name, more in zip(result.columns(), result.maximise, strict=True)
    ]
    ax.set_xticks(places, list(map(_literal, names)))
    ax.set_yticks([0, 1], ["best", "worst"])
    if standing_out:
        ax.legend()


def _literal(text: str) -> str:
    """Return a text escaped for matplotlib, which takes $ for a formula."""
    return text.replace("$", r"\$")
