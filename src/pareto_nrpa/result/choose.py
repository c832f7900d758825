"""One solution out of a front: the knee, the best compromise for given weights, those within limits.

The page (`report/templates/choosing.js`) uses the same rules; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._util.checks import did_you_mean, is_number, printable, shown
from ..errors import ParetoNRPAError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .result import Result

# Weight of the sum beside the worst objective: it only breaks ties.
_TIE_BREAK = 1e-3
# A front that bulges by less than rounding has no knee.
_FLAT = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Choice:
    """One solution of a front."""

    index: int  # its row in the front
    objectives: dict[str, float]
    violations: float
    solution: list[Any]  # its moves
    words: str
    details: dict[str, Any]  # see `Problem.details`

    @property
    def number(self) -> int:
        """The number on the page and the terminal, from 1, in the result that it was chosen from."""
        return self.index + 1

    def headline(self) -> list[str]:
        """Return the objectives by name, and the violations where there are any."""
        values = ", ".join(f"{name} {value:.6g}" for name, value in self.objectives.items())
        late = [f"{self.violations:g} violation(s)"] if self.violations else []
        return [printable(f"Solution {self.number}: {values}"), *late]

    def __repr__(self) -> str:
        return f"<{', '.join(self.headline())}>"


def choice(result: Result, index: int) -> Choice:
    """Return one row of a front."""
    front = result.front
    return Choice(
        index=index,
        objectives=dict(zip(result.columns(), front.objectives[index].tolist(), strict=True)),
        violations=float(front.violations[index]),
        solution=front.solutions[index],
        words=result.words()[index],
        details=result.details[index] if result.details else {},
    )


def knee_index(result: Result) -> int:
    """Return which solution lies farthest before the straight line (or plane) between the ends.

    If no solution lies before the line, the best compromise with equal weights is returned.
    """
    shares = _from_best_to_worst(result)
    sums = shares.sum(axis=1)
    best = int(sums.argmin())
    return best if sums[best] < 1 - _FLAT else _compromise(shares, np.ones(shares.shape[1]))


def best_index(result: Result, weights: Sequence[float] | Mapping[str, float] | None = None) -> int:
    """Return which solution is the best compromise: the one whose worst weighted objective is best.

    Objectives count from the best to the worst of the front (0 to 1). Unlike a weighted sum, this can reach every
    solution of a front, also where it bends inwards.
    """
    return _compromise(_from_best_to_worst(result), _checked_weights(result, weights))


def ends(result: Result) -> list[int]:
    """Return for each objective which solution is best in it; of equal ones the best compromise."""
    shares = _from_best_to_worst(result)
    return [int(np.lexsort((shares.sum(axis=1), column))[0]) for column in shares.T]


def marks(result: Result) -> dict[int, list[str]]:
    """Return words for the solutions that stand out: the best in each objective, and the knee."""
    found: dict[int, list[str]] = {}
    if len(result.maximise) > 1 and len(result.front) > 1:
        for name, index in zip(result.columns(), ends(result), strict=True):
            found.setdefault(index, []).append(f"best {name}")
        found.setdefault(knee_index(result), []).append("knee")
    return found


def within(result: Result, limits: Mapping[str, float]) -> Result:
    """Return a result with the solutions that keep to limits: at most, or at least where more is better."""
    columns = result.columns()
    keep = np.ones(len(result.front), dtype=bool)
    for name, limit in limits.items():
        k = _column(columns, name)
        if not is_number(limit):
            raise ParetoNRPAError(f"the limit of {name} must be a finite number, got {shown(limit)}.")
        values = result.front.objectives[:, k]
        keep &= values >= limit if result.maximise[k] else values <= limit
    return subset(result, np.flatnonzero(keep).tolist())


def subset(result: Result, rows: Sequence[int]) -> Result:
    """Return a result with some rows of its front; hypervolumes are those of the whole front, and are left out."""
    front = result.front

    def some(values: list[Any]) -> list[Any]:
        return [values[i] for i in rows] if values else []

    index = np.array(rows, dtype=int)
    return replace(
        result,
        front=type(front)(
            front.objectives[index], front.violations[index], some(front.solutions), front.policies[index]
        ),
        descriptions=some(result.descriptions),
        details=some(result.details),
        history=np.zeros((0, 2)),
        truth={},
    )


def scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return columns from 0, their smallest value, to 1, their largest; 0 where all are equal."""
    low = values.min(axis=0)
    half = values.max(axis=0) / 2 - low / 2  # as the whole may be more than the largest number
    shares: NDArray[np.float64] = (values / 2 - low / 2) / np.where(half > 0, half, 1.0)
    return shares


def _from_best_to_worst(result: Result) -> NDArray[np.float64]:
    if not len(result.front):
        raise ParetoNRPAError("the front has no solution to choose from; with other limits there may be one.")
    return scaled(result.front.objectives * np.where(result.maximise, -1.0, 1.0))


def _compromise(shares: NDArray[np.float64], weights: NDArray[np.float64]) -> int:
    weighted = shares * (weights / weights.sum())
    return int((weighted.max(axis=1) + _TIE_BREAK * weighted.sum(axis=1)).argmin())


def _checked_weights(result: Result, weights: Sequence[float] | Mapping[str, float] | None) -> NDArray[np.float64]:
    columns = result.columns()
    if weights is None:
        return np.ones(len(columns))
    if isinstance(weights, Mapping):
        given = dict.fromkeys(columns, 0.0)
        for name, weight in weights.items():
            given[columns[_column(columns, name)]] = weight
        weights = list(given.values())
    values = [] if isinstance(weights, str) or not np.iterable(weights) else list(weights)
    if len(values) != len(columns) or not all(is_number(w) and w >= 0 for w in values) or not any(values):
        raise ParetoNRPAError(
            f"weights must be a number of at least 0 for each of {', '.join(columns)}, not all 0, got {shown(weights)}."
        )
    return np.array(values, dtype=float)


def _column(columns: list[str], name: str) -> int:
    if name not in columns:
        raise ParetoNRPAError(
            f"there is no objective {shown(name)}{did_you_mean(str(name), columns)}; there are: {', '.join(columns)}."
        )
    return columns.index(name)
