"""`pareto-nrpa experiment`: the plans of the paper or your own: run, tabulate and draw."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._util.checks import check_whole
from .common import fail, say, say_lines
from .options import DataOption, QuietOption

if TYPE_CHECKING:
    from ..experiments.measure import Measured
    from ..experiments.plan import Plan
    from ..experiments.runner import Status

_RESULTS = Path("results")

app = typer.Typer(help="Experiments: the plans of the paper or your own: run, tabulate and draw.", no_args_is_help=True)

PlanArgument = Annotated[
    str, typer.Argument(help="A plan by name (see: pareto-nrpa experiment list), or a TOML file of the same form.")
]
SeedsOption = Annotated[
    int | None, typer.Option(help="Number of seeds per algorithm and problem (default: the plan's).")
]
OnlyOption = Annotated[
    list[str] | None, typer.Option(help="Only the algorithm with this label; may be given several times.")
]
ProblemOption = Annotated[
    list[str] | None, typer.Option(help="This problem instead of the plan's; may be given several times.")
]
EvaluationsOption = Annotated[
    int | None, typer.Option(help="This many evaluations per run instead of the plan's budget.")
]
CpuSecondsOption = Annotated[
    float | None, typer.Option(help="This many seconds of CPU time per run instead of the plan's budget.")
]
QuickOption = Annotated[
    bool, typer.Option("--quick", help="The quick version of the plan: few problems, few seeds, a small budget.")
]
ResultsOption = Annotated[Path, typer.Option(help="Folder of results, with the runs in runs/.")]
OutOption = Annotated[Path | None, typer.Option(help="Folder to write to (default: the results folder).")]
JobsOption = Annotated[int, typer.Option(help="Processes on this machine.")]


@dataclass(frozen=True)
class RunSelection:
    """A plan, a selection of it and its folder: the options shared by run, table and figure."""

    name: str
    seeds: int | None = None
    only: list[str] | None = None
    problem: list[str] | None = None
    evaluations: int | None = None
    cpu_seconds: float | None = None
    quick: bool = False
    results: Path = _RESULTS
    data: Path | None = None

    @property
    def folder(self) -> Path:
        """The folder of runs and pages; quick plans have one of their own."""
        return self.results / "quick" if self.quick and self.results == _RESULTS else self.results

    def load(self) -> Plan:
        """Return the plan, or the selected part of it."""
        from ..experiments.plan import load_plan

        plan = load_plan(self.name)
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
        """Report which problems replace those of the plan in a quick version, where data are missing."""
        wanted, given = plan.quick.problems, plan.problems
        if self.quick and wanted is not None and given == plan.quick.stand_ins:
            message = f"{self.name} needs data that are missing ({', '.join(wanted)}); its quick version uses "
            say(f"{message}{', '.join(given)}.", err=True)

    def measure(self, rows: Path | None = None) -> Measured:
        """Return the finished runs of the plan, measured: all of them, unless a number of seeds was given."""
        from ..experiments.measure import measure, read_csv
        from ..experiments.runs import RunStore

        plan, store = self.load(), RunStore(self.folder)
        earlier = None if rows is None else read_csv(rows, plan.name)
        measured = measure(plan, store, self.data, all_seeds=self.seeds is None, earlier=earlier)
        if measured.frame.empty:
            names = [contender.name for contender in plan.contenders]
            runs = [run for problem in plan.problems for run in store.runs_on(problem) if run.algorithm in names]
            others = ""
            if runs:
                budgets = ", ".join(sorted({str(run.stop) for run in runs}))
                others = f", only some with other parameters, another revision or another budget ({budgets})"
            elif not self.quick and (self.folder / "quick").is_dir():
                others = f"; those of quick versions are in {self.folder / 'quick'}, shown with --quick"
            command = f"pareto-nrpa experiment run {self.arguments()}"
            fail(f"no runs of {plan.name} in {self.folder}{others}; make them with: {command}")
        return measured

    def arguments(self) -> str:
        """Return the selection as a user types it."""
        words = [self.name, *(["--quick"] if self.quick else [])]
        for option in ("seeds", "only", "problem", "evaluations", "cpu_seconds", "data"):
            value = getattr(self, option)
            for item in [] if value is None else value if isinstance(value, list) else [value]:
                words += [f"--{option.replace('_', '-')}", str(item)]
        return shlex.join(words if self.results == _RESULTS else [*words, "--results", str(self.results)])


@app.command("run")
def run_plan(
    plan: PlanArgument,
    seeds: SeedsOption = None,
    only: OnlyOption = None,
    problem: ProblemOption = None,
    evaluations: EvaluationsOption = None,
    cpu_seconds: CpuSecondsOption = None,
    quick: QuickOption = False,
    results: ResultsOption = _RESULTS,
    data: DataOption = None,
    jobs: JobsOption = 1,
    dask: Annotated[
        str | None, typer.Option(help="Run on the Dask cluster of this scheduler, such as tcp://host:8786.")
    ] = None,
    shard: Annotated[str | None, typer.Option(help="Make the i-th of n parts only, as 2/10, for job arrays.")] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Repeat failed runs.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Make the missing runs of a plan; stop it at any time and start it again."""
    chosen = RunSelection(plan, seeds, only, problem, evaluations, cpu_seconds, quick, results, data)
    check_whole("--jobs", jobs, 1)
    loaded = chosen.load()
    status = _run_all(chosen, loaded, jobs, shard=shard, dask=dask, retry_failed=retry_failed, quiet=quiet)
    if not quiet:
        say(f"{status.done} of {status.total} runs of {loaded.name} are in {chosen.folder}, {status.made} made now.")
    _tell_failures(status.failures, " Repeat them with --retry-failed.")


def _run_all(
    chosen: RunSelection,
    plan: Plan,
    jobs: int,
    *,
    shard: str | None = None,
    dask: str | None = None,
    retry_failed: bool = False,
    quiet: bool = False,
) -> Status:
    """Make the runs of a plan; all problems are loaded before the first one."""
    from ..experiments.runner import run_missing
    from ..experiments.runner import shard as part_of
    from ..experiments.runs import RunStore
    from ..experiments.worker import fingerprints
    from ..solving.progress_bar import ExperimentBar

    chosen.tell_stand_ins(plan)
    runs, prints = part_of(plan.runs(), shard), fingerprints(plan.problems, chosen.data)
    # Concurrent processes have a journal each.
    store = RunStore(chosen.folder, plan.name if shard is None else f"{plan.name}-{shard.replace('/', 'of')}")
    try:
        with ExperimentBar(plan.name, quiet=quiet) as bar:
            return run_missing(
                runs,
                store,
                jobs=jobs,
                dask=dask,
                data=chosen.data,
                retry_failed=retry_failed,
                fingerprints=prints,
                on_progress=bar.update,
            )
    except KeyboardInterrupt:
        say(f"Finished runs are kept in {chosen.folder}; the same command makes the others.", err=True)
        raise


def _tell_failures(count: int, advice: str = "") -> None:
    if count:
        say(f"{count} runs failed; their rows give the reason.{advice}", err=True)


@app.command("figure", help="Draw figures of the finished runs: PNG and SVG.")
@app.command("table", help="Write tables of the finished runs, all seeds: Markdown, CSV and LaTeX.")
def show(
    ctx: typer.Context,
    plan: PlanArgument,
    seeds: SeedsOption = None,
    only: OnlyOption = None,
    problem: ProblemOption = None,
    evaluations: EvaluationsOption = None,
    cpu_seconds: CpuSecondsOption = None,
    quick: QuickOption = False,
    results: ResultsOption = _RESULTS,
    data: DataOption = None,
    out: OutOption = None,
    rows: Annotated[
        Path | None,
        typer.Option(
            help="Measured rows (PLAN-runs.csv, or several plans in one file), for problems without runs in the folder."
        ),
    ] = None,
) -> None:
    """Write tables or draw figures, according to the name of the command."""
    from ..experiments.page import write_figures, write_tables

    chosen = RunSelection(plan, seeds, only, problem, evaluations, cpu_seconds, quick, results, data)
    measured, target = chosen.measure(rows), out or chosen.folder
    if ctx.info_name == "figure":
        for path in write_figures(measured, target, chosen.data):
            say(path)
        return
    page, *others = write_tables(measured, target)
    say_lines(page.read_text(encoding="utf-8"))
    say(f"written: {page} and {len(others)} files beside it", err=True)


@app.command("reproduce")
def reproduce(
    plans: Annotated[
        list[str] | None, typer.Argument(help="The plans to run (default: all plans of the package).")
    ] = None,
    seeds: SeedsOption = None,
    jobs: JobsOption = 1,
    quick: QuickOption = False,
    results: ResultsOption = _RESULTS,
    out: OutOption = None,
    data: DataOption = None,
) -> None:
    """Run all plans of the paper and write their tables and figures."""
    from ..experiments.page import write_figures, write_tables
    from ..experiments.plan import plan_names
    from ..experiments.worker import fingerprints

    check_whole("--jobs", jobs, 1)
    chosen = [
        RunSelection(name, seeds=seeds, quick=quick, results=results, data=data) for name in plans or plan_names()
    ]
    # All plans and problems are read before the first run, so that mistakes are reported at once.
    loaded = [selection.load() for selection in chosen]
    for selection, plan in zip(chosen, loaded, strict=True):
        fingerprints(plan.problems, selection.data)
    failures, target = 0, out or chosen[0].folder
    for selection, plan in zip(chosen, loaded, strict=True):
        failures += _run_all(selection, plan, jobs).failures
        measured = selection.measure()
        write_tables(measured, target)
        write_figures(measured, target, selection.data)
    say(f"Tables and figures of {len(loaded)} plans are in {target}")
    _tell_failures(failures)


@app.command("list")
def list_plans() -> None:
    """Show the plans of the package."""
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
