"""`pareto-nrpa solve`: one search, shown while it runs and saved at its end."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import typer

from ..algorithms.registry import NAMES, parameters
from . import solve_options as options
from . import stops
from .common import at_least_one, fail, named_values, open_in_browser, tell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ..algorithms.algorithm import Algorithm
    from ..problem.base import AnyProblem
    from ..solving.stop import StopCriterion


def solve(
    context: typer.Context,
    instance: options.InstanceArgument = "default",
    more: stops.MoreArgument = None,
    time: stops.TimeOption = None,
    cost: stops.CostOption = None,
    speed: stops.SpeedOption = None,
    objectives: stops.ObjectivesOption = None,
    vehicles: stops.VehiclesOption = None,
    capacity: stops.CapacityOption = None,
    late_costs: stops.LateCostsOption = False,
    window_end: stops.WindowEndOption = "start",
    rounding: stops.RoundingOption = "file",
    data: stops.DataOption = None,
    seconds: options.SecondsOption = None,
    evaluations: options.EvaluationsOption = None,
    count: options.CountOption = "all",
    algorithm: options.AlgorithmOption = NAMES[0],
    settings: options.SetOption = None,
    seed: options.SeedOption = 0,
    start: options.StartOption = None,
    workers: options.WorkersOption = "1",
    searches: options.SearchesOption = None,
    level: options.LevelOption = None,
    policies: options.PoliciesOption = None,
    alpha: options.AlphaOption = None,
    iterations: options.IterationsOption = None,
    out: options.OutOption = None,
    json: options.JsonOption = None,
    report: options.ReportOption = None,
    no_report: options.NoReportOption = False,
    open_page: options.OpenOption = False,
    show_all: options.AllOption = False,
    reference_front: options.ReferenceFrontOption = None,
    quiet: options.QuietOption = False,
    checkpoint: options.CheckpointOption = None,
    resume: options.ResumeOption = False,
    max_archive: options.MaxArchiveOption = None,
    dask: options.DaskOption = None,
) -> None:
    """Solve an instance and show the trade-offs. Ctrl-C stops early and keeps the best front."""
    from rich.console import Console

    from .._util.checks import check_seed
    from ..report import terminal
    from ..result.io import read_result
    from ..solving.progress_bar import ProgressBar
    from ..solving.solve import solve as run
    from .output import Output, writes_page

    check_seed(seed)
    stop = _stop(evaluations, seconds, count)
    paper = {"level": level, "n_policies": policies, "alpha": alpha, "iterations": iterations}
    chosen = _algorithm(algorithm, paper, settings or [])
    problem, understood = stops.open_problem(
        instance,
        more or [],
        data,
        costs=cost or [],
        objectives=objectives,
        rounding=rounding,
        speed=speed,
        time=time,
        vehicles=vehicles,
        capacity=capacity,
        late_costs=late_costs,
        window_end=window_end,
    )
    problem = _announced(problem, understood, reference_front, quiet=quiet)
    first = [] if start is None else read_result(start).front.solutions
    console = Console(quiet=quiet)
    output = Output(
        f"{instance if instance == 'default' else problem.name}-seed{seed}",
        out=out,
        json=json,
        report=report,
        has_page=writes_page(console.is_terminal, report=report, is_opened=open_page, is_off=no_report, quiet=quiet),
        checkpoint=checkpoint,
        command=context.obj or "",
    )
    if resume and checkpoint is None:
        fail("--resume requires the file to continue from: give it with --checkpoint.")
    bar = ProgressBar(problem, evaluations=_limit(evaluations, seconds), seconds=seconds, quiet=quiet)
    n_workers, executor = _workers(workers)
    if executor is not None and dask is not None:
        fail(f"--workers {workers} and --dask both choose where searches run; give one of them.")
    with output.rescue(), bar, _cluster(dask) as cluster:
        result = run(
            problem,
            chosen,
            stop=stop,
            seed=seed,
            callbacks=[output, bar],
            checkpoint=checkpoint,
            resume=resume,
            max_archive=max_archive,
            start=first,
            workers=n_workers,  # type: ignore[arg-type]  # solve checks it
            searches=searches,
            executor=cluster or executor,  # type: ignore[arg-type]  # solve checks it
        )
    if not quiet:
        terminal.show(console, result, output.saved, is_all=show_all)
    page = next((path for path in output.saved if path.suffix == ".html"), None)
    if open_page and page is not None:
        open_in_browser(page)


def _announced(problem: AnyProblem, understood: str, reference: Path | None, *, quiet: bool) -> AnyProblem:
    """Return the problem with its reference front, after a sentence on how its files were understood."""
    from ..result.reference import with_reference_front

    if understood and not quiet:
        tell(understood)
    if problem.n_objectives == 1 and not quiet:
        tell("One objective only: no second cost was found beside the file, or none was requested.")
    return problem if reference is None else with_reference_front(problem, reference)


def _workers(text: str) -> tuple[int | str, str | None]:
    """Return the number and kind of workers from a number, `all`, `threads:4` or `processes:all`."""
    kind, colon, number = text.rpartition(":")
    try:
        return int(number), kind if colon else None
    except ValueError:
        return number, kind if colon else None


@contextlib.contextmanager
def _cluster(address: str | None) -> Iterator[Any]:
    """Provide the executor of a Dask cluster, if there is one."""
    if address is None:
        yield None
        return
    from ..experiments.runner import dask_client

    with dask_client(address) as client:
        yield client.get_executor()


def _algorithm(name: str, paper: dict[str, Any], settings: list[str]) -> Algorithm:
    """Return the algorithm of a name with the parameters given as options or by --set."""
    from ..algorithms.registry import algorithm

    if paper["n_policies"] is not None:
        at_least_one("policies", paper["n_policies"])
    chosen = {parameter: value for parameter, value in paper.items() if value is not None}
    for parameter in chosen:
        if parameter not in parameters(name):
            fail(f"{_option(parameter)} is not an option of {name}; leave it out, or choose --algorithm pareto-nrpa.")
    named = named_values(settings, "--set must be name=value, as in --set population=100")
    names = [setting.partition("=")[0] for setting in settings]
    for parameter in named:
        if parameter in chosen or names.count(parameter) > 1:
            also = _option(parameter) if parameter in chosen else f"--set {parameter} once more"
            fail(f"{parameter} is given twice, as --set {parameter} and as {also}; leave one out.")
    return algorithm(name, {**chosen, **named})


def _option(name: str) -> str:
    """Return the option of the command line for a parameter."""
    return f"--{name.removeprefix('n_').replace('_', '-')}"


def _limit(evaluations: int | None, seconds: float | None) -> int | None:
    return options.DEFAULT_EVALUATIONS if evaluations is None and seconds is None else evaluations


def _stop(evaluations: int | None, seconds: float | None, count: str) -> StopCriterion:
    from ..solving.stop import AnyOf, MaxEvaluations, MaxRuntime

    if count not in ("all", "unique"):
        fail(f"--count must be all or unique, got {count}.")
    limit = _limit(evaluations, seconds)
    if limit is None and count == "unique":
        fail("--count unique requires a number of evaluations: give it with --evaluations.")
    criteria: list[StopCriterion] = [] if limit is None else [MaxEvaluations(limit, count=count)]  # type: ignore[arg-type]  # the command line has checked count
    if seconds is not None:
        criteria.append(MaxRuntime(seconds))
    return criteria[0] if len(criteria) == 1 else AnyOf(*criteria)
