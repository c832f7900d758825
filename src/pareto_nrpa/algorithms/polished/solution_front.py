"""The front of a local search on lists: coverage of new solutions, and the lists that are changed next.

A solution that equals a member in all objectives replaces it here ("drift"): if many lists are one schedule, changes
would otherwise always begin at the same list. The archive keeps the solution found first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import numpy as np

from ...engine.arrays import N_DISCARDED, N_LOGGED
from ...engine.dominance import is_covered_by_front
from ...engine.jit.kernels import stored
from ...engine.state import need

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from .search import PolishedSearch

    #: Violations, then minimised objectives.
    Scores = tuple[float, ...]

#: Results of the comparison of a solution with a front without an equal member; else the place of that member.
COVERED, NEW = -1, -2
_LARGEST = float(np.finfo(float).max)


class Lists(NamedTuple):
    """The lists that are changed next, a row for each member of the archive in the order of discovery."""

    lists: Annotated[np.ndarray, "i8 [members, =] < moves"]
    are_known: Annotated[np.ndarray, "b1 [members]"]


class SolutionFront(ABC):
    """The members of an archive, each with the list that is changed next.

    It is `stand_in` for a playout outside of the genotype, such as one that ends early.
    """

    STATE: ClassVar[dict[str, Any]] = {"changed_next": Lists}
    violations = np.inf

    def __init__(self, search: PolishedSearch, fits: Callable[[list[int]], bool], stand_in: list[int]) -> None:
        self._search, self._fits, self._stand_in = search, fits, stand_in
        m = search.problem.n_objectives
        self.ideal, self.span = np.zeros(m), np.ones(m)

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def member(self, place: int) -> tuple[list[int], Scores]:
        """Return the list that is changed next for a member, and its scores."""

    @abstractmethod
    def standing(self, scores: Scores) -> int:
        """Return the place of the member that has these scores, or else COVERED or NEW."""

    @abstractmethod
    def replace(self, place: int, moves: list[int]) -> None:
        """Let another list be changed next for a member."""

    @abstractmethod
    def insert(self, scores: Scores, moves: list[int]) -> None:
        """Add a solution that was NEW and has entered the archive, and drop what it covers."""

    @abstractmethod
    def points(self) -> NDArray[np.float64]:
        """Return the objectives of all members, in the order of their places."""

    @abstractmethod
    def follow(self) -> None:
        """Update from the archive after other changes."""

    def compile(self) -> None:  # noqa: B027 - one of two objectives needs nothing
        """Compile comparisons of solutions."""

    def is_promising(self, expected: list[float]) -> bool:
        """Tell whether scores that a model expects would be new; while nothing is feasible, fewer violations are."""
        return expected[0] < self.violations if self.violations > 0 else self.standing((0.0, *expected[1:])) == NEW

    @property
    def changed_next(self) -> Lists:
        """The lists that are changed next."""
        known = [self.known_list(tuple(point)) for point in self._search.members().objectives.tolist()]
        table = [self._stand_in if moves is None else moves for moves in known]
        lists = np.array(table, dtype=np.int64).reshape(-1, len(self._stand_in))
        return Lists(lists, np.array([moves is not None for moves in known], dtype=bool))

    @changed_next.setter
    def changed_next(self, lists: Lists) -> None:
        self._restored = lists

    def restored(self) -> None:
        """Update from the restored archive."""
        self.follow()
        members, (lists, are_known) = self._search.members(), self._restored
        need(len(lists) == len(members) and all(map(self._fits, lists.tolist())), "solutions that fit the genotype")
        for point, row, is_known in zip(members.objectives.tolist(), lists.tolist(), are_known, strict=True):
            if is_known:
                self.take_up((members.violations, *point), row)

    def _archived(self, i: int) -> list[int]:
        """Return the list of a member of the archive, if the genotype has it."""
        moves: list[int] = self._search.member(i)[0].tolist()
        return moves if self._fits(moves) else self._stand_in

    @abstractmethod
    def known_list(self, point: Scores) -> list[int] | None:
        """Return the list that is changed next for a member with these objectives, if there is one yet."""

    @abstractmethod
    def take_up(self, scores: Scores, moves: list[int]) -> None:
        """Let a list be changed next for the member with these scores."""


class PairFront(SolutionFront):
    """A front of two objectives: the first rises, the second falls, and bisection finds coverers of a new solution."""

    def __init__(self, search: PolishedSearch, fits: Callable[[list[int]], bool], stand_in: list[int]) -> None:
        super().__init__(search, fits, stand_in)
        self._first: list[float] = []
        self._second: list[float] = []
        self._lists: list[list[int]] = []
        self._seen = (0, 0)

    def __len__(self) -> int:
        return len(self._first)

    def member(self, place: int) -> tuple[list[int], Scores]:
        """Return the list that is changed next for a member, and its scores."""
        return self._lists[place], (self.violations, self._first[place], self._second[place])

    def standing(self, scores: Scores) -> int:
        """Return the place of the member that has these scores, or else COVERED or NEW."""
        violations, first, second = scores
        if violations != self.violations:
            return NEW if violations < self.violations else COVERED
        place = bisect_right(self._first, first) - 1
        if place < 0 or self._second[place] > second:
            return NEW
        return place if self._first[place] == first and self._second[place] == second else COVERED

    def replace(self, place: int, moves: list[int]) -> None:
        """Let another list be changed next for a member."""
        self._lists[place] = moves

    def insert(self, scores: Scores, moves: list[int]) -> None:
        """Add a solution that was NEW and has entered the archive, and drop what it covers."""
        violations, first, second = scores
        if violations < self.violations:
            self.violations, self._first, self._second, self._lists = violations, [], [], []
        begin = end = bisect_left(self._first, first)
        while end < len(self._second) and self._second[end] >= second:
            end += 1
        self._first[begin:end], self._second[begin:end], self._lists[begin:end] = [first], [second], [moves]
        self._measure()
        logged, discarded = self._seen
        self._seen = logged + 1, discarded

    def _measure(self) -> None:
        worst = self._first[-1], self._second[0]
        for k, best in enumerate((self._first[0], self._second[-1])):
            self.ideal[k] = best
            self.span[k] = min(worst[k] - best, _LARGEST) or 1.0

    def points(self) -> NDArray[np.float64]:
        """Return the objectives of all members, in the order of their places."""
        return np.array([self._first, self._second]).T

    def follow(self) -> None:
        """Update from the archive after other changes."""
        counters = self._search.machine.counters
        if self._seen == (seen := (int(counters[N_LOGGED]), int(counters[N_DISCARDED]))):
            return
        members = self._search.members()
        points = members.objectives.tolist()
        lists = [self._list_of((first, second), i) for i, (first, second) in enumerate(points)]
        order = sorted(range(len(points)), key=points.__getitem__)
        self.violations = members.violations
        self._first, self._second = [points[i][0] for i in order], [points[i][1] for i in order]
        self._lists = [lists[i] for i in order]
        if order:
            self._measure()
        self._seen = seen

    def _list_of(self, point: Scores, i: int) -> list[int]:
        known = self.known_list(point)
        return self._archived(i) if known is None else known

    def known_list(self, point: Scores) -> list[int] | None:
        """Return the list that is changed next for a member with these objectives, if there is one yet."""
        place = self.standing((self._search.members().violations, *point))
        return self._lists[place] if place >= 0 else None

    def take_up(self, scores: Scores, moves: list[int]) -> None:
        """Let a list be changed next for the member with these scores."""
        self._lists[self.standing(scores)] = moves


class ManyFront(SolutionFront):
    """A front of any number of objectives, compared by compiled code on the archive."""

    def __init__(self, search: PolishedSearch, fits: Callable[[list[int]], bool], stand_in: list[int]) -> None:
        super().__init__(search, fits, stand_in)
        self._lists: dict[Scores, list[int]] = {}
        self._no_slack = np.zeros(search.problem.n_objectives)

    def compile(self) -> None:
        """Compile comparisons of solutions."""
        rows = self._no_slack.reshape(1, -1)
        stored(is_covered_by_front)(rows, rows, self._no_slack, self._no_slack)

    def __len__(self) -> int:
        return len(self._search.members())

    def member(self, place: int) -> tuple[list[int], Scores]:
        """Return the list that is changed next for a member, and its scores."""
        point = tuple(self._search.members().objectives[place].tolist())
        return self._list_of(point, place), (self.violations, *point)

    def standing(self, scores: Scores) -> int:
        """Return the place of the member that has these scores, or else COVERED or NEW."""
        if scores[0] != self.violations:
            return NEW if scores[0] < self.violations else COVERED
        point = np.array(scores[1:])
        front = self._search.members().front
        if not stored(is_covered_by_front)(front.objectives, front.floors, point, self._no_slack):
            return NEW
        if scores[1:] not in self._lists:
            return COVERED
        equal = np.flatnonzero((front.objectives == point).all(axis=1))
        return int(equal[0]) if equal.size else COVERED

    def replace(self, place: int, moves: list[int]) -> None:
        """Let another list be changed next for a member."""
        self._lists[tuple(self._search.members().objectives[place].tolist())] = moves

    def insert(self, scores: Scores, moves: list[int]) -> None:
        """Add a solution that was NEW and has entered the archive, and drop what it covers."""
        if scores[0] < self.violations:
            self._lists = {}
        self._lists[scores[1:]] = moves
        self.follow()

    def points(self) -> NDArray[np.float64]:
        """Return the objectives of all members, in the order of their places."""
        return self._search.members().objectives

    def follow(self) -> None:
        """Update from the archive after other changes."""
        members = self._search.members()
        self.violations, self.ideal, self.span = members.violations, members.ideal, members.span
        if len(self._lists) > 2 * len(members) + 100:
            kept = map(tuple, members.objectives.tolist())
            self._lists = {point: self._lists[point] for point in kept if point in self._lists}

    def _list_of(self, point: Scores, i: int) -> list[int]:
        if point not in self._lists:
            self._lists[point] = self._archived(i)
        return self._lists[point]

    def known_list(self, point: Scores) -> list[int] | None:
        """Return the list that is changed next for a member with these objectives, if there is one yet."""
        return self._lists.get(point)

    def take_up(self, scores: Scores, moves: list[int]) -> None:
        """Let a list be changed next for the member with these scores."""
        self._lists[scores[1:]] = moves


def solution_front(search: PolishedSearch, fits: Callable[[list[int]], bool], stand_in: list[int]) -> SolutionFront:
    """Return an empty front for a search."""
    return (PairFront if search.problem.n_objectives == 2 else ManyFront)(search, fits, stand_in)
