"""Makes one run, wherever it is told to: in this process, in another one, on another machine."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any

import moocore
import numpy as np

from ..algorithms.registry import algorithm
from ..catalogue import load
from ..errors import ParetoNRPAError
from ..result.result import plain
from ..solving.solve import solve
from .store import Record, fingerprint_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..result.result import Result
    from .plan import Run

# A log is thinned to what stood in the front at one of so many evaluations, evenly spaced on a logarithmic scale.
_CHECKPOINTS = 150
_SHORT_LOG = 300  # kept whole
_LONGEST_ERROR = 1_000  # characters


def make_run(run: Run, data: str | None) -> dict[str, Any]:
    """Make a run and return its record as plain values; whatever goes wrong becomes a record too."""
    try:
        problem, chosen = load(run.problem, data=data), algorithm(run.algorithm, run.parameters)
        _check_revision(run, chosen)
        fingerprint = fingerprint_of(run.problem, problem)  # before a search makes it remember something
        result = solve(problem, chosen, stop=run.stop, seed=run.seed)
        if result.stopped_by in ("Ctrl-C", "SIGTERM"):
            raise KeyboardInterrupt
        record = _record(run, result, fingerprint)
    except Exception as error:
        record = failed(run, f"{type(error).__name__}: {error}")
    return record.to_dict()


def _check_revision(run: Run, chosen: Any) -> None:
    """Raise where another machine of a cluster has another version of an algorithm."""
    if chosen.revision != run.revision:
        raise ParetoNRPAError(
            f"revision {run.revision} of {run.algorithm} was asked for, {platform.node()} has revision "
            f"{chosen.revision}; install the same version of pareto-nrpa everywhere."
        )


def failed(run: Run, error: str) -> Record:
    """Return the record of a run that failed."""
    return Record(
        run=run.to_dict(),
        fingerprint="",
        # As it can be stored, whatever somebody's problem says.
        error=error.encode(errors="replace").decode()[:_LONGEST_ERROR],
        evaluations=0,
        cpu_seconds=0.0,
        wall_seconds=0.0,
        objectives=np.zeros((0, 2)),
        violations=float("nan"),
        solutions=[],
        policies=[],
        log=np.zeros((0, 4)),
        versions={"python": platform.python_version()},
    )


def _record(run: Run, result: Result, fingerprint: str) -> Record:
    signs = np.where(result.maximise, -1.0, 1.0)
    assert result.log is not None
    return Record(
        run=run.to_dict(),
        fingerprint=fingerprint,
        error="",
        evaluations=result.evaluations,
        cpu_seconds=result.cpu_seconds,
        wall_seconds=result.wall_seconds,
        objectives=result.front.objectives * signs,
        violations=float(result.front.violations[0]) if len(result.front) else float("nan"),
        solutions=[[plain(move) for move in solution] for solution in result.front.solutions],
        policies=result.front.policies.tolist(),
        log=thinned(result.log),
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
