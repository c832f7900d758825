"""A few solutions that each go their own way, so that a search does not crowd where the front was found first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.arrays import VIOLATIONS
from ..nrpa.checkpoint_checks import check_shape, need

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Moves = NDArray[np.int64]

_WALKERS = 20
# How many walkers go to a new solution at most: two that stand at the same place are one too many.
_MOST_FOLLOWERS = 2
# A little of the sum is added to the largest distance: of two that are as far, the one that is better elsewhere.
_AUGMENTED = 0.05


class Subproblems:
    """Solutions, each the best met for one direction (MOEA/D, Zhang & Li 2007).

    Objectives are measured from the best to the worst of the front as it is, violations come first.
    """

    def __init__(self, n_objectives: int) -> None:
        rng = np.random.default_rng(0)  # the same directions in every search
        drawn = rng.exponential(size=(max(0, _WALKERS - n_objectives), n_objectives))
        weights = np.concatenate([np.eye(n_objectives), drawn / drawn.sum(axis=1, keepdims=True)])
        self._weights = np.maximum(weights, 1e-3)
        self.moves: list[Moves] = []
        self.scores = np.zeros((0, 1 + n_objectives))

    def offer(
        self,
        moves: Moves,
        scores: NDArray[np.float64],
        ideal: NDArray[np.float64],
        span: NDArray[np.float64],
        draw: Callable[[], float],
    ) -> None:
        """Let those walkers come for whom a solution is better than where they are."""
        if len(self.moves) < len(self._weights):
            self.moves.append(moves)
            self.scores = np.concatenate([self.scores, scores[None]])
            return
        is_better = self.scores[:, VIOLATIONS] > scores[VIOLATIONS]
        alike = self.scores[:, VIOLATIONS] == scores[VIOLATIONS]
        if alike.any():
            scale = self._weights / span
            with np.errstate(over="ignore", invalid="ignore"):  # objectives as far apart as numbers go: no one comes
                new, old = (scale * (values - ideal) for values in (scores[1:], self.scores[:, 1:]))
                is_better |= alike & (_distance(new) < _distance(old))
        comers = np.flatnonzero(is_better)
        for _ in range(min(_MOST_FOLLOWERS, len(comers))):
            i = int(comers[int(draw() * len(comers))])
            self.moves[i], self.scores[i] = moves, scores

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all that there is to remember."""
        longest = max(map(len, self.moves), default=0)
        moves = np.full((len(self.moves), longest), -1, dtype=np.int64)
        for row, walked in zip(moves, self.moves, strict=True):
            row[: len(walked)] = walked
        lengths = np.array([len(walked) for walked in self.moves], dtype=np.int64)
        return {"walkers": moves, "walker_lengths": lengths, "walker_scores": self.scores}

    def restore(self, arrays: dict[str, NDArray[Any]], fits: Callable[[Moves], bool]) -> None:
        """Take up what `state` gave; raises ValueError where it cannot be true."""
        moves, lengths, scores = (arrays[name] for name in ("walkers", "walker_lengths", "walker_scores"))
        n = len(lengths)
        check_shape(lengths, np.int64, n)
        check_shape(moves, np.int64, n, lengths.max(initial=0))
        check_shape(scores, np.float64, n, self.scores.shape[1])
        need(n <= len(self._weights) and (lengths > 0).all() and np.isfinite(scores).all(), "walkers")
        self.moves = [row[:length].copy() for row, length in zip(moves, lengths, strict=True)]
        need(all(map(fits, self.moves)), "walkers that fit the genotype")
        self.scores = scores.copy()


def _distance(scaled: NDArray[np.float64]) -> NDArray[np.float64]:
    return scaled.max(axis=-1) + _AUGMENTED * scaled.sum(axis=-1)  # type: ignore[no-any-return]  # numpy types sums of arrays as Any
