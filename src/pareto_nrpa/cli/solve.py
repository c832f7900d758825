"""`pareto-nrpa solve`: one search, shown while it runs and saved when it is done."""

from __future__ import annotations

import contextlib
import math
import os
from dataclasses import replace
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..algorithms.registry import NAMES, parameters
from . import stops
from .common import DataOption, QuietOption, at_least_one, fail, named_values, open_in_browser, say, tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..result.result import Result
    from ..solving.stop import StopCriterion

_DEFAULT_EVALUATIONS = 100_000
_DEFAULT_OUT = "results"


def solve(
    context: typer.Context,
    instance: Annotated[
        str,
        typer.Argument(
            help="An instance name (rc_204.3), a benchmark (nas-bench-201), a file (stops.csv), a spec "
            "(tsptw:n=25,seed=7 or mo-tsp:n=50), or your own problem (file.py:factory). Without one: an embedded "
            "instance with 25 cities."
        ),
    ] = "default",
    more: stops.MoreArgument = None,
    speed: stops.SpeedOption = None,
    time: stops.TimeOption = None,
    cost: stops.CostOption = None,
    objectives: stops.ObjectivesOption = None,
    vehicles: stops.VehiclesOption = None,
    capacity: stops.CapacityOption = None,
    late_costs: stops.LateCostsOption = False,
    window_end: stops.WindowEndOption = "start",
    evaluations: Annotated[
        int | None,
        typer.Option(help=f"Stop after this many evaluations (default {_DEFAULT_EVALUATIONS:,} unless --seconds)."),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(help="Stop after this many seconds, those before --resume included."),
    ] = None,
    count: Annotated[
        str, typer.Option(help="Evaluations that count: all, or unique, when repeated solutions are looked up.")
    ] = "all",
    level: Annotated[int | None, typer.Option(help="Depth of the nesting.")] = None,
    policies: Annotated[int | None, typer.Option(help="Number of policies.")] = None,
    alpha: Annotated[float | None, typer.Option(help="Learning rate.")] = None,
    iterations: Annotated[
        int | None,
        typer.Option(help="N, iterations of each level (default: so that N^level covers the evaluations)."),
    ] = None,
    weighting: Annotated[str | None, typer.Option(help="Weigh sequences by: crowding or none.")] = None,
    adapt: Annotated[str | None, typer.Option(help="Adapt to: all sequences, or one per policy.")] = None,
    bias: Annotated[float | None, typer.Option(help="Factor on the problem's bias; 0 switches it off.")] = None,
    preferences: Annotated[
        str | None, typer.Option(help="What the bias of each policy cares for: paper, mixed or spread.")
    ] = None,
    temperature: Annotated[float | None, typer.Option(help="Temperature of the softmax.")] = None,
    limited_repetitions: Annotated[
        int | None, typer.Option(help="End a level after this many results that bring nothing new; 0 is off.")
    ] = None,
    playouts_per_step: Annotated[
        int | None, typer.Option(help="Playouts with the same policies before each step of learning; 1 is the paper's.")
    ] = None,
    algorithm: Annotated[
        str,
        typer.Option(help=f"Another algorithm, for comparison: {', '.join(NAMES[1:-1])} or {NAMES[-1]}."),
    ] = NAMES[0],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A parameter of that algorithm, as name=value; may be given several times."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same result.")] = 0,
    data: DataOption = None,
    reference_front: Annotated[
        Path | None,
        typer.Option(help="Measure the result against the front in this file: a result, a certificate, or a CSV."),
    ] = None,
    start: Annotated[
        Path | None, typer.Option(help="Begin with the solutions of the result in this .json file.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help=f"Save to this folder, beside earlier results, or to this .json or .csv file, which is replaced "
            f"(default: {_DEFAULT_OUT}/)."
        ),
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write the result as JSON to this file, replacing it.")] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="Write the page to this .html file, replacing it (default on a terminal: beside it)."),
    ] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no page.")] = False,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    show_all: Annotated[bool, typer.Option("--all", help="Print all trade-offs, not only ten.")] = False,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="Save the search to this file every ten seconds and at the end."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint where there is one, else start.")
    ] = False,
    max_archive: Annotated[
        int | None,
        typer.Option(help="The most trade-offs to keep (at least 2); of more, half are kept, those farthest apart."),
    ] = None,
    workers: Annotated[str, typer.Option(help="How many cores to use; 0 or all: as many as this process may.")] = "1",
    searches: Annotated[
        int | None,
        typer.Option(
            help="How many searches work together; they make the result, workers do not (default: as many as workers)."
        ),
    ] = None,
    executor: Annotated[
        str | None, typer.Option(help="Who the workers are: threads or processes (default: what is faster).")
    ] = None,
    dask: Annotated[
        str | None, typer.Option(help="Let searches work on the Dask cluster with this scheduler; needs --searches.")
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Solve an instance and show the trade-offs. Ctrl-C stops early and keeps the best so far."""
    from .._util.checks import check_seed
    from .._util.files import check_writable
    from ..algorithms.registry import algorithm as by_name
    from ..errors import ParetoNRPAError
    from ..result.io import read_result
    from ..result.reference import with_reference_front
    from ..solving.callbacks import Callbacks
    from ..solving.interrupt import Interrupt
    from ..solving.solve import solve as run

    check_seed(seed)
    stop = _stop(evaluations, seconds, count)
    options = {
        "level": level,
        "n_policies": None if policies is None else at_least_one("policies", policies),
        "alpha": alpha,
        "iterations": iterations,
        "weighting": weighting,
        "adapt": adapt,
        "bias": bias,
        "preferences": preferences,
        "temperature": temperature,
        "limited_repetitions": limited_repetitions,
        "playouts_per_step": playouts_per_step,
    }
    chosen = by_name(algorithm, _parameters(algorithm, options, settings or []))
    problem, understood = stops.open_problem(
        instance,
        more or [],
        data,
        speed=speed,
        time=time,
        costs=cost or [],
        objectives=objectives,
        vehicles=vehicles,
        capacity=capacity,
        late_costs=late_costs,
        window_end=window_end,
    )
    if understood and not quiet:
        tell(understood)
    if reference_front is not None:
        problem = with_reference_front(problem, reference_front)
    if problem.n_objectives == 1 and not quiet:
        tell("One objective only: no second cost was found beside the file, or none was asked for.")
    first = [] if start is None else read_result(start).front.solutions
    targets = _targets(out, json, instance if instance == "default" else problem.name, seed)
    if checkpoint is not None and checkpoint.resolve() in [target.resolve() for target in targets]:
        fail(f"--checkpoint and the result cannot be the same file, got {checkpoint} for both.")
    if no_report and (report is not None or open_page):
        fail(f"--no-report and {'--open' if report is None else '--report'} contradict each other: give one of them.")
    if report is not None:
        from ..report import check_page_name

        check_page_name(report)
        check_writable(report)
        if report.resolve() in [target.resolve() for target in (*targets, *([checkpoint] if checkpoint else []))]:
            fail(f"--report and the result cannot be the same file, got {report} for both.")
    if executor is not None and dask is not None:
        fail("--executor and --dask both say who does the work: give one of them.")
    if resume and checkpoint is None:
        fail("--resume needs the file to go on from: give it with --checkpoint.")
    from rich.console import Console

    from ..report import page_beside, terminal
    from ..solving.progress_bar import ProgressBar

    out_console = Console(quiet=quiet)
    writes_page = open_page or (out_console.is_terminal and not (no_report or quiet or os.environ.get("CI")))
    bar = ProgressBar(problem, evaluations=_limit(evaluations, seconds), seconds=seconds, quiet=quiet)
    saved: list[Path] = []

    def signed(found: Result) -> Result:
        return replace(found, command=context.obj or "")

    class Saving(Callbacks):
        """Saves before the search returns: until then no signal comes between."""

        def on_end(self, result: Result) -> None:
            saved.extend(_save(signed(result), targets, json, out))
            place = report or (page_beside(saved[0]) if writes_page else None)
            if place is not None and len(result.front):
                saved.append(signed(result).report(place))

    try:
        with bar, _cluster(dask) as cluster:
            result = run(
                problem,
                chosen,
                stop=stop,
                seed=seed,
                callbacks=[Saving(), bar],
                checkpoint=checkpoint,
                resume=resume,
                max_archive=max_archive,
                start=first,
                workers=_workers(workers),  # type: ignore[arg-type]  # solve checks it
                searches=searches,
                executor=cluster or executor,  # type: ignore[arg-type]  # solve checks it
            )
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        found: Result | None = getattr(error, "result", None)
        if found is None:
            raise
        with Interrupt(patience=math.inf):
            where = _rescued(found, saved, lambda: _save(signed(found), targets, json, out))
        reason = str(error) if isinstance(error, ParetoNRPAError) else f"{type(error).__name__}: {error}"
        raise ParetoNRPAError(f"{reason.rstrip('. ')}. {where}") from error
    if not quiet:
        terminal.show(out_console, result, saved, is_all=show_all)
    page = next((path for path in saved if path.suffix == ".html"), None)
    if open_page and page is not None:
        open_in_browser(page)


def _workers(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text


@contextlib.contextmanager
def _cluster(address: str | None) -> Iterator[Any]:
    """Provide the executor of a Dask cluster, if there is one."""
    if address is None:
        yield None
        return
    from ..experiments.runner import dask_client

    with dask_client(address) as client:
        yield client.get_executor()


def _rescued(result: Result, saved: list[Path], save: Callable[[], list[Path]]) -> str:
    """Keep a front when something went wrong, wherever there is room for it; returns a sentence that says where."""
    import tempfile

    from ..errors import ParetoNRPAError

    def elsewhere() -> list[Path]:
        return [result.save_json(_reserved(Path(tempfile.gettempdir()) / f"{_stem(result.instance)}-rescued.json"))]

    if saved:
        return f"The front found before is in {saved[0]}."
    for keep in (save, elsewhere):
        with contextlib.suppress(ParetoNRPAError, OSError):
            return f"The front found before is in {keep()[0]}."
    say(dumps(result.to_dict()))
    return "The front found before is printed as JSON, as it could not be saved anywhere."


def _parameters(algorithm: str, options: dict[str, Any], settings: list[str]) -> dict[str, Any]:
    """Return the parameters of an algorithm that were given, as options or by name."""
    options = {name: value for name, value in options.items() if value is not None}
    for name in options:
        if name not in parameters(algorithm):
            fail(f"{_option(name)} is no option of {algorithm}; leave it out, or choose --algorithm pareto-nrpa.")
    named = named_values(settings, "--set must be name=value, as in --set population=100")
    names = [setting.partition("=")[0] for setting in settings]
    for name in named:
        if name in options or names.count(name) > 1:
            also = _option(name) if name in options else f"--set {name} once more"
            fail(f"{name} is given twice, as --set {name} and as {also}; leave one out.")
    return {**options, **named}


def _option(name: str) -> str:
    """Return the option of the command line that is for a parameter."""
    return f"--{name.removeprefix('n_').replace('_', '-')}"


def _limit(evaluations: int | None, seconds: float | None) -> int | None:
    return _DEFAULT_EVALUATIONS if evaluations is None and seconds is None else evaluations


def _stop(evaluations: int | None, seconds: float | None, count: str) -> StopCriterion:
    from ..solving.stop import AnyOf, MaxEvaluations, MaxRuntime

    if count not in ("all", "unique"):
        fail(f"--count must be all or unique, got {count}.")
    limit = _limit(evaluations, seconds)
    if limit is None and count == "unique":
        fail("--count unique needs a number of them: give it with --evaluations.")
    criteria: list[StopCriterion] = [] if limit is None else [MaxEvaluations(limit, count=count)]  # type: ignore[arg-type]  # the command line has checked count
    if seconds is not None:
        criteria.append(MaxRuntime(seconds))
    return criteria[0] if len(criteria) == 1 else AnyOf(*criteria)


def _targets(out: Path | None, json: Path | None, name: str, seed: int) -> list[Path]:
    """Return the files to save to, all of them writable."""
    from .._util.files import check_writable

    targets = [] if json is None else [json]
    if out is not None or json is None:
        place = Path(_DEFAULT_OUT) if out is None else out
        ending = place.suffix.lower()
        if ending not in ("", ".json", ".csv") and not place.is_dir():
            fail(f"--out must be a folder or a file ending in .json or .csv, got {place}.")
        targets.append(place if ending in (".json", ".csv") else place / f"{_stem(name)}-seed{seed}.json")
    for target in targets:
        check_writable(target)
    return targets


def _stem(name: str) -> str:
    from .._util.files import file_name

    return file_name(name.replace("=", "")).strip(".-")[:100] or "result"


def _save(result: Result, targets: list[Path], json: Path | None, out: Path | None) -> list[Path]:
    """Write all files: a name that the user gave is replaced, one in a folder never takes that of an earlier result."""
    saved = []
    for path in targets:
        place = path if path in (json, out) else _reserved(path)
        try:
            saved.append(result.save_json(place) if path == json else result.save(place))
        except BaseException:
            if place not in (json, out):
                place.unlink(missing_ok=True)  # it was only reserved
            raise
    return saved


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
