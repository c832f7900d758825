"""The style of figures: legend beside the panels, fixed colours of labels, reproducible files.

Figures are plain objects: open figures and settings of the user in matplotlib do not change.
"""

from __future__ import annotations

import textwrap
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .._util.files import write_atomically
from .._util.lazy import needed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

GREY = "#555555"
# Okabe and Ito's colours, which the colour-blind can tell apart, without yellow, which is invisible on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")  # two more than colours: 63 distinct pairs
_LINES = ("-", "--", ":", "-.")
_STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.titlesize": 9,
    "figure.titlesize": 11,
    "figure.labelsize": 9,
    "figure.constrained_layout.w_pad": 0.08,
    "figure.constrained_layout.h_pad": 0.08,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "legend.frameon": False,
    "svg.fonttype": "none",  # text that can be searched and copied
    "svg.hashsalt": "pareto-nrpa",  # otherwise names inside the file are random
}
_LETTERS_PER_INCH = 11  # of a title


@contextmanager
def house_style() -> Iterator[None]:
    """Draw in the style of this package, and restore the user's settings."""
    with needed("a figure", "matplotlib", "experiments"):
        import matplotlib
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        yield


def new_figure(
    title: str, *, width: float, height: float, rows: int = 1, columns: int = 1, share: bool = False
) -> tuple[Figure, list[Axes]]:
    """Return an empty figure and its panels, row by row; the size is that of a panel, in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(columns * width, rows * height), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(rows, columns, sharex=share, sharey=share, squeeze=False)
    for axes in panels.flat:
        axes.tick_params(labelbottom=True, labelleft=True)  # shared axes show theirs at the edges only
    # On the left, and no wider than the panels, as a legend may be on the right.
    wrapped = textwrap.fill(title, width=int(_LETTERS_PER_INCH * columns * width))
    figure.suptitle(literal(wrapped), x=0.01, ha="left")
    return figure, list(panels.flat)


def finish(axes: Axes, names: Sequence[str], message: str = "") -> None:
    """Name the axes, and show the message in an empty panel."""
    axes.set_xlabel(literal(names[0]))
    axes.set_ylabel(literal(names[1]))
    if message:
        say(axes, message)


def say(axes: Axes, message: str) -> None:
    """Write a message into a panel instead of data."""
    axes.text(0.5, 0.5, message, transform=axes.transAxes, ha="center", va="center", color=GREY)
    # Not set_ticks, as ticks are shared with the other panels.
    axes.tick_params(which="both", left=False, bottom=False, labelleft=False, labelbottom=False)
    axes.grid(visible=False, which="both")


def add_legend(figure: Figure, lines: Sequence[Line2D], labels: Sequence[str]) -> None:
    """Put a legend on the right of the panels in additional space."""
    if not lines:
        return
    legend = figure.legend(lines, ["label"] * len(lines), loc="outside right upper")
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set_text(literal(label))  # set here, as a legend leaves out labels that begin with _
    widen(figure, [legend])
    height = legend.get_window_extent().height / figure.dpi
    figure.set_figheight(max(figure.get_figheight(), height + 0.2))


def widen(figure: Figure, artists: Sequence[Artist]) -> None:
    """Make a figure wider by the widest of some of its parts."""
    pixels = max((artist.get_window_extent().width for artist in artists), default=0.0)
    figure.set_figwidth(figure.get_figwidth() + pixels / figure.dpi)


def literal(text: str) -> str:
    """Return a text escaped for matplotlib, which takes $ for a formula."""
    return text.replace("$", r"\$")


def look_of(index: int) -> dict[str, Any]:
    """Return colour, marker and line of the label with this index, the same in all figures."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "marker": _MARKERS[index % len(_MARKERS)],
        "linestyle": _LINES[index // len(COLOURS) % len(_LINES)],
    }


@house_style()
def save_figure(figure: Figure, stem: Path) -> list[Path]:
    """Write a figure to `stem`.png and `stem`.svg, and return both paths."""
    # Not with_suffix, as .3 of rc_204.3 is not a suffix.
    png, svg = (stem.with_name(f"{stem.name}.{kind}") for kind in ("png", "svg"))
    write_atomically(png, lambda file: figure.savefig(file, format="png", dpi=150))
    # Without a date, files of equal figures are equal.
    write_atomically(svg, lambda file: figure.savefig(file, format="svg", metadata={"Date": None}))
    return [png, svg]
