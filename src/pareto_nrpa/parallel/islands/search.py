"""Several searches with the interface of one: what they report depends on numbers of evaluations only."""

from __future__ import annotations

import time
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..._util.checks import check_whole
from ...algorithms.search import Search
from ...engine.archive import far_apart
from ...engine.arrays import VIOLATIONS
from ...engine.state import need, unpack, write
from ...errors import ParetoNRPAError
from ...problem.base import CompiledProblem
from ...result.result import Front
from .exchange import LAG, IslandRecord, Mailbox, Rounds
from .merging import CommonLog, complete, first_front, in_turns, share_of
from .task import Stretch

if TYPE_CHECKING:
    import os
    from concurrent.futures import Future

    from numpy.typing import NDArray

    from ...algorithms.nrpa.search import AskTellSearch
    from ...problem.base import AnyProblem
    from .executors import Crew
    from .task import Member, Report

#: Length of the first round, in slices of a search; on a plain problem in evaluations. See docs/parallel.md.
FIRST_ROUND, FIRST_PLAIN_ROUND = 50, 500
_SECONDS_BETWEEN_LOOKS = 0.25


class IslandSearch(Search):
    """K cooperating searches of one algorithm on one problem.

    The evaluations of all are counted in turns: the first of each search, the second of each, and so on. What a search
    finds in one round of evaluations, the others receive a round later. Exchange thus depends on numbers of evaluations
    only, not on workers. A search waits only if it is a round ahead. `evaluations`, `best` and similar values show the
    state after the last evaluation without a gap before it; the result includes all evaluations.
    """

    # `advance` returns after this time, whatever number of evaluations is requested.
    slice_seconds = (1.0, float("inf"))
    STATE: ClassVar[dict[str, Any]] = {"records": ["component"], "post": "component"}

    def __init__(self, problem: AnyProblem, searches: list[AskTellSearch], *, seed: int, crew: Crew) -> None:
        self._first = first = searches[0]
        super().__init__(problem, first.algorithm, seed=seed)
        self.crew, self.budget = crew, first.budget
        is_compiled = isinstance(problem, CompiledProblem)
        self.rounds = Rounds(FIRST_ROUND * first.slice_size if is_compiled else FIRST_PLAIN_ROUND)
        self.post = Mailbox(len(searches), self.rounds, first.alone_below)
        self.records = [IslandRecord(spell) for spell in crew.stands()]
        self._log = CommonLog(len(searches), problem.n_objectives)
        for k, search in enumerate(searches):
            self._log.add(k, search.log())
        self._at_work: dict[Future[Any], tuple[int, Stretch]] = {}
        self._shows_all = False
        self._log.go_on(self._made(), self.evaluations)

    @property
    def n_searches(self) -> int:
        """How many searches work together."""
        return len(self.records)

    def _made(self) -> list[int]:
        """Return how many evaluations each search has made."""
        return [record.evaluations for record in self.records]

    @property
    def evaluations(self) -> int:
        """Number of evaluations without a gap, including solutions received from other searches."""
        return sum(self._made()) if self._shows_all else complete(self._made())

    @property
    def unique_evaluations(self) -> int | None:
        """Number of solutions not evaluated by any search before; None unless counted."""
        if self._first.unique_evaluations is None:
            return None
        return int(np.unique(np.concatenate([record.keys for record in self.records])).size)

    @property
    def max_archive(self) -> int | None:
        """Largest size of the front and of each archive; None without a limit."""
        return self._first.max_archive

    @property
    def discarded(self) -> int:
        """Number of non-dominated solutions discarded by that limit."""
        scores = self._members()[1]
        return sum(record.discarded for record in self.records) + len(scores) - len(self._shown(scores[:, 1:]))

    @property
    def last_improvement(self) -> int:
        """The evaluation at which the common front last changed."""
        return self._log.last_improvement

    @property
    def slice_size(self) -> int:
        """The first round of all searches: they wait for each other where a stop must be checked."""
        return self.rounds.begin(1) * self.n_searches

    @property
    def is_compiled(self) -> bool:
        """Whether all code is compiled."""
        return self._first.is_compiled

    def count_unique(self) -> None:
        """Count every solution once, from the start on."""
        for search in self.crew.searches:
            search.count_unique()

    def limit_archive(self, size: int) -> None:
        """Limit the size of every archive, from the start on."""
        for search in self.crew.searches:
            search.limit_archive(size)

    def compile(self) -> None:
        """Compile what is needed, here and in the workers."""
        for search in self.crew.searches:
            search.compile()
        self.crew.start()

    def advance(self, n: int) -> None:
        """Make up to n evaluations, as time allows; searches continue meanwhile, never past those n."""
        check_whole("n", n, 0)
        self._shows_all = False
        end, began = self.evaluations + n, time.monotonic()
        while self.evaluations < end:
            self._set_to_work(end)
            left = began + _SECONDS_BETWEEN_LOOKS - time.monotonic()
            self._gather(max(0.0, left))
            if left <= 0:
                break

    def _set_to_work(self, end: int) -> None:
        """Continue searches, those with the fewest evaluations first, one for each worker."""
        busy = {k for k, _ in self._at_work.values()}
        for k in sorted(set(range(self.n_searches)) - busy, key=lambda k: self.records[k].evaluations):
            if len(self._at_work) == self.crew.size:
                return
            if self.crew.can_begin(k) and (stretch := self._stretch(k, end)) is not None:
                self._at_work[self.crew.begin(k, stretch)] = k, stretch

    def _stretch(self, k: int, end: int) -> Stretch | None:
        """Return the end of the next stretch within the round, None if the search must wait."""
        record = self.records[k]
        number = self.rounds.number(record.evaluations)
        round_end = self.rounds.begin(number + 1)
        stop = min(round_end, share_of(end, k, self.n_searches))
        if stop <= record.evaluations or (number > record.round and not self.post.is_ready(number)):
            return None
        if number > record.round:
            record.inbox, record.round = self.post.inbox(number, k, record), number
            self.post.forget(one.round for one in self.records)
        begin = self.rounds.begin(number)
        return Stretch(record.evaluations, stop, begin, round_end, record.inbox, self.crew.spell_seconds)

    def _gather(self, seconds: float | None) -> None:
        """Receive finished stretches, after waiting for one of them at most so long."""
        ended, _ = wait(self._at_work, seconds, FIRST_COMPLETED)
        for future in sorted(ended, key=lambda future: self._at_work[future][0]):
            k, stretch = self._at_work.pop(future)
            try:
                spell = self.crew.outcome(k, future)
            except BaseException:
                self._receive(k, self.crew.until_error(k, stretch))
                raise
            if spell is None:
                continue
            self._receive(k, spell)
            if self.rounds.number(spell.evaluations) > self.rounds.number(stretch.begin):
                self.post.hand_in(k, self.records[k])
        self._log.go_on(self._made(), self.evaluations)

    def _receive(self, k: int, spell: Report | None) -> None:
        if spell is not None:
            self.records[k].update(spell)
            self._log.add(k, spell.log)
            self.cpu_seconds += spell.cpu_seconds

    def rest(self) -> None:
        """Stop all workers; errors are ignored here, as the results so far are requested."""
        is_worth_waiting = self.crew.halt()
        while self._at_work and is_worth_waiting:
            with suppress(ParetoNRPAError):
                self._gather(None)
        self._at_work.clear()

    def _members(self) -> tuple[list[Member], NDArray[np.float64]]:
        """Return the common front, in the order of discovery, and its scores."""
        made = self._made()
        found = [
            (int(number), member)
            for k, record in enumerate(self.records)
            for number, member in zip(
                in_turns(np.array(list(record.members), dtype=np.int64), k, made), record.members.values(), strict=True
            )
        ]
        members = [member for _, member in sorted(found, key=lambda one: one[0])]
        scores = np.array([member.scores for member in members]).reshape(len(members), 1 + len(self._signs))
        rows = first_front(scores)  # the first of equal ones, which may have sent it to the others
        return [members[i] for i in rows], scores[rows]

    def _shown(self, points: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the points of a front to show: all, or up to the limit."""
        if self.max_archive is None or len(points) <= self.max_archive:
            return np.arange(len(points))
        return np.sort(far_apart(points, self.max_archive))

    def front(self) -> Front:
        """Return the front of all evaluations, in the problem's own sense."""
        members, scores = self._members()
        rows = self._shown(scores[:, 1:])
        return Front.sorted(
            objectives=scores[rows, 1:] * self._signs,
            violations=scores[rows, VIOLATIONS],
            solutions=[members[i].solution for i in rows],
            policies=np.array([members[i].policy for i in rows], dtype=np.int64),
        )

    def log(self) -> NDArray[np.float64]:
        """Return evaluation, violations and (minimised) objectives of all solutions that entered the common front."""
        log = self._log.ahead(self._made()) if self._shows_all else self._log
        return np.array(log.lines).reshape(len(log.lines), 2 + len(self._signs))

    def best(self) -> tuple[NDArray[np.float64], float]:
        """Return the (minimised) objectives of the common front and their common number of violations."""
        front = self._log.front
        violations = float(front[0, 1 + VIOLATIONS]) if len(front) else float("nan")
        return front[self._shown(front[:, 2:]), 2:], violations

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of each search, their number, and the evaluations of each.

        It is called at the end, so evaluations beyond a gap are included from here on.
        """
        self.rest()
        self._shows_all = True
        return {**self._first.parameters(), "searches": self.n_searches, "evaluations_of_each": self._made()}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a checkpoint from which all searches continue to the same result."""
        searches = [unpack(state)[1] for state in self.states()]
        write(path, self.state_header(), {"islands": self.state(), "searches": searches})

    @property
    def state_sizes(self) -> dict[str, int | str | None]:
        """The values of the names in the forms of the state."""
        return self._first.state_sizes

    def restored(self) -> None:
        """Check that rounds of searches are possible, and that all fronts that they will wait for exist."""
        first = min(record.round for record in self.records)
        for k, record in enumerate(self.records):
            number, opened = self.rounds.number(record.evaluations), record.round
            need(number - opened in (0, 1) and number <= first + LAG + 1, "searches in rounds that are possible")
            room = self.rounds.begin(opened + 1) - self.rounds.begin(opened)
            need(len(record.inbox) <= room, "no more to take in than a round has evaluations")
            sent = all(k in self.post.fronts.get(done, {}) for done in range(max(0, first + 1 - LAG), number))
            need(sent, "the fronts that searches wait for")

    def states(self) -> list[bytes]:
        """Return the state of all searches; running stretches are finished first."""
        while self._at_work:
            self._gather(None)
        stands = [(record.evaluations, self.rounds.begin(record.round), record.inbox) for record in self.records]
        return self.crew.states([Stretch(n, n, begin, n, inbox, 0.0) for n, begin, inbox in stands])
