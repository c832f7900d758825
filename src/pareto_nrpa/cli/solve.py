"""`pareto-nrpa solve`: one search, shown while it runs and saved at its end."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .._util.checks import check_choice, check_seed, check_whole
from ..algorithms.registry import NAMES, parameters
from . import options
from .common import fail, named_values, open_in_browser, say, tell

if TYPE_CHECKING:
    from ..algorithms.algorithm import Algorithm
    from ..problem.base import AnyProblem
    from ..routing.instance import RoutingOptions
    from ..solving.stop import StopCriterion


def solve(
    context: typer.Context,
    instance: options.InstanceArgument = "default",
    more: options.MoreArgument = None,
    time: options.TimeOption = None,
    cost: options.CostOption = None,
    speed: options.SpeedOption = None,
    objectives: options.ObjectivesOption = None,
    vehicles: options.VehiclesOption = None,
    capacity: options.CapacityOption = None,
    late_costs: options.LateCostsOption = False,
    window_end: options.WindowEndOption = "start",
    rounding: options.RoundingOption = "file",
    data: options.ProblemDataOption = None,
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
    bound: options.BoundOption = None,
    quiet: options.OutputQuietOption = False,
    checkpoint: options.CheckpointOption = None,
    resume: options.ResumeOption = False,
    max_archive: options.MaxArchiveOption = None,
    dask: options.DaskOption = None,
) -> None:
    """Solve an instance and show the trade-offs. Ctrl-C stops early and keeps the best front."""
    from rich.console import Console

    from ..report import terminal
    from ..result.io import read_result
    from ..routing.instance import RoutingOptions
    from ..solving.progress_bar import ProgressBar
    from ..solving.solve import solve as run
    from .output import Output, writes_page

    check_seed(seed)
    if resume and checkpoint is None:
        fail("--resume requires the file to continue from: give it with --checkpoint.")
    n_workers, executor = _workers(workers)
    if executor is not None and dask is not None:
        fail(f"--workers {workers} and --dask both choose where searches run; give one of them.")
    stop = _stop(evaluations, seconds, count)
    paper = {"level": level, "n_policies": policies, "alpha": alpha, "iterations": iterations}
    chosen = _algorithm(algorithm, paper, settings or [])
    told = RoutingOptions(
        speed=speed,
        time=time,
        costs=_named_files(cost or []),
        objectives=None if objectives is None else [name.strip() for name in objectives.split(",")],
        vehicles=vehicles,
        capacity=capacity,
        late_costs=late_costs,
        window_end=window_end,
    )
    problem = _problem([instance, *(more or [])], told, rounding, data, reference_front, quiet=quiet)
    if bound is not None:
        from ..routing.exact.certify import check_arguments

        check_arguments(problem, bound)
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
    bar = ProgressBar(problem, evaluations=_limit(evaluations, seconds), seconds=seconds, quiet=quiet)
    with output.rescue(), bar, _cluster(dask) as client:
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
            executor=client.get_executor() if client else executor,  # type: ignore[arg-type]  # solve checks it
        )
    if not quiet:
        terminal.show(console, result, output.saved, is_all=show_all)
    if bound is not None and not quiet:
        from ..routing.exact import certify

        known = result if result.front.is_feasible else None
        say(certify(problem, known, time_limit=bound).summary())  # type: ignore[arg-type]  # checked before the search
    page = next((path for path in output.saved if path.suffix == ".html"), None)
    if open_page and page is not None:
        open_in_browser(page)


def _problem(
    names: list[str], told: RoutingOptions, rounding: str, data: Path | None, reference: Path | None, *, quiet: bool
) -> AnyProblem:
    """Return the problem, after a sentence on how a file of stops was understood."""
    from ..catalogue import OF_STOPS, open_problem
    from ..result.reference import with_reference_front

    family, problem = open_problem(names, told, rounding=rounding, data=data)
    if family is OF_STOPS and not quiet:
        tell(f"{problem.name}: {'; '.join(family.describe(problem))}.")  # type: ignore[arg-type]  # it is compiled
    if problem.n_objectives == 1 and not quiet:
        tell("One objective only: no second cost was found beside the file, or none was requested.")
    return problem if reference is None else with_reference_front(problem, reference)


def _named_file(text: str) -> tuple[str, Path]:
    name, equals, file = text.partition("=")
    if not equals or not name.strip() or not file:
        fail(f"--cost must be a name and a file, as in --cost euros=cost.csv, got {text}.")
    return name.strip(), Path(file)


def _named_files(texts: list[str]) -> dict[str, Path]:
    files: dict[str, Path] = {}
    for name, file in map(_named_file, texts):
        if name in files:
            fail(f"--cost must have another name for each file, got {name} for {files[name]} and for {file}.")
        files[name] = file
    return files


def _workers(text: str) -> tuple[int | str, str | None]:
    """Return the number and kind of workers from a number, `all`, `threads:4` or `processes:all`."""
    kind, _, number = text.rpartition(":")
    return int(number) if number.lstrip("-").isdecimal() else number, kind or None


def _cluster(address: str | None) -> contextlib.AbstractContextManager[Any]:
    """Provide the client of a Dask cluster, if there is one."""
    if address is None:
        return contextlib.nullcontext()
    from ..experiments.runner import dask_client

    return dask_client(address)


def _algorithm(name: str, paper: dict[str, Any], settings: list[str]) -> Algorithm:
    """Return the algorithm of a name with the parameters given as options or by --set."""
    from ..algorithms.registry import algorithm

    if paper["n_policies"] is not None:
        check_whole("--policies", paper["n_policies"], 1)
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

    check_choice("--count", count, ("all", "unique"))
    limit = _limit(evaluations, seconds)
    if limit is None and count == "unique":
        fail("--count unique requires a number of evaluations: give it with --evaluations.")
    criteria: list[StopCriterion] = [] if limit is None else [MaxEvaluations(limit, count=count)]  # type: ignore[arg-type]  # checked above
    if seconds is not None:
        criteria.append(MaxRuntime(seconds))
    return criteria[0] if len(criteria) == 1 else AnyOf(*criteria)
