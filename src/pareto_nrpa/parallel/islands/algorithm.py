"""An algorithm of several cooperating searches."""

from __future__ import annotations

import os
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._util.checks import check_whole, shown
from ...algorithms.algorithm import Algorithm, expected_header

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...algorithms.nrpa.search import AskTellSearch
    from ...problem.base import AnyProblem
    from .executors import Crew
    from .search import IslandSearch

_MOST_SEARCHES = 4096
#: Names of kinds of workers for `executor`.
THREADS, PROCESSES = "threads", "processes"


class Islands(Algorithm):
    """Several searches of one algorithm, and their workers."""

    def __init__(self, algorithm: Any, searches: int, workers: int, executor: Executor | str | None) -> None:
        self.algorithm, self.searches, self.workers, self.executor = algorithm, searches, workers, executor
        self.name = algorithm.name  # type: ignore[misc]  # that of one class elsewhere
        self._crew: Crew | None = None

    def start(self, problem: AnyProblem, *, seed: int = 0, budget: int | None = None) -> IslandSearch:
        """Return new searches: the first is that of a single search, the others have derived seeds."""
        share = None if budget is None else -(-budget // self.searches)
        return self._together(problem, self._searches(problem, seed, share), seed, share)

    def _searches(self, problem: AnyProblem, seed: int, budget: int | None) -> list[AskTellSearch]:
        seeds = [seed, *(_seed(child) for child in np.random.SeedSequence(seed).spawn(self.searches - 1))]
        return [self.algorithm.start(problem, seed=one, budget=budget) for one in seeds]

    def resume(self, problem: AnyProblem, path: str | os.PathLike[str]) -> IslandSearch:
        """Return the searches of a checkpoint."""
        from ...engine.state import load, read, restoring

        header, tree = read(path, {**expected_header(problem, self.algorithm), "searches": self.searches})
        with restoring(path):
            searches = self._searches(problem, header["seed"], header["budget"])
            for search, state in zip(searches, tree["searches"], strict=True):
                load(search, state)
            islands = self._together(problem, searches, header["seed"])
            load(islands, tree["islands"])
            islands.fingerprint.first = header["problem"][0]
        return islands

    def _together(
        self, problem: AnyProblem, searches: list[AskTellSearch], seed: int, budget: int | None = None
    ) -> IslandSearch:
        from .executors import crew_for
        from .search import IslandSearch

        for search in searches:
            search.player.expect_follow()
        self._crew = crew_for(searches, problem, self.algorithm, self.workers, self.executor, budget)
        return IslandSearch(problem, searches, seed=seed, crew=self._crew)

    def close(self) -> None:
        """End the workers of the searches."""
        if self._crew is not None:
            self._crew.close()


@contextmanager
def closing(algorithm: Algorithm) -> Iterator[None]:
    """End the workers after the block, also after an error."""
    try:
        yield
    finally:
        if isinstance(algorithm, Islands):
            algorithm.close()


def _seed(child: np.random.SeedSequence) -> int:
    high, low = child.generate_state(2, np.uint64).tolist()
    return int(high << 64 | low)


def assembled(
    algorithm: Algorithm, workers: int | str, searches: int | None, executor: Executor | str | None
) -> Algorithm:
    """Return the algorithm for one search, or an algorithm of several cooperating searches."""
    if isinstance(executor, str):
        if executor not in (THREADS, PROCESSES):
            raise ValueError(f"executor must be {THREADS!r}, {PROCESSES!r} or an Executor, got {shown(executor)}.")
    elif executor is not None:
        if not isinstance(executor, Executor):
            raise TypeError(
                f"executor must be a concurrent.futures.Executor, got {type(executor).__name__}; a Dask client has "
                "one: client.get_executor()."
            )
        if searches is None:
            raise ValueError("executor requires the number of cooperating searches: give searches, such as 4.")
        if workers != 1:
            raise ValueError("workers and executor exclude each other; give one of them.")
    n_workers = check_workers(workers)
    if isinstance(executor, str) and n_workers == 1:
        raise ValueError(f"executor={executor!r} requires workers: give a number, such as workers=2.")
    if searches is not None:
        check_whole("searches", searches, 1, _MOST_SEARCHES)
        if n_workers > searches and workers not in (0, "all"):
            raise ValueError(
                f"workers must be at most the number of searches ({searches}), as others would be idle, got {workers}; "
                f"searches={workers} uses them, and changes the result."
            )
    n_searches = n_workers if searches is None else int(searches)
    if n_searches == 1:
        return algorithm
    if not algorithm.can_be_asked:
        raise ValueError(
            "several searches require a PolishedNRPA or a ParetoNRPA as algorithm, got "
            f"{type(algorithm).__name__}; leave out workers and searches."
        )
    return Islands(algorithm, n_searches, min(n_workers, n_searches), executor)


def check_workers(workers: object) -> int:
    """Return a number of workers: 0 and "all" stand for as many as this process may use."""
    if isinstance(workers, int | str) and workers in (0, "all") and not isinstance(workers, bool):
        return usable_cores()
    if isinstance(workers, str):
        raise ValueError(f'workers must be a whole number, or "all", got {shown(workers)}.')
    check_whole("workers", workers, 0, _MOST_SEARCHES)
    return int(workers)  # type: ignore[call-overload, no-any-return]  # check_whole has seen a number


def usable_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
