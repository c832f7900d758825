"""A result on a terminal: sentences, a picture of the front, a short table and the next commands."""

from __future__ import annotations

import math
import shlex
import textwrap
from typing import TYPE_CHECKING

import numpy as np
from rich.text import Text

from .._util.checks import printable
from .._util.text import aligned, cut
from ..result.choose import ends, knee_index, marks, scaled

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from rich.console import Console

    from ..result.result import Result

_MOST_ROWS, _ROWS_OF_MANY = 10, 8  # rows of the table, so that the output fits on 40 lines
_HEIGHT, _WIDEST = 8, 100  # of the picture, in characters
_ASCII = str.maketrans("•●○│─└", "*O.|-+")


def show(console: Console, result: Result, saved: Sequence[Path], *, is_all: bool = False) -> None:
    """Print the result of a search on one screen of 40 lines and 80 columns."""
    if not console.is_terminal:
        _print(console, *result.headline(), *(["", table(result)] if len(result.front) else []))
        _print(console, *(f"saved to {printable(str(path))}" for path in saved))
        return
    width = console.width
    _print(console, *(textwrap.fill(line, width, subsequent_indent="  ") for line in result.headline()))
    if drawn := picture(result, width):
        _print(console, "", drawn)
    n = len(result.front)
    rows = list(range(n)) if is_all else short_rows(result)
    if rows:
        _print(console, "", table(result, rows, width=width))
    file = shlex.quote(next((str(path) for path in saved if path.suffix == ".json"), ""))
    if len(rows) < n:
        _print(console, _command(f"pareto-nrpa show {file}", width, f"{n - len(rows)} more: "))
    _print(console, "", *(f"saved to {printable(str(path))}" for path in saved))
    if n and file:
        number, what = (knee_index(result) + 1, "the plan of the knee") if n > 1 else (1, "the solution")
        show_it = _command(f"pareto-nrpa show {file} --solution {number}", width)
        _print(console, "", f"Next: {what}, and the page in the browser", show_it)
        _print(console, _command(f"pareto-nrpa report {file} --open", width))


def _command(command: str, width: int, start: str = "  ") -> str:
    """Return a command, broken at backslashes if the terminal is narrower, so that it can be copied."""
    lines = [start + command]
    while len(lines[-1]) > width and " " in lines[-1].strip():
        head, _, word = lines[-1].rpartition(" ")
        lines[-1:] = [f"{head} \\", f"    {word}"]
    return "\n".join(lines)


def table(result: Result, rows: Sequence[int] | None = None, *, width: int | None = None, policy: bool = False) -> str:
    """Return solutions of a front as a table: number, objectives, marks (knee, best), and the solution as text."""
    front, words, standing_out = result.front, result.words(), marks(result)
    chosen = range(len(front)) if rows is None else rows
    numbers, others = _numbers(front.objectives), [] if front.is_feasible else ["violations"]
    header = ["solution", *result.columns(), *others, *(["policy"] if policy else []), "", "in words"]
    cells = [
        [
            str(i + 1),
            *numbers[i],
            *(f"{front.violations[i]:g}" for _ in others),
            *([str(front.policies[i])] if policy else []),
            ", ".join(standing_out.get(i, [])),
            words[i],
        ]
        for i in chosen
    ]
    return "\n".join(cut(line, width).rstrip() for line in aligned(header, cells, width))


def picture(result: Result, width: int) -> str:
    """Return a feasible front as characters: points for two objectives, ranges for more, nothing for one."""
    if len(result.front) < 2 or len(result.maximise) < 2 or not result.front.is_feasible:
        return ""
    return _scatter(result, min(width, _WIDEST)) if len(result.maximise) == 2 else _ranges(result, min(width, _WIDEST))


def short_rows(result: Result) -> list[int]:
    """Return at most ten rows of a front: the ends, the knee, and evenly spread ones between them."""
    n = len(result.front)
    if n <= _MOST_ROWS:
        return list(range(n))
    chosen = dict.fromkeys([*ends(result), knee_index(result)]) if len(result.maximise) > 1 else {}
    rows = set(list(chosen)[:_ROWS_OF_MANY])
    for k in range(_ROWS_OF_MANY, 1, -1):
        even = np.linspace(0, n - 1, k).round().astype(int).tolist()
        if len(rows | set(even)) <= _ROWS_OF_MANY:
            return sorted(rows | set(even))
    return sorted(rows)


def _scatter(result: Result, width: int) -> str:
    """Return a scatter plot of two objectives; ends and knee are larger and labelled."""
    values = result.front.objectives
    texts = _numbers(values)
    low, high = (texts[int(values[:, 1].argmin())][1], texts[int(values[:, 1].argmax())][1])
    left = max(len(low), len(high))
    columns = width - left - 2
    places = (scaled(values) * [columns - 1, 1 - _HEIGHT] + [0, _HEIGHT - 1]).round().astype(int).tolist()
    grid = [[" "] * columns for _ in range(_HEIGHT)]
    for x, y in places:
        grid[y][x] = "•"
    standing_out = {tuple(places[i]): ", ".join(words) for i, words in marks(result).items()}
    for x, y in standing_out:
        grid[y][x] = "●"
    for (x, y), words in standing_out.items():
        _label(grid, y, x, words)
    first, second = result.columns()
    lines = [f"{second:>{left}}"]
    for row, cells in enumerate(grid):
        number = high if row == 0 else low if row == _HEIGHT - 1 else ""
        lines.append(f"{number:>{left}} │{''.join(cells)}")
    begin, end = texts[int(values[:, 0].argmin())][0], texts[int(values[:, 0].argmax())][0]
    lines.append(f"{'':{left}} └{'─' * columns}")
    lines.append(f"{'':{left}}  {begin}{first:^{max(0, columns - len(begin) - len(end))}}{end}")
    return "\n".join(line.rstrip()[:width] for line in lines)


def _label(grid: list[list[str]], row: int, column: int, words: str) -> None:
    """Write a label beside a point, at the first free place."""
    columns, n = len(grid[0]), len(words)
    right, end = range(column + 2, column + 10), min(column + 2, columns - n)
    for i, j in (*((row, j) for j in right), (row - 1, end), (row - 2, end), (row, column - n - 1)):
        if 0 <= i < len(grid) and 0 <= j <= columns - n and set(grid[i][max(0, j - 1) : j + n + 1]) <= {" "}:
            grid[i][j : j + n] = words
            return


def _ranges(result: Result, width: int) -> str:
    """Return a bar for each objective over the range of the front, with the knee and the other ends."""
    texts = np.array(_numbers(result.front.objectives))
    shares, knee = scaled(result.front.objectives), knee_index(result)
    names = [cut(printable(name), width // 3) for name in result.columns()]
    order = result.front.objectives.argsort(axis=0)
    low, high = texts[order[0], range(len(names))], texts[order[-1], range(len(names))]
    widths = [max(map(len, column)) for column in (names, low, high)]
    room = max(10, width - sum(widths) - 6)
    lines = []
    for k, name in enumerate(names):
        bar = list(" " * room if low[k] == high[k] else "─" * room)
        for i, sign in [*((end, "○") for end in ends(result)), (knee, "●")]:
            bar[round(shares[i, k] * (room - 1))] = sign
        lines.append(f"{name:<{widths[0]}}  {low[k]:>{widths[1]}}  {''.join(bar)}  {high[k]:>{widths[2]}}")
    return "\n".join([*lines, f"{'':{widths[0] + widths[1] + 4}}● knee   ○ best of each objective"])


def _print(console: Console, *blocks: str) -> None:
    """Print text with coloured signs, in ASCII if the terminal has no others."""
    text = "\n".join(blocks)
    try:
        "•●○│─└".encode(console.encoding)
    except UnicodeEncodeError:
        text = text.translate(_ASCII).encode(console.encoding, "backslashreplace").decode(console.encoding)
    shown = Text(text)
    shown.highlight_regex("•", "cyan")
    shown.highlight_regex("[●○]", "bold yellow")
    shown.highlight_regex(r"(?m)^ *solution .*in words$", "bold")
    console.print(shown, soft_wrap=True)


def _numbers(objectives: NDArray[np.float64]) -> list[list[str]]:
    """Return objectives as text, with enough digits to distinguish the values of each."""
    columns = []
    for values in objectives.T:
        spread = float(np.ptp(values)) or float(abs(values).max()) or 1.0
        digits = min(8, max(2, 4 - math.ceil(math.log10(spread))))
        kind = ".6g" if abs(values).max() >= 1e9 else ".0f" if (values == np.rint(values)).all() else f".{digits}f"
        columns.append([format(value, kind) for value in values.tolist()])
    return [list(row) for row in zip(*columns, strict=True)]
