"""The proof that a front is complete: every interval of the first objective is searched until nothing is left in it.

The intervals are groups of a few neighbouring boxes below the front. All groups of a stage are searched from the same
front and dual prices, so that they can be searched in any order and in several processes.
"""

from __future__ import annotations

import time
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .group import MOST_REPETITIONS, Outcome, search_group
from .network import Networks, longest_tour, unit_costs
from .region import EVERYTHING, Interval, KnownFront, complement, partition
from .relaxation import Chain, Prices
from .setting import Counts, Setting, Stage, counted, search_prices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor, Future

    from numpy.typing import NDArray

    from .certificate import Group

# What a first tour is hoped to cost, in terms of the least that it can cost; and so on if there is none.
_HOPE = 1.2
_LONG_STAGE = 3
# Seconds between two looks at the clock while other processes work.
_PATIENCE = 0.1

_STAGES = [
    Stage(1000, 2, 15, 5, 0, 3, 5, 100_000, 2_000, 5_000),
    Stage(20, 4, 30, 20, 1, 3, 6, 500_000, 5_000, 60_000),
    Stage(4, 8, 50, 30, 3, 5, 22, 1_000_000, 20_000, 8_000_000),
    Stage(2, 16, 50, 30, 6, 5, 22, 3_000_000, 30_000, 100_000_000),
]


@dataclass
class ProofProgress:
    """Where a proof stands."""

    interval: Interval = EVERYTHING
    stage: int = 0
    layers: int = 0
    counts: Counts = field(default_factory=Counts)
    points: int = 0
    boxes: int = 0  # below the front
    open_boxes: int = 0


class WorkerFailed(Exception):
    """The search of a group failed in another process."""


class _Late(Exception):
    """A worker has exceeded the time limit."""


def in_worker(search: Callable[..., Any], setting: Setting, task: Any, seconds: float) -> tuple[Any, float]:
    """Return the result of a search in another process, and its CPU time."""
    end, begin = time.monotonic() + seconds, time.process_time()

    def look_up(_: Any) -> None:
        if time.monotonic() > end:
            raise _Late

    return search(setting, task, look_up), time.process_time() - begin


@dataclass
class Proof:
    """A search through all intervals, which can end at any time and then tells which are still open."""

    networks: Networks
    front: KnownFront
    memory_limit: float
    look_up: Callable[[ProofProgress], None]  # called many times a second; may raise to end the proof
    on_group: Callable[[], None] = lambda: None  # called whenever a group is closed
    executor: Executor | None = None  # to search several groups at once
    seconds_left: Callable[[], float] = lambda: np.inf
    open_intervals: list[Interval] = field(default_factory=lambda: [EVERYTHING])
    first_stage: int = 1
    library: dict[tuple[int, int], Prices] = field(default_factory=dict)  # by stage and entry
    groups: list[Group] = field(default_factory=list)
    least: list[tuple[NDArray[np.float64], float]] = field(default_factory=list)  # valid for all tours: weights, bound
    progress: ProofProgress = field(default_factory=ProofProgress)
    labels: int = 0
    cpu_seconds: float = 0.0  # of other processes
    _proved: list[Interval] = field(init=False)
    _hope: float = np.inf
    _longest: float = field(init=False)
    _extents: NDArray[np.float64] = field(init=False)  # the ends of the front when the stage began

    def __post_init__(self) -> None:
        self._proved = complement(self.open_intervals)
        self._longest = longest_tour(self.networks)

    def run(self, search_longer: Callable[[float], None] = lambda share: None) -> None:
        """Prove one interval after the other; those left open in the end need more memory than there is.

        `search_longer` may add tours to the front: called with the share of the boxes that are open before the third
        stage, which is long, and before the second one if no tour is known.
        """
        self.progress.layers = len(self.networks.forward.opens) - 1
        begin = min(self.first_stage, len(_STAGES))
        for number, stage in enumerate(_STAGES[begin - 1 :], begin):
            self.progress.stage = number
            if number == _LONG_STAGE and not any(key[0] == number for key in self.library):
                self._count_boxes()
                search_longer(self.progress.open_boxes / self.progress.boxes)
            self._extents = _ends(self.front)
            if not len(self.front):
                self._look_for_a_tour(stage)
            if not len(self.front) and self.open_intervals and number == 1:
                search_longer(1.0)
            if len(self.front):
                self._extents = _ends(self.front)
                self._search_ends(stage)
                self._search_all(stage, [piece for piece in self._pieces(stage.boxes) if np.isfinite(piece).all()])
            if not self.open_intervals:
                break

    def _search_ends(self, stage: Stage) -> None:
        """Search beyond both ends of the front, which move; the borders of the other intervals move with them."""
        for _ in range(MOST_REPETITIONS):
            ends = [piece for piece in self._pieces() if not np.isfinite(piece).all()]
            if not ends or not self._search_all(stage, ends, repetitions=1):
                break

    def _look_for_a_tour(self, stage: Stage) -> None:
        """Look for a first tour below a cost that grows, as bounds say nothing where nothing is too much."""
        costs = self.networks.forward.costs
        most = unit_costs(costs)[0] + costs[0].max(axis=1).sum()  # no tour costs more
        alone = np.eye(len(costs))[0]
        self._make_prices(stage, [alone])
        if not np.isfinite(self._hope):
            prices = self._setting(stage).prices(alone)
            chain = Chain(self.networks, prices, np.inf, counted(self._show))
            chain.turn(min(4, stage.memory))
            self._hope = min(most, _HOPE * max(chain.least, 0.0))
        while not len(self.front):
            setting = self._setting(stage)._replace(longest=self._hope)
            outcome = search_group(setting, EVERYTHING, self._show, repetitions=1)
            is_everything = self._hope == most and not outcome.tours
            self._take(outcome._replace(is_complete=outcome.is_complete and is_everything))
            if not outcome.is_complete or self._hope == most:
                break
            self._hope = min(most, _HOPE * self._hope + most / 100)  # which may have been 0

    def _pieces(self, boxes: int = 1000) -> list[Interval]:
        parts = -(-(len(self.front) + 1) // boxes)
        return partition(self.open_intervals, self.front, parts)

    def _setting(self, stage: Stage) -> Setting:
        front, library = self.front.copy(), dict(self.library)
        return Setting(
            self.networks, stage, self.progress.stage, front, self._extents, library, self.memory_limit, self._longest
        )

    def _make_prices(self, stage: Stage, sums: list[NDArray[np.float64]]) -> None:
        """Add the entries of the library between which the prices of some weighted sums are."""
        setting, number = self._setting(stage), self.progress.stage
        wanted = sorted({entry for weights in sums for entry in setting.entries(weights)})
        missing = [entry for entry in wanted if (number, entry) not in self.library]
        for at, prices in self._run(search_prices, setting, missing):
            self.library[number, missing[at]] = prices

    def _search_all(self, stage: Stage, intervals: list[Interval], repetitions: int = MOST_REPETITIONS) -> int:
        """Search some intervals; returns how many new points were found."""
        self._count_boxes()
        setting = self._setting(stage)
        every = [setting.sums(setting.boxes(self.front, interval)) for interval in intervals]
        self._make_prices(stage, [weights for sums in every for weights in sums])
        setting, n_new = setting._replace(library=dict(self.library)), 0
        for _, outcome in self._run(partial(search_group, repetitions=repetitions), setting, intervals):
            n_new += self._take(outcome)
        return n_new

    def _take(self, outcome: Outcome) -> int:
        """Take in what a group ended with; returns how many points are new."""
        self.labels += outcome.labels
        self.least += outcome.least
        n_new = self.front.add(outcome.tours)
        if outcome.is_complete:
            self.groups.append(outcome.line())
            self._proved.append(outcome.interval)
            self.open_intervals = complement(self._proved)
            self._count_boxes()
            self.on_group()
        return n_new

    def _count_boxes(self) -> None:
        self.progress.boxes = len(self.front) + 1
        self.progress.open_boxes = sum(len(self.front.local_upper_bounds(each)) for each in self.open_intervals)

    def _run(self, search: Callable[..., Any], setting: Setting, tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Yield the number and the result of each task, in this process or as others finish them."""
        progress = self.progress
        if self.executor is None:
            for number, task in enumerate(tasks):
                progress.interval = task if isinstance(task, tuple) else EVERYTHING
                yield number, search(setting, task, self._show)
            return
        self.look_up(progress)
        futures = {
            self.executor.submit(in_worker, search, setting, task, self.seconds_left()): number
            for number, task in enumerate(tasks)
        }
        try:
            while futures:
                finished = wait(futures, _PATIENCE, FIRST_COMPLETED).done
                self._show(Counts())
                for future in finished:
                    result, cpu_seconds = _result(future)
                    self.cpu_seconds += cpu_seconds
                    yield futures.pop(future), result
        finally:
            for future in futures:
                future.cancel()

    def _show(self, counts: Counts) -> None:
        progress = self.progress
        progress.counts, progress.points = counts, len(self.front)
        self.look_up(progress)


def _result(future: Future[tuple[Any, float]]) -> tuple[Any, float]:
    try:
        return future.result()
    except Exception as error:  # the errors of executors have no common class
        raise WorkerFailed(str(error) or type(error).__name__) from error


def _ends(front: KnownFront) -> NDArray[np.float64]:
    return np.concatenate([front.objectives[:1], front.objectives[-1:]])
