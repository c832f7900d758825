"""A search that asks for solutions ahead, evaluates them by an executor, and is told results in the order asked."""

from __future__ import annotations

import contextlib
from collections import deque
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...algorithms.search import Search
from ...errors import ParetoNRPAError, ProblemError
from ...problem.base import problem_name
from ..pool import TaskOverdue
from .task import Evaluation, evaluate_in_thread, evaluate_solution, overdue

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor
    from os import PathLike

    from numpy.typing import NDArray

    from ...algorithms.nrpa.search import AskTellSearch, Candidate
    from ...result.result import Front
    from .journal import Journal, Solution

# Seconds of a wait between two checks of clock and signals.
_SECONDS_OF_WAITING = 0.1
#: After this number of playouts in a row without a new solution the search is exhausted.
MAX_REPEATS = 10_000
#: If the first so many evaluations fail, the error is not in the solutions.
HOPELESS = 10


class ParallelSearch(Search):
    """A search with a window of solutions that were asked for and not told yet.

    The next solution is asked for when the oldest of the window has been told, also if others have finished before. So
    the state from which a solution is sampled depends on its number only, not on speed: any number of workers leads to
    the same result. The cost: the search learns up to `lookahead - 1` evaluations late, and workers are idle when the
    oldest takes longer than all others of the window.

    Only new solutions are evaluated and counted. Failed ones are counted, and nothing is learned from them.
    """

    def __init__(
        self,
        search: AskTellSearch,
        executor: Executor,
        *,
        lookahead: int,
        budget: int | None,
        time_limit: float | None,
        journal: Journal | None,
        retry_failed: bool,
    ) -> None:
        super().__init__(search.problem, search.algorithm, seed=search.seed)
        self._search, self._executor, self._lookahead = search, executor, lookahead
        self._budget, self._time_limit, self._journal = budget, time_limit, journal
        self._asked: deque[tuple[Solution, Candidate]] = deque()
        self._futures: dict[Solution, Future[Evaluation]] = {}
        self._outcomes: dict[Solution, Evaluation] = {}
        self._elapsed: dict[Solution, float] = {}  # of outcomes written by an earlier process
        for solution, (outcome, elapsed) in journal.entries.items() if journal else ():
            if not (retry_failed and outcome.error):
                self._outcomes[solution], self._elapsed[solution] = outcome, elapsed
        self._met: set[Solution] = set()
        self._alike: dict[int, Solution] = {}  # by identity, the first of equal solutions
        self._repeats = 0  # in a row
        self._counted: set[Solution] = set()
        self._counts: list[int] = [0]  # number of counted evaluations when the search was told the i-th time
        self._improved_at = 0

    @property
    def evaluations(self) -> int:
        """How many different solutions were evaluated, failures included."""
        return len(self._counted)

    @property
    def unique_evaluations(self) -> int:
        """The same: only new solutions are evaluated and counted."""
        return self.evaluations

    def count_unique(self) -> None:
        """Do nothing: every solution is counted once anyway."""

    @property
    def discarded(self) -> int:
        """How many solutions that nothing dominated were discarded, to keep to that limit."""
        return self._search.discarded

    @property
    def max_archive(self) -> int | None:
        """Largest size of the archive; None without a limit."""
        return self._search.max_archive

    def limit_archive(self, size: int) -> None:
        """Limit the size of the archive, from the start on."""
        self._search.limit_archive(size)

    @property
    def last_improvement(self) -> int:
        """The evaluation at which the front last changed."""
        return self._improved_at

    @property
    def is_compiled(self) -> bool:
        """Whether all code of the search is compiled."""
        return self._search.is_compiled

    def compile(self) -> None:
        """Compile what the search needs."""
        self._search.compile()

    def advance(self, n: int) -> None:
        """Learn from up to n solutions; returns early, possibly with none, instead of a long wait."""
        for _ in range(n):
            self._fill()
            if not self._asked:
                return
            solution, candidate = self._asked[0]
            if solution not in self._outcomes:
                self._collect(_SECONDS_OF_WAITING)
                if solution not in self._outcomes:
                    return
            self._asked.popleft()
            self._learn(solution, candidate)

    def settle(self) -> None:
        """Learn from all finished solutions at the end, skipping unfinished ones."""
        with contextlib.suppress(ParetoNRPAError):  # for example workers that cannot continue
            self._collect(0)
        while self._asked:
            solution, candidate = self._asked.popleft()
            if solution in self._outcomes:
                self._learn(solution, candidate)

    def cancel(self) -> None:
        """Cancel evaluations that have not started."""
        for future in self._futures.values():
            future.cancel()

    @property
    def is_exhausted(self) -> bool:
        """Whether all is told, and the search samples known solutions only."""
        return self._repeats >= MAX_REPEATS and not self._asked

    def _fill(self) -> None:
        """Ask until the window is full, or the budget is used up."""
        while len(self._asked) < self._lookahead and (self._budget is None or len(self._met) < self._budget):
            if self._repeats >= MAX_REPEATS:
                return
            (candidate,) = self._search.ask()
            solution = self._first_alike(candidate)
            self._repeats = self._repeats + 1 if solution in self._met else 0
            self._met.add(solution)
            self._asked.append((solution, candidate))
            if solution not in self._outcomes and solution not in self._futures:
                self._futures[solution] = self._submit(candidate.solution)

    def _first_alike(self, candidate: Candidate) -> Solution:
        """Return the solution to evaluate: the solution, or the first one equal to it."""
        solution = tuple(candidate.solution)
        return solution if candidate.identity is None else self._alike.setdefault(candidate.identity, solution)

    def _submit(self, solution: list[Any]) -> Future[Evaluation]:
        problem = self._search.problem
        # Executors of this package enforce the limit.
        limited = self._time_limit is not None and getattr(self._executor, "time_limit", None) is None
        task: Callable[..., Evaluation] = evaluate_in_thread if limited else evaluate_solution
        arguments = (problem, solution, self._time_limit) if limited else (problem, solution)
        try:
            return self._executor.submit(task, *arguments)
        except RuntimeError as error:  # a broken or closed pool accepts no tasks
            raise _unusable(error) from error
        except Exception as error:  # errors of pickling have many types
            raise ProblemError(
                f"{problem_name(problem)} cannot be sent to worker processes ({type(error).__name__}: {error}); define "
                "its class at the top level of a module, with picklable attributes."
            ) from error

    def _collect(self, seconds: float) -> None:
        """Receive finished evaluations, waiting for the first if there is none, and write them to the journal."""
        done, _ = wait(self._futures.values(), seconds, FIRST_COMPLETED)
        broken: ParetoNRPAError | None = None
        if not done and _is_lost(self._executor):
            raise _unusable(ConnectionError("the cluster was lost"))
        for solution in [solution for solution, future in self._futures.items() if future in done]:
            try:
                outcome = self._outcome(self._futures[solution])
            except ParetoNRPAError as error:  # raised when all finished evaluations are saved
                broken = error
                continue
            if self._journal is not None:
                self._journal.append(solution, outcome, self.wall_seconds)
            self._outcomes[solution] = outcome
            del self._futures[solution]
        if broken is not None:
            raise broken

    def _outcome(self, future: Future[Evaluation]) -> Evaluation:
        try:
            return future.result()
        except TaskOverdue as error:
            return Evaluation(error=overdue(error.time_limit), seconds=error.time_limit)
        except (BrokenExecutor, CancelledError, OSError) as error:  # not an error of a solution
            raise _unusable(error) from error
        except Exception as error:  # a worker died; executors raise different errors
            return Evaluation(error=f"{type(error).__name__}: {error}")

    def _learn(self, solution: Solution, candidate: Candidate) -> None:
        outcome = self._outcomes[solution]
        if solution not in self._counted:
            self._counted.add(solution)
            self.cpu_seconds += outcome.cpu_seconds
            self.failures += bool(outcome.error)
            # Seconds of an earlier process up to this evaluation: limits of time include them.
            self.wall_seconds = max(self.wall_seconds, self._elapsed.get(solution, 0.0))
        if outcome.error:
            self._search.drop([candidate])
            self._check_hope(outcome.error)
            return
        self._search.tell([candidate], [outcome.objectives], [outcome.violations])
        self._counts.append(self.evaluations)
        if self._search.last_improvement == self._search.evaluations:
            self._improved_at = self.evaluations

    def _check_hope(self, error: str) -> None:
        if self.failures == self.evaluations == HOPELESS:
            raise ProblemError(
                f"the first {HOPELESS} evaluations of {problem_name(self._search.problem)} all failed, the last one: "
                f"{error}; correct evaluate() or allow more time, then start with a new journal or with retry_failed."
            )

    def front(self) -> Front:
        """Return the front of all told solutions."""
        front = self._search.front()
        return replace(front, found_at=np.array(self._counts)[front.found_at])

    def log(self) -> NDArray[np.float64]:
        """Return evaluation, violations and minimised objectives of all solutions that entered the front."""
        log = self._search.log()
        log[:, 0] = np.array(self._counts)[log[:, 0].astype(int)]
        return log

    def best(self) -> tuple[NDArray[np.float64], float]:
        """Return the minimised objectives of the front and their violations."""
        return self._search.best()

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the search, and how far it asks ahead."""
        return {**self._search.parameters(), "lookahead": self._lookahead}

    def save(self, path: str | PathLike[str]) -> None:
        """Do nothing: all finished evaluations are in the journal."""


def _is_lost(executor: Executor) -> bool:
    """Tell whether the client of a Dask executor is closed; its futures may then never finish."""
    return getattr(getattr(executor, "_client", None), "status", "") == "closed"


def _unusable(error: BaseException) -> ParetoNRPAError:
    reason = str(error).rstrip(".") or type(error).__name__
    return ParetoNRPAError(
        f"the workers cannot continue: {reason}. Finished evaluations are in the journal, if there is one: resume it."
    )
