"""Makes one run, in any process or on any machine."""

from __future__ import annotations

import json
import platform
from functools import cache
from typing import TYPE_CHECKING, Any

import moocore
import msgspec
import numpy as np

from ..algorithms.registry import algorithm
from ..catalogue import load
from ..errors import ParetoNRPAError
from ..own_problem import is_own
from ..problem.base import AnyProblem, data_fingerprint, problem_fingerprint
from ..result.result import plain
from ..solving.solve import solve
from .runs import RunRecord

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from ..result.result import Result
    from .plan import Run

# A log is thinned to the fronts at so many evaluations, evenly spaced on a logarithmic scale.
_CHECKPOINTS = 150
_SHORT_LOG = 300  # kept whole
_LONGEST_ERROR = 1_000  # characters


def load_once(name: str, data: Path | None) -> tuple[AnyProblem, str]:
    """Return a problem and its fingerprint, loaded once in this process.

    A problem of the user may have a state, so each run gets a new one: runs are the same in any order.
    """
    if is_own(name):
        problem: AnyProblem = load(name, data=data)
        # Bytecode depends on the version of Python; a `version` of the problem replaces it.
        return problem, problem_fingerprint(problem)
    return _loaded(name, data)


@cache
def _loaded(name: str, data: Path | None) -> tuple[AnyProblem, str]:
    problem = load(name, data=data)
    return problem, data_fingerprint(problem)


#: Clear the cached problems, as their files may change.
forget_problems = _loaded.cache_clear


def fingerprints(problems: Iterable[str], data: Path | None) -> dict[str, str]:
    """Load all problems before the first run, and return their fingerprints."""
    return {name: load_once(name, data)[1] for name in problems}


def make_run(run: Run, data: Path | None) -> tuple[bytes, str]:
    """Make a run, and return its record as JSON in one line, and its error; an error becomes a record, too."""
    try:
        (problem, fingerprint), chosen = load_once(run.problem, data), algorithm(run.algorithm, run.parameters)
        _check_revision(run, chosen)
        result = solve(problem, chosen, stop=run.stop, seed=run.seed, measure=False)
        if result.stopped_by in ("Ctrl-C", "SIGTERM"):
            raise KeyboardInterrupt
        return msgspec.json.encode(_record(run, result, fingerprint)), ""
    except Exception as error:
        return failed(run, f"{type(error).__name__}: {error}")


def _check_revision(run: Run, chosen: Any) -> None:
    """Raise where another machine of a cluster has another version of an algorithm."""
    if chosen.revision != run.revision:
        raise ParetoNRPAError(
            f"revision {run.revision} of {run.algorithm} was requested, {platform.node()} has revision "
            f"{chosen.revision}; install the same version of pareto-nrpa everywhere."
        )


def failed(run: Run, error: str) -> tuple[bytes, str]:
    """Return the record of a run that failed as JSON in one line, and its error."""
    error = error.encode(errors="replace").decode()[:_LONGEST_ERROR]  # lone surrogates cannot be stored
    return msgspec.json.encode(RunRecord(run, error=error, versions={"python": platform.python_version()})), error


def _record(run: Run, result: Result, fingerprint: str) -> RunRecord:
    signs = np.where(result.maximise, -1.0, 1.0)
    front = result.front
    assert result.log is not None
    return RunRecord(
        run=run,
        fingerprint=fingerprint,
        evaluations=result.evaluations,
        cpu_seconds=round(result.cpu_seconds, 3),
        wall_seconds=round(result.wall_seconds, 3),
        objectives=(front.objectives * signs).tolist(),
        violations=float(front.violations[0]) if len(front) else None,
        # By the standard library: moves may be integers of any size.
        solutions=msgspec.Raw(json.dumps(plain(list(front.solutions)), separators=(",", ":")).encode()),
        policies=front.policies.tolist(),
        log=[[row[0], *(float(f"{x:.9g}") for x in row[1:])] for row in thinned(result.log).tolist()],
        versions=result.versions,
        unique_evaluations=result.unique_evaluations,
    )


def thinned(log: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the lines of a long log that were still in the front at one of the checkpoints, the last line included."""
    if len(log) <= _SHORT_LOG:
        return log
    last = int(log[-1, 0])
    checkpoints = np.unique(np.geomspace(1, last, _CHECKPOINTS).round().astype(int))
    kept = np.zeros(len(log), dtype=bool)
    front = np.zeros(0, dtype=int)
    begin = 0
    for checkpoint in checkpoints:
        end = int(np.searchsorted(log[:, 0], checkpoint, side="right"))
        front = _best_of(log, np.concatenate([front, np.arange(begin, end)]))
        kept[front] = True
        begin = end
    return log[kept]


def _best_of(log: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows with the fewest violations that are not dominated."""
    rows = rows[log[rows, 1] == log[rows, 1].min()] if len(rows) else rows
    if len(rows) < 2 or log.shape[1] == 3:
        return rows[[log[rows, 2].argmin()]] if len(rows) and log.shape[1] == 3 else rows
    best: NDArray[np.int64] = rows[moocore.is_nondominated(log[rows, 2:])]
    return best
