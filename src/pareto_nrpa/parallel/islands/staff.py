"""Who is to carry searches on: threads or processes, as named, or as is faster for the problem."""

from __future__ import annotations

import multiprocessing
import pickle
import sys
from typing import TYPE_CHECKING

from ...errors import ProblemError
from ...problem.base import CompiledProblem
from .algorithm import PROCESSES, THREADS
from .executors import Crew, Processes, Threads, pickled
from .places import OwnProcesses, places_of

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ...algorithms.algorithm import Algorithm
    from ...algorithms.nrpa.search import AskTellSearch
    from ...problem.base import AnyProblem

# Fewer evaluations of a search are made by the time that a process has started.
_WORTH_A_PROCESS = 5_000
# Policies that take more bytes are better not sent about; their kernels run so long that threads hardly disturb each
# other.
_MOST_SENT = 8_000_000


def crew_for(
    searches: list[AskTellSearch],
    problem: AnyProblem,
    algorithm: Algorithm,
    workers: int,
    executor: Executor | str | None,
    budget: int | None,
) -> Crew:
    """Return who carries searches on, each of which makes `budget` evaluations (None: not known)."""
    if executor is not None and not isinstance(executor, str):
        return Processes(searches, pickled(problem), algorithm, places_of(executor, len(searches)))
    if workers == 1:
        return Crew(searches)
    content = b""
    if executor is None:
        executor, content = _faster(searches[0], problem, algorithm, budget)
    if executor == THREADS:
        return Threads(searches, workers)
    content = content or pickled(problem)
    # A plain problem may depend on what the script has set elsewhere, a compiled one has all in its kernels and data.
    imports_main = not isinstance(problem, CompiledProblem) or _is_local(content, algorithm)
    return Processes(searches, content, algorithm, OwnProcesses(workers, len(searches), imports_main=imports_main))


def _faster(search: AskTellSearch, problem: AnyProblem, algorithm: Algorithm, budget: int | None) -> tuple[str, bytes]:
    """Return what is faster for a problem, and the problem as it is sent to processes.

    Between kernels there is Python, which one thread at a time may run: processes have one each.
    """
    if not isinstance(problem, CompiledProblem):
        return PROCESSES, pickled(problem)
    is_short = budget is not None and budget < _WORTH_A_PROCESS
    if is_short or search.machine.weights.nbytes > _MOST_SENT or not _may_start_processes():
        return THREADS, b""
    try:
        content = pickled(problem)
    except ProblemError:
        return THREADS, b""
    # What a script defines is there for processes that import it; unasked, no script is run a second time.
    return (THREADS, b"") if _is_local(content, algorithm) else (PROCESSES, content)


def _may_start_processes() -> bool:
    """Tell whether processes can be started unasked: a program with Python inside might start itself instead."""
    is_a_python = bool(sys.executable) and not getattr(sys, "frozen", False)
    return is_a_python and not multiprocessing.current_process().daemon


def _is_local(problem: bytes, algorithm: Algorithm) -> bool:
    """Tell whether a problem that was pickled, or the algorithm, needs what a script defines."""
    return b"__main__" in problem or b"__main__" in pickle.dumps(algorithm)
