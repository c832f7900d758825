"""`pareto-nrpa certify`: all efficient tours of an instance, with a proof of completeness."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .common import fail, say
from .options import DataOption, QuietOption

if TYPE_CHECKING:
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
    incumbent: Annotated[
        Path | None,
        typer.Option("--from", help="Start from the front in this result of solve, not from a short search."),
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Continue the unfinished proof of the certificate in this file.")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write the certificate as JSON to this file.")] = None,
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

    if check is not None:
        if any(option is not None for option in (incumbent, resume, json, seconds)):
            fail("--check only verifies: give it without --from, --resume, --json and --seconds.")
        _check(check, load(instance, data=data), quiet=quiet)
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
    with ProofBar(problem, memory=memory * _GIGABYTE, quiet=quiet) as bar:
        certificate = prove(
            problem,
            front,
            resume=earlier,
            time_limit=seconds,
            memory_limit=memory * _GIGABYTE,
            seed=seed,
            on_progress=bar.update,
            on_compile=bar.on_compile,
        )
    if json is not None:
        certificate.save(json)
    bar.show(certificate, json)


def _check(path: Path, problem: CompiledProblem, *, quiet: bool) -> None:
    """Verify a certificate, and report what was and what was not verified."""
    from ..routing.exact import Certificate, check_certificate

    certificate = Certificate.load(path)
    check_certificate(certificate, problem)
    if quiet:
        return
    say(f"It states: {certificate.summary()}")
    say(f"Verified: {_verified(certificate, problem)}")
    say(f"Not verified: {_not_verified(certificate)}")


def _verified(certificate: Certificate, problem: CompiledProblem) -> str:
    n = len(certificate.solutions)
    if not n:
        return f"it is for the data of {problem.name}; it has no tours."
    tours = "the tour is" if n == 1 else f"the {n} tours are"
    others = "" if n == 1 else ", and none is as good as another in all objectives"
    return (
        f"it is for the data of {problem.name}; {tours} feasible, every city once and in its window, with the costs "
        f"stated{others}."
    )


def _not_verified(certificate: Certificate) -> str:
    from ..routing.exact.certificate import INFEASIBLE, PROVED

    if certificate.status == INFEASIBLE:
        return "that there is no feasible tour. To verify that, repeat the proof: certify without --check."
    if certificate.status == PROVED:
        return "that there are no other efficient tours. To verify that, repeat the proof: certify without --check."
    return "that better tours can only be in the open boxes. To verify that, repeat the proof: certify without --check."
