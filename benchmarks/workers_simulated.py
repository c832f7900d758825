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
from pareto_nrpa.cooperation.crews import Crew, Processes, pickled
from pareto_nrpa.cooperation.places import Anywhere
from pareto_nrpa.cooperation.search import CooperatingSearch
from pareto_nrpa.cooperation.work import Stretch, carry_on, told_by
from pareto_nrpa.nrpa.checkpoint import to_bytes

if TYPE_CHECKING:
    from pareto_nrpa import CompiledProblem
    from pareto_nrpa.cooperation.exchange import Rounds
    from pareto_nrpa.cooperation.work import Spell, Task

_RECORDED, _ROUNDS = 2, 8


class Told(NamedTuple):
    """What was measured."""

    tasks: float  # of all searches, a second
    busy: float  # the share of the time that workers had something to do
    cpu_ms: float  # CPU time of the coordinator, a task
    sent: int  # bytes a task, to the worker
    received: int


def record(problem: CompiledProblem, seed: int, rounds: Rounds) -> list[Spell]:
    """Return what a real search told of each of its rounds, with the time that it took and its state."""
    search = PolishedNRPA().start(problem, seed=seed)
    search.compile()
    spells = []
    for number in range(_ROUNDS):
        begin, end = rounds.begin(number), rounds.begin(number + 1)
        spell = carry_on(search, Stretch(begin, end, begin, [], 60.0))
        # The whole front, which is more than a search tells: it only says what is new.
        spells.append(spell._replace(state=to_bytes(search), members=told_by(search, 0, 0.0).members))
    return spells


class Sleepers(Executor):
    """Threads that are each a worker far away: tasks and answers cross the border as bytes, which are counted."""

    def __init__(self, n: int, recordings: list[list[Spell]]) -> None:
        self.sent = self.received = self.n_tasks = 0
        self.slept = 0.0
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
                self.n_tasks += 1
                self.slept += seconds
            future.set_result(pickle.loads(answer))

    def _answer(self, task: Task) -> tuple[float, bytes]:
        """Return how long a stretch takes, and what a recorded search told as if it were this one."""
        stretch, (_, k) = task.stretch, task.key
        recording = self.recordings[k % len(self.recordings)]
        spell = next((spell for spell in recording if spell.evaluations >= stretch.end), recording[-1])
        rate = recording[-1].evaluations / sum(one.cpu_seconds for one in recording)
        made = min(stretch.end, stretch.begin + 1 + int(rate * stretch.seconds))
        told = _shifted(spell, k, made)
        if not task.wants_state:
            told = told._replace(state=None)
        return (made - stretch.begin) / rate, pickle.dumps(told)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        for _ in self._threads:
            self._tasks.put(None)


def _shifted(spell: Spell, k: int, made: int) -> Spell:
    """Return what was told as if it had come at another time, from a search whose tours differ a little."""
    later, factor = made - spell.evaluations, 1.0 + 1e-4 * k - 1e-9 * made
    members = [
        member._replace(
            found_at=max(1, member.found_at + later),
            scores=(member.scores[0], *(factor * x for x in member.scores[1:])),
        )
        for member in spell.members
    ]
    members = list({member.found_at: member for member in members}.values())
    log = np.column_stack([np.maximum(1, spell.log[:, 0] + later), spell.log[:, 1], factor * spell.log[:, 2:]])
    alive = np.array([member.found_at for member in members], dtype=np.int64)
    return spell._replace(evaluations=made, members=members, log=log, alive=alive)


def recorded(problem: CompiledProblem) -> list[list[Spell]]:
    """Return what some real searches told."""
    first = CooperatingSearch(problem, searches := [PolishedNRPA().start(problem)], seed=0, crew=Crew(searches))
    return [record(problem, seed, first.rounds) for seed in range(_RECORDED)]


def simulate(problem: CompiledProblem, n: int, seconds: float, recordings: list[list[Spell]]) -> Told:
    """Let n searches work together on as many workers that sleep, and answer with what was recorded."""
    searches = [PolishedNRPA().start(problem, seed=k) for k in range(n)]
    sleepers = Sleepers(n, recordings)
    places = Anywhere(sleepers, n)
    places.roams = False  # each keeps its search, as the workers of a Dask cluster do
    crew = Processes(searches, pickled(problem), PolishedNRPA(), places)
    team = CooperatingSearch(problem, searches, seed=0, crew=crew)
    crew.start()
    sleepers.sent = sleepers.received = sleepers.n_tasks = 0
    sleepers.slept = 0.0
    wall, cpu = time.perf_counter(), time.process_time()
    while time.perf_counter() - wall < seconds:
        team.advance(team.slice_size)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    tasks, busy = sleepers.n_tasks, sleepers.slept / (n * wall)
    sleepers.shutdown()
    sent, received = (count // max(1, tasks) for count in (sleepers.sent, sleepers.received))
    return Told(tasks / wall, busy, 1e3 * cpu / max(1, tasks), sent, received)
