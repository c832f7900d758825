"""`pareto-nrpa info` and `pareto-nrpa data`: instances, the installation, the official benchmark files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import __version__
from .common import say
from .options import DataOption

data = typer.Typer(help="Official benchmark files: download and list them.", no_args_is_help=True)


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


@data.command("list")
def list_instances(data: DataOption = None) -> None:
    """Show the installed instances."""
    from ..routing.benchmarks import data_folders, find_instance, find_secondary, instance_names, official_names

    names = instance_names(data)
    for name in names:
        path = find_instance(name, data)
        assert path is not None
        objectives = "1 objective " if find_secondary(path) is None else "2 objectives"
        say(f"{name:<12} {objectives}  {path}")
    missing = sorted(set(official_names()) - set(names))
    if not names:
        say("No instances in: " + ", ".join(map(str, data_folders(data))))
    if missing:
        total = len(official_names())
        say(f"{len(missing)} of {total} official instances are missing; get them with: pareto-nrpa data get")


@data.command("get")
def get_instances(
    to: Annotated[Path | None, typer.Option(help="Folder to download to (default: the user's cache).")] = None,
    url: Annotated[str | None, typer.Option("--from", help="Mirror to download from.")] = None,
) -> None:
    """Download the 31 official MO-TSPTW instances, checking the SHA-256 sum of each file."""
    from ..routing.benchmarks import SOURCE, fetch

    def show(done: int, total: int) -> None:
        if sys.stderr.isatty():
            typer.echo(f"\r{done} of {total} files", nl=done == total, err=True)

    folder = fetch(url=url or SOURCE, folder=to, progress=show)
    say(f"The official instances are in {folder}")
    if to is not None:
        say(f"Use them with --data {to} or PARETO_NRPA_DATA={to}")


@data.command("convert-nasbench101")
def convert_nasbench101(
    file: Annotated[Path, typer.Argument(help="The official nasbench_only108.tfrecord (or the full file).")],
    to: Annotated[Path | None, typer.Option(help="Folder for the table (default: the user's cache).")] = None,
) -> None:
    """Turn the official file of NAS-Bench-101 into a compact table, once; it takes some minutes."""
    from ..nas.convert101 import convert

    def show(done: int) -> None:
        if sys.stderr.isatty():
            typer.echo(f"\r{done:,} records", nl=False, err=True)

    say(f"The table is in {convert(file, to, progress=show)}")
    if to is not None:
        say(f"Use it with --data {to} or PARETO_NRPA_DATA={to}")
