"""`pareto-nrpa certify`: all efficient tours of an instance, with a proof of completeness."""

from __future__ import annotations

import math
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .common import fail, say
from .options import DataOption, QuietOption

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

    from ..problem.base import CompiledProblem
    from ..routing.exact import Certificate

_GIGABYTE = 1e9
_LEAST_MEMORY = 0.1


def certify(
    instance: Annotated[
        str,
        typer.Argument(
            help="A travelling salesman problem with time windows: an instance name (rc_204.3), a file, or a spec "
            "(tsptw:n=25,seed=7)."
        ),
    ],
    seconds: Annotated[float | None, typer.Option(help="Stop after this many seconds and keep what is proved.")] = None,
    memory: Annotated[float, typer.Option(help="Approximate memory limit in gigabytes.")] = 4.0,
    workers: Annotated[int, typer.Option(help="Number of processes that share the work; the answer is the same.")] = 1,
    dask: Annotated[
        str | None, typer.Option(help="Share the work with the Dask cluster of this scheduler, instead of --workers.")
    ] = None,
    incumbent: Annotated[
        Path | None,
        typer.Option("--from", help="Start from the front in this result of solve, not from a short search."),
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Continue the unfinished proof of the certificate in this file.")
    ] = None,
    json: Annotated[
        Path | None, typer.Option(help="Write the certificate as JSON to this file, every few seconds.")
    ] = None,
    check: Annotated[
        Path | None, typer.Option(help="Verify the certificate in this file against the instance, without a proof.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the short search for a first front.")] = 0,
    data: DataOption = None,
    quiet: QuietOption = False,
) -> None:
    """Find all efficient tours and prove that there are no others. Ctrl-C stops early and keeps what is proved."""
    from .._util.checks import check_seed
    from ..catalogue import load

    if workers < 1:
        fail(f"--workers must be at least 1, got {workers}.")
    if check is not None:
        if any(option is not None for option in (incumbent, resume, json, seconds)):
            fail("--check only verifies: give it without --from, --resume, --json and --seconds.")
        with _executor(workers, dask) as executor:
            _check(check, load(instance, data=data), executor, quiet=quiet)
        return
    check_seed(seed)
    if seconds is not None and not (seconds > 0 and math.isfinite(seconds)):
        fail(f"--seconds must be a number above 0, got {seconds:g}.")
    if not (memory >= _LEAST_MEMORY and math.isfinite(memory)):
        fail(f"--memory must be at least {_LEAST_MEMORY:g} (gigabytes), got {memory:g}.")
    problem = load(instance, data=data)
    if json is not None:
        from .._util.files import check_writable

        check_writable(json)
    from ..result.result import Result
    from ..routing.exact import Certificate
    from ..routing.exact import certify as prove
    from ..solving.progress_bar import ProofBar

    front = None if incumbent is None else Result.load(incumbent)
    earlier = None if resume is None else Certificate.load(resume)
    bar = ProofBar(problem, memory=memory * _GIGABYTE, quiet=quiet)
    with _executor(workers, dask) as executor, bar:
        certificate = prove(
            problem,
            front,
            resume=earlier,
            time_limit=seconds,
            memory_limit=max(memory / workers, _LEAST_MEMORY) * _GIGABYTE,
            seed=seed,
            on_progress=bar.update,
            on_compile=bar.on_compile,
            on_checkpoint=None if json is None else lambda certificate: certificate.save(json),
            executor=executor,
        )
    if json is not None:
        certificate.save(json)
    bar.show(certificate, json)


@contextmanager
def _executor(workers: int, dask: str | None) -> Iterator[Executor | None]:
    """Provide the processes of a proof, if there are others than this one."""
    if dask is not None:
        from ..experiments.runner import dask_client

        with dask_client(dask) as client:
            yield client.get_executor()
    elif workers == 1:
        yield None
    else:
        from ..parallel.pool import ProcessWorkers

        processes = ProcessWorkers(workers, imports_main=False)
        try:
            yield processes
        finally:
            processes.kill_workers()


def _check(path: Path, problem: CompiledProblem, executor: Executor | None, *, quiet: bool) -> None:
    """Verify a certificate, and report what was and what was not verified."""
    from ..routing.exact import Certificate, check_certificate, check_intervals
    from ..solving.progress_bar import LiveLine

    certificate = Certificate.load(path)
    check_certificate(certificate, problem)
    n = len(certificate.groups)
    with LiveLine(quiet=quiet) as line:
        if n:
            check_intervals(
                certificate,
                problem,
                executor=executor,
                on_group=lambda done: line.draw(f"{done} of {n} intervals verified", done, n),
            )
    if not quiet:
        say(f"It states: {certificate.summary()}")
        say(f"Verified: {_verified(certificate, problem)}")
        say(f"Not verified: {_not_verified(certificate)}")


def _verified(certificate: Certificate, problem: CompiledProblem) -> str:
    n, n_groups = len(certificate.solutions), len(certificate.groups)
    tours = "it has no tours" if not n else "the tour is" if n == 1 else f"the {n} tours are"
    others = "" if n == 1 else ", and none is as good as another in all objectives"
    feasible = f" feasible, every city once and in its window, with the costs stated{others}" if n else ""
    there = "there is no feasible tour" if not n else "there is no other efficient tour"
    intervals = f"; {there} in any of its {n_groups} intervals of the first objective" if n_groups else ""
    return f"it is for the data of {problem.name}; {tours}{feasible}{intervals}."


def _not_verified(certificate: Certificate) -> str:
    if certificate.proved and certificate.groups:
        return "nothing: the intervals are all that there is."
    if certificate.proved:
        return "that there are no other efficient tours, as the file has no intervals: repeat the proof with --json."
    return "the lower bounds of what is open, and the gap that follows from them."
