"""`pareto-nrpa info`: what an instance is, and what is installed here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

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
    from ..problems.mo_tsptw import Windows

    typer.echo(f"{problem.name}: {problem.max_moves + 1} cities, {problem.n_objectives} objective(s)")
    if isinstance(problem.data, Windows):
        widths = (problem.data.closes - problem.data.opens)[1:]
        typer.echo(f"time windows: {widths.min():g} to {widths.max():g} wide, {widths.mean():.1f} on average")
    else:
        typer.echo("no time windows")
    point = problem.reference_point
    text = "none fixed" if point is None else ", ".join(f"{x:.6g}" for x in point)
    typer.echo(f"reference point of the hypervolume: {text}")
