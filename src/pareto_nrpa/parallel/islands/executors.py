"""Who carries searches on: this thread, threads of this process, or tasks for other processes and machines."""

from __future__ import annotations

import pickle
import threading
import time
import uuid
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any

from ...errors import ParetoNRPAError, ProblemError
from ...problem.base import problem_name
from .task import Report, Resume, Stretch, Task, carry_on, carry_out, to_bytes, told_by

if TYPE_CHECKING:
    from ...algorithms.algorithm import Algorithm
    from ...algorithms.nrpa.search import AskTellSearch
    from .places import Places

# How old the state of a search may be from which it is made again where a process is lost.
_SECONDS_BETWEEN_STATES = 5.0


class Crew:
    """Searches, and somebody who carries them on: here this thread, one by one."""

    #: How long a search goes on before somebody looks up.
    spell_seconds = 0.05
    #: How many searches are carried on at a time.
    size = 1

    def __init__(self, searches: list[AskTellSearch]) -> None:
        self.searches = searches

    def start(self) -> None:
        """Make ready whoever does the work."""

    def stands(self) -> list[Report]:
        """Return where searches stand before anything is done."""
        return [told_by(search, 0, 0.0) for search in self.searches]

    def can_begin(self, k: int, *, elsewhere: bool) -> bool:
        """Tell whether somebody can carry a search on who knows it, or (`elsewhere`) anybody else."""
        return True

    def begin(self, k: int, stretch: Stretch) -> Future[Any]:
        """Let a search go on for a stretch, or as much of it as time allows."""
        future: Future[Any] = Future()
        try:
            spell = carry_on(self.searches[k], stretch)
            future.set_result(spell._replace(cpu_seconds=0.0))  # who calls is this thread, and counts
        except Exception as error:
            future.set_exception(error)
        return future

    def outcome(self, k: int, future: Future[Any], stretch: Stretch) -> Report | None:
        """Return what came of a stretch, None if it must be begun again."""
        spell: Report = future.result()
        return spell

    def halt(self) -> bool:
        """Let stretches end as soon as they can; returns whether they are worth waiting for."""
        return True

    def states(self, stands: list[Stretch]) -> list[bytes]:
        """Return all that the searches are, each as it stands at the beginning of a stretch; none is at work."""
        return [to_bytes(search) for search in self.searches]

    def close(self) -> None:
        """Send everybody home."""


class Threads(Crew):
    """Threads that share the problem; compiled code lets them work at the same time."""

    spell_seconds = 0.1

    def __init__(self, searches: list[AskTellSearch], workers: int) -> None:
        super().__init__(searches)
        self.size = workers
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="pareto-nrpa")
        self._halt = threading.Event()

    def begin(self, k: int, stretch: Stretch) -> Future[Any]:
        """Let a thread carry on a search."""
        self._halt.clear()
        return self._pool.submit(carry_on, self.searches[k], stretch, self._halt.is_set)

    def halt(self) -> bool:
        """Let spells end after the evaluation in hand."""
        self._halt.set()
        return True

    def close(self) -> None:
        """End the threads."""
        self._halt.set()
        self._pool.shutdown()


class Processes(Crew):
    """Tasks for processes, here or on other machines. A process keeps the searches that it had, and tells what is new.

    Where a search is not at hand, as another process had it or died, it is made again from its last known state.
    """

    def __init__(self, searches: list[AskTellSearch], problem: bytes, algorithm: Algorithm, places: Places) -> None:
        super().__init__(searches)
        self._problem, self._algorithm, self._places = problem, algorithm, places
        self.size, self.spell_seconds = places.size, places.spell_seconds
        self._key = uuid.uuid4().hex
        self._origins: list[Resume] = []
        self._stored = [time.monotonic()] * len(searches)
        self._lost = [True] * len(searches)

    def start(self) -> None:
        """Let processes of our own start, load the problem and compile, as that counts as no time of the search."""
        self._origins = [Resume(self._problem, self._algorithm, to_bytes(search), {}) for search in self.searches]
        self.states([Stretch(search.evaluations, search.evaluations, 0, [], 0.0) for search in self.searches])

    def can_begin(self, k: int, *, elsewhere: bool) -> bool:
        """Tell whether the process that has a search is idle, or another one may make it again."""
        return self._places.can_begin(k, elsewhere=elsewhere)

    def begin(self, k: int, stretch: Stretch) -> Future[Any]:
        """Let some process carry on a search."""
        is_old = time.monotonic() - self._stored[k] > _SECONDS_BETWEEN_STATES
        return self._submit(k, stretch, is_old or self._places.roams)

    def _submit(self, k: int, stretch: Stretch, wants_state: bool) -> Future[Any]:
        self._origins[k].inboxes[stretch.round_begin] = stretch.inbox
        origin = self._origins[k] if self._lost[k] or self._places.roams else None
        return self._places.submit(k, carry_out, Task((self._key, k), stretch, wants_state, origin))

    def outcome(self, k: int, future: Future[Any], stretch: Stretch) -> Report | None:
        """Return what came of a stretch, None if it must be begun again."""
        try:
            spell: Report | str | None = future.result()
        except Exception as error:  # executors have their own ways to fail
            reason = (str(error) or type(error).__name__).rstrip(".")
            way_out = 'executor="threads" needs no processes'
            raise ParetoNRPAError(f"the searches cannot go on: {reason}; {way_out}.") from error
        if isinstance(spell, str):
            raise ProblemError(spell)
        self._lost[k] = spell is None
        if spell is not None and spell.state is not None:
            inboxes = {stretch.round_begin: stretch.inbox}
            self._origins[k] = self._origins[k]._replace(state=spell.state, inboxes=inboxes)
            self._stored[k] = time.monotonic()
        if spell is None or spell.state is not None:  # now a move costs least
            self._lost[k] |= self._places.settle(k)
        return spell

    def halt(self) -> bool:
        """Wait for nobody: what is not finished was not begun."""
        return False

    def states(self, stands: list[Stretch]) -> list[bytes]:
        """Return all that the searches are, each as it stands at the beginning of a stretch; none is at work."""
        left = list(range(len(stands)))
        while left:
            futures = {k: self._submit(k, stands[k], True) for k in left}
            left = [k for k, future in futures.items() if self.outcome(k, future, stands[k]) is None]
        return [origin.state for origin in self._origins]

    def close(self) -> None:
        """End processes of our own."""
        self._places.close()


def pickled(problem: Any) -> bytes:
    """Return a problem as it is sent to processes."""
    try:
        content = bytes(ForkingPickler.dumps(problem))
        pickle.loads(content)
    except Exception as error:  # a user's class may raise anything
        reason = f"{type(error).__name__}: {error}".rstrip(".")
        raise ProblemError(
            f"{problem_name(problem)} cannot be sent to a process ({reason}); make it of what can be pickled, by a "
            "class in a file, or leave out workers."
        ) from error
    return content
