"""`pareto-nrpa info`: describes an instance or the installation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import __version__
from .common import DataOption, say

if TYPE_CHECKING:
    from pathlib import Path


def info(
    instance: Annotated[str, typer.Argument(help="An instance to describe (default: this installation).")] = "",
    data: DataOption = None,
) -> None:
    """Describe an instance, or this installation."""
    if instance:
        _describe(instance, data)
        return
    import platform
    from importlib.metadata import version

    from ..routing.benchmarks import data_folders, instance_names

    say(f"pareto-nrpa {__version__}, Python {platform.python_version()}, {platform.platform()}")
    say(", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "moocore")))
    for folder in data_folders(data):
        say(f"data folder: {folder}{'' if folder.is_dir() else ' (missing)'}")
    say(f"instances found: {len(instance_names(data))}")


def _describe(instance: str, data: Path | None) -> None:
    from ..catalogue import describe
    from ..result.reference import true_front

    problem, lines = describe(instance, data=data)
    for line in lines:
        say(line)
    front = true_front(problem)
    if front is not None:
        ends = f"from {_point(front.min(axis=0))} to {_point(front.max(axis=0))}"
        how = "" if problem.reference_front and problem.reference_front.is_table else ", proved complete"
        say(f"true front: {len(front)} points, {ends}{how}")
    say(f"reference point of the hypervolume: {_point(problem.reference_point)}")


def _point(values: Any) -> str:
    return "none fixed" if values is None else ", ".join(f"{x:.6g}" for x in values)
