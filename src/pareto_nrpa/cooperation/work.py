"""What one of several searches does, wherever it runs: it takes in what others have found, and goes on."""

from __future__ import annotations

import functools
import pickle
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

from ..exceptions import ProblemError
from ..kernels.archive import archived_rows
from ..kernels.bundles import FOUND_AT, N_MOVES, POLICY
from ..nrpa.checkpoint import from_bytes, to_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from ..nrpa.checkpoint import Resumable
    from ..nrpa.search import Search

_MOST_LIVE = 16


class Newcomer(NamedTuple):
    """A member of the common front, on its way to a search that lacks it."""

    solution: list[Any]
    policy: int


class Found(NamedTuple):
    """What one search has found so far."""

    evaluations: int
    discarded: int
    found_at: NDArray[np.int64]  # [A], the evaluation at which each member of its archive was found
    scores: NDArray[np.float64]  # [A, 1 + M]
    policies: NDArray[np.int64]  # [A]
    solution: Callable[[int], list[Any]]  # of a member
    log: NDArray[np.float64]  # [G, 2 + M]
    keys: NDArray[np.int64]  # of all that it has evaluated, where that is counted


def found_by(search: Search) -> Found:
    """Return what a search has found; its solutions may be asked for until it goes on."""
    archive = search.machine.archive
    rows = archived_rows(archive)
    heads = archive.heads[rows]

    def solution(i: int) -> list[Any]:
        return search.player.solution(archive.moves[rows[i], : heads[i, N_MOVES]].tolist())

    return Found(
        search.evaluations,
        search.discarded,
        heads[:, FOUND_AT],
        archive.scores[rows],
        heads[:, POLICY],
        solution,
        search.log(),
        archive.keys[archive.keys != 0],
    )


def go_on(search: Search, inbox: list[Newcomer], n: int, is_halted: Callable[[], bool] | None = None) -> None:
    """Make n evaluations, first of what is in the inbox; fewer if it is halted meanwhile."""
    end = search.evaluations + n
    while (left := end - search.evaluations) > 0:
        if inbox:
            search.adopt(*inbox.pop(0))
        elif is_halted is None:
            search.advance(left)
        elif is_halted():
            return
        else:
            search.advance(min(left, search.slice_size))


class Task(NamedTuple):
    """A stretch of one search, for another process: whoever carries it out comes to the same."""

    problem: bytes  # pickled
    algorithm: Resumable
    key: tuple[str, int]  # of this search, as no other has it
    evaluations: int
    state: bytes
    inbox: list[Newcomer]
    n: int


class Done(NamedTuple):
    """What a task came to."""

    state: bytes
    inbox: list[Newcomer]
    found: Found
    cpu_seconds: float


# The searches that this process had last: if the next stretch is given to the same process, nothing is to be loaded.
_live: OrderedDict[tuple[str, int], Search] = OrderedDict()


def carry_out(task: Task) -> Done | str:
    """Carry out a task; returns a sentence where the problem broke a promise."""
    cpu = time.thread_time()
    try:
        search = _live.pop(task.key, None)
        if search is None or search.evaluations != task.evaluations:
            search = _revived(task)
        go_on(search, task.inbox, task.n)
    except ProblemError as error:
        return str(error)
    found = found_by(search)
    solutions = [found.solution(i) for i in range(len(found.scores))]
    # A list of all can be sent, the way to each through the search cannot.
    found = found._replace(solution=solutions.__getitem__)
    done = Done(to_bytes(search), task.inbox, found, time.thread_time() - cpu)
    _live[task.key] = search
    while len(_live) > _MOST_LIVE:
        _live.popitem(last=False)
    return done


def _revived(task: Task) -> Search:
    search = from_bytes(task.state, _problem(task.problem), task.algorithm)
    search.player.following  # noqa: B018, bound before anything is compiled
    search.compile()
    return search


@functools.lru_cache(maxsize=4)
def _problem(pickled: bytes) -> Any:
    return pickle.loads(pickled)
