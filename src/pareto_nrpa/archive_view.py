"""What all searches share seen from Python, whatever the algorithm: an archive to read, code to compile."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from .kernels.bundles import (
    EVALUATIONS,
    LAST_IMPROVEMENT,
    N_ARCHIVED,
    N_LOGGED,
    N_MOVES,
    N_UNIQUE,
    POLICY,
    VIOLATIONS,
    Archive,
)
from .result import Front

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from .play.adapter import Adapter


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
    def last_improvement(self) -> int:
        """The evaluation at which the archive last changed."""
        return int(self._archived()[1][LAST_IMPROVEMENT])

    def front(self) -> Front:
        """Return the best of all that was evaluated, in the sense in which the problem states its objectives."""
        archive, counters, solution = self._archived()
        n = int(counters[N_ARCHIVED])
        lengths = archive.heads[:n, N_MOVES]
        return Front.sorted(
            objectives=archive.scores[:n, 1:] * self._signs,
            violations=archive.scores[:n, VIOLATIONS].copy(),
            solutions=[solution(archive.moves[i, : lengths[i]].tolist()) for i in range(n)],
            policies=archive.heads[:n, POLICY].copy(),
        )

    def log(self) -> NDArray[np.float64]:
        """Return evaluation, violations and (minimised) objectives of all that ever entered the archive."""
        archive, counters, _ = self._archived()
        return np.array(archive.log[: counters[N_LOGGED]])

    def best(self) -> tuple[NDArray[np.float64], float]:
        """Return the (minimised) objectives of the archive and their common number of violations."""
        archive, counters, _ = self._archived()
        scores = archive.scores[: counters[N_ARCHIVED]]
        return scores[:, 1:].copy(), float(scores[0, VIOLATIONS]) if len(scores) else float("nan")
