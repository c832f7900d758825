"""The solutions of an archive in the order of discovery, updated incrementally."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import types

from ...engine.archive import enlarge
from ...engine.arrays import N_ARCHIVED, N_LOGGED, VIOLATIONS, FrontObjectives
from ...engine.dominance import CHUNK
from ...engine.jit.kernels import compile_entry
from .member_kernels import (
    ARE_NEWCOMERS_KNOWN,
    IS_RANGE_KNOWN,
    N_COME,
    N_MEMBERS,
    set_extremes,
    update_members,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...engine.arrays import Archive
    from ...engine.jit.kernels import Entry

_LARGEST = np.finfo(float).max


class MemberCode(NamedTuple):
    """Compiled code that updates members and their range."""

    update: Entry
    set_extremes: Entry


@cache
def member_code() -> MemberCode:
    """Return that code, shared by all archives."""
    table, rows, flags = types.float64[:, ::1], types.int64[::1], types.boolean[::1]
    updated = types.void(types.int64[:, ::1], table, *[rows] * 4, flags, table, table, table, rows)
    measured = types.void(table, table, rows)
    return MemberCode(compile_entry(update_members, updated), compile_entry(set_extremes, measured))


class Members:
    """The archive of a search at one moment.

    With many objectives nearly every evaluation enters an archive of thousands: reading all of it each time would take
    longer than the search.
    """

    def __init__(self, n_objectives: int) -> None:
        self.violations = np.inf  # of all of them
        self._n = self._n_logged = 0
        self._free: NDArray[np.int64] | None = None  # the unused rows of the archive at the last update
        self._found_at = np.zeros(0, dtype=np.int64)  # of each row of the archive, at the last update
        self._ids = np.zeros(0, dtype=np.int64)
        self._rows = np.zeros(0, dtype=np.int64)
        self._is_fresh = np.zeros(0, dtype=bool)
        self._objectives = np.zeros((0, n_objectives))
        self._floors = np.zeros((0, n_objectives))
        self._extremes = np.zeros((2, n_objectives))
        self._numbers = np.zeros(4, dtype=np.int64)

    def __len__(self) -> int:
        return self._n

    @property
    def ids(self) -> NDArray[np.int64]:
        """Identifying numbers of the members, rising."""
        return self._ids[: self._n]

    @property
    def rows(self) -> NDArray[np.int64]:
        """Their rows in the archive."""
        return self._rows[: self._n]

    @property
    def is_fresh(self) -> NDArray[np.bool_]:
        """Whether the neighbours of each member are still to be looked at; to be set where they are."""
        return self._is_fresh[: self._n]

    @property
    def objectives(self) -> NDArray[np.float64]:
        """Their objectives [A, M], minimised."""
        return self._objectives[: self._n]

    @property
    def front(self) -> FrontObjectives:
        """Their objectives for tests of coverage."""
        return FrontObjectives(self.objectives, self._floors[: -(-self._n // CHUNK)])

    @property
    def feasible(self) -> FrontObjectives:
        """The same for feasible members."""
        return self.front if self.violations == 0 else FrontObjectives(self._objectives[:0], self._floors[:0])

    @property
    def ideal(self) -> NDArray[np.float64]:
        """The best of each objective."""
        ideal: NDArray[np.float64] = self._known_range()[0].copy()
        return ideal

    @property
    def span(self) -> NDArray[np.float64]:
        """The range of each objective, 1 where it is 0."""
        ideal, worst = self._known_range()
        with np.errstate(over="ignore"):
            return np.where(worst > ideal, np.minimum(worst - ideal, _LARGEST), 1.0)

    @property
    def scale(self) -> NDArray[np.float64]:
        """The range of each objective, or the size of its value where the range is 0."""
        ideal, worst = self._known_range()
        return np.where((worst > ideal) | (ideal == 0), self.span, np.abs(ideal))

    def _known_range(self) -> NDArray[np.float64]:
        if not self._numbers[IS_RANGE_KNOWN]:
            member_code().set_extremes(self._objectives, self._extremes, self._numbers)
        return self._extremes

    def update(self, archive: Archive, counters: NDArray[np.int64]) -> None:
        """Update from the archive."""
        newcomers = self._newcomers(archive, counters)
        self._numbers[ARE_NEWCOMERS_KNOWN] = newcomers is not None
        if newcomers is None:
            newcomers = archive.free[:0]
        self._free, self._n_logged = archive.free, int(counters[N_LOGGED])
        if len(self._ids) < len(archive.heads):
            self._grow(len(archive.heads))
        order = self._found_at, self._ids, self._rows, self._is_fresh
        values = self._objectives, self._floors, self._extremes, self._numbers
        member_code().update(archive.heads, archive.scores, newcomers, *order, *values)
        self._n = int(self._numbers[N_MEMBERS])
        if self._numbers[N_COME]:
            self.violations = float(archive.scores[self._rows[self._n - 1], VIOLATIONS])

    def _newcomers(self, archive: Archive, counters: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Return the changed rows if members were only added, None if that is unknown.

        New members take rows from the top of the stack of unused ones, which still contains their numbers.
        """
        n, n_new = int(counters[N_ARCHIVED]), int(counters[N_LOGGED]) - self._n_logged
        if archive.free is not self._free or n != self._n + n_new:
            return None
        n_unused = len(archive.free) - n
        return archive.free[n_unused : n_unused + n_new]

    def _grow(self, room: int) -> None:
        """Grow to the capacity of the archive."""
        self._found_at, self._ids, self._rows, self._is_fresh = (
            enlarge(array, room) for array in (self._found_at, self._ids, self._rows, self._is_fresh)
        )
        m = self._objectives.shape[1]
        self._objectives, self._floors = enlarge(self._objectives, room, m), enlarge(self._floors, -(-room // CHUNK), m)

    def place(self, number: int) -> int | None:
        """Return the position of a member by its number, or None."""
        place = int(np.searchsorted(self.ids, number))
        return place if place < self._n and self._ids[place] == number else None
