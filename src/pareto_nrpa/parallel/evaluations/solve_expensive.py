"""The call for evaluations that take seconds or hours: `solve`, with several of them under way."""

from __future__ import annotations

import contextlib
import os
import warnings
from concurrent.futures import Executor
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from ..._util.checks import check_flag, check_seed, check_whole
from ..._util.files import check_writable
from ...algorithms.nrpa.params import ParetoNRPA
from ...algorithms.nrpa.search import AskTellSearch
from ...errors import ParetoNRPAError
from ...problem.base import AnyProblem, Problem, check_problem_type, problem_fingerprint, problem_name
from ...solving.callbacks import Callbacks, check_callbacks
from ...solving.run import SearchRun
from ...solving.solve import check_algorithm, check_reference_point
from ...solving.stop import Progress, Stop, StopCriterion, budget_of, check_stop
from .evaluators import Evaluator, FromExecutor, Processes
from .journal import Journal
from .search import MAX_REPEATS, ParallelSearch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...algorithms.algorithm import Algorithm
    from ...algorithms.polished.params import PolishedNRPA
    from ...result.result import Result
    from ...solving.callbacks import Callback
    from ...solving.interrupt import Interrupt

# Stops that depend on time: the result then includes all finished evaluations.
_CUT_SHORT = ("Ctrl-C", "SIGTERM", "an error")


def solve_expensive(
    problem: Problem,
    algorithm: ParetoNRPA | PolishedNRPA | str | None = None,
    *,
    stop: StopCriterion,
    seed: int = 0,
    evaluator: Evaluator | None = None,
    lookahead: int = 8,
    journal: str | os.PathLike[str] | None = None,
    resume: bool = False,
    retry_failed: bool = False,
    same_problem: bool = False,
    callbacks: Callback | Sequence[Callback] = (),
    reference_point: Sequence[float] | None = None,
) -> Result:
    """Search for the Pareto front of a problem whose evaluations are expensive, several of them at once.

    Same seed and lookahead, same result, on any number of workers, uninterrupted or resumed, except for failures that
    depend on time or machine. A solution is evaluated and counted once, however often it is sampled. An evaluation that
    raises, gives NaN, takes too long or kills its process is a failure: counted, written to the journal, and nothing is
    learned from it.

    Parameters
    ----------
    problem
        A plain `Problem`, which is pickled for the workers.
    algorithm
        `ParetoNRPA(level=2)` by default, which suits some hundreds of evaluations; a `PolishedNRPA`, or the name of
        one of them, such as "pareto-nrpa".
    stop
        When to stop; running evaluations are then abandoned, so MaxEvaluations(n) makes exactly n evaluations.
    evaluator
        Where evaluations are made: `Processes(n, time_limit=seconds)`, by default one per core, or
        `FromExecutor(executor, time_limit=seconds)`, such as that of a Dask client.
    lookahead
        Number of solutions that the search asks for before it learns from the first; it determines the result.
    journal
        A file to which every finished evaluation is written at once, as a line of JSON. An existing file is only
        continued.
    resume
        Continue the journal if it exists.
    retry_failed
        When resuming, repeat failed evaluations.
    same_problem
        When resuming, accept the results of a problem whose code or data have changed.
    callbacks, reference_point
        As in `solve`.

    Returns
    -------
    Result
        The front of all evaluations. Ctrl-C ends the search early and returns the front so far.

    Raises
    ------
    ProblemError
        If the first ten evaluations all fail, or the problem violates its interface.
    CheckpointError
        If the journal cannot be read, or is of another search. As for every error that ends a running search, the
        attribute `result` holds the front found so far.
    """
    _check_problem(problem)
    check_stop(stop)
    seed = check_seed(seed)
    reference = check_reference_point(problem, reference_point)
    check_whole("lookahead", lookahead, 1)
    evaluator = _check_evaluator(evaluator)
    evaluator.check(lookahead)
    for name, flag in (("resume", resume), ("retry_failed", retry_failed), ("same_problem", same_problem)):
        check_flag(name, flag)
    if resume and journal is None:
        raise ValueError("resume requires the file to continue from: give it as journal.")
    if journal is not None:
        check_writable(journal)
    chosen = _check_algorithm(algorithm)
    listeners = check_callbacks(callbacks)
    with ExitStack() as stack:
        lines = None
        budget = budget_of(stop)
        if journal is not None:
            lines = Journal(journal)
            stack.callback(lines.close)
            header = _header(problem, chosen, seed, lookahead, budget)
            budget = lines.go_on(header, problem.n_objectives, resume=resume, same_problem=same_problem)["budget"]
        search = chosen.start(problem, seed=seed, budget=budget)
        assert isinstance(search, AskTellSearch)
        windowed = ParallelSearch(
            search,
            stack.enter_context(evaluator.opened(lookahead)),
            lookahead=lookahead,
            budget=budget_of(stop),
            time_limit=evaluator.time_limit,
            journal=lines,
            retry_failed=retry_failed,
        )
        stack.callback(windowed.cancel)
        return _ParallelRun(problem, chosen.name, windowed, stop, seed, reference, listeners).to_the_end()


def solve_parallel(
    problem: Problem,
    algorithm: ParetoNRPA | PolishedNRPA | str | None = None,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    time_limit: float | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Result:
    """Call `solve_expensive` by its earlier name, which will be removed in the next release."""
    warnings.warn(
        "solve_parallel is deprecated and will be removed in the next release; use solve_expensive, with "
        "evaluator=Processes(workers, time_limit=...) or FromExecutor(executor), and journal= for checkpoint=.",
        DeprecationWarning,
        stacklevel=2,
    )
    if executor is not None and workers is not None:
        raise ValueError("workers and executor exclude each other; give one of them.")
    evaluator = Processes(workers, time_limit) if executor is None else FromExecutor(executor, time_limit)
    return solve_expensive(problem, algorithm, evaluator=evaluator, journal=checkpoint, **options)


class _ParallelRun(SearchRun):
    """A call of `solve` whose search may run out of new solutions, and may have untold finished ones at the end."""

    def __init__(
        self,
        problem: AnyProblem,
        algorithm: str,
        search: ParallelSearch,
        stop: StopCriterion,
        seed: int,
        reference: Any,
        callbacks: list[Callbacks],
    ) -> None:
        super().__init__(problem, algorithm, search, _Exhausted(search) | stop, seed, reference, callbacks, None)
        self._windowed = search

    def result(self, interrupt: Interrupt | None = None) -> Result:
        """Return the front, with all finished evaluations if the search ended early."""
        if self.stopped_by in _CUT_SHORT:
            with contextlib.suppress(ParetoNRPAError):  # the same error is being handled
                self._windowed.settle()
        return super().result(interrupt)


class _Exhausted(Stop):
    """Stop when the search finds no new solutions."""

    is_certain = False

    def __init__(self, search: ParallelSearch) -> None:
        self._search = search

    def __call__(self, progress: Progress) -> bool:
        """Return True when all solutions are told, and no new one was found."""
        return self._search.is_exhausted

    def __str__(self) -> str:
        return f"{MAX_REPEATS:,} playouts in a row without a new solution"


def _check_problem(problem: object) -> None:
    check_problem_type(problem)
    if not isinstance(problem, Problem):
        raise TypeError(
            "problem must be a plain Problem, got a CompiledProblem, whose evaluations take microseconds: use solve."
        )


def _check_evaluator(evaluator: object) -> Evaluator:
    """Return the evaluator."""
    if evaluator is None:
        return Processes()
    if not isinstance(evaluator, Processes | FromExecutor):
        way_out = "FromExecutor(executor)" if isinstance(evaluator, Executor) else "Processes(4)"
        raise TypeError(
            f"evaluator must be a Processes or a FromExecutor, got {type(evaluator).__name__}; give {way_out}."
        )
    return evaluator


def _check_algorithm(given: object) -> Algorithm:
    """Return the algorithm, given as object, class or name as in `solve`."""
    algorithm = ParetoNRPA(level=2) if given is None else check_algorithm(given)
    if not algorithm.can_be_asked:
        raise TypeError(
            "algorithm must be a ParetoNRPA or a PolishedNRPA, which can be asked for solutions, got "
            f"{type(algorithm).__name__}; other algorithms evaluate one by one: use solve."
        )
    return algorithm


def _header(problem: Problem, algorithm: Algorithm, seed: int, lookahead: int, budget: int | None) -> dict[str, Any]:
    """Return the settings of a search for its journal; the budget of the first part determines N, as in `solve`."""
    return {
        "instance": problem_name(problem),
        "problem": problem_fingerprint(problem),
        "seed": seed,
        "lookahead": int(lookahead),
        "budget": budget,
        "parameters": algorithm.to_dict(),
    }
