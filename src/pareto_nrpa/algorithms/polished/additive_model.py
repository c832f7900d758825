"""An additive model of violations and objectives: the contribution of each choice, fitted to evaluations."""

from __future__ import annotations

from itertools import compress
from operator import ne
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import numpy as np

from ...engine.jit.kernels import engine_kernel, stored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .solution_front import Scores

# Weight of the prior: one evaluation counts a thousand times as much.
_RIDGE = 1e-3
# A fit takes a sixth of the third power of this: some milliseconds.
_MOST_OPTIONS, _MANY_OPTIONS = 600, 400
# Number of evaluations before the first prediction; factor until the next fit, also with many options; and remaining
# weight of older evaluations at a fit, as the model should describe the region of the front.
_ENOUGH, _GROWTH, _SLOW_GROWTH, _KEPT = 20, 1.15, 1.5, 0.7


class Lesson(NamedTuple):
    """An evaluated solution, not yet learned."""

    moves: Annotated[list[int], "ints [*]"]
    scores: Annotated[Any, "floats [*]"]


class AdditiveModel:
    """Violations and objectives as sums of contributions of choices: least squares over recent evaluations.

    Few problems are sums, but the best predicted of several changes is often better than a random one; predictions are
    only used to select what is evaluated.
    """

    STATE: ClassVar[dict[str, Any]] = {
        "_gram": "f8 [=, =]",
        "_sums": "f8 [=, =]",
        "_effects": "floats [=, =]",
        "_first": "f8 [=]",
        "_waiting": [Lesson],
        "_n_learned": "int",
        "_fit_at": "int",
    }

    def __init__(self, options: Sequence[Sequence[int]], n_objectives: int) -> None:
        rows = iter(range(sum(map(len, options))))
        self._row_of = [{option: next(rows) for option in step} for step in options]
        self._steps = range(len(options))
        self._other = n = sum(map(len, options))  # the row of moves that are not options of their step
        self._growth = _GROWTH if n <= _MANY_OPTIONS else _SLOW_GROWTH
        n += 1
        self._gram, self._sums = np.zeros((n, n)), np.zeros((n, 1 + n_objectives))
        self._effects = np.zeros((n, 1 + n_objectives)).tolist()
        # The first solution. Sums are of differences to it: otherwise a constant in the objectives would be distributed
        # over the choices.
        self._first = np.zeros(1 + n_objectives)
        self._waiting: list[Lesson] = []
        self._n_learned = 0
        self._fit_at = _ENOUGH

    @staticmethod
    def is_possible(options: Sequence[Sequence[int]]) -> bool:
        """Tell whether the number of options is suitable for the model."""
        return any(len(step) > 1 for step in options) and sum(map(len, options)) <= _MOST_OPTIONS

    @property
    def knows_enough(self) -> bool:
        """Whether predictions are available."""
        return self._n_learned >= _ENOUGH

    def compile(self) -> None:
        """Compile the fit."""
        one, none = np.ones((1, 1)), np.zeros((1, 1), dtype=np.int64)
        stored(_add_rows)(none, one, one.copy(), one.copy(), _KEPT)
        stored(_solve_symmetric)(one, one.copy())

    def predict(self, base: Sequence[int], scores: Scores, changed: Sequence[int]) -> list[float]:
        """Return predicted violations and objectives of a solution, from those of another one."""
        expected, effects, other = list(scores), self._effects, self._other
        for i in compress(self._steps, map(ne, base, changed)):
            rows = self._row_of[i]
            less, more = effects[rows.get(base[i], other)], effects[rows.get(changed[i], other)]
            for k in range(len(expected)):
                expected[k] += more[k] - less[k]
        return expected

    def learn(self, moves: list[int], scores: Scores) -> None:
        """Record an evaluated solution."""
        if self._n_learned == 0:
            self._first = np.array(scores)
        self._waiting.append(Lesson(moves, scores))
        self._n_learned += 1
        if self._n_learned >= self._fit_at:
            self._fit()
            self._fit_at = int(self._growth * self._n_learned) + 1

    def _fit(self) -> None:
        other = self._other
        taken = [
            [rows.get(move, other) for rows, move in zip(self._row_of, moves, strict=True)]
            for moves, _ in self._waiting
        ]
        with np.errstate(all="ignore"):  # overflow of extreme objectives: no predictions
            differences = np.array([scores for _, scores in self._waiting]) - self._first
            stored(_add_rows)(np.array(taken), differences, self._gram, self._sums, _KEPT)
            matrix, effects = self._gram.copy(), self._sums.copy()
            np.fill_diagonal(matrix, matrix.diagonal() + _RIDGE)
            stored(_solve_symmetric)(matrix, effects)
        self._effects = effects.tolist()
        self._waiting = []


@engine_kernel
def _add_rows(taken, differences, gram, sums, kept):  # type: ignore[no-untyped-def]  # a kernel
    """Shrink the sums of the normal equations, and add solutions, given by the rows of their choices."""
    for i in range(gram.shape[0]):
        for j in range(gram.shape[1]):
            gram[i, j] *= kept
        for k in range(sums.shape[1]):
            sums[i, k] *= kept
    for one in range(taken.shape[0]):
        for i in range(taken.shape[1]):
            row = taken[one, i]
            for j in range(taken.shape[1]):
                gram[row, taken[one, j]] += 1.0
            for k in range(sums.shape[1]):
                sums[row, k] += differences[one, k]


@engine_kernel
def _solve_symmetric(matrix, sums):  # type: ignore[no-untyped-def]  # a kernel
    """Solve a positive definite system in place, by elimination above the diagonal.

    Libraries of linear algebra start threads, which are slow on a busy machine, and their last bit depends on the
    processor.
    """
    n = matrix.shape[0]
    for pivot in range(n):
        for i in range(pivot + 1, n):
            factor = matrix[pivot, i] / matrix[pivot, pivot]
            if factor != 0.0:
                for j in range(i, n):
                    matrix[i, j] -= factor * matrix[pivot, j]
                for k in range(sums.shape[1]):
                    sums[i, k] -= factor * sums[pivot, k]
    for i in range(n - 1, -1, -1):
        for k in range(sums.shape[1]):
            total = sums[i, k]
            for j in range(i + 1, n):
                total -= matrix[i, j] * sums[j, k]
            sums[i, k] = total / matrix[i, i]
