"""The encoding of a parameter as one choice of a policy, or as several, coarse before fine.

Few values are one choice. Many values, and real numbers, are digits: each choice narrows an interval of cells to one of
its parts and has its own codes, so that a policy first learns the region and then the exact value.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from optuna.distributions import CategoricalDistribution, FloatDistribution

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    import numpy as np
    from optuna.distributions import BaseDistribution

#: Up to so many values are one choice.
MAX_FLAT = 16
#: Number of parts of an interval: few, so that each is learned soon, and odd, so that the middle is not a border.
BASE = 3
#: Number of cuts of a range of real numbers; the value within the last part is drawn uniformly.
DEPTH = 6


class Interval(NamedTuple):
    """Neighbouring cells of a parameter."""

    begin: int
    end: int


class Split(NamedTuple):
    """A choice: the parts of an interval, their codes and their bias."""

    parts: list[Interval]
    codes: list[Hashable]
    bias: list[float]

    def towards(self, cell: int) -> int:
        """Return the position of the part that contains a cell."""
        return next(i for i, part in enumerate(self.parts) if cell < part.end)


class Dial:
    """All values of a parameter in a row, as cells.

    Attributes
    ----------
    n_cells
        How many there are: one for each value, or for each small part of a range of real numbers.
    is_exact
        Whether a cell is a single value.
    """

    def __init__(self, name: str, distribution: BaseDistribution, *, flat: bool = False) -> None:
        self._name, self._distribution = name, distribution
        self._low = self._high = 0.0
        self._is_log = False
        self.is_exact = True
        if isinstance(distribution, CategoricalDistribution):
            self.n_cells, flat = len(distribution.choices), True
        else:
            numeric: Any = distribution
            self._low, self._high, self._is_log = numeric.low, numeric.high, numeric.log
            self.is_exact = numeric.step is not None
            span = numeric.high - numeric.low
            self.n_cells = round(span / numeric.step) + 1 if self.is_exact else BASE**DEPTH
        self._is_flat = flat or (self.n_cells <= MAX_FLAT and not self._is_log)
        self._turns: dict[Interval, Split] = {}

    def whole(self) -> Interval:
        """Return all cells."""
        return Interval(0, self.n_cells)

    def turn(self, cells: Interval) -> Split | None:
        """Return the choice among the parts of an interval; None for a single cell."""
        if cells.end - cells.begin == 1:
            return None
        if cells not in self._turns:
            parts = self._parts(cells)
            self._turns[cells] = Split(parts, self._codes(parts), self._bias(parts))
        return self._turns[cells]

    def _parts(self, cells: Interval) -> list[Interval]:
        size = cells.end - cells.begin
        if self._is_flat or size <= BASE:
            return [Interval(i, i + 1) for i in range(*cells)]
        inner = {self._cut(cells, k / BASE) for k in range(1, BASE)} - {*cells}
        edges = [cells.begin, *sorted(inner), cells.end]
        return [Interval(*pair) for pair in pairwise(edges)]

    def _cut(self, cells: Interval, share: float) -> int:
        """Return the cell at a share of an interval, on the scale of the distribution."""
        if self._is_log and self.is_exact:
            first, last = (math.log(self._low + edge - 0.5) for edge in cells)
            return round(math.exp(first + share * (last - first)) + 0.5 - self._low)
        return cells.begin + round(share * (cells.end - cells.begin))

    def _bias(self, parts: list[Interval]) -> list[float]:
        """Return the bias that makes all values equally likely before learning, although parts differ in size."""
        if self._is_log and self.is_exact:
            sizes = [math.log((self._low + part.end - 0.5) / (self._low + part.begin - 0.5)) for part in parts]
        else:
            sizes = [float(part.end - part.begin) for part in parts]
        return [math.log(size / max(sizes)) for size in sizes]

    def _codes(self, parts: list[Interval]) -> list[Hashable]:
        """Return a code for each part; equal values share a code, also after a change of the range."""
        if self._is_flat and not isinstance(self._distribution, CategoricalDistribution):
            return [(self._name, self.value(part, 0.0)) for part in parts]
        scale = (self._low, self._high, self._is_log)
        return [(self._name, *scale, *part) for part in parts]

    def value(self, cell: Interval, share: float) -> Any:
        """Return the value of a cell; in a range of real numbers, the value at a share of it."""
        distribution: Any = self._distribution
        if isinstance(distribution, CategoricalDistribution):
            return distribution.choices[cell.begin]
        if self.is_exact:
            value = distribution.low + cell.begin * distribution.step
            return min(float(value), distribution.high) if isinstance(distribution, FloatDistribution) else int(value)
        return self._value_at((cell.begin + share) / self.n_cells)

    def cell_of(self, value: Any) -> int:
        """Return the cell of a value; the nearest one for a value out of range."""
        distribution: Any = self._distribution
        if isinstance(distribution, CategoricalDistribution):
            return int(distribution.to_internal_repr(value))
        if self.is_exact:
            position = round((value - distribution.low) / distribution.step)
        else:
            position = int(self._share(value) * self.n_cells)
        return int(min(max(position, 0), self.n_cells - 1))

    def fitting(self, value: Any) -> Any:
        """Return a value, or the nearest one in range."""
        return self.value(self._only(self.cell_of(value)), 0.0) if self.is_exact else self._value_at(self._share(value))

    def changed(self, value: Any, rng: np.random.Generator) -> Any:
        """Return another value: any other category; of numbers, one that is a step up or down, small or large."""
        cell = self.cell_of(value)
        if isinstance(self._distribution, CategoricalDistribution):
            return self._distribution.choices[(cell + 1 + int(rng.integers(self.n_cells - 1))) % self.n_cells]
        side = 1 if rng.random() < 0.5 else -1
        share = self._share(value) + side * self.n_cells ** -rng.random()
        share = 2 - share if share > 1 else abs(share)  # reflected where the range ends
        if not self.is_exact:
            return self._value_at(share)
        other = self.cell_of(self._value_at(share))
        if other == cell:
            other = cell + side if 0 <= cell + side < self.n_cells else cell - side
        return self.value(self._only(other), 0.0)

    def _only(self, cell: int) -> Interval:
        return Interval(cell, cell + 1)

    def _value_at(self, share: float) -> float:
        """Return the real number at a share of the range, on the scale of the distribution."""
        if self._is_log:
            low, high = math.log(self._low), math.log(self._high)
            return min(max(math.exp(low + share * (high - low)), self._low), self._high)
        return min(self._low + share * (self._high - self._low), self._high)

    def _share(self, value: float) -> float:
        """Return the share of the range below a number, on the scale of the distribution."""
        low, high, at = self._low, self._high, min(max(value, self._low), self._high)
        if self._is_log:
            low, high, at = math.log(low), math.log(high), math.log(at)
        return (at - low) / (high - low) if high > low else 0.0

    def turns(self, value: Any) -> Iterator[tuple[Split, int]]:
        """Yield the choices that lead to a value, and the position chosen in each."""
        cell, cells = self.cell_of(value), self.whole()
        while turn := self.turn(cells):
            position = turn.towards(cell)
            yield turn, position
            cells = turn.parts[position]
