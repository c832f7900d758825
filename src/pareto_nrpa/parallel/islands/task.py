"""A stretch of one of several searches: it receives solutions of the others, and continues."""

from __future__ import annotations

import functools
import pickle
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np

from ...engine.archive import archived_rows
from ...engine.arrays import FOUND_AT, N_MOVES, POLICY
from ...engine.state import load, pack, unpack
from ...errors import ProblemError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ...algorithms.algorithm import Algorithm
    from ...algorithms.nrpa.search import AskTellSearch

_MOST_LIVE = 16


class Member(NamedTuple):
    """A solution in the archive of a search, as sent to other searches."""

    found_at: int  # the evaluation of the search that found it
    scores: Annotated[Any, "floats [1+M]"]  # violations, then minimised objectives
    policy: Annotated[int, "int < P"]
    solution: Annotated[list[Any], "values"]


class Stretch(NamedTuple):
    """A stretch to run: its start, its end, and the solutions received on the way."""

    begin: int  # evaluations made and reported
    end: int  # within the same round
    round_begin: int
    round_end: int
    inbox: list[Member]  # solutions of others, an evaluation each at the beginning of the round
    seconds: float  # after which it may end early


class Report(NamedTuple):
    """The result of a stretch: position of the search, and new solutions."""

    evaluations: int
    discarded: int
    alive: NDArray[np.int64]  # the evaluations at which its archive was found
    members: list[Member]
    log: NDArray[np.float64]  # [G, 2 + M]
    keys: NDArray[np.int64]  # of all evaluated solutions, where these are counted
    cpu_seconds: float
    state: bytes | None = None  # if requested


def carry_on(search: AskTellSearch, stretch: Stretch, is_halted: Callable[[], bool] = lambda: False) -> Report:
    """Continue a search; it ends early when time is over, or when it is halted."""
    cpu, until = time.thread_time(), time.monotonic() + stretch.seconds
    go_on(search, stretch, lambda: time.monotonic() > until or is_halted())
    return told_by(search, stretch.begin, time.thread_time() - cpu)


def go_on(search: AskTellSearch, stretch: Stretch, is_over: Callable[[], bool]) -> None:
    """Make evaluations, first of the inbox: the n-th of a round is that of its n-th solution."""
    while (left := stretch.end - search.evaluations) > 0:
        place = search.evaluations - stretch.round_begin
        if place >= len(stretch.inbox):
            search.advance(min(left, search.slice_size))
        elif not search.adopt(stretch.inbox[place].solution, stretch.inbox[place].policy):
            search.advance(1)
        if is_over():
            return


def told_by(search: AskTellSearch, begin: int, cpu_seconds: float) -> Report:
    """Return the solutions found after `begin` evaluations."""
    archive, log = search.machine.archive, search.log()
    rows = archived_rows(archive)
    alive = archive.heads[rows, FOUND_AT]
    members = [
        Member(
            int(archive.heads[row, FOUND_AT]),
            tuple(archive.scores[row].tolist()),
            int(archive.heads[row, POLICY]),
            search.player.solution(archive.moves[row, : archive.heads[row, N_MOVES]].tolist()),
        )
        for row in rows[alive > begin]
    ]
    keys = archive.keys[archive.keys != 0]
    return Report(search.evaluations, search.discarded, alive, members, log[log[:, 0] > begin], keys, cpu_seconds)


class Task(NamedTuple):
    """A stretch of one search for another process; the result is the same in any process."""

    key: tuple[str, int]  # of this search, as no other has it
    stretch: Stretch
    problem: bytes  # pickled, where there is a state
    algorithm: Algorithm
    state: bytes | None  # of the search, in the same round; None where the process should have it
    wants_state: bool


# The last searches of this process: if it gets the next stretch, nothing has to be loaded.
_live: OrderedDict[tuple[str, int], AskTellSearch] = OrderedDict()


def carry_out(task: Task) -> Report | str | None:
    """Run a task; returns a message if the problem is invalid, None if the search is not in this process."""
    cpu = time.thread_time()
    try:
        search = _live.pop(task.key, None)
        if search is None or search.evaluations != task.stretch.begin:
            if task.state is None:
                return None
            search = _restored(task, task.state)
        report = carry_on(search, task.stretch)
    except ProblemError as error:
        return str(error)
    # At the end of a round, as received solutions are not kept.
    state = to_bytes(search) if task.wants_state or search.evaluations == task.stretch.round_end else None
    _live[task.key] = search
    strangers = [key for key in _live if key[0] != task.key[0]]  # of other runs: those of this run are sent again
    for key in strangers[: max(0, len(_live) - _MOST_LIVE)]:
        del _live[key]
    return report._replace(state=state, cpu_seconds=time.thread_time() - cpu)


def _restored(task: Task, state: bytes) -> AskTellSearch:
    """Return a search at the beginning of a stretch: from a state, and the work since then in this round."""
    search = from_bytes(state, _problem(task.problem), task.algorithm)
    search.player.expect_follow()
    search.compile()
    go_on(search, task.stretch._replace(end=task.stretch.begin), lambda: False)
    return search


def to_bytes(search: AskTellSearch) -> bytes:
    """Return a search as bytes."""
    return pack({"seed": search.seed, "budget": search.budget}, search.state())


def from_bytes(state: bytes, problem: Any, algorithm: Algorithm) -> AskTellSearch:
    """Return the search that `to_bytes` was given, perhaps in another process."""
    header, tree = unpack(state)
    search: Any = algorithm.start(problem, seed=header["seed"], budget=header["budget"])
    load(search, tree)
    return search  # type: ignore[no-any-return]  # islands are searches that can be asked


@functools.lru_cache(maxsize=4)
def _problem(pickled: bytes) -> Any:
    return pickle.loads(pickled)
