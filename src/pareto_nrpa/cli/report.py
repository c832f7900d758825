"""`pareto-nrpa report`: a page on which to choose, from saved results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .common import QuietOption, say

_DEFAULT_OUT = "report.html"


def report(
    results: Annotated[list[Path], typer.Argument(help="Results as solve --json writes them; several are compared.")],
    out: Annotated[Path, typer.Option(help="The page, one HTML file that needs nothing else.")] = Path(_DEFAULT_OUT),
    quiet: QuietOption = False,
) -> None:
    """Make a page on which to choose: one file, to be opened anywhere."""
    from .._util.files import check_writable
    from ..report import check_page_name, write_report
    from ..result.result import Result

    check_page_name(out)
    check_writable(out)
    write_report([Result.load(path) for path in results], out, names=[path.stem for path in results])
    if not quiet:
        say(f"saved to {out}")
