"""Options of `pareto-nrpa solve` for files of stops, and the problem of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .common import DATA_HELP, fail

if TYPE_CHECKING:
    from ..problem.base import AnyProblem

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
        "--time",
        help="Travel times, a matrix in a file, instead of distances and --speed.",
        rich_help_panel=_PANEL,
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
    typer.Option(help="Meaning of closes: latest start of service, or latest end-of-service.", rich_help_panel=_PANEL),
]
RoundingOption = Annotated[
    str,
    typer.Option(
        help="Distances between places: as in the format (file), unrounded (none), whole (round), or cut to tenths "
        "(dimacs).",
        rich_help_panel=_PANEL,
    ),
]
DataOption = Annotated[Path | None, typer.Option("--data", help=DATA_HELP, rich_help_panel=_PANEL)]


def open_problem(
    instance: str,
    more: list[str],
    data: Path | None,
    *,
    costs: list[str],
    objectives: str | None,
    rounding: str,
    **given: Any,
) -> tuple[AnyProblem, str]:
    """Return the problem, and a sentence on how a file of stops was understood."""
    from .. import catalogue
    from ..families import OF_STOPS
    from ..routing.instance import RoutingOptions

    options = RoutingOptions(
        costs=dict(map(_named, costs)),
        objectives=None if objectives is None else [name.strip() for name in objectives.split(",")],
        **given,
    )
    family, problem = catalogue.open_problem([instance, *more], options, rounding=rounding, data=data)
    if family is not OF_STOPS:
        return problem, ""
    return problem, f"{problem.name}: {'; '.join(family.describe(problem))}."  # type: ignore[arg-type]  # it is compiled


def _named(text: str) -> tuple[str, Path]:
    name, equals, file = text.partition("=")
    if not equals or not name.strip() or not file:
        fail(f"--cost must be a name and a file, as in --cost euros=cost.csv, got {text}.")
    return name.strip(), Path(file)
