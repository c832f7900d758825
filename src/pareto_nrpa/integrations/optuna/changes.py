"""Draws the kind and the parent of the next trial, by the success of earlier ones."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Kinds of trials: a playout of a policy; a trial of the front with one change, or two; a mixture of two trials; a
#: playout with initial weights, which reaches what the others no longer sample.
PLAYOUT, ONE, TWO, MIX, FRESH = range(5)
# The first trials are fresh: one or two trials do not show which choices are good.
_N_FRESH = 10
# Rate at which the share of a kind follows its success, and the share spread evenly over all kinds.
_RATE, _LEAST_SHARE = 0.1, 0.2


class Origin(NamedTuple):
    """The stored origin of a trial: its kind, and the number of the trial that was changed, if any."""

    kind: int
    parent: int = -1

    @classmethod
    def read(cls, stored: Any) -> Origin | None:
        """Return the origin stored with a trial; None for a playout and for values of another origin."""
        if isinstance(stored, list) and [type(part) for part in stored] == [int, int] and ONE <= stored[0] <= FRESH:
            return cls(*stored)
        return None


class TrialFront:
    """The non-dominated trials among those with the fewest violations."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self._objectives: list[NDArray[np.float64]] = []
        self._violations = np.inf

    def offer(self, number: int, objectives: NDArray[np.float64], violations: float) -> bool:
        """Add a trial if it enters the front; return whether it does."""
        if violations < self._violations:
            self.numbers, self._objectives, self._violations = [], [], violations
        if violations > self._violations or any((other <= objectives).all() for other in self._objectives):
            return False
        kept = [i for i, other in enumerate(self._objectives) if not (objectives <= other).all()]
        self.numbers = [*(self.numbers[i] for i in kept), number]
        self._objectives = [*(self._objectives[i] for i in kept), objectives]
        return True


class Changes:
    """Draws kinds of trials by their success, and parents from the front by how often each was changed."""

    def __init__(self) -> None:
        self.front = TrialFront()
        self._brought = np.ones(1 + FRESH)
        self._tries: Counter[int] = Counter()
        self._n_learned = 0

    def learn(self, number: int, origin: Origin | None, objectives: NDArray[np.float64], violations: float) -> None:
        """Update the success of the kind of a finished trial."""
        self._n_learned += 1
        is_new = self.front.offer(number, objectives, violations)
        kind = PLAYOUT if origin is None else origin.kind
        self._brought[kind] += _RATE * (is_new - self._brought[kind])
        if origin is not None:
            self._tries[origin.parent] += 1

    def draw_kind(self, rng: np.random.Generator) -> int:
        """Draw a kind of trial."""
        if self._n_learned < _N_FRESH:
            return FRESH
        shares = _LEAST_SHARE / len(self._brought) + (1 - _LEAST_SHARE) * self._brought / self._brought.sum()
        return int(rng.choice(len(shares), p=shares))

    def draw_parent(self, rng: np.random.Generator) -> int:
        """Draw a trial of the front: of two, the one that was changed less often."""
        return min((int(rng.choice(self.front.numbers)) for _ in range(2)), key=self._tries.__getitem__)
