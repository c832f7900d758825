"""One evaluation in a worker: every outcome, also an error, is returned as a value."""

from __future__ import annotations

import contextlib
import ctypes
import math
import threading
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...problem.stepper import replay

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...problem.base import Problem

_MAX_ERROR = 500


@dataclass(frozen=True)
class Evaluation:
    """The outcome of an evaluation: objectives in the problem's own sense, or an error."""

    objectives: tuple[float, ...] = ()
    violations: float = 0.0
    error: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0  # 0 if the process died


class _Overdue(BaseException):
    """Raised in an evaluation that must end; not caught by `except Exception`."""


def evaluate_solution(problem: Problem, solution: Sequence[Any]) -> Evaluation:
    """Play the moves of a solution and evaluate the final state; never raises."""
    wall, cpu = time.perf_counter(), time.thread_time()
    objectives: tuple[float, ...] = ()
    violations, error = 0.0, ""
    try:
        found, violations = replay(problem, solution)
        values = found.tolist()
        if not all(map(math.isfinite, values)):
            error = f"an objective is NaN or infinite: {values}"
        elif not 0 <= violations < math.inf:
            error = f"violations must be a finite number of at least 0, got {violations}"
        else:
            objectives = tuple(values)
    except (Exception, SystemExit) as raised:
        error = f"{type(raised).__name__}: {raised}"[:_MAX_ERROR] + _place(raised)
    return Evaluation(
        objectives, 0.0 if error else violations, error, time.perf_counter() - wall, time.thread_time() - cpu
    )


def _place(error: BaseException) -> str:
    """Return file and line of an error."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f" ({Path(frame.filename).name} line {frame.lineno})"


def evaluate_in_thread(problem: Problem, solution: Sequence[Any], time_limit: float) -> Evaluation:
    """Evaluate in a separate thread and abandon it when it is overdue, for workers that cannot be killed.

    An abandoned evaluation ends at its next line of Python; one that never leaves compiled code keeps running.
    """
    outcomes: list[Evaluation] = []

    def evaluate() -> None:
        with contextlib.suppress(_Overdue):
            outcomes.append(evaluate_solution(problem, solution))

    thread = threading.Thread(target=evaluate, daemon=True)
    thread.start()
    thread.join(time_limit)
    if outcomes:
        return outcomes[0]
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_Overdue))
    return Evaluation(error=overdue(time_limit), seconds=time_limit)


def overdue(time_limit: float) -> str:
    """Return the message for an evaluation that took too long."""
    return f"took longer than the time limit of {time_limit:g} s"
