"""`pareto-nrpa compare`: compares codes of moves, biases or algorithms by short runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .common import fail, named_values, say, say_lines
from .options import DataOption, QuietOption

if TYPE_CHECKING:
    from ..algorithms.algorithm import Algorithm
    from ..experiments.compare import ShortRun, Variant
    from ..problem.base import AnyProblem

_USUAL = "pareto-nrpa:level=3"  # for a few thousand evaluations; local search would hide the effect of a code


def compare(
    problems: Annotated[
        list[str],
        typer.Argument(help="Formulations of one problem: module.py:factory, or any problem that solve takes."),
    ],
    algorithm: Annotated[
        list[str] | None,
        typer.Option(
            help="An algorithm, with parameters as in pareto-nrpa:level=2,alpha=1; may be given several times "
            f"(default: {_USUAL})."
        ),
    ] = None,
    without_bias: Annotated[
        bool, typer.Option("--without-bias", help="Run each problem that has a bias without it too.")
    ] = False,
    evaluations: Annotated[int, typer.Option(help="Evaluations of each run.")] = 2_000,
    count: Annotated[str, typer.Option(help="Evaluations to count: all, or unique.")] = "all",
    seeds: Annotated[int, typer.Option(help="Runs of each variant.")] = 5,
    data: DataOption = None,
    out: Annotated[Path | None, typer.Option(help="Write the runs to this .csv file, replacing it.")] = None,
    quiet: QuietOption = False,
) -> None:
    """Compare codes of moves, biases or algorithms on a problem by short runs. Ctrl-C shows what is finished."""
    from .._util.checks import check_choice, check_whole
    from .._util.files import check_writable, write_text
    from ..experiments.compare import Comparison, check_variants, compared, short_runs
    from ..solving.progress_bar import ExperimentBar

    check_whole("--evaluations", evaluations, 1)
    check_whole("--seeds", seeds, 1)
    check_choice("--count", count, ("all", "unique"))
    if out is not None:
        if out.suffix.lower() != ".csv":
            fail(f"--out must be a file ending in .csv, got {out}.")
        check_writable(out)
    variants = _variants(problems, algorithm or [_USUAL], without_bias, data)
    check_variants(variants)
    runs: list[ShortRun] = []
    try:
        with ExperimentBar("comparing", quiet=quiet) as bar:
            for run, status in short_runs(variants, evaluations=evaluations, seeds=seeds, count=count):  # type: ignore[arg-type]  # the command line has checked count
                runs.append(run)
                bar.update(status)
    finally:  # also after an error
        if runs:
            comparison: Comparison = compared(variants, runs)
            if out is not None:
                write_text(out, comparison.to_csv())
            if not quiet:
                say(f"{len(runs)} of {seeds * len(variants)} runs of {evaluations:,} evaluations")
                say("")
                say_lines(comparison.summary())


def _variants(problems: list[str], algorithms: list[str], bare: bool, data: Path | None) -> list[Variant]:
    """Return every problem with every algorithm, and without its bias if requested."""
    from ..experiments.compare import Variant, without_bias

    chosen = {text: _algorithm(text) for text in algorithms}
    variants = []
    for name in problems:
        problem = _problem(name, data)
        versions = {"": problem}
        if bare and problem.bias is not None:
            versions["without bias"] = without_bias(problem)
        for words, version in versions.items():
            for text, method in chosen.items():
                parts = (name, text if len(chosen) > 1 else "", words)
                variants.append(Variant(", ".join(filter(None, parts)), version, method))
    if bare and all(variant.problem.bias is None for variant in variants):
        fail(f"--without-bias requires a problem with a bias; {', '.join(problems)} has none.")
    return variants


def _problem(name: str, data: Path | None) -> AnyProblem:
    from ..catalogue import load

    return load(name, data=data)


def _algorithm(text: str) -> Algorithm:
    """Return an algorithm of a name and parameters, as in pareto-nrpa:level=2,alpha=1."""
    from ..algorithms.registry import algorithm as by_name

    name, _, options = text.partition(":")
    mistake = f"--algorithm must be as in {_USUAL}"
    return by_name(name, named_values(filter(None, options.split(",")), mistake))
