"""A cluster that is not there: workers that sleep instead of computing, and answer with what real searches told."""

from __future__ import annotations

import pickle
import threading
import time
from concurrent.futures import Executor, Future
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pareto_nrpa import PolishedNRPA
from pareto_nrpa.cooperation.crews import Processes
from pareto_nrpa.cooperation.search import CooperatingSearch
from pareto_nrpa.cooperation.work import Stretch, carry_on, told_by
from pareto_nrpa.nrpa.checkpoint import to_bytes

if TYPE_CHECKING:
    from pareto_nrpa import CompiledProblem
    from pareto_nrpa.cooperation.work import Spell, Task

_RECORDED, _ROUNDS = 4, 12


class Told(NamedTuple):
    """What was measured."""

    rounds: float  # of all searches, a second
    ideal: float  # as many as workers could make if they never waited
    cpu_share: float  # CPU time of the coordinator, a second
    sent: int  # bytes a round, to the worker
    received: int


def record(problem: CompiledProblem, seed: int, size: int) -> list[Spell]:
    """Return what a real search told of each of its rounds, with the time that it took and its state."""
    search = PolishedNRPA().start(problem, seed=seed)
    search.compile()
    spells = []
    for number in range(_ROUNDS):
        spell = carry_on(search, Stretch(number * size, (number + 1) * size, size, [], 60.0))
        # The whole front, which is more than a search tells: it only says what is new.
        spells.append(spell._replace(state=to_bytes(search), members=told_by(search, 0, 0.0).members))
    return spells


class Sleepers(Executor):
    """Threads that are each a worker far away: tasks and answers cross the border as bytes, which are counted."""

    def __init__(self, n: int, recordings: list[list[Spell]]) -> None:
        self.sent = self.received = self.n_rounds = 0
        self.recordings, self._lock = recordings, threading.Lock()
        self._tasks: SimpleQueue[tuple[bytes, Future[Any]] | None] = SimpleQueue()
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(n)]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        message = pickle.dumps((fn, args, kwargs))
        with self._lock:
            self.sent += len(message)
        self._tasks.put((message, future))
        return future

    def _work(self) -> None:
        while (item := self._tasks.get()) is not None:
            message, future = item
            _, (task,), _ = pickle.loads(message)
            seconds, answer = self._answer(task)
            time.sleep(seconds)
            with self._lock:
                self.received += len(answer)
                self.n_rounds += task.stretch.end > task.stretch.begin
            future.set_result(pickle.loads(answer))

    def _answer(self, task: Task) -> tuple[float, bytes]:
        """Return how long the recorded round took, and what it told as if this search had made it."""
        stretch, (_, k) = task.stretch, task.key
        recording = self.recordings[k % len(self.recordings)]
        number = stretch.begin // stretch.round_size
        spell = recording[number % len(recording)]
        if stretch.end == stretch.begin:
            return 0.0, pickle.dumps(_shifted(spell, 0, k, stretch.begin)._replace(state=recording[0].state))
        told = _shifted(spell, (number - number % len(recording)) * stretch.round_size, k, stretch.end)
        return spell.cpu_seconds, pickle.dumps(told if task.wants_state else told._replace(state=None))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        for _ in self._threads:
            self._tasks.put(None)


def _shifted(spell: Spell, evaluations: int, k: int, made: int) -> Spell:
    """Return what was told as if it had come later, and been found by a search whose tours differ a little."""
    factor = 1.0 + 1e-4 * k - 1e-5 * evaluations / 1_000

    def moved(scores: tuple[float, ...]) -> tuple[float, ...]:
        return scores[0], *(factor * x for x in scores[1:])

    members = [
        member._replace(found_at=member.found_at + evaluations, scores=moved(member.scores)) for member in spell.members
    ]
    log = np.column_stack([spell.log[:, 0] + evaluations, spell.log[:, 1], factor * spell.log[:, 2:]])
    alive = np.array([member.found_at for member in members], dtype=np.int64)
    return spell._replace(evaluations=made, members=members, log=log, alive=alive)


def simulate(problem: CompiledProblem, n: int, seconds: float) -> Told:
    """Let n searches work together on as many workers that sleep."""
    searches = [PolishedNRPA().start(problem, seed=k) for k in range(n)]
    sleepers = Sleepers(n, [])
    crew = Processes(searches, problem, PolishedNRPA(), sleepers)
    team = CooperatingSearch(problem, searches, seed=0, crew=crew)
    recordings = [record(problem, seed, team.round_size) for seed in range(_RECORDED)]
    sleepers.recordings += recordings
    crew.start()
    sleepers.sent = sleepers.received = sleepers.n_rounds = 0
    wall, cpu = time.perf_counter(), time.process_time()
    while time.perf_counter() - wall < seconds:
        team.advance(team.slice_size)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    mean_round = np.mean([spell.cpu_seconds for spells in recordings for spell in spells])
    rounds = sleepers.n_rounds
    sleepers.shutdown()
    sent, received = (n // max(1, rounds) for n in (sleepers.sent, sleepers.received))
    return Told(rounds / wall, n / float(mean_round), cpu / wall, sent, received)
