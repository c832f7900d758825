"""`pareto-nrpa report`: the page of trade-offs, from saved results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .common import QuietOption, open_in_browser, say


def report(
    results: Annotated[list[Path], typer.Argument(help="Results as solve --json writes them; several are compared.")],
    out: Annotated[
        Path | None,
        typer.Option(help="The page, one self-contained HTML file (default: beside the first result)."),
    ] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Write the page of trade-offs as one self-contained HTML file."""
    from .._util.files import check_writable
    from ..report import check_page_name, page_beside, write_report
    from ..result.result import Result

    page = out or page_beside(results[0])
    check_page_name(page)
    check_writable(page)
    write_report([Result.load(path) for path in results], page, names=[path.stem for path in results])
    if not quiet:
        say(f"saved to {page}")
    if open_page:
        open_in_browser(page)
