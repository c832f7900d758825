"""The one call for every algorithm: wires problem, algorithm, stop and callbacks together, holds no algorithm."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from .._util.checks import check_flag, check_whole
from .._util.files import check_writable, locked
from ..errors import CheckpointError
from ..parallel.islands.algorithm import assembled, closing
from ..problem.base import AnyProblem, problem_fingerprint
from .arguments import check_algorithm, check_problem_type, check_reference_point, check_seed, check_start
from .callbacks import check_callbacks
from .run import SearchRun
from .stop import StopCriterion, budget_of, check_stop, counts_unique

if TYPE_CHECKING:
    import os
    from collections.abc import Hashable, Sequence
    from concurrent.futures import Executor

    from ..algorithms.protocols import Algorithm as Algorithm
    from ..algorithms.protocols import Search as Search
    from ..result.result import Front, Result
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
            _count_unique(search, chosen.name, checkpoint)
        _limit_archive(search, chosen.name, max_archive, checkpoint)
        first = [] if search.evaluations else check_start(start, search, chosen.name)
        return SearchRun(problem, chosen.name, search, stop, seed, reference, listeners, checkpoint, first).to_the_end()


def _count_unique(search: Search, algorithm: str, checkpoint: str | os.PathLike[str] | None) -> None:
    """Let a search count every solution once, unless it does already."""
    if not hasattr(search, "count_unique"):  # an algorithm of the user's own
        raise ValueError(f"{algorithm} cannot count unique evaluations; stop by all of them.")
    if search.unique_evaluations is None:
        if search.evaluations:
            raise CheckpointError(f"{checkpoint} was made without counting unique evaluations; name another file.")
        search.count_unique()


def _limit_archive(search: Search, algorithm: str, size: int | None, checkpoint: str | os.PathLike[str] | None) -> None:
    """Let a search keep to a size of its archive; one that goes on must keep to the one it began with."""
    before = getattr(search, "max_archive", None)
    if search.evaluations and size != before:
        raise CheckpointError(
            f"{checkpoint} was made with max_archive={before}, not {size}; use that, or another file."
        )
    if size is not None and size != before:
        if not hasattr(search, "limit_archive"):  # an algorithm of the user's own
            raise ValueError(f"{algorithm} cannot limit its archive; leave out max_archive.")
        search.limit_archive(int(size))
