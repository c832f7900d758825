"""The solutions of an archive in the order of discovery, kept up at the price of what has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..kernels.archive import enlarge
from ..kernels.bundles import FOUND_AT, N_ARCHIVED, N_LOGGED, VIOLATIONS, KnownFront
from ..kernels.dominance import CHUNK

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..kernels.bundles import Archive

_FIRST_ROOM = 64
_LARGEST = np.finfo(float).max


class Members:
    """The archive of a search at one moment.

    With many objectives nearly every evaluation enters an archive of thousands: to look at all of it each time would
    take longer than the search.
    """

    def __init__(self, n_objectives: int) -> None:
        self.violations = np.inf  # of all of them
        self._n = self._n_logged = 0
        self._free: NDArray[np.int64] | None = None  # the unused rows of the archive that was looked at last
        self._found_at = np.zeros(0, dtype=np.int64)  # of each row of the archive, when it was looked at last
        self._ids = np.zeros(_FIRST_ROOM, dtype=np.int64)
        self._rows = np.zeros(_FIRST_ROOM, dtype=np.int64)
        self._is_fresh = np.zeros(_FIRST_ROOM, dtype=bool)
        self._objectives = np.zeros((_FIRST_ROOM, n_objectives))
        self._floors = np.zeros((_FIRST_ROOM // CHUNK, n_objectives))
        self._range = np.full((2, n_objectives), np.nan)

    def __len__(self) -> int:
        return self._n

    @property
    def ids(self) -> NDArray[np.int64]:
        """By which they are known as long as they are there: rising numbers."""
        return self._ids[: self._n]

    @property
    def rows(self) -> NDArray[np.int64]:
        """Where they are in the archive."""
        return self._rows[: self._n]

    @property
    def is_fresh(self) -> NDArray[np.bool_]:
        """Whether nobody has looked at a member yet; who does so says it here."""
        return self._is_fresh[: self._n]

    @property
    def objectives(self) -> NDArray[np.float64]:
        """Their objectives [A, M], minimised."""
        return self._objectives[: self._n]

    @property
    def front(self) -> KnownFront:
        """Their objectives as what covers others."""
        return KnownFront(self.objectives, self._floors[: -(-self._n // CHUNK)])

    @property
    def feasible(self) -> KnownFront:
        """The same of what is feasible."""
        return self.front if self.violations == 0 else KnownFront(self._objectives[:0], self._floors[:0])

    @property
    def ideal(self) -> NDArray[np.float64]:
        """The best of each objective."""
        ideal, _ = self._known_range()
        return ideal

    @property
    def span(self) -> NDArray[np.float64]:
        """How far apart the best and the worst of each objective are, 1 where they are one."""
        ideal, worst = self._known_range()
        with np.errstate(over="ignore"):
            return np.where(worst > ideal, np.minimum(worst - ideal, _LARGEST), 1.0)

    def _known_range(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if np.isnan(self._range).any():
            self._range = np.array([self.objectives.min(axis=0), self.objectives.max(axis=0)])
        return self._range[0], self._range[1]

    def update(self, archive: Archive, counters: NDArray[np.int64]) -> None:
        """Look at the archive again."""
        come = self._newcomers(archive, counters)
        self._free, self._n_logged = archive.free, int(counters[N_LOGGED])
        if come is None:
            come = self._compare(archive.heads[:, FOUND_AT])
        else:
            self._found_at[come] = archive.heads[come, FOUND_AT]
        if come.size:
            self._append(archive, come)

    def _newcomers(self, archive: Archive, counters: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Return the rows of all that has changed where some have come and none has gone, None where that is not known.

        Rows for newcomers are taken from the top of the stack of unused ones, which still says which they were.
        """
        n, n_new = int(counters[N_ARCHIVED]), int(counters[N_LOGGED]) - self._n_logged
        if archive.free is not self._free or n != self._n + n_new:
            return None
        n_unused = len(archive.free) - n
        return archive.free[n_unused : n_unused + n_new][::-1]

    def _compare(self, found_at: NDArray[np.int64]) -> NDArray[np.int64]:
        """Remove who has gone, and return the rows of those who have come in the order of discovery."""
        known = self._found_at
        if len(known) < len(found_at):
            known = np.pad(known, (0, len(found_at) - len(known)))
        changed = np.flatnonzero(known != found_at)
        gone, come = known[changed], changed[found_at[changed] > 0]
        known[changed] = found_at[changed]
        self._found_at = known
        if (gone > 0).any():
            self._remove(np.searchsorted(self.ids, np.sort(gone[gone > 0])))
        return come[np.argsort(found_at[come])]

    def _remove(self, places: NDArray[np.int64]) -> None:
        first = places[0]
        stays = np.ones(self._n - first, dtype=bool)
        stays[places - first] = False
        # What a newcomer takes the place of is nowhere better: the best of each objective is as good as before.
        if not np.isnan(self._range).any() and (self._objectives[places] >= self._range[1]).any():
            self._range[:] = np.nan
        left = first + int(stays.sum())
        for array in (self._ids, self._rows, self._is_fresh, self._objectives):
            array[first:left] = array[first : self._n][stays]
        self._n = left
        self._set_floors(first)

    def _append(self, archive: Archive, rows: NDArray[np.int64]) -> None:
        begin, end = self._n, self._n + len(rows)
        if end > len(self._ids):
            self._make_room(2 * end)
        scores = archive.scores[rows]
        self._ids[begin:end] = archive.heads[rows, FOUND_AT]
        self._rows[begin:end] = rows
        self._is_fresh[begin:end] = True
        self._objectives[begin:end] = scores[:, 1:]
        self._n = end
        self._set_floors(begin)
        self.violations = float(scores[0, VIOLATIONS])
        if not np.isnan(self._range).any():
            self._range[0] = np.minimum(self._range[0], scores[:, 1:].min(axis=0))
            self._range[1] = np.maximum(self._range[1], scores[:, 1:].max(axis=0))

    def _make_room(self, n: int) -> None:
        self._ids, self._rows, self._is_fresh = (enlarge(x, n) for x in (self._ids, self._rows, self._is_fresh))
        self._objectives = enlarge(self._objectives, n, self._objectives.shape[1])
        self._floors = enlarge(self._floors, -(-n // CHUNK), self._floors.shape[1])

    def _set_floors(self, first: int) -> None:
        """Measure the chunks from that of a place on."""
        chunk = first // CHUNK
        begins = np.arange(chunk * CHUNK, self._n, CHUNK)
        if begins.size:
            floors = np.minimum.reduceat(self.objectives, begins, axis=0)
            self._floors[chunk : chunk + len(floors)] = floors

    def place(self, number: int) -> int | None:
        """Return where the member of that number is, None if it is not there."""
        place = int(np.searchsorted(self.ids, number))
        return place if place < self._n and self._ids[place] == number else None
