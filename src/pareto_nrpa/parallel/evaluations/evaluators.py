"""Where expensive evaluations are made: in processes of this machine, or by an executor of the caller."""

from __future__ import annotations

import os
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..._util.checks import check_positive, check_whole
from ..pool import ProcessWorkers

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Processes:
    """Processes of this machine, one thread each unless OMP_NUM_THREADS or similar variables are set.

    Parameters
    ----------
    n
        How many; by default one per core, up to the lookahead.
    time_limit
        Seconds after which an evaluation has failed: its process is killed and replaced.
    """

    n: int | None = None
    time_limit: float | None = None

    def __post_init__(self) -> None:
        if self.n is not None:
            check_whole("n of Processes", self.n, 1)
        if self.time_limit is not None:
            check_positive("time_limit", self.time_limit)

    def check(self, lookahead: int) -> None:
        """Raise if there are more processes than concurrent evaluations."""
        if self.n is not None and self.n > lookahead:
            raise ValueError(
                f"n of Processes must be at most the lookahead ({lookahead}), as others would be idle, "
                f"got {self.n}; lookahead={self.n} uses them, and changes the result."
            )

    @contextmanager
    def opened(self, lookahead: int) -> Iterator[Executor]:
        """Start the processes, and end them."""
        workers = ProcessWorkers(self.n or min(os.cpu_count() or 1, lookahead), time_limit=self.time_limit)
        try:
            yield workers
        finally:
            workers.kill_workers()


@dataclass(frozen=True)
class FromExecutor:
    """Any `concurrent.futures.Executor`, such as that of a Dask client, which the caller closes.

    Parameters
    ----------
    executor
        Where evaluations are submitted.
    time_limit
        Seconds after which an evaluation has failed: it is abandoned, and ends at its next line of Python.
    """

    executor: Executor
    time_limit: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.executor, Executor):
            raise TypeError(
                f"executor must be a concurrent.futures.Executor, got {type(self.executor).__name__}; a Dask client "
                "has one: client.get_executor()."
            )
        if self.time_limit is not None:
            check_positive("time_limit", self.time_limit)

    def check(self, lookahead: int) -> None:
        """Accept any number of concurrent evaluations."""

    @contextmanager
    def opened(self, lookahead: int) -> Iterator[Executor]:
        """Leave the executor open."""
        yield self.executor


Evaluator = Processes | FromExecutor
