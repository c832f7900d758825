"""`pareto-nrpa show` and `pareto-nrpa report`: saved results as text, or as a page on which to choose."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .common import fail, open_in_browser, say, say_lines
from .options import QuietOption


def show(
    result: Annotated[Path, typer.Argument(help="A result written by solve.")],
    solution: Annotated[int | None, typer.Option(help="Number of a solution, as in the list and on the page.")] = None,
    csv: Annotated[bool, typer.Option("--csv", help="The list for the driver: a line of CSV for each stop.")] = False,
    geojson: Annotated[bool, typer.Option("--geojson", help="The routes as GeoJSON, if stops have lat, lon.")] = False,
    policy: Annotated[bool, typer.Option("--policy", help="List which policy sampled each solution.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write to this file, replacing it, instead of the screen.")] = None,
) -> None:
    """List the trade-offs of a saved result, or show the plan of one of them."""
    from .._util.checks import printable
    from .._util.files import write_text
    from ..report.terminal import table
    from ..result.choose import choice
    from ..result.result import Result
    from ..routing.itinerary import has_routes, itineraries

    if csv and geojson:
        fail("--csv and --geojson write two files; give one of them.")
    found = Result.load(result)
    n = len(found.front)
    if solution is None and (csv or geojson):
        fail(f"--{'csv' if csv else 'geojson'} requires one solution: give it with --solution, 1 to {n}.")
    if solution is not None and not 1 <= solution <= n:
        fail(f"--solution must be a number from 1 to {n}, as in the list that show prints without it, got {solution}.")
    if solution is None:
        text = "\n".join([*found.headline(), "", table(found, policy=policy)] if n else found.headline())
    else:
        chosen = choice(found, solution - 1)
        itinerary = itineraries(found)[solution - 1] if csv or geojson or has_routes(found) else None
        if itinerary is None:
            text = "\n".join([*chosen.headline(), printable(chosen.words)])
        elif csv:
            text = itinerary.to_csv()
        elif geojson:
            text = itinerary.to_geojson({"solution": chosen.number, **chosen.objectives})
        else:
            text = "\n".join([*chosen.headline(), *itinerary.lines()])
    if out is None:
        say_lines(text)
    else:
        say(f"saved to {write_text(out, text)}", err=True)


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
