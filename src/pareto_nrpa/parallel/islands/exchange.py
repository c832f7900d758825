"""Exchange between searches: each sends its front at the end of a round, and the others receive it a round later."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...engine.archive import far_apart
from ...engine.arrays import VIOLATIONS
from .merging import first_front
from .task import Member

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from .task import Report

# Length of a round relative to all rounds before it, as the knowledge of searches changes ever more slowly.
_GROWTH = 0.25
# Largest share of the evaluations of a round for solutions received.
MOST_ADOPTED = 0.5
#: Rounds after which a front is received. By then slower searches have sent theirs; with 1, faster searches would
#: wait for them at the end of each round.
LAG = 2


class Rounds:
    """The starts of rounds in evaluations of one search; they depend on the length of the first only."""

    def __init__(self, first: int) -> None:
        self._begins = [0, first]

    def begin(self, number: int) -> int:
        """Return the number of evaluations before a round."""
        while len(self._begins) <= number:
            first, last = self._begins[1], self._begins[-1]
            self._begins.append(last + max(first, int(_GROWTH * last)))
        return self._begins[number]

    def number(self, evaluations: int) -> int:
        """Return the round of the next evaluation after so many."""
        while self._begins[-1] <= evaluations:
            self.begin(len(self._begins))
        return bisect_right(self._begins, evaluations) - 1


class IslandRecord:
    """The known state of one search: position, archive, and solutions to receive in this round."""

    STATE: ClassVar[dict[str, Any]] = {"round": "int < 0:", "inbox": [Member]}

    def __init__(self, spell: Report) -> None:
        self.evaluations = 0
        self.members: dict[int, Member] = {}
        self.inbox: list[Member] = []
        self.round = 0  # the round of the inbox
        self.update(spell)

    def update(self, spell: Report) -> None:
        """Store the report of a search."""
        known = self.members | {member.found_at: member for member in spell.members}
        self.members = {number: known[number] for number in spell.alive.tolist()}
        self.evaluations, self.discarded, self.keys = spell.evaluations, spell.discarded, spell.keys

    def has_found_since(self, evaluations: int) -> bool:
        """Tell whether a member of the archive was found after so many evaluations."""
        return max(self.members, default=0) > evaluations

    def scores(self) -> NDArray[np.float64]:
        """Return the scores of the archive, in the order of discovery."""
        return np.array([member.scores for member in self.members.values()])


class Mailbox:
    """Fronts in transit: those of each search at the end of each round, until all searches have received them."""

    STATE: ClassVar[dict[str, Any]] = {"fronts": {"int": {"int": [Member]}}}

    def __init__(self, n_searches: int, rounds: Rounds, alone_below: int) -> None:
        self.rounds = rounds
        self._alone_below = alone_below
        self.fronts: dict[int, dict[int, list[Member]]] = {}  # by round and search
        self._common: dict[int, tuple[list[Member], NDArray[np.float64], NDArray[np.int64]]] = {}
        self._n = n_searches

    def hand_in(self, k: int, record: IslandRecord) -> None:
        """Keep the front of a search at the end of a round."""
        number = self.rounds.number(record.evaluations) - 1
        self.fronts.setdefault(number, {})[k] = list(record.members.values())

    def is_ready(self, number: int) -> bool:
        """Tell whether all fronts to receive at the beginning of a round are available."""
        return number < LAG or len(self.fronts.get(number - LAG, {})) == self._n

    def inbox(self, number: int, k: int, record: IslandRecord) -> list[Member]:
        """Return the solutions that search k receives at the beginning of a round: those that its own do not cover.

        Solutions that it found and discarded (limited archives) are not received again. As long as the
        common front is small, the first search receives nothing, so that several find at least what one finds. The
        others receive nothing while they make progress.
        """
        members, scores, finders = self._common_front(number - LAG)
        may_stay_alone = len(members) < self._alone_below and _is_as_feasible(record, scores)
        if may_stay_alone and (k == 0 or record.has_found_since(self.rounds.begin(number - 1))):
            return []
        fresh = np.flatnonzero(~_covered(scores, record.scores()) & (finders != k))
        most = max(1, int(MOST_ADOPTED * (self.rounds.begin(number + 1) - self.rounds.begin(number))))
        if len(fresh) > most:  # the rest comes with the next round, if it is not covered by then
            fresh = fresh[np.sort(far_apart(scores[fresh, 1:], most))]
        return [members[i] for i in fresh]

    def _common_front(self, number: int) -> tuple[list[Member], NDArray[np.float64], NDArray[np.int64]]:
        """Return the front of all searches at the end of a round and the finder of each solution; computed once."""
        if number not in self._common:
            fronts = self.fronts.get(number, {})
            found = [(member.found_at, k, member) for k, front in fronts.items() for member in front]
            found.sort(key=lambda one: one[:2])
            scores = np.array([member.scores for _, _, member in found])
            rows = first_front(scores) if found else np.zeros(0, dtype=np.int64)
            finders = np.array([found[i][1] for i in rows], dtype=np.int64)
            self._common[number] = [found[i][2] for i in rows], scores[rows], finders
        return self._common[number]

    def forget(self, numbers: Iterable[int]) -> None:
        """Drop fronts that no search needs any more; `numbers` are the current rounds of the searches."""
        first = min(numbers) + 1 - LAG
        for kept in (self.fronts, self._common):
            for number in [number for number in kept if number < first]:
                del kept[number]


def _is_as_feasible(record: IslandRecord, common: NDArray[np.float64]) -> bool:
    """Tell whether the violations of a search are as few as those of the common front."""
    own = record.scores()
    return len(common) == 0 or (len(own) > 0 and own[0, VIOLATIONS] <= common[0, VIOLATIONS])


def _covered(scores: NDArray[np.float64], known: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which of the scores a known one covers."""
    if len(known) == 0 or len(scores) == 0:
        return np.zeros(len(scores), dtype=bool)
    least = known[0, VIOLATIONS]
    as_good = np.array([(known[:, 1:] <= row[1:]).all(axis=1).any() for row in scores])
    covered: NDArray[np.bool_] = (scores[:, VIOLATIONS] > least) | ((scores[:, VIOLATIONS] == least) & as_good)
    return covered
