"""The command line: parses arguments, calls the library, prints. Heavy imports happen inside the commands."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, Optional

import typer

from . import __version__

if TYPE_CHECKING:
    from .experiments.measure import Measured
    from .experiments.plan import Plan
    from .experiments.store import Store
    from .problem import CompiledProblem
    from .result import Result
    from .stop import StopCriterion

_DEFAULT_EVALUATIONS = 100_000
_DEFAULT_OUT = "results"
_RESULTS = Path("results")
_TRACEBACK = "PARETO_NRPA_TRACEBACK"
_INTERRUPTED = 130

app = typer.Typer(
    help="Find trade-offs in discrete multi-objective problems by Pareto-NRPA (ECAI 2025).",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
data_app = typer.Typer(help="Official benchmark files: download them, list what is there.", no_args_is_help=True)
app.add_typer(data_app, name="data")

experiment_app = typer.Typer(
    help="Experiments: the plans of the paper or one's own, run, tabulated and drawn.", no_args_is_help=True
)
app.add_typer(experiment_app, name="experiment")

DataOption = Annotated[
    Optional[Path],  # noqa: UP045 - typer reads the annotation
    typer.Option("--data", help="Folder with instances, instead of $PARETO_NRPA_DATA and the user's cache."),
]
PlanArgument = Annotated[
    str, typer.Argument(help="A plan by name (see: pareto-nrpa experiment list), or a TOML file of the same form.")
]
SeedsOption = Annotated[Optional[int], typer.Option(help="Use this many seeds (default: the plan's).")]  # noqa: UP045
OnlyOption = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(help="Only the algorithm with this label; may be given several times."),
]
ProblemOption = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(help="This problem instead of the plan's; may be given several times."),
]
EvaluationsOption = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(help="This many evaluations per run instead of the plan's budget."),
]
CpuSecondsOption = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(help="This many seconds of CPU time per run instead of the plan's budget."),
]
QuickOption = Annotated[
    bool, typer.Option("--quick", help="The quick version of the plan: few problems, few seeds, a small budget.")
]
ResultsOption = Annotated[Path, typer.Option(help="Folder with the runs, one file each.")]


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pareto-nrpa {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def solve(
    instance: Annotated[
        str,
        typer.Argument(
            help="An instance name (rc_204.3), a benchmark (nas-bench-201), a file, or a spec (tsptw:n=25,seed=7 "
            "or mo-tsp:n=50). Without one: an embedded instance with 25 cities."
        ),
    ] = "default",
    evaluations: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(help=f"Stop after this many evaluations (default {_DEFAULT_EVALUATIONS:,} unless --seconds)."),
    ] = None,
    seconds: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(help="Stop after this many seconds, those before --resume included."),
    ] = None,
    count: Annotated[
        str, typer.Option(help="Evaluations that count: all, or unique, when repeated solutions are looked up.")
    ] = "all",
    level: Annotated[int, typer.Option(help="Depth of the nesting.")] = 4,
    policies: Annotated[int, typer.Option(help="Number of policies.")] = 4,
    alpha: Annotated[float, typer.Option(help="Learning rate.")] = 0.5,
    iterations: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(help="N, iterations of each level (default: so that N^level covers the evaluations)."),
    ] = None,
    weighting: Annotated[str, typer.Option(help="Weigh sequences by: crowding or none.")] = "crowding",
    adapt: Annotated[str, typer.Option(help="Adapt to: all sequences, or one per policy.")] = "all",
    bias: Annotated[float, typer.Option(help="Factor on the problem's bias; 0 switches it off.")] = 1.0,
    preferences: Annotated[
        str, typer.Option(help="What the bias of each policy cares for: paper, mixed or spread.")
    ] = "paper",
    temperature: Annotated[float, typer.Option(help="Temperature of the softmax.")] = 1.0,
    limited_repetitions: Annotated[
        int, typer.Option(help="End a level after this many results that bring nothing new; 0 is off.")
    ] = 0,
    algorithm: Annotated[
        str,
        typer.Option(
            help="Another algorithm, for comparison: nsga-ii, nsga-iii, sms-emoa, moea-d, pls, pareto-mcts, nrpa, nmcs "
            "or random."
        ),
    ] = "pareto-nrpa",
    settings: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--set", help="A parameter of that algorithm, as name=value; may be given several times."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same result.")] = 0,
    data: DataOption = None,
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help=f"Save to this folder, or to this .json or .csv file (default: {_DEFAULT_OUT}/)."),
    ] = None,
    json: Annotated[Optional[Path], typer.Option(help="Write the result as JSON to this file.")] = None,  # noqa: UP045
    checkpoint: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Save the search to this file every ten seconds and at the end."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint where there is one, else start.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Solve an instance and show the trade-offs. Ctrl-C stops early and keeps the best so far."""
    from .algorithms import algorithm as by_name
    from .exceptions import ParetoNRPAError
    from .problems import load
    from .solver import check_seed
    from .solver import solve as run

    check_seed(seed)
    stop = _stop(evaluations, seconds, count)
    options = {
        "level": level,
        "n_policies": _named("policies", policies),
        "alpha": alpha,
        "iterations": iterations,
        "weighting": weighting,
        "adapt": adapt,
        "bias": bias,
        "preferences": preferences,
        "temperature": temperature,
        "limited_repetitions": limited_repetitions,
    }
    chosen = by_name(algorithm, _parameters(algorithm, options, settings or []))
    problem = load(instance, data=data)
    if problem.n_objectives == 1 and not quiet:
        typer.echo("One objective only: no second cost was found beside the file, or none was asked for.", err=True)
    targets = _targets(out, json, problem.name, seed)
    if checkpoint is not None and checkpoint.resolve() in [target.resolve() for target in targets]:
        _fail(f"--checkpoint and the result cannot be the same file, got {checkpoint} for both.")
    if resume and checkpoint is None:
        _fail("--resume needs the file to go on from: give it with --checkpoint.")
    from .progress import ProgressBar

    bar = ProgressBar(problem, evaluations=_limit(evaluations, seconds), seconds=seconds, quiet=quiet)
    try:
        with bar:
            result = run(problem, chosen, stop=stop, seed=seed, callbacks=bar, checkpoint=checkpoint, resume=resume)
    except ParetoNRPAError as error:
        if error.result is not None:
            saved = _save(error.result, targets, json, out)
            raise ParetoNRPAError(f"{error} The front found before is in {saved[0]}.") from error
        raise
    saved = _save(result, targets, json, out)
    if not quiet:
        bar.show(result, saved)


def _parameters(algorithm: str, options: dict[str, Any], settings: list[str]) -> dict[str, Any]:
    """Return the parameters of an algorithm: the options are those of Pareto-NRPA, others are set by name."""
    import json

    if algorithm != "pareto-nrpa":
        from .nrpa.params import ParetoNRPA

        usual = ParetoNRPA().to_dict()
        for name in [name for name, value in options.items() if value != usual[name]]:
            option = name.removeprefix("n_").replace("_", "-")
            _fail(f"--{option} is an option of pareto-nrpa; for {algorithm} give parameters with --set name=value.")
        options = {}
    given = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            _fail(f"--set must be name=value, as in --set population=100, got {setting!r}.")
        try:
            given[name] = json.loads(value)
        except ValueError:
            given[name] = value
    return {**options, **given}


def _named(option: str, value: int) -> int:
    if value < 1:
        _fail(f"--{option} must be a whole number of at least 1, got {value}.")
    return value


def _limit(evaluations: int | None, seconds: float | None) -> int | None:
    return _DEFAULT_EVALUATIONS if evaluations is None and seconds is None else evaluations


def _stop(evaluations: int | None, seconds: float | None, count: str) -> StopCriterion:
    from .stop import AnyOf, MaxEvaluations, MaxRuntime

    if count not in ("all", "unique"):
        _fail(f"--count must be all or unique, got {count}.")
    limit = _limit(evaluations, seconds)
    if limit is None and count == "unique":
        _fail("--count unique needs a number of them: give it with --evaluations.")
    criteria: list[StopCriterion] = [] if limit is None else [MaxEvaluations(limit, count=count)]  # type: ignore[arg-type]
    if seconds is not None:
        criteria.append(MaxRuntime(seconds))
    return criteria[0] if len(criteria) == 1 else AnyOf(*criteria)


def _targets(out: Path | None, json: Path | None, name: str, seed: int) -> list[Path]:
    """Return the files to save to, all of them writable."""
    from .files import check_writable

    targets = [] if json is None else [json]
    if out is not None or json is None:
        place = Path(_DEFAULT_OUT) if out is None else out
        if place.suffix not in ("", ".json", ".csv") and not place.is_dir():
            _fail(f"--out must be a folder or a file ending in .json or .csv, got {place}.")
        targets.append(place if place.suffix in (".json", ".csv") else place / f"{_slug(name)}-seed{seed}.json")
    for target in targets:
        check_writable(target)
    return targets


def _slug(name: str) -> str:
    text = name.replace("=", "")
    return "".join(c if c.isalnum() or c in "._-" else "-" for c in text).strip(".-")[:100] or "result"


def _save(result: Result, targets: list[Path], json: Path | None, out: Path | None) -> list[Path]:
    """Write all files; one that was not named by the user never takes the place of an earlier result."""
    return [
        result.save_json(path) if path == json else result.save(path if path == out else _reserved(path))
        for path in targets
    ]


def _reserved(path: Path) -> Path:
    """Return the first of path, path-2, path-3 ... that is not there, made at once so that nobody else takes it."""
    n = 1
    while True:
        candidate = path if n == 1 else path.with_name(f"{path.stem}-{n}{path.suffix}")
        try:
            candidate.open("x").close()
        except FileExistsError:
            n += 1
        else:
            return candidate


@app.command()
def info(
    instance: Annotated[str, typer.Argument(help="An instance to describe; without one: this installation.")] = "",
    data: DataOption = None,
) -> None:
    """Describe an instance, or this installation."""
    if instance:
        from .problems import load

        _describe(load(instance, data=data))
        return
    import platform
    from importlib.metadata import version

    from .problems.data import data_folders, instance_names

    typer.echo(f"pareto-nrpa {__version__}, Python {platform.python_version()}, {platform.platform()}")
    typer.echo(", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "moocore")))
    for folder in data_folders(data):
        typer.echo(f"data folder: {folder}{'' if folder.is_dir() else ' (not there)'}")
    typer.echo(f"instances found: {len(instance_names(data))}")


def _describe(problem: CompiledProblem) -> None:
    from .problems.mo_tsptw import Windows

    if problem.all_objectives is not None:
        _describe_known(problem)
        return
    typer.echo(f"{problem.name}: {problem.max_moves + 1} cities, {problem.n_objectives} objective(s)")
    if isinstance(problem.data, Windows):
        widths = (problem.data.closes - problem.data.opens)[1:]
        typer.echo(f"time windows: {widths.min():g} to {widths.max():g} wide, {widths.mean():.1f} on average")
    else:
        typer.echo("no time windows")
    typer.echo(f"reference point of the hypervolume: {_point(problem.reference_point)}")


def _describe_known(problem: CompiledProblem) -> None:
    """Describe a problem whose solutions are all known."""
    from .metrics import nondominated

    table = problem.all_objectives
    assert table is not None
    front = nondominated(table)
    typer.echo(f"{problem.name}: {problem.max_moves} moves, {len(table):,} solutions")
    typer.echo(f"objectives: {', '.join(problem.objective_names or ())}")
    typer.echo(f"true front: {len(front)} points, from {_point(front.min(axis=0))} to {_point(front.max(axis=0))}")
    typer.echo(f"reference point of the hypervolume: {_point(problem.reference_point)}")


def _point(values: Any) -> str:
    return "none fixed" if values is None else ", ".join(f"{x:.6g}" for x in values)


@data_app.command("list")
def data_list(data: DataOption = None) -> None:
    """Show the instances that are there."""
    from .problems.data import data_folders, find_instance, instance_names, official_names
    from .problems.instances import find_secondary

    names = instance_names(data)
    for name in names:
        path = find_instance(name, data)
        assert path is not None
        objectives = "1 objective " if find_secondary(path) is None else "2 objectives"
        typer.echo(f"{name:<12} {objectives}  {path}")
    missing = sorted(set(official_names()) - set(names))
    if not names:
        typer.echo("No instances in: " + ", ".join(map(str, data_folders(data))))
    if missing:
        total = len(official_names())
        typer.echo(f"{len(missing)} of {total} official instances are not there; get them with: pareto-nrpa data get")


@data_app.command("get")
def data_get(
    to: Annotated[Optional[Path], typer.Option(help="Folder to download to (default: the user's cache).")] = None,  # noqa: UP045
    url: Annotated[Optional[str], typer.Option("--from", help="Mirror to download from.")] = None,  # noqa: UP045
) -> None:
    """Download the 31 official MO-TSPTW instances, checking the SHA-256 sum of each file."""
    from .problems.data import SOURCE, fetch

    def show(done: int, total: int) -> None:
        if sys.stderr.isatty():
            typer.echo(f"\r{done} of {total} files", nl=done == total, err=True)

    folder = fetch(url=url or SOURCE, folder=to, progress=show)
    typer.echo(f"The official instances are in {folder}")
    if to is not None:
        typer.echo(f"Use them with --data {to} or PARETO_NRPA_DATA={to}")


@data_app.command("convert-nasbench101")
def data_convert_nasbench101(
    file: Annotated[Path, typer.Argument(help="The official nasbench_only108.tfrecord (or the full file).")],
    to: Annotated[Optional[Path], typer.Option(help="Folder for the table (default: the user's cache).")] = None,  # noqa: UP045
) -> None:
    """Turn the official file of NAS-Bench-101 into a compact table, once; it takes some minutes."""
    from .problems.nas.convert101 import convert

    def show(done: int) -> None:
        if sys.stderr.isatty():
            typer.echo(f"\r{done:,} records", nl=False, err=True)

    typer.echo(f"The table is in {convert(file, to, progress=show)}")
    if to is not None:
        typer.echo(f"Use it with --data {to} or PARETO_NRPA_DATA={to}")


@experiment_app.command("run")
def experiment_run(
    plan: PlanArgument,
    seeds: Annotated[Optional[int], typer.Option(help="Runs per algorithm and problem (default: the plan's).")] = None,  # noqa: UP045
    jobs: Annotated[int, typer.Option(help="Processes on this machine.")] = 1,
    dask: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Address of a Dask scheduler to run on instead, such as tcp://host:8786."),
    ] = None,
    shard: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Make the i-th of n parts only, as 2/10, for job arrays."),
    ] = None,
    only: OnlyOption = None,
    problem: ProblemOption = None,
    evaluations: EvaluationsOption = None,
    cpu_seconds: CpuSecondsOption = None,
    quick: QuickOption = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Repeat runs that failed before.")] = False,
    results: ResultsOption = _RESULTS,
    data: DataOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Make the runs of a plan that are not there yet; stop it at any time and start it again."""
    from .experiments.runner import execute
    from .experiments.runner import shard as part_of
    from .experiments.store import Store
    from .files import check_writable
    from .progress import ExperimentBar

    _named("jobs", jobs)
    chosen = _plan(plan, seeds, only, problem, evaluations, cpu_seconds, quick, data)
    place, results = None if data is None else str(data), _results(results, quick)
    runs, store, fingerprints = part_of(chosen.runs(), shard), Store(results), _fingerprints(chosen.problems, data)
    check_writable(results / "runs" / "any")
    with ExperimentBar(chosen.name, quiet=quiet) as bar:
        status = execute(
            runs,
            store,
            jobs=jobs,
            dask=dask,
            data=place,
            retry_failed=retry_failed,
            fingerprints=fingerprints,
            on_progress=bar.update,
        )
    if not quiet:
        typer.echo(f"{status.done} of {status.total} runs of {chosen.name} are in {results}, {status.made} made now.")
    if status.failures:
        typer.echo(f"{status.failures} runs failed; their rows say why. Repeat them with --retry-failed.", err=True)


@experiment_app.command("table")
def experiment_table(
    plan: PlanArgument,
    out: Annotated[Optional[Path], typer.Option(help="Folder to write to (default: the results folder).")] = None,  # noqa: UP045
    seeds: SeedsOption = None,
    only: OnlyOption = None,
    problem: ProblemOption = None,
    evaluations: EvaluationsOption = None,
    cpu_seconds: CpuSecondsOption = None,
    quick: QuickOption = False,
    results: ResultsOption = _RESULTS,
    data: DataOption = None,
) -> None:
    """Write tables of the runs that are there: Markdown, CSV and LaTeX."""
    from .experiments.report import write_tables

    results = _results(results, quick)
    measured = _measured(_plan(plan, seeds, only, problem, evaluations, cpu_seconds, quick, data), results, data)
    page, *others = write_tables(measured, out or results)
    typer.echo(page.read_text(encoding="utf-8"))
    typer.echo(f"written: {page} and {len(others)} files beside it", err=True)


@experiment_app.command("figure")
def experiment_figure(
    plan: PlanArgument,
    out: Annotated[Optional[Path], typer.Option(help="Folder to write to (default: the results folder).")] = None,  # noqa: UP045
    seeds: SeedsOption = None,
    only: OnlyOption = None,
    problem: ProblemOption = None,
    evaluations: EvaluationsOption = None,
    cpu_seconds: CpuSecondsOption = None,
    quick: QuickOption = False,
    results: ResultsOption = _RESULTS,
    data: DataOption = None,
) -> None:
    """Draw figures of the runs that are there: PNG and SVG."""
    from .experiments.report import write_figures

    results = _results(results, quick)
    measured = _measured(_plan(plan, seeds, only, problem, evaluations, cpu_seconds, quick, data), results, data)
    for path in write_figures(measured, out or results, None if data is None else str(data)):
        typer.echo(path)


@experiment_app.command("claims")
def experiment_claims(
    out: Annotated[Optional[Path], typer.Option(help="Folder to write to (default: the results folder).")] = None,  # noqa: UP045
    results: ResultsOption = _RESULTS,
    data: DataOption = None,
) -> None:
    """Hold the paper's claims against the runs that are there, one by one."""
    from .experiments.store import Store

    path = _write_claims(Store(results), out or results, None if data is None else str(data), {})
    typer.echo(path.read_text(encoding="utf-8"))
    typer.echo(f"written: {path}", err=True)


@experiment_app.command("reproduce")
def experiment_reproduce(
    plans: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Argument(help="The plans to carry out (default: all that come with the package)."),
    ] = None,
    seeds: SeedsOption = None,
    jobs: Annotated[int, typer.Option(help="Processes on this machine.")] = 1,
    quick: QuickOption = False,
    results: ResultsOption = _RESULTS,
    out: Annotated[Optional[Path], typer.Option(help="Folder for the pages (default: the results folder).")] = None,  # noqa: UP045
    data: DataOption = None,
) -> None:
    """Run all plans, then write their tables and figures and the page of claims: the whole paper by one command."""
    from .experiments.plan import plan_names
    from .experiments.report import write_figures, write_tables
    from .experiments.runner import execute
    from .experiments.store import Store
    from .progress import ExperimentBar

    _named("jobs", jobs)
    results = _results(results, quick)
    place, store, target = None if data is None else str(data), Store(results), out or results
    chosen = [_plan(name, seeds, None, None, None, None, quick, data) for name in plans or plan_names()]
    prints = [_fingerprints(plan.problems, data) for plan in chosen]
    failures = 0
    for plan, fingerprints in zip(chosen, prints, strict=True):
        with ExperimentBar(plan.name) as bar:
            status = execute(
                plan.runs(), store, jobs=jobs, data=place, fingerprints=fingerprints, on_progress=bar.update
            )
        failures += status.failures
        measured = _measured(plan, results, data)
        write_tables(measured, target)
        write_figures(measured, target, place)
    _write_claims(store, target, place, {plan.name: plan for plan in chosen})
    typer.echo(f"Tables, figures and claims of {len(chosen)} plans are in {target}")
    if failures:
        typer.echo(f"{failures} runs failed; their rows say why.", err=True)


@experiment_app.command("list")
def experiment_list() -> None:
    """Show the plans that come with the package."""
    from .experiments.plan import load_plan, plan_names

    for name in plan_names():
        plan = load_plan(name)
        size = f"{len(plan.problems)} x {len(plan.contenders)} x {plan.seeds} runs"
        typer.echo(f"{name:<12} {size:<20} {plan.title}")


def _plan(
    name: str,
    seeds: int | None,
    only: list[str] | None,
    problems: list[str] | None,
    evaluations: int | None,
    cpu_seconds: float | None,
    quick: bool,
    data: Path | None,
) -> Plan:
    from .experiments.plan import load_plan

    plan = load_plan(name)
    if quick:
        plan = plan.small(lambda problem: _is_there(problem, data))
    return plan.restricted(
        seeds=seeds, evaluations=evaluations, cpu_seconds=cpu_seconds, problems=problems or (), labels=only or ()
    )


def _is_there(problem: str, data: Path | None) -> bool:
    from .exceptions import InstanceError
    from .problems import load

    try:
        load(problem, data=data)
    except InstanceError:
        return False
    return True


def _fingerprints(problems: tuple[str, ...], data: Path | None) -> dict[str, str]:
    """Load all problems, which must succeed before the first run, and return what tells their data from others."""
    from .problem import data_fingerprint
    from .problems import load

    return {problem: data_fingerprint(load(problem, data=data)) for problem in problems}


def _results(folder: Path, quick: bool) -> Path:
    """Return where runs and pages go: those of quick plans never among those of full ones."""
    return folder / "quick" if quick and folder == _RESULTS else folder


def _write_claims(store: Store, target: Path, data: str | None, plans: dict[str, Plan]) -> Path:
    """Write the page of claims, with plans as they were run or else as they come."""
    from .experiments.claims import CLAIMS
    from .experiments.measure import measure
    from .experiments.plan import load_plan
    from .experiments.report import write_claims

    names = dict.fromkeys(claim.plan for claim in CLAIMS)
    whole = {name: plans.get(name) or load_plan(name) for name in names}
    return write_claims({name: measure(plan, store, data) for name, plan in whole.items()}, target)


def _measured(plan: Plan, results: Path, data: Path | None) -> Measured:
    from .experiments.measure import measure
    from .experiments.store import Store

    measured = measure(plan, Store(results), None if data is None else str(data))
    if not measured.rows:
        _fail(
            f"there are no runs of {plan.name} in {results} yet; make them with: pareto-nrpa experiment run {plan.name}"
        )
    return measured


def _fail(message: str) -> NoReturn:
    typer.echo(f"Error: {message}", err=True)
    raise SystemExit(2)


# What click raises for arguments that it cannot read, wherever typer keeps its click.
_ClickException: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line; a mistake becomes one sentence and exit code 2."""
    try:
        code = app(arguments, standalone_mode=False) or 0
        if code == _INTERRUPTED:  # typer returns this for Ctrl-C instead of raising
            raise KeyboardInterrupt
        sys.exit(code)
    except _ClickException as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            typer.echo(error.format_message())
            sys.exit(0)
        _fail(" ".join(error.format_message().split()))
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("Interrupted.", err=True)
        sys.exit(_INTERRUPTED)
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if os.environ.get(_TRACEBACK):
            raise
        if isinstance(error, MemoryError):
            _fail("there is not enough memory for this; fewer cities, policies or levels need less.")
        if isinstance(error, ValueError | ImportError | OSError):
            _fail(str(error))
        _fail(f"{type(error).__name__}: {error} (this should not happen; {_TRACEBACK}=1 shows where).")
