"""A front drawn by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._util.checks import shown
from ..errors import ParetoNRPAError
from ..result.choose import marks, scaled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..result.result import Result


def plot_front(result: Result, ax: Axes | None = None) -> Axes:
    """Draw a front into axes, new ones by default: points for two objectives, lines across all axes for others."""
    try:
        from matplotlib import axes, pyplot
    except ImportError as error:
        message = 'plot() needs matplotlib; install it with: pip install "pareto-nrpa[experiments]".'
        raise ImportError(message) from error
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
