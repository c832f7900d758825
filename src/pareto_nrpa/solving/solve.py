"""`solve`: checks its arguments and connects problem, algorithm, stop and callbacks."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .._util.checks import check_flag, check_seed, check_whole, shown
from .._util.files import check_writable, locked
from ..algorithms.algorithm import Algorithm
from ..algorithms.registry import DEFAULT
from ..algorithms.registry import algorithm as algorithm_by_name
from ..errors import CheckpointError
from ..metrics import as_vector
from ..parallel.islands.algorithm import assembled, closing
from ..problem.base import AnyProblem, check_problem_type, problem_fingerprint
from ..result.result import Front, Result
from .callbacks import check_callbacks
from .run import SearchRun
from .stop import StopCriterion, budget_of, check_stop, counts_unique

if TYPE_CHECKING:
    import os
    from collections.abc import Hashable, Sequence
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    from ..algorithms.search import Search
    from .callbacks import Callback


def solve(
    problem: AnyProblem,
    algorithm: Algorithm | str | None = None,
    *,
    stop: StopCriterion,
    seed: int = 0,
    callbacks: Callback | Sequence[Callback] = (),
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    reference_point: Sequence[float] | None = None,
    max_archive: int | None = None,
    start: Result | Front | Sequence[Sequence[Hashable]] = (),
    workers: int | Literal["all"] = 1,
    searches: int | None = None,
    executor: Executor | Literal["threads", "processes"] | None = None,
    measure: bool = True,
) -> Result:
    """Search for the Pareto front of a problem.

    Parameters
    ----------
    problem
        A `Problem` or a `CompiledProblem`.
    algorithm
        `PolishedNRPA()` by default; another one, such as `ParetoNRPA()` with the paper's parameters, or the name of
        one, such as "nsga-ii".
    stop
        When to stop: for example `MaxEvaluations(100_000) | MaxRuntime(60)`.
    seed
        Same seed, same result.
    callbacks
        One or more `Callbacks`, or functions of the progress.
    checkpoint
        A file in which the search is saved every ten seconds and at the end. An existing file is never overwritten by
        another search, and only one search at a time uses it.
    resume
        Continue from the checkpoint if it exists. Time limits include the time spent before.
    reference_point
        The reference point of hypervolumes: by default that of the problem, else a point slightly worse than every
        solution that entered the front.
    max_archive
        The largest number of solutions to keep, at least 2; no limit by default. With many objectives fronts of tens of
        thousands of solutions are common. Above the limit half of them are kept: the best in each objective and those
        that lie farthest apart. `discarded` of the result counts the others.
    start
        Solutions to begin with: lists of moves, or the result of an earlier search. They are evaluated first, count as
        evaluations, and the search learns from them. A resumed search ignores them.
    workers
        Number of cores; 0 or "all": every core of this process. Searches run in processes, or in threads where that is
        faster. Processes import the class of a plain problem: a script needs `if __name__ == "__main__":`.
    searches
        Number of cooperating searches; by default the number of workers. They determine the result, workers do not:
        same seed and searches, same result.
    executor
        Where searches run: "threads", which share the problem, "processes", or any `concurrent.futures.Executor`,
        such as that of a Dask client.
    measure
        Whether to measure hypervolumes, compare with the reference front and describe the solutions; False saves
        this time where only the front and its log are needed.

    Returns
    -------
    Result
        The front of everything that was evaluated. Ctrl-C (or SIGTERM) ends the search and returns its front; a second
        one does not wait for the evaluation in progress.

    Raises
    ------
    ProblemError
        If the problem violates its interface.
    CheckpointError
        If the checkpoint cannot be read or written. As for every error that ends a running search, the attribute
        `result` holds the front found so far.
    """
    check_stop(stop)
    check_problem_type(problem)
    seed = check_seed(seed)
    check_flag("resume", resume)
    check_flag("measure", measure)
    if max_archive is not None:
        check_whole("max_archive", max_archive, 2)
    reference = check_reference_point(problem, reference_point)
    if checkpoint is not None:
        check_writable(checkpoint)
        problem_fingerprint(problem)  # a problem without a fingerprint is refused before the search starts
        if Path(checkpoint).exists() and not resume:
            raise CheckpointError(f"{checkpoint} already exists; resume to continue from it, or name another file.")
    elif resume:
        raise ValueError("resume requires the file to continue from: give it as checkpoint.")
    chosen = assembled(check_algorithm(algorithm), workers, searches, executor)
    callback_list = check_callbacks(callbacks)
    with nullcontext() if checkpoint is None else locked(checkpoint), closing(chosen):
        if resume and checkpoint is not None and Path(checkpoint).exists():
            search: Search = chosen.resume(problem, checkpoint)
            seed = search.seed
        else:
            search = chosen.start(problem, seed=seed, budget=budget_of(stop))
        if counts_unique(stop):
            _count_unique(search, checkpoint)
        _limit_archive(search, max_archive, checkpoint)
        first = [] if search.evaluations else _check_start(start, search)
        run = SearchRun(
            problem, chosen.name, search, stop, seed, reference, callback_list, checkpoint, first, measure=measure
        )
        return run.to_the_end()


def check_algorithm(algorithm: object) -> Algorithm:
    """Return the algorithm given by object, class or name; without one, the default search."""
    if algorithm is None or isinstance(algorithm, str):
        return algorithm_by_name(DEFAULT if algorithm is None else algorithm)
    made: object = algorithm() if isinstance(algorithm, type) and issubclass(algorithm, Algorithm) else algorithm
    if not isinstance(made, Algorithm):
        raise TypeError(
            f'algorithm must be an Algorithm such as ParetoNRPA(level=3), or a name such as "nsga-ii", got '
            f"{shown(algorithm)}."
        )
    return made


def check_reference_point(problem: AnyProblem, given: Sequence[float] | None) -> NDArray[np.float64] | None:
    """Return the reference point in the problem's own sense, or None if it is not known yet."""
    point = problem.reference_point if given is None else given
    return None if point is None else as_vector(point, problem.n_objectives, "reference_point")


def _check_start(start: object, search: Search) -> list[Sequence[Any]]:
    """Return the solutions to begin with, as lists of moves."""
    given = start.front if isinstance(start, Result) else start
    solutions: Any = given.solutions if isinstance(given, Front) else given
    if isinstance(solutions, np.ndarray | list):
        solutions = [one.tolist() if isinstance(one, np.ndarray) else one for one in solutions]
    is_many = isinstance(solutions, list | tuple)
    if not is_many or not all(isinstance(solution, list | tuple) for solution in solutions):
        raise TypeError(f"start must be lists of moves, or a result, got {shown(start)}.")
    if not len(solutions):
        return []
    if search.n_searches > 1:
        raise ValueError("several searches cannot begin with solutions; leave out start, or workers and searches.")
    if not search.accepts_solutions:
        name = search.algorithm.name
        raise ValueError(f"{name} cannot begin with solutions; leave out start, or use pareto-nrpa.")
    search.expect_add()
    return list(solutions)


def _count_unique(search: Search, checkpoint: str | os.PathLike[str] | None) -> None:
    """Count every solution once; a resumed search must have done so from its start."""
    if search.unique_evaluations is None:
        if search.evaluations:
            raise CheckpointError(f"{checkpoint} was made without counting unique evaluations; name another file.")
        search.count_unique()


def _limit_archive(search: Search, size: int | None, checkpoint: str | os.PathLike[str] | None) -> None:
    """Limit the archive of a search; a resumed search must keep the limit of its start."""
    before = search.max_archive
    if search.evaluations and size != before:
        raise CheckpointError(
            f"{checkpoint} was made with max_archive={before}, not {size}; use that, or another file."
        )
    if size is not None and size != before:
        search.limit_archive(int(size))
