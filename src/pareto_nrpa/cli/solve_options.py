"""The options of `pareto-nrpa solve` that are not about stops, by panel of its help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..algorithms.registry import NAMES

DEFAULT_EVALUATIONS = 100_000
DEFAULT_OUT = "results"

InstanceArgument = Annotated[
    str,
    typer.Argument(
        help="An instance name (rc_204.3), a benchmark (nas-bench-201), a file (stops.csv), a spec "
        "(tsptw:n=25,seed=7 or mo-tsp:n=50), or your own problem (file.py:factory). Without one: an embedded "
        "instance with 25 cities."
    ),
]

_STOP, _SEARCH, _PAPER, _OUTPUT, _LONG = "Stop", "Search", "Paper", "Output", "Long runs"

EvaluationsOption = Annotated[
    int | None,
    typer.Option(
        help=f"Stop after this many evaluations (default {DEFAULT_EVALUATIONS:,} unless --seconds).",
        rich_help_panel=_STOP,
    ),
]
SecondsOption = Annotated[
    float | None,
    typer.Option(help="Stop after this many seconds, including those before --resume.", rich_help_panel=_STOP),
]
CountOption = Annotated[
    str, typer.Option(help="Evaluations that count: all, or unique (no solution twice).", rich_help_panel=_STOP)
]

AlgorithmOption = Annotated[
    str,
    typer.Option(
        help=f"Another algorithm, for comparison: {', '.join(NAMES[1:-1])} or {NAMES[-1]}.", rich_help_panel=_SEARCH
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter of the algorithm; may be given several times.",
        rich_help_panel=_SEARCH,
    ),
]
SeedOption = Annotated[int, typer.Option(help="Same seed, same result.", rich_help_panel=_SEARCH)]
StartOption = Annotated[
    Path | None,
    typer.Option(help="Begin with the solutions of the result in this .json file.", rich_help_panel=_SEARCH),
]
WorkersOption = Annotated[
    str,
    typer.Option(
        help="Number of cores; 0 or all: every core of this process. threads:4 or processes:4 chooses the kind.",
        rich_help_panel=_SEARCH,
    ),
]
SearchesOption = Annotated[
    int | None,
    typer.Option(
        help="Number of cooperating searches; they determine the result, workers do not (default: as many as workers).",
        rich_help_panel=_SEARCH,
    ),
]

LevelOption = Annotated[int | None, typer.Option(help="Depth of the nesting.", rich_help_panel=_PAPER)]
PoliciesOption = Annotated[int | None, typer.Option(help="Number of policies.", rich_help_panel=_PAPER)]
AlphaOption = Annotated[float | None, typer.Option(help="Learning rate.", rich_help_panel=_PAPER)]
IterationsOption = Annotated[
    int | None,
    typer.Option(
        help="N, iterations of each level (default: so that N^level covers the evaluations).", rich_help_panel=_PAPER
    ),
]

OutOption = Annotated[
    Path | None,
    typer.Option(
        help="Save to this folder, beside earlier results, or to this .json or .csv file, which is replaced "
        f"(default: {DEFAULT_OUT}/).",
        rich_help_panel=_OUTPUT,
    ),
]
JsonOption = Annotated[
    Path | None, typer.Option(help="Write the result as JSON to this file, replacing it.", rich_help_panel=_OUTPUT)
]
ReportOption = Annotated[
    Path | None,
    typer.Option(
        help="Write the page to this .html file, replacing it (default on a terminal: beside the result).",
        rich_help_panel=_OUTPUT,
    ),
]
NoReportOption = Annotated[bool, typer.Option("--no-report", help="Write no page.", rich_help_panel=_OUTPUT)]
OpenOption = Annotated[bool, typer.Option("--open", help="Open the page in the browser.", rich_help_panel=_OUTPUT)]
AllOption = Annotated[bool, typer.Option("--all", help="Print all trade-offs, not only ten.", rich_help_panel=_OUTPUT)]
ReferenceFrontOption = Annotated[
    Path | None,
    typer.Option(
        help="Measure the result against the front in this file: a result, a certificate, or a CSV.",
        rich_help_panel=_OUTPUT,
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.", rich_help_panel=_OUTPUT)]

CheckpointOption = Annotated[
    Path | None,
    typer.Option(help="Save the search to this file every ten seconds and at the end.", rich_help_panel=_LONG),
]
ResumeOption = Annotated[
    bool, typer.Option("--resume", help="Continue from the checkpoint if it exists.", rich_help_panel=_LONG)
]
MaxArchiveOption = Annotated[
    int | None,
    typer.Option(
        help="Largest number of trade-offs to keep (at least 2); above it the half farthest apart is kept.",
        rich_help_panel=_LONG,
    ),
]
DaskOption = Annotated[
    str | None,
    typer.Option(
        help="Run the searches on the Dask cluster of this scheduler; needs --searches.", rich_help_panel=_LONG
    ),
]
