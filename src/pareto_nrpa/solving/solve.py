"""The one call for every algorithm: wires problem, algorithm, stop and callbacks together, holds no algorithm."""

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
    from .callbacks import Listener


def solve(
    problem: AnyProblem,
    algorithm: Algorithm | str | None = None,
    *,
    stop: StopCriterion,
    seed: int = 0,
    callbacks: Listener | Sequence[Listener] = (),
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
        One or more `Callbacks`, or functions, which are told of progress.
    checkpoint
        A file in which the search is saved every ten seconds and at the end. One that exists is only gone on from,
        and by one search at a time.
    resume
        Go on from the checkpoint where there is one. Time limits count what was spent before.
    reference_point
        What the hypervolume is measured against; the problem's own, or else a point a little worse than everything
        that ever was in the front.
    max_archive
        The most solutions to keep, at least 2; no limit by default. With many objectives hardly anything dominates
        anything, and fronts of tens of thousands are common. Where there are more, half of them are kept: the best in
        each objective and those that lie farthest apart. `discarded` of the result says how many were lost.
    start
        Solutions to begin with: lists of moves, or the result of an earlier search. They are evaluated first, count as
        evaluations, and the search learns from them. One that goes on from a checkpoint has had them.
    workers
        How many cores to use; 0 or "all": as many as this process may. Searches are carried on by processes, or by
        threads where that is faster. Processes load a plain problem by its class: a script needs
        `if __name__ == "__main__":`.
    searches
        How many searches work together; as many as there are workers by default. They make the result, the number of
        workers does not: same seed and searches, same result. One search is what it always was.
    executor
        Where searches are carried on instead: any `concurrent.futures.Executor`, such as that of a Dask client. Or who
        the workers are: "threads", which share the problem, or "processes".
    measure
        Whether to measure hypervolumes, compare with the reference front and describe the solutions; False saves the
        time of it where only the front and its log are needed.

    Returns
    -------
    Result
        The best front of all that was evaluated. Ctrl-C (or SIGTERM) ends the search early and returns what there is;
        a second one does not wait for the evaluation in hand.

    Raises
    ------
    ProblemError
        If the problem breaks a promise.
    CheckpointError
        If the checkpoint cannot be read or written. As with everything that ends a search that has begun, the
        attribute `result` holds the front found until then.
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
        problem_fingerprint(problem)  # now, not when it is saved, is the time to say that there is none
        if Path(checkpoint).exists() and not resume:
            raise CheckpointError(f"{checkpoint} already exists; resume to go on from it, or name another checkpoint.")
    elif resume:
        raise ValueError("resume needs the file to go on from: give it as checkpoint.")
    chosen = assembled(check_algorithm(algorithm), workers, searches, executor)
    listeners = check_callbacks(callbacks)
    with nullcontext() if checkpoint is None else locked(checkpoint), closing(chosen):
        if resume and checkpoint is not None and Path(checkpoint).exists():
            search: Search = chosen.resume(problem, checkpoint)
            seed = search.seed  # the one that made the first part
        else:
            search = chosen.start(problem, seed=seed, budget=budget_of(stop))
        if counts_unique(stop):
            _count_unique(search, checkpoint)
        _limit_archive(search, max_archive, checkpoint)
        first = [] if search.evaluations else _check_start(start, search)
        run = SearchRun(
            problem, chosen.name, search, stop, seed, reference, listeners, checkpoint, first, measure=measure
        )
        return run.to_the_end()


def check_algorithm(algorithm: object) -> Algorithm:
    """Return the algorithm that was meant: itself, one with all its defaults by class or name, or the default."""
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
    """Return the reference point to use, in the problem's own sense, or None if there is none yet."""
    point = problem.reference_point if given is None else given
    if point is None:
        return None
    message = f"reference_point must be {problem.n_objectives} finite numbers, got {shown(point)}."
    try:
        array = np.asarray(point, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(message) from error
    if array.shape != (problem.n_objectives,) or not np.isfinite(array).all():
        raise ValueError(message)
    return array


def _check_start(start: object, search: Search) -> list[Sequence[Any]]:
    """Return the solutions to begin with, as lists of moves."""
    given = start.front if isinstance(start, Result) else start
    solutions: Any = given.solutions if isinstance(given, Front) else given
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
    """Let a search count every solution once, unless it does already."""
    if search.unique_evaluations is None:
        if search.evaluations:
            raise CheckpointError(f"{checkpoint} was made without counting unique evaluations; name another file.")
        search.count_unique()


def _limit_archive(search: Search, size: int | None, checkpoint: str | os.PathLike[str] | None) -> None:
    """Limit the archive of a search; a resumed search must have the limit that it began with."""
    before = search.max_archive
    if search.evaluations and size != before:
        raise CheckpointError(
            f"{checkpoint} was made with max_archive={before}, not {size}; use that, or another file."
        )
    if size is not None and size != before:
        search.limit_archive(int(size))
