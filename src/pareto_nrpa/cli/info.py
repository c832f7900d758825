"""`pareto-nrpa info`: what an instance is, and what is installed here."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import __version__
from .common import DataOption

if TYPE_CHECKING:
    from ..problem import CompiledProblem


def info(
    instance: Annotated[str, typer.Argument(help="An instance to describe; without one: this installation.")] = "",
    data: DataOption = None,
) -> None:
    """Describe an instance, or this installation."""
    if instance:
        from ..problems import load

        _describe(load(instance, data=data))
        return
    import platform
    from importlib.metadata import version

    from ..problems.data import data_folders, instance_names

    typer.echo(f"pareto-nrpa {__version__}, Python {platform.python_version()}, {platform.platform()}")
    typer.echo(", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "moocore")))
    for folder in data_folders(data):
        typer.echo(f"data folder: {folder}{'' if folder.is_dir() else ' (not there)'}")
    typer.echo(f"instances found: {len(instance_names(data))}")


def _describe(problem: CompiledProblem) -> None:
    from ..problems.mo_tsptw import TSPTWData
    from ..truth import true_front

    if problem.all_objectives is not None:
        _describe_known(problem)
        return
    typer.echo(f"{problem.name}: {problem.max_moves + 1} cities, {problem.n_objectives} objective(s)")
    if isinstance(problem.data, TSPTWData):
        widths = (problem.data.closes - problem.data.opens)[1:]
        typer.echo(f"time windows: {widths.min():g} to {widths.max():g} wide, {widths.mean():.1f} on average")
        closes = problem.data.closes[0]
        typer.echo(f"tours must be back by {closes:g}" if isfinite(closes) else "tours may be back at any time")
    else:
        typer.echo("no time windows")
    front = true_front(problem)
    if front is not None:
        ends = f"from {_point(front.min(axis=0))} to {_point(front.max(axis=0))}"
        typer.echo(f"true front: {len(front)} points, {ends}, proved complete")
    typer.echo(f"reference point of the hypervolume: {_point(problem.reference_point)}")


def _describe_known(problem: CompiledProblem) -> None:
    """Describe a problem whose solutions are all known."""
    from ..metrics import nondominated

    table = problem.all_objectives
    assert table is not None
    front = nondominated(table)
    typer.echo(f"{problem.name}: {problem.max_moves} moves, {len(table):,} solutions")
    typer.echo(f"objectives: {', '.join(problem.objective_names or ())}")
    typer.echo(f"true front: {len(front)} points, from {_point(front.min(axis=0))} to {_point(front.max(axis=0))}")
    typer.echo(f"reference point of the hypervolume: {_point(problem.reference_point)}")


def _point(values: Any) -> str:
    return "none fixed" if values is None else ", ".join(f"{x:.6g}" for x in values)
