"""The diagram of average ranks, with bars that join what cannot be told apart."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from .drawing import GREY, house_style, literal, new_figure, say, widen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation
    from numpy.typing import ArrayLike, NDArray

# Heights in the diagram of ranks, in lines of text: what is above the axis, a bar, a name.
_RULER_LINES, _BAR_LINES, _NAME_LINES = 3.5, 0.6, 1.2


@house_style()
def critical_difference(ranks: ArrayLike, names: Sequence[str], difference: float, title: str) -> Figure:
    """Draw average ranks on an axis, the best on the left, with bars that join what cannot be told apart (Demšar 2006).

    Parameters
    ----------
    difference
        By how much two ranks must differ to be told apart.
    """
    order = np.argsort(ranks, kind="stable")
    values, sorted_names = np.asarray(ranks, dtype=float)[order], [names[i] for i in order]
    groups = indistinct_groups(values, difference)
    half = math.ceil(len(values) / 2)
    top = _BAR_LINES * len(groups) + _NAME_LINES
    bottom = top + _NAME_LINES * half
    figure, (axes,) = new_figure(title, width=5.0, height=0.5 + 0.2 * (_RULER_LINES + bottom))
    axes.set(xlim=(1, max(2, len(values), 1 + difference)), ylim=(bottom, -_RULER_LINES))
    axes.set_axis_off()
    if len(values) == 0:
        say(axes, "no ranks")
        return figure
    _draw_rank_axis(axes, len(values), difference)
    for line, group in enumerate(groups, start=1):
        axes.plot(values[list(group)], [_BAR_LINES * line] * 2, color=GREY, linewidth=3.5, solid_capstyle="round")
    # The outermost names come first on both sides, so that no line crosses another.
    widen(figure, _draw_names(axes, values[:half], sorted_names[:half], top=top, left=True))
    widen(figure, _draw_names(axes, values[half:][::-1], sorted_names[half:][::-1], top=top, left=False))
    return figure


def indistinct_groups(ranks: NDArray[np.float64], difference: float) -> list[tuple[int, int]]:
    """Return first and last position of each largest group of sorted ranks that differ by less than `difference`."""
    lasts = [int(np.searchsorted(ranks, rank + difference)) - 1 for rank in ranks]
    # A group that ends where the one before it ends is part of that one.
    ends_later = [True, *(last > before for before, last in pairwise(lasts))]
    return [(first, last) for first, last in enumerate(lasts) if last > first and ends_later[first]]


def _draw_rank_axis(axes: Axes, n_ranks: int, difference: float) -> None:
    """Draw the axis of ranks, and above it how long the critical difference is."""
    axes.plot([1, n_ranks], [0, 0], color="black", linewidth=1)
    for rank in range(1, n_ranks + 1):
        axes.plot([rank, rank], [0, -0.25], color="black", linewidth=1)
        axes.text(rank, -0.4, str(rank), ha="center", va="bottom")
    axes.plot([1, 1 + difference], [-2, -2], color=GREY, linewidth=1, marker="|", clip_on=False)
    axes.text(1, -2.3, f"critical difference {difference:.2f}", ha="left", va="bottom", color=GREY)


def _draw_names(
    axes: Axes, ranks: NDArray[np.float64], names: Sequence[str], *, top: float, left: bool
) -> list[Annotation]:
    """Write names below one end of the axis, and lead a line from each to its rank."""
    edge = axes.get_xlim()[0 if left else 1]
    align, gap = ("right", (-6, 0)) if left else ("left", (6, 0))
    texts = []
    for line, (rank, name) in enumerate(zip(ranks, names, strict=True)):
        y = top + _NAME_LINES * line
        axes.plot([rank, rank, edge], [0, y, y], color="black", linewidth=0.8)
        text = literal(f"{name} ({rank:.2f})")
        texts.append(axes.annotate(text, (edge, y), gap, textcoords="offset points", ha=align, va="center"))
    return texts
