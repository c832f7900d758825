"""Options of `pareto-nrpa solve` for files of stops, and the problem that they make."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .common import DATA_HELP, fail

if TYPE_CHECKING:
    from ..problem.base import AnyProblem

# What files of stops are called, which names of instances are not.
_ENDINGS = (".csv", ".txt", ".tsp", ".vrp", ".json")

MoreArgument = Annotated[
    list[str] | None,
    typer.Argument(help="Further TSPLIB files of the same cities: an objective each (kroA100.tsp kroB100.tsp)."),
]
_PANEL = "Problem"
SpeedOption = Annotated[
    float | None,
    typer.Option(
        help="Distance per hour where times are written 08:30, else per unit of time; km for lat, lon.",
        rich_help_panel=_PANEL,
    ),
]
TimeOption = Annotated[
    Path | None,
    typer.Option(
        "--time", help="Travel times, a CSV matrix, instead of distances and --speed.", rich_help_panel=_PANEL
    ),
]
CostOption = Annotated[
    list[str] | None,
    typer.Option(
        "--cost",
        metavar="NAME=FILE",
        help="A further cost, as euros=cost.csv, a CSV matrix; may be given several times.",
        rich_help_panel=_PANEL,
    ),
]
ObjectivesOption = Annotated[
    str | None,
    typer.Option(
        help="Objectives by name, as time,euros: costs, distance, time, finish, waiting, lateness, vehicles, "
        "longest (route).",
        rich_help_panel=_PANEL,
    ),
]
VehiclesOption = Annotated[int | None, typer.Option(help="Number of vehicles.", rich_help_panel=_PANEL)]
CapacityOption = Annotated[
    float | None, typer.Option(help="Demand that one vehicle can carry.", rich_help_panel=_PANEL)
]
LateCostsOption = Annotated[
    bool,
    typer.Option(
        "--late-costs", help="Count a missed window as lateness, an objective, not a violation.", rich_help_panel=_PANEL
    ),
]
WindowEndOption = Annotated[
    str,
    typer.Option(
        help="What closes means: the latest start of service, or the latest end-of-service.", rich_help_panel=_PANEL
    ),
]
DataOption = Annotated[Path | None, typer.Option("--data", help=DATA_HELP, rich_help_panel=_PANEL)]


def open_problem(
    instance: str, more: list[str], data: Path | None, *, costs: list[str], objectives: str | None, **given: Any
) -> tuple[AnyProblem, str]:
    """Return the problem that is asked for, and a sentence on what was understood of a file of stops."""
    from ..catalogue import load
    from ..families import describe_stops
    from ..routing.instance import RoutingOptions
    from ..routing.read import is_routing_file, read_routing

    files = [instance, *more]
    options = RoutingOptions(
        costs=dict(map(_named, costs)),
        objectives=None if objectives is None else [name.strip() for name in objectives.split(",")],
        **given,
    )
    missing = [file for file in files if not is_routing_file(file)]
    if missing and (more or options.given):
        if missing[0].endswith(_ENDINGS) and not os.path.exists(missing[0]):
            fail(f"there is no file {missing[0]}.")
        words = ["cost" if word == "costs" else word.replace("_", "-") for word in options.given]
        what = f"--{words[0]}" if words else "a second file"
        fail(f"{missing[0]} is no file of stops (CSV, TSPLIB, Solomon, VRPLIB, VROOM), which {what} is for.")
    if missing:
        return load(instance, data=data), ""
    problem = read_routing(files, options)
    return problem, f"{problem.name}: {'; '.join(describe_stops(problem))}."


def _named(text: str) -> tuple[str, Path]:
    name, equals, file = text.partition("=")
    if not equals or not name.strip() or not file:
        fail(f"--cost must be a name and a file, as in --cost euros=cost.csv, got {text}.")
    return name.strip(), Path(file)
