"""The choice of the next kind of change, by how often each brought a new member of the front."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Any, ClassVar

# Rate at which the share of a kind follows its success, and the share of kinds without success.
_RATE, _LEAST_SHARE, LEAST_CREDIT = 0.02, 0.2, 1e-6
# Least share of unknown proposals that is assumed of a kind.
_LEAST_FRESH = 0.2
# Number of draws by the same shares.
_DRAWS = 20


class Credit:
    """Success rates of kinds, smoothed; a kind with a higher cost has less weight.

    So has one of mostly known proposals among the kinds without success.
    """

    STATE: ClassVar[dict[str, Any]] = {
        "_brought": "floats [=]",
        "_fresh": "floats [=]",
        "_steps": "floats [=]",
        "_n_drawn": "int < 0:",
    }

    def __init__(self, n_kinds: int, *, first: float = 1.0, first_cost: float = 1.0) -> None:
        self._costs = [first_cost, *[1.0] * (n_kinds - 1)]
        self._brought = [first, *[1.0] * (n_kinds - 1)]
        self._fresh = [1.0] * n_kinds  # share of proposals that were unknown
        self._steps = [0.0] * n_kinds  # running sums of the shares
        self._n_drawn = 0

    def __getitem__(self, kind: int) -> float:
        return self._brought[kind]

    def draw(self, number: float) -> int:
        """Draw a kind by a random number."""
        if self._n_drawn % _DRAWS == 0:
            worth = [brought / cost for brought, cost in zip(self._brought, self._costs, strict=True)]
            least = [_LEAST_SHARE * fresh / cost for fresh, cost in zip(self._fresh, self._costs, strict=True)]
            scale, rest = (1 - _LEAST_SHARE) / sum(worth), len(worth)
            self._steps = list(accumulate(few / rest + scale * one for few, one in zip(least, worth, strict=True)))
        self._n_drawn += 1
        return bisect_right(self._steps, number * self._steps[-1], 0, len(self._steps) - 1)

    def reward(self, kind: int, is_new: bool, *, is_known: bool = False) -> None:
        """Record whether a proposal of a kind entered the front, and whether it was known."""
        fresh = self._fresh[kind] = max(_LEAST_FRESH, self._fresh[kind] + _RATE * ((not is_known) - self._fresh[kind]))
        self._brought[kind] = max(LEAST_CREDIT * fresh, self._brought[kind] + _RATE * (is_new - self._brought[kind]))
