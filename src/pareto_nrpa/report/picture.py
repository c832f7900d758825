"""A front as HTML without a script: for notebooks, and for the page where scripts are disabled."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .._util.text import cut, rows_to_show
from ..result.choose import marks, scaled

if TYPE_CHECKING:
    from ..result.result import Result

_WIDTH, _HEIGHT, _LEFT, _MARGIN = 460, 260, 84, 44
_LONGEST_WORDS = 80


def notebook_view(result: Result) -> str:
    """Return the HTML of a result in a notebook."""
    return f"<div>{front_as_html(result)}</div>"


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
