"""A few solutions that each go their own way, so that a search does not crowd where the front was found first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...engine.arrays import VIOLATIONS
from ...engine.jit.kernels import engine_kernel, small_kernel, stored
from ...engine.state import need

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

#: How many there are.
WALKERS = 20
# How many walkers go to a new solution at most: two that stand at the same place are one too many.
_MOST_FOLLOWERS = 2
#: A little of the sum is added to the largest distance: of two that are as far, the one that is better elsewhere.
AUGMENTED = 0.05
_NO_WALKER = -1


class Subproblems:
    """Solutions, each the best met for one direction (MOEA/D, Zhang & Li 2007).

    Objectives are measured from the best to the worst of the front as it is, violations come first.
    """

    STATE: ClassVar[dict[str, Any]] = {"lists": ["ints [*] < moves"], "scores": "f8 [*, =]"}

    def __init__(self, n_objectives: int) -> None:
        rng = np.random.default_rng(0)  # the same directions in every search
        drawn = rng.exponential(size=(max(0, WALKERS - n_objectives), n_objectives))
        weights = np.concatenate([np.eye(n_objectives), drawn / drawn.sum(axis=1, keepdims=True)])
        self._weights = np.maximum(weights, 1e-3)
        self._comers = np.zeros(len(self._weights), dtype=np.int64)
        self.lists: list[list[int]] = []
        self.scores = np.zeros((0, 1 + n_objectives))

    def __len__(self) -> int:
        return len(self.lists)

    def restored(self) -> None:
        """Check what was restored."""
        need(len(self.lists) == len(self.scores) <= len(self._weights), "a solution for each subproblem")

    def compile(self) -> None:
        """Compile what finds the walkers that a solution is better for."""
        m = self._weights.shape[1]
        self._find(np.zeros(1 + m), np.zeros(m), np.ones(m), _NO_WALKER)

    def _find(self, new: NDArray[Any], ideal: NDArray[Any], span: NDArray[Any], own: int) -> int:
        find = stored(_find_comers)
        return find(self.scores, self._weights, ideal, span, new, own, self._comers)  # type: ignore[no-any-return]  # compiled code

    def offer(
        self,
        moves: list[int],
        scores: Sequence[float],
        ideal: NDArray[np.float64],
        span: NDArray[np.float64],
        draw: Callable[[], float],
        own: int = _NO_WALKER,
    ) -> None:
        """Let those walkers come for which a solution is better than where they are.

        Walker `own`, the one that was changed, also comes to what is as good: it would otherwise stand still.
        """
        new = np.array(scores)
        if len(self.lists) < len(self._weights):
            self.lists.append(moves)
            self.scores = np.concatenate([self.scores, new[None]])
            return
        n_comers = self._find(new, ideal, span, own)
        for _ in range(min(_MOST_FOLLOWERS, n_comers)):
            i = int(self._comers[int(draw() * n_comers)])
            self.lists[i], self.scores[i] = moves, new


@engine_kernel
def _find_comers(scores, weights, ideal, span, new, own, comers):  # type: ignore[no-untyped-def]  # a kernel
    """List the walkers for which a solution is better than where they are, or as good for the walker `own`."""
    count = 0
    for i in range(scores.shape[0]):
        difference = new[VIOLATIONS] - scores[i, VIOLATIONS]
        if difference == 0.0:
            here, there = _distance(scores[i], weights[i], ideal, span), _distance(new, weights[i], ideal, span)
            difference = -1.0 if there < here else (0.0 if there == here else 1.0)
        if difference < 0.0 or (difference == 0.0 and i == own):
            comers[count] = i
            count += 1
    return count


@small_kernel
def _distance(scores, weights, ideal, span):  # type: ignore[no-untyped-def]  # a kernel
    """Return how far a solution is from the best of each objective: the augmented Chebyshev distance."""
    most = -np.inf
    total = 0.0
    for k in range(ideal.size):
        part = weights[k] / span[k] * (scores[1 + k] - ideal[k])
        most = max(most, part)
        total += part
    return most + AUGMENTED * total
