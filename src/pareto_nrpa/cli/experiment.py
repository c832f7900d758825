"""`pareto-nrpa experiment`: the plans of the paper or one's own, run, tabulated and drawn."""

from __future__ import annotations

import functools
import inspect
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .common import DataOption, QuietOption, at_least_one, fail, say, say_lines

if TYPE_CHECKING:
    from ..experiments.measure import Measured
    from ..experiments.plan import Plan
    from ..experiments.runner import Status
    from ..experiments.store import Store

_RESULTS = Path("results")

app = typer.Typer(
    help="Experiments: the plans of the paper or one's own, run, tabulated and drawn.", no_args_is_help=True
)

SeedsOption = Annotated[
    int | None, typer.Option(help="Seeds, that is runs per algorithm and problem (default: the plan's).")
]
QuickOption = Annotated[
    bool, typer.Option("--quick", help="The quick version of the plan: few problems, few seeds, a small budget.")
]
ResultsOption = Annotated[Path, typer.Option(help="Folder with the runs, one file each.")]
OutOption = Annotated[Path | None, typer.Option(help="Folder to write to (default: the results folder).")]
JobsOption = Annotated[int, typer.Option(help="Processes on this machine.")]


@dataclass(frozen=True)
class RunSelection:
    """A plan, how much of it, and where its runs lie: the options that run, table and figure have in common."""

    plan: Annotated[
        str, typer.Argument(help="A plan by name (see: pareto-nrpa experiment list), or a TOML file of the same form.")
    ]
    seeds: SeedsOption = None
    only: Annotated[
        list[str] | None, typer.Option(help="Only the algorithm with this label; may be given several times.")
    ] = None
    problem: Annotated[
        list[str] | None, typer.Option(help="This problem instead of the plan's; may be given several times.")
    ] = None
    evaluations: Annotated[
        int | None, typer.Option(help="This many evaluations per run instead of the plan's budget.")
    ] = None
    cpu_seconds: Annotated[
        float | None, typer.Option(help="This many seconds of CPU time per run instead of the plan's budget.")
    ] = None
    quick: QuickOption = False
    results: ResultsOption = _RESULTS
    data: DataOption = None

    @property
    def folder(self) -> Path:
        """Where runs and pages go: those of quick plans never among those of full ones."""
        return self.results / "quick" if self.quick and self.results == _RESULTS else self.results

    @property
    def place(self) -> str | None:
        """The folder with the data, as the library takes it."""
        return None if self.data is None else str(self.data)

    def load(self) -> Plan:
        """Return the plan, or what was asked for of it."""
        from ..experiments.plan import load_plan

        plan = load_plan(self.plan)
        if self.quick:
            plan = plan.small(lambda problem: _is_there(problem, self.data))
        return plan.restricted(
            seeds=self.seeds,
            evaluations=self.evaluations,
            cpu_seconds=self.cpu_seconds,
            problems=self.problem or (),
            labels=self.only or (),
        )

    def tell_stand_ins(self, plan: Plan) -> None:
        """Say which problems a quick version has instead of the plan's, where the data of these are not here."""
        if self.quick and list(plan.problems) == plan.quick.get("stand_ins"):
            wanted, given = ", ".join(plan.quick["problems"]), ", ".join(plan.problems)
            message = f"{self.plan} needs data that are not here ({wanted}); its quick version uses {given}."
            say(message, err=True)

    def measure(self, rows: Path | None = None) -> Measured:
        """Return the runs of the plan that are there, measured: all of them, unless a number of seeds was given."""
        from ..experiments.measure import measure
        from ..experiments.rows import read_csv
        from ..experiments.store import Store

        plan, store = self.load(), Store(self.folder)
        earlier = [] if rows is None else read_csv(rows)
        measured = measure(plan, store, self.place, all_seeds=self.seeds is None, earlier=earlier)
        if not measured.rows:
            command = f"pareto-nrpa experiment run {self.arguments()}"
            others = self._others(plan, store)
            fail(f"there are no runs of {plan.name} in {self.folder} yet{others}; make them with: {command}")
        return measured

    def _others(self, plan: Plan, store: Store) -> str:
        """Say which runs there are instead of those that were asked for."""
        names = [contender.name for contender in plan.contenders]
        runs = [run for problem in plan.problems for run in store.runs_on(problem) if run.algorithm in names]
        if runs:
            budgets = ", ".join(sorted({str(run.stop) for run in runs}))
            return f", only some with other parameters, another revision or another budget ({budgets})"
        if not self.quick and (self.folder / "quick").is_dir():
            return f"; those of quick versions are in {self.folder / 'quick'}, to be had with --quick"
        return ""

    def arguments(self) -> str:
        """Return the selection as one would type it."""
        words = [self.plan]
        for option in fields(self)[1:]:
            value, name = getattr(self, option.name), f"--{option.name.replace('_', '-')}"
            if value is True:
                words.append(name)
            elif value != option.default:
                for item in value if isinstance(value, list) else [value]:
                    words += [name, str(item)]
        return shlex.join(words)


def _takes_selection(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a selection as if they were its own: typer reads signatures."""
    names = list(inspect.signature(RunSelection).parameters)

    @functools.wraps(command)
    def with_options(**options: object) -> None:
        command(RunSelection(**{name: options.pop(name) for name in names}), **options)  # type: ignore[arg-type]  # options have the types of the commands' parameters

    parameters = [
        *inspect.signature(RunSelection, eval_str=True).parameters.values(),
        *list(inspect.signature(command, eval_str=True).parameters.values())[1:],
    ]
    keywords = [parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in parameters]
    with_options.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]  # what typer reads the options from
    with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in keywords}
    return with_options


@app.command("run")
@_takes_selection
def run_plan(
    chosen: RunSelection,
    jobs: JobsOption = 1,
    dask: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler to run on instead, such as tcp://host:8786.")
    ] = None,
    shard: Annotated[str | None, typer.Option(help="Make the i-th of n parts only, as 2/10, for job arrays.")] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Repeat runs that failed before.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Make the runs of a plan that are not there yet; stop it at any time and start it again."""
    from .._util.files import check_writable
    from ..experiments.runner import execute
    from ..experiments.runner import shard as part_of
    from ..experiments.store import Store
    from .experiment_bar import ExperimentBar

    at_least_one("jobs", jobs)
    plan, results = chosen.load(), chosen.folder
    chosen.tell_stand_ins(plan)
    runs, store, fingerprints = part_of(plan.runs(), shard), Store(results), _fingerprints(plan, chosen.data)
    check_writable(results / "runs" / "any")
    with ExperimentBar(plan.name, quiet=quiet) as bar, _told_how_to_go_on(results):
        status = execute(
            runs,
            store,
            jobs=jobs,
            dask=dask,
            data=chosen.place,
            retry_failed=retry_failed,
            fingerprints=fingerprints,
            on_progress=bar.update,
        )
    if not quiet:
        say(f"{status.done} of {status.total} runs of {plan.name} are in {results}, {status.made} made now.")
    _tell_failures(status.failures, " Repeat them with --retry-failed.")


@contextmanager
def _told_how_to_go_on(results: Path) -> Iterator[None]:
    """Say, when somebody stops an experiment, that nothing is lost."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"Finished runs are kept in {results}; the same command goes on with the others.", err=True)
        raise


def _tell_failures(count: int, advice: str = "") -> None:
    if count:
        say(f"{count} runs failed; their rows say why.{advice}", err=True)


@app.command("table")
@_takes_selection
def show_tables(
    chosen: RunSelection,
    out: OutOption = None,
    rows: Annotated[
        Path | None,
        typer.Option(help="Rows measured before (PLAN-runs.csv), for problems whose runs are not there."),
    ] = None,
) -> None:
    """Write tables of the runs that are there, all seeds of them: Markdown, CSV and LaTeX."""
    from ..experiments.report import write_tables

    page, *others = write_tables(chosen.measure(rows), out or chosen.folder)
    say_lines(page.read_text(encoding="utf-8"))
    say(f"written: {page} and {len(others)} files beside it", err=True)


@app.command("figure")
@_takes_selection
def draw_figures(chosen: RunSelection, out: OutOption = None) -> None:
    """Draw figures of the runs that are there: PNG and SVG."""
    from ..experiments.report import write_figures

    for path in write_figures(chosen.measure(), out or chosen.folder, chosen.place):
        say(path)


@app.command("claims")
def check_claims(
    out: OutOption = None,
    rows: Annotated[
        Path | None,
        typer.Option(help="Folder with rows measured before (PLAN-runs.csv), for problems whose runs are not there."),
    ] = None,
    results: ResultsOption = _RESULTS,
    data: DataOption = None,
) -> None:
    """Hold the paper's claims against the runs that are there, one by one."""
    from ..experiments.store import Store

    path = _write_claims(Store(results), out or results, None if data is None else str(data), {}, rows)
    say_lines(path.read_text(encoding="utf-8"))
    say(f"written: {path}", err=True)


@app.command("reproduce")
def reproduce(
    plans: Annotated[
        list[str] | None, typer.Argument(help="The plans to carry out (default: all that come with the package).")
    ] = None,
    seeds: SeedsOption = None,
    jobs: JobsOption = 1,
    quick: QuickOption = False,
    results: ResultsOption = _RESULTS,
    out: OutOption = None,
    data: DataOption = None,
) -> None:
    """Run all plans, then write their tables and figures and the page of claims: the whole paper by one command."""
    from ..experiments.plan import plan_names
    from ..experiments.report import write_figures, write_tables
    from ..experiments.store import Store

    at_least_one("jobs", jobs)
    chosen = [
        RunSelection(name, seeds=seeds, quick=quick, results=results, data=data) for name in plans or plan_names()
    ]
    # All plans and problems are read before the first run is made: a mistake is told at once.
    loaded = [selection.load() for selection in chosen]
    fingerprints = [_fingerprints(plan, data) for plan in loaded]
    folder, place = chosen[0].folder, chosen[0].place
    store, target = Store(folder), out or folder
    failures = 0
    for selection, plan, prints in zip(chosen, loaded, fingerprints, strict=True):
        selection.tell_stand_ins(plan)
        with _told_how_to_go_on(folder):
            failures += _run_all(plan, store, jobs, place, prints).failures
        measured = selection.measure()
        write_tables(measured, target)
        write_figures(measured, target, place)
    _write_claims(store, target, place, {plan.name: plan for plan in loaded})
    say(f"Tables, figures and claims of {len(loaded)} plans are in {target}")
    _tell_failures(failures)


def _run_all(plan: Plan, store: Store, jobs: int, data: str | None, fingerprints: dict[str, str]) -> Status:
    from ..experiments.runner import execute
    from .experiment_bar import ExperimentBar

    with ExperimentBar(plan.name) as bar:
        return execute(plan.runs(), store, jobs=jobs, data=data, fingerprints=fingerprints, on_progress=bar.update)


@app.command("list")
def list_plans() -> None:
    """Show the plans that come with the package."""
    from ..experiments.plan import load_plan, plan_names

    for name in plan_names():
        plan = load_plan(name)
        size = f"{len(plan.problems)} x {len(plan.contenders)} x {plan.seeds} runs"
        say(f"{name:<12} {size:<20} {plan.title}")


def _is_there(problem: str, data: Path | None) -> bool:
    from ..catalogue import load
    from ..errors import InstanceError

    try:
        load(problem, data=data)
    except InstanceError:
        return False
    return True


def _fingerprints(plan: Plan, data: Path | None) -> dict[str, str]:
    """Load all problems, which must succeed before the first run, and return what tells them from others."""
    from ..catalogue import load
    from ..experiments.store import fingerprint_of

    return {problem: fingerprint_of(problem, load(problem, data=data)) for problem in plan.problems}


def _write_claims(
    store: Store, target: Path, data: str | None, plans: dict[str, Plan], rows: Path | None = None
) -> Path:
    """Write the page of claims, with plans as they were run or else as they come."""
    from ..experiments.claims import CLAIMS
    from ..experiments.measure import measure
    from ..experiments.plan import load_plan
    from ..experiments.report import write_claims
    from ..experiments.rows import read_csv

    measured = {}
    for name in dict.fromkeys(claim.plan for claim in CLAIMS):
        file = None if rows is None else rows / f"{name}-runs.csv"
        earlier = read_csv(file) if file is not None and file.exists() else []
        measured[name] = measure(plans.get(name) or load_plan(name), store, data, all_seeds=True, earlier=earlier)
    return write_claims(measured, target)
