"""The page of trade-offs: one HTML file from templates and the data of results.

It sends no request, and no text of a user in it can run: data are JSON without a `<`, inserted into the document as
text only, and a content security policy forbids all code except the templates.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._util.files import write_text
from ..errors import ParetoNRPAError
from .content import content_of
from .picture import front_as_html

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from ..result.result import Result


# Parts of one script, in order of dependence.
_SCRIPTS = (
    "data", "elements", "choosing", "plots", "front", "routes", "solution", "comparison", "wishes", "list",
    "background", "start",
)  # fmt: skip


_GENERATOR = '<meta name="generator" content="pareto-nrpa">'


def write_report(
    results: Sequence[Result], path: str | os.PathLike[str], *, names: Sequence[str] | None = None
) -> Path:
    """Write the page for one result, or for several of the same objectives to compare, and return the path."""
    check_page_name(path)
    return write_text(path, report_page(results, names=names))


def check_page_name(path: str | os.PathLike[str]) -> None:
    """Raise unless a name ends in .html: a page must not replace the stops or the result."""
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise ParetoNRPAError(f"the name of a page must end in .html, got {path}.")


def page_beside(result: Path) -> Path:
    """Return the default path of the page of a saved result; only an earlier page is replaced."""
    n, page = 1, result.with_suffix(".html")
    while page.exists() and _GENERATOR not in page.read_text(encoding="utf-8", errors="replace")[:2000]:
        n, page = n + 1, result.with_name(f"{result.stem}-{n + 1}.html")
    return page


def report_page(results: Sequence[Result], *, names: Sequence[str] | None = None) -> str:
    """Return the page as text; `names` distinguish several results."""
    content = content_of(results, names)
    style = _template("page.css")
    script = "\n".join(['"use strict";', "{", *(_template(f"{name}.js") for name in _SCRIPTS), "}"])
    parts = {
        "title": escape(content["title"]),
        "policy": f"default-src 'none'; style-src {_allowed(style)}; script-src {_allowed(script)}; "
        "base-uri 'none'; form-action 'none'",
        "style": style,
        "script": script,
        "data": _harmless(content),
        "without_script": "".join(front_as_html(result) for result in results),
    }
    # In one pass, so that data that look like a placeholder are not replaced.
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], _template("page.html"))


def _template(name: str) -> str:
    return files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


def _allowed(code: str) -> str:
    digest = hashlib.sha256(code.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _harmless(content: dict[str, Any]) -> str:
    """Return JSON that cannot close its HTML element."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")
