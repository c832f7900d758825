"""Options of the commands, by panel of `pareto-nrpa solve --help`; a refused value is one sentence."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ..algorithms.registry import NAMES

DEFAULT_EVALUATIONS = 100_000
DEFAULT_OUT = "results"

_DATA = partial(
    typer.Option, "--data", help="Folder with instances, instead of $PARETO_NRPA_DATA and the user's cache."
)
DataOption = Annotated[Path | None, _DATA()]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]

InstanceArgument = Annotated[
    str,
    typer.Argument(
        help="An instance name (rc_204.3), a benchmark (nas-bench-201), a file (stops.csv), a spec "
        "(tsptw:n=25,seed=7 or mo-tsp:n=50), or your own problem (file.py:factory). Default: an embedded "
        "instance with 25 cities."
    ),
]
MoreArgument = Annotated[
    list[str] | None,
    typer.Argument(help="Further TSPLIB files of the same cities: an objective each (kroA100.tsp kroB100.tsp)."),
]

_problem = partial(typer.Option, rich_help_panel="Problem")
TimeOption = Annotated[
    Path | None, _problem("--time", help="Travel times, a matrix in a file, instead of distances and --speed.")
]
CostOption = Annotated[
    list[str] | None,
    _problem(
        "--cost",
        metavar="NAME=FILE",
        help="A further cost, as euros=cost.csv, a CSV matrix; may be given several times.",
    ),
]
SpeedOption = Annotated[
    float | None,
    _problem(help="Distance per hour where times are written 08:30, else per unit of time; km for lat, lon."),
]
ObjectivesOption = Annotated[
    str | None,
    _problem(
        help="Objectives by name, as time,euros: costs, distance, time, finish, waiting, lateness, vehicles, "
        "longest (route)."
    ),
]
VehiclesOption = Annotated[int | None, _problem(help="Number of vehicles.")]
CapacityOption = Annotated[float | None, _problem(help="Capacity of one vehicle.")]
LateCostsOption = Annotated[
    bool, _problem("--late-costs", help="Count a missed window as lateness, an objective, not a violation.")
]
WindowEndOption = Annotated[str, _problem(help="Meaning of closes: latest start of service, or latest end-of-service.")]
RoundingOption = Annotated[
    str,
    _problem(
        help="Distances between places: as in the format (file), unrounded (none), whole (round), or cut to tenths "
        "(dimacs)."
    ),
]
ProblemDataOption = Annotated[Path | None, _DATA(rich_help_panel="Problem")]

_stop = partial(typer.Option, rich_help_panel="Stop")
SecondsOption = Annotated[float | None, _stop(help="Stop after this many seconds, including those before --resume.")]
EvaluationsOption = Annotated[
    int | None, _stop(help=f"Stop after this many evaluations (default {DEFAULT_EVALUATIONS:,} unless --seconds).")
]
CountOption = Annotated[str, _stop(help="Evaluations to count: all, or unique (repeated solutions do not count).")]

_search = partial(typer.Option, rich_help_panel="Search")
AlgorithmOption = Annotated[str, _search(help=f"Algorithm: {', '.join(NAMES)}.")]
SetOption = Annotated[
    list[str] | None,
    _search("--set", metavar="NAME=VALUE", help="A parameter of the algorithm; may be given several times."),
]
SeedOption = Annotated[int, _search(help="Random seed: same seed, same result.")]
StartOption = Annotated[Path | None, _search(help="Start from the solutions of the result in this .json file.")]
WorkersOption = Annotated[
    str,
    _search(help="Number of cores; 0 or all: every core of this process. threads:4 or processes:4 chooses the kind."),
]
SearchesOption = Annotated[
    int | None,
    _search(
        help="Number of cooperating searches; they determine the result, workers do not (default: as many as workers)."
    ),
]

_paper = partial(typer.Option, rich_help_panel="Paper")
LevelOption = Annotated[int | None, _paper(help="Depth of the nesting.")]
PoliciesOption = Annotated[int | None, _paper(help="Number of policies.")]
AlphaOption = Annotated[float | None, _paper(help="Learning rate.")]
IterationsOption = Annotated[
    int | None, _paper(help="N, iterations of each level (default: so that N^level covers the evaluations).")
]

_output = partial(typer.Option, rich_help_panel="Output")
OutOption = Annotated[
    Path | None,
    _output(
        help="Save to this folder, beside earlier results, or to this .json or .csv file, which is replaced "
        f"(default: {DEFAULT_OUT}/)."
    ),
]
JsonOption = Annotated[Path | None, _output(help="Write the result as JSON to this file, replacing it.")]
ReportOption = Annotated[
    Path | None,
    _output(help="Write the page to this .html file, replacing it (default on a terminal: beside the result)."),
]
NoReportOption = Annotated[bool, _output("--no-report", help="Write no page.")]
OpenOption = Annotated[bool, _output("--open", help="Open the page in the browser.")]
AllOption = Annotated[bool, _output("--all", help="Print all trade-offs, not only ten.")]
ReferenceFrontOption = Annotated[
    Path | None, _output(help="Compare the result with the front in this file: a result, a certificate, or a CSV.")
]
BoundOption = Annotated[
    float | None, _output(help="Prove after the search for so many seconds how much can be missing (time windows).")
]
OutputQuietOption = Annotated[bool, _output("--quiet", "-q", help="Print errors only.")]

_long = partial(typer.Option, rich_help_panel="Long runs")
CheckpointOption = Annotated[Path | None, _long(help="Save the search to this file every ten seconds and at the end.")]
ResumeOption = Annotated[bool, _long("--resume", help="Continue from the checkpoint if it exists.")]
MaxArchiveOption = Annotated[
    int | None,
    _long(help="Largest number of trade-offs to keep (at least 2); above it the half farthest apart is kept."),
]
DaskOption = Annotated[
    str | None, _long(help="Run the searches on the Dask cluster of this scheduler; needs --searches.")
]
