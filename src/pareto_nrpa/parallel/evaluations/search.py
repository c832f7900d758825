"""A search that asks some solutions ahead, lets an executor evaluate them, and learns from them in the order asked."""

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

# Waiting is cut into pieces, so that somebody looks at clock and keyboard.
_SECONDS_OF_WAITING = 0.1
#: So many playouts in a row without a new solution, and there is none left to find.
MAX_REPEATS = 10_000
#: If so many evaluations fail, and none before them succeeded, the fault is not with the solutions.
HOPELESS = 10


class ParallelSearch(Search):
    """A search with a window of solutions that were asked for and not yet told.

    The next solution is asked for when the oldest of the window has been told, however long the others have been
    finished. So what a solution is sampled from depends on its number alone, never on who was faster: any number of
    workers leads to the same result. The price is that the search learns up to `lookahead - 1` evaluations late, and
    that workers wait when the oldest takes longer than all others of the window.

    Only solutions that were not met before are evaluated and counted. One that failed is counted, and nothing is
    learned from it.
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
        self._elapsed: dict[Solution, float] = {}  # of outcomes that an earlier process wrote down
        for solution, (outcome, elapsed) in journal.entries.items() if journal else ():
            if not (retry_failed and outcome.error):
                self._outcomes[solution], self._elapsed[solution] = outcome, elapsed
        self._met: set[Solution] = set()
        self._alike: dict[int, Solution] = {}  # by what equal solutions share, the first of them
        self._repeats = 0  # in a row
        self._counted: set[Solution] = set()
        self._counts: list[int] = [0]  # how many evaluations were counted when the search was told the i-th time
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
        """Do nothing: every solution is counted once as it is."""

    @property
    def discarded(self) -> int:
        """How many solutions that nothing dominated were discarded, to keep to that limit."""
        return self._search.discarded

    @property
    def max_archive(self) -> int | None:
        """The most that the archive may hold; None if there is no limit."""
        return self._search.max_archive

    def limit_archive(self, size: int) -> None:
        """Let the archive never hold more than so many solutions, from the start on."""
        self._search.limit_archive(size)

    @property
    def last_improvement(self) -> int:
        """The evaluation at which the front last changed."""
        return self._improved_at

    @property
    def is_compiled(self) -> bool:
        """Whether all machine code of the search is there."""
        return self._search.is_compiled

    def compile(self) -> None:
        """Compile what the search needs."""
        self._search.compile()

    def advance(self, n: int) -> None:
        """Learn from up to n solutions; returns early, possibly with none, where this would mean to wait long."""
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
        """Learn from all that is finished, with whatever unfinished in between, when there will be no more."""
        with contextlib.suppress(ParetoNRPAError):  # workers that cannot go on, say
            self._collect(0)
        while self._asked:
            solution, candidate = self._asked.popleft()
            if solution in self._outcomes:
                self._learn(solution, candidate)

    def cancel(self) -> None:
        """Take back what no worker has begun."""
        for future in self._futures.values():
            future.cancel()

    @property
    def is_exhausted(self) -> bool:
        """Whether all is told, and the search keeps coming back to solutions that it has met."""
        return self._repeats >= MAX_REPEATS and not self._asked

    def _fill(self) -> None:
        """Ask until the window is full, or what is asked for uses up the budget."""
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
        """Return the solution to evaluate: itself, or the first one met that is equal to it."""
        solution = tuple(candidate.solution)
        return solution if candidate.identity is None else self._alike.setdefault(candidate.identity, solution)

    def _submit(self, solution: list[Any]) -> Future[Evaluation]:
        problem = self._search.problem
        # Executors of our own see to the limit themselves.
        limited = self._time_limit is not None and getattr(self._executor, "time_limit", None) is None
        task: Callable[..., Evaluation] = evaluate_in_thread if limited else evaluate_solution
        arguments = (problem, solution, self._time_limit) if limited else (problem, solution)
        try:
            return self._executor.submit(task, *arguments)
        except RuntimeError as error:  # a pool that broke, or was shut down, takes nothing more
            raise _unusable(error) from error
        except Exception as error:  # each kind of object has its own way to refuse to be pickled
            raise ProblemError(
                f"{problem_name(problem)} cannot be sent to worker processes ({type(error).__name__}: {error}); define "
                "its class at the top of a module, and let it hold plain values."
            ) from error

    def _collect(self, seconds: float) -> None:
        """Take what the workers have finished, waiting for the first if there is none, and write it down."""
        done, _ = wait(self._futures.values(), seconds, FIRST_COMPLETED)
        broken: ParetoNRPAError | None = None
        if not done and _is_lost(self._executor):
            raise _unusable(ConnectionError("the cluster was lost"))
        for solution in [solution for solution, future in self._futures.items() if future in done]:
            try:
                outcome = self._outcome(self._futures[solution])
            except ParetoNRPAError as error:  # raised when all that is finished is safe
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
        except (BrokenExecutor, CancelledError, OSError) as error:  # not the fault of a solution
            raise _unusable(error) from error
        except Exception as error:  # a worker died; each executor has its own words for it
            return Evaluation(error=f"{type(error).__name__}: {error}")

    def _learn(self, solution: Solution, candidate: Candidate) -> None:
        outcome = self._outcomes[solution]
        if solution not in self._counted:
            self._counted.add(solution)
            self.cpu_seconds += outcome.cpu_seconds
            self.failures += bool(outcome.error)
            # An earlier process came this far after so long: limits of time count it.
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
        """Return the best of all that was told."""
        front = self._search.front()
        return replace(front, found_at=np.array(self._counts)[front.found_at])

    def log(self) -> NDArray[np.float64]:
        """Return evaluation, violations and minimised objectives of all that ever was in the front."""
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
        """Do nothing: all that was finished is in the journal already."""


def _is_lost(executor: Executor) -> bool:
    """Tell whether the client of a Dask executor has given up; its futures may then wait for ever."""
    return getattr(getattr(executor, "_client", None), "status", "") == "closed"


def _unusable(error: BaseException) -> ParetoNRPAError:
    reason = str(error).rstrip(".") or type(error).__name__
    return ParetoNRPAError(
        f"the workers cannot continue: {reason}. What was finished is in the journal, if one was named: resume from it."
    )
