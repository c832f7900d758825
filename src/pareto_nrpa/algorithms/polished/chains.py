"""Annealed chains: one solution after the other, each for one weight of the objectives, from hot to cold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...engine.state import need
from .credit import Credit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .operators import Change, Draw
    from .solution_front import Scores, SolutionFront

# First and last temperature in shares of the range of the front; cooled geometrically.
_HOTTEST, _COLDEST = 0.03, 0.001
# Least range of an objective, in shares of the range of the first solutions: on a front of one solution a chain would
# be a descent.
_LEAST_RANGE = 0.1
# Least number of steps of a chain, and its share of the steps of all chains: chains grow with the run, so that no
# budget is required.
_FEWEST_STEPS, _SHARE = 500, 0.05
# Weight of the sum beside the largest distance, which breaks ties.
_AUGMENTED = 0.05
_GOLDEN = (math.sqrt(5) - 1) / 2
# Penalty of a unit of violations in chains through infeasible solutions, in shares of the range: it rises at an
# infeasible solution, and falls when one is proposed, so that chains return to feasible ones.
_FIRST_PRICE, _DEARER, _CHEAPER = 0.1, 1.02, 0.995
_LEAST_PRICE, _MOST_PRICE = 1e-9, 1e9


class Chains:
    """One chain at a time, which begins at the member of the front that is best for its weight.

    Kinds of changes are drawn by how often each improved the current solution. Objectives are scaled by the range of
    the front at the start. Weighted sums and augmented Chebyshev distances alternate, and so do two chains that never
    accept more violations and two with a penalty.
    """

    STATE: ClassVar[dict[str, Any]] = {
        "_credit": "component",
        "_kind": "int < 0:",
        "moves": "ints [*] < moves",
        "_violations": "float",
        "_value": "float",
        "_price": "float",
        "_first": "floats [2, =]",
        "_step": "int < 0:",
        "_length": "int < 0:",
        "_n_steps": "int < 0:",
        "_n_chains": "int < 0:",
        "_ideal": "floats [=]",
        "_factors": "floats [=]",
    }

    def __init__(self, changes: list[Change], draw: Draw, n_objectives: int) -> None:
        self._changes, self._draw, self._m = changes, draw, n_objectives
        self._credit, self._kind = Credit(len(changes)), 0  # of the last step
        self.moves: list[int] = []
        self._violations = self._value = 0.0
        self._price = _FIRST_PRICE
        self._first = [[math.inf] * n_objectives, [-math.inf] * n_objectives]  # best and worst of the first solutions
        self._step = self._length = 0
        self._n_steps = self._n_chains = 0  # of all so far
        self._ideal, self._factors = [0.0] * n_objectives, [1.0] * n_objectives

    def restored(self) -> None:
        """Check the restored state."""
        need(self.moves or self._step >= self._length, "a current solution of its chain")
        need(self._kind < len(self._changes), "a kind of change of its last step")

    def measure(self, scores: Scores) -> None:
        """Extend the range of the first solutions."""
        best, worst = self._first
        self._first = [list(map(min, best, scores[1:])), list(map(max, worst, scores[1:]))]

    def propose(self, front: SolutionFront) -> list[int]:
        """Return a neighbour of the current solution; begins a new chain after the end of one."""
        if self._step >= self._length:
            self._begin(front)
        self._step += 1
        self._n_steps += 1
        self._kind = self._credit.draw(self._draw())
        return self._changes[self._kind](self.moves)

    def _begin(self, front: SolutionFront) -> None:
        self._n_chains += 1
        self._length = max(_FEWEST_STEPS, int(_SHARE * self._n_steps))
        self._step = 0
        weights = self._weights()
        self._ideal = front.ideal.tolist()
        with np.errstate(all="ignore"):
            best, worst = np.array(self._first)
            span = np.maximum(front.span, _LEAST_RANGE * (worst - best))
            self._factors = np.minimum(np.maximum(weights, 1e-6) / span, np.finfo(float).max).tolist()
            parts = (front.points() - self._ideal) * self._factors
            sums = parts.sum(axis=1)
            values = parts.max(axis=1) + _AUGMENTED * sums if self._n_chains % 2 == 0 else sums
        self.moves, scores = front.member(int(np.argmin(values)))
        self._violations, self._value = scores[0], self._judge(scores)

    def _weights(self) -> NDArray[np.float64]:
        if self._m == 2:
            first = self._n_chains * _GOLDEN % 1.0
            return np.array([first, 1.0 - first])
        drawn = np.array([-math.log(1.0 - self._draw()) for _ in range(self._m)])
        total = drawn.sum()
        return drawn / total if total > 0 else np.ones(self._m)

    def _judge(self, scores: Scores) -> float:
        most, total = -math.inf, 0.0
        for value, ideal, factor in zip(scores[1:], self._ideal, self._factors, strict=True):
            part = (value - ideal) * factor
            total += part
            if part > most:
                most = part
        return most + _AUGMENTED * total if self._n_chains % 2 == 0 else total

    def judged(self, moves: list[int], scores: Scores) -> None:
        """Accept or reject a neighbour with known scores."""
        value = self._judge(scores)
        worse = self._worse(scores[0], value)
        self._credit.reward(self._kind, worse < 0)
        if worse == math.inf:
            return
        if not worse <= 0:
            heat = _HOTTEST * (_COLDEST / _HOTTEST) ** (self._step / max(1, self._length))
            if not self._draw() < math.exp(-worse / heat):
                return
        self.moves, self._violations, self._value = moves, scores[0], value

    def _worse(self, violations: float, value: float) -> float:
        """Return by how much a neighbour is worse than the current solution."""
        more = violations - self._violations
        if self._n_chains % 4 < 2:
            return value - self._value if more == 0 else math.copysign(math.inf, more)
        worse = value - self._value + self._price * more
        if self._violations > 0:
            self._price = min(_MOST_PRICE, self._price * _DEARER)
        elif violations > 0:
            self._price = max(_LEAST_PRICE, self._price * _CHEAPER)
        return worse
