"""What all searches share seen from Python, whatever the algorithm: an archive to read, code to compile."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.archive import archived_rows
from ..engine.arrays import (
    EVALUATIONS,
    FOUND_AT,
    LAST_IMPROVEMENT,
    MAX_ARCHIVED,
    N_DISCARDED,
    N_LOGGED,
    N_MOVES,
    N_UNIQUE,
    POLICY,
    VIOLATIONS,
    Archive,
)
from ..result.result import Front

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ..engine.player import Adapter


#: The largest limit of an archive: more than any memory holds, and no more than compiled code can count.
MOST_ARCHIVED = 10**12


class ArchiveView(ABC):
    """What all searches have in common seen from Python: an archive, and machine code that must be there.

    `_archived` says where the archive is.
    """

    _signs: NDArray[np.float64]
    player: Adapter

    @property
    def is_compiled(self) -> bool:
        """Whether all machine code is there: compiled in this process, or stored on disk by an earlier one."""
        return all(entry.is_ready() for entry in self.player.entries)

    def compile(self) -> None:
        """Compile, or load from disk, what `advance` needs; the first use does it otherwise."""
        self.player.compile()

    @abstractmethod
    def _archived(self) -> tuple[Archive, NDArray[np.int64], Callable[[Sequence[int]], list[Any]]]:
        """Return the archive, the counters, and what turns numbers of moves into moves."""

    @property
    def evaluations(self) -> int:
        """How many evaluations the search has learned from."""
        return int(self._archived()[1][EVALUATIONS])

    @property
    def unique_evaluations(self) -> int | None:
        """How many of them were of a solution not evaluated before; None unless they are counted."""
        archive, counters, _ = self._archived()
        return int(counters[N_UNIQUE]) if archive.keys.size else None

    @property
    def max_archive(self) -> int | None:
        """The most that the archive may hold; None if there is no limit."""
        return int(self._archived()[1][MAX_ARCHIVED]) or None

    @property
    def discarded(self) -> int:
        """How many solutions that nothing dominated were discarded, to keep to that limit."""
        return int(self._archived()[1][N_DISCARDED])

    @property
    def last_improvement(self) -> int:
        """The evaluation at which the archive last changed."""
        return int(self._archived()[1][LAST_IMPROVEMENT])

    def front(self) -> Front:
        """Return the best of all that was evaluated, in the sense in which the problem states its objectives."""
        archive, _, solution = self._archived()
        rows = archived_rows(archive)
        return Front.sorted(
            objectives=archive.scores[rows, 1:] * self._signs,
            violations=archive.scores[rows, VIOLATIONS],
            solutions=[solution(archive.moves[row, : archive.heads[row, N_MOVES]].tolist()) for row in rows],
            policies=archive.heads[rows, POLICY],
            found_at=archive.heads[rows, FOUND_AT],
        )

    def log(self) -> NDArray[np.float64]:
        """Return evaluation, violations and (minimised) objectives of all that ever entered the archive."""
        archive, counters, _ = self._archived()
        return np.array(archive.log[: counters[N_LOGGED]])

    def best(self) -> tuple[NDArray[np.float64], float]:
        """Return the (minimised) objectives of the archive and their common number of violations."""
        archive, _, _ = self._archived()
        scores = archive.scores[archived_rows(archive)]
        return scores[:, 1:], float(scores[0, VIOLATIONS]) if len(scores) else float("nan")
