"""Which process a search is carried on by: the one that has it, as any other must make it again first."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import BrokenExecutor
from typing import TYPE_CHECKING, Any, Protocol

from ...errors import ParetoNRPAError
from ..pool import ProcessWorkers

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor, Future


# How long a search goes on before it is asked what it has found: in a process near by that keeps it, and elsewhere.
_NEAR_SPELL, _FAR_SPELL = 0.2, 1.0


class Places(Protocol):
    """Processes, and where among them searches are."""

    #: How many searches are carried on at a time.
    size: int
    #: How long one goes on at a time.
    spell_seconds: float
    #: Whether a search may find itself anywhere: then its state must come back with every answer.
    roams: bool

    def submit(self, k: int, function: Callable[..., Any], task: Any) -> Future[Any]:
        """Let the process of search k do something."""

    def can_begin(self, k: int, *, elsewhere: bool) -> bool:
        """Tell whether search k can be carried on now, by a process that has it or also by another one."""

    def settle(self, k: int) -> bool:
        """Move a search, whose state is known, to where there is less to do; tells whether it was moved."""

    def close(self) -> None:
        """End processes of our own."""


class OwnProcesses:
    """Processes on this machine. Each has its searches; where they cannot be shared out evenly, an idle one takes over.

    Parameters
    ----------
    n
        How many processes.
    n_searches
        How many searches they carry on.
    imports_main
        Whether they need what the user's script defines.
    """

    def __init__(self, n: int, n_searches: int, *, imports_main: bool) -> None:
        self.size = n
        self.roams = n_searches % n > 0
        self.spell_seconds = _FAR_SPELL if self.roams else _NEAR_SPELL
        self._workers = [ProcessWorkers(1, imports_main=imports_main) for _ in range(n)]
        self._homes = [k % n for k in range(n_searches)]
        self._at_work: dict[int, Future[Any]] = {}  # by process

    def submit(self, k: int, function: Callable[..., Any], task: Any) -> Future[Any]:
        """Let the process that has the search do something, or else one that is idle."""
        if self.roams and not self._is_idle(self._homes[k]):
            self._homes[k] = next(filter(self._is_idle, range(self.size)), self._homes[k])
        future = self._workers[self._homes[k]].submit(function, task)
        self._at_work[self._homes[k]] = future
        return future

    def _is_idle(self, process: int) -> bool:
        return process not in self._at_work or self._at_work[process].done()

    def can_begin(self, k: int, *, elsewhere: bool) -> bool:
        """Tell whether the process that has the search is idle, or another one may take over."""
        return self._is_idle(self._homes[k]) or (elsewhere and self.roams)

    def settle(self, k: int) -> bool:
        """Leave a search where it is."""
        return False

    def close(self) -> None:
        """End the processes."""
        for worker in self._workers:
            worker.kill_workers()


class Anywhere:
    """An executor of the user's, who says nothing of his processes."""

    roams = True
    spell_seconds = _FAR_SPELL

    def __init__(self, executor: Executor, n_searches: int) -> None:
        self.size, self._executor = n_searches, executor

    def submit(self, k: int, function: Callable[..., Any], task: Any) -> Future[Any]:
        """Let some process do something."""
        try:
            return self._executor.submit(function, task)
        except BrokenExecutor:
            raise
        except RuntimeError as error:
            raise ParetoNRPAError(f"executor takes no work ({error}); give one that is not shut down.") from error

    def can_begin(self, k: int, *, elsewhere: bool) -> bool:
        """Leave it to the executor who does what, when."""
        return True

    def settle(self, k: int) -> bool:
        """Leave a search where it is."""
        return False

    def close(self) -> None:
        """Leave the executor to who made it."""


class DaskWorkers(Anywhere):
    """The workers of a Dask cluster: each has its searches, shared out anew where workers come and go."""

    roams = False

    def __init__(self, executor: Any, n_searches: int) -> None:
        super().__init__(executor, n_searches)
        self._client = executor._client  # noqa: SLF001 - there is no other way to ask which workers there are
        self._homes: list[str | None] = [None] * n_searches
        for k in range(n_searches):
            self.settle(k)

    def submit(self, k: int, function: Callable[..., Any], task: Any) -> Future[Any]:
        """Let the worker that has the search do something, or any other if it is gone."""
        there: dict[str, Any] = {"workers": [self._homes[k]], "allow_other_workers": True} if self._homes[k] else {}
        return self._executor.submit(function, task, pure=False, **there)

    def settle(self, k: int) -> bool:
        """Move a search to the worker with the fewest, if its own is gone or has two more than that."""
        before = self._homes[k]
        try:
            loads = Counter(dict.fromkeys(self._client.nthreads(), 0))
        except Exception:  # whatever it is, the next task has it, too, and says so
            return False
        loads.update(home for home in self._homes if home in loads)
        if not loads:
            return False
        least = min(loads, key=lambda worker: loads[worker])
        if before not in loads or loads[before] > loads[least] + 1:
            self._homes[k] = least
        return before != self._homes[k]


def places_of(executor: Executor, n_searches: int) -> Places:
    """Return the processes behind an executor, as far as it lets them be seen."""
    is_dask = hasattr(getattr(executor, "_client", None), "nthreads")
    is_free = "workers" not in getattr(executor, "_kwargs", {})  # else the user has said who may
    return DaskWorkers(executor, n_searches) if is_dask and is_free else Anywhere(executor, n_searches)
