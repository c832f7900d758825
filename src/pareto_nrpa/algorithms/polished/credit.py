"""Which kind of change comes next: drawn by how often each brought something new to the front."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Any, ClassVar

# How fast the share of a kind follows what it brings, and what is left to those that bring nothing.
_RATE, _LEAST_SHARE, LEAST_CREDIT = 0.02, 0.2, 1e-6
# So many draws are made by the same shares.
_DRAWS = 20


class Credit:
    """How often each kind brought something, as a smoothed rate; one that costs more than the others weighs less."""

    STATE: ClassVar[dict[str, Any]] = {"_brought": "floats [=]", "_steps": "floats [=]", "_n_drawn": "int < 0:"}

    def __init__(self, n_kinds: int, *, first: float = 1.0, first_cost: float = 1.0) -> None:
        self._costs = [first_cost, *[1.0] * (n_kinds - 1)]
        self._brought = [first, *[1.0] * (n_kinds - 1)]
        costs = self._costs
        self._steps = [0.0] * len(costs)  # running sums of the shares
        self._n_drawn = 0

    def __getitem__(self, kind: int) -> float:
        return self._brought[kind]

    def draw(self, number: float) -> int:
        """Return a kind by a random number."""
        if self._n_drawn % _DRAWS == 0:
            worth = [brought / cost for brought, cost in zip(self._brought, self._costs, strict=True)]
            least = [_LEAST_SHARE / cost for cost in self._costs]
            scale, rest = (1 - _LEAST_SHARE) / sum(worth), len(worth)
            self._steps = list(accumulate(few / rest + scale * one for few, one in zip(least, worth, strict=True)))
        self._n_drawn += 1
        return bisect_right(self._steps, number * self._steps[-1], 0, len(self._steps) - 1)

    def reward(self, kind: int, is_new: bool) -> None:
        """Take note of what a kind brought."""
        self._brought[kind] = max(LEAST_CREDIT, self._brought[kind] + _RATE * (is_new - self._brought[kind]))
