"""What each choice adds to violations and objectives, learned from what a search evaluates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..nrpa.checkpoint_checks import MOST_EVALUATIONS, check_shape, in_range, need

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# What is known before the first evaluation: nothing, so that one that was met counts a thousand times as much.
_UNKNOWN = 1e3
# Learning takes the square of this: a millisecond, and three megabytes.
_MOST_OPTIONS = 600
# From how many evaluations on it is asked.
_ENOUGH = 20
# Rows of what is always there, and of what adds nothing: the first option of each step, to which others are compared.
_ALWAYS, _NOTHING = 0, 1


class AdditiveModel:
    """Violations and objectives as sums of what the choices add: recursive least squares, updated by each evaluation.

    Few problems are sums. It is enough that of several changes the one it likes best is better than any: what is
    promised is evaluated before it counts.
    """

    def __init__(self, options: Sequence[Sequence[int]], n_objectives: int) -> None:
        self._numbers = np.unique(np.concatenate([np.array(step, dtype=np.int64) for step in options]))
        self._steps = np.arange(len(options))
        # A move that is not among the options of its step adds nothing either.
        self._rows = np.full((len(options), len(self._numbers)), _NOTHING)
        n = 2
        for row, (_, *others) in zip(self._rows, options, strict=True):
            row[np.searchsorted(self._numbers, others)] = np.arange(n, n + len(others))
            n += len(others)
        self._covariance = _UNKNOWN * np.eye(n)
        self._covariance[_NOTHING, _NOTHING] = 0.0
        self._effects = np.zeros((n, 1 + n_objectives))
        # What the first was like. Sums are of what differs from it: else a constant in the objectives, which nothing
        # tells from what choices add, would be shared out among them.
        self._first = np.zeros(1 + n_objectives)
        self._n_learned = 0

    @staticmethod
    def is_possible(options: Sequence[Sequence[int]]) -> bool:
        """Tell whether there is something to learn, and not too much."""
        return any(len(step) > 1 for step in options) and sum(map(len, options)) <= _MOST_OPTIONS

    @property
    def knows_enough(self) -> bool:
        """Whether it is worth asking."""
        return self._n_learned >= _ENOUGH

    def predict(self, solutions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return violations and objectives as they should be, a row for each solution."""
        with np.errstate(all="ignore"):  # objectives as far apart as numbers go: it then knows nothing
            added = self._effects[_ALWAYS] + self._effects[self._rows_of(solutions)].sum(axis=1)
            return self._first + added  # type: ignore[no-any-return]  # numpy types sums of arrays as Any

    def learn(self, moves: NDArray[np.int64], scores: NDArray[np.float64]) -> None:
        """See what a solution was like."""
        if self._n_learned == 0:
            self._first = scores.copy()
        rows = self._rows_of(moves)
        here = np.append(rows[rows != _NOTHING], _ALWAYS)
        with np.errstate(all="ignore"):
            direction = self._covariance[here].sum(axis=0)
            gain = direction / (1.0 + direction[here].sum())
            self._effects += gain[:, None] * (scores - self._first - self._effects[here].sum(axis=0))
            self._covariance -= gain[:, None] * direction
        self._n_learned += 1

    def _rows_of(self, solutions: NDArray[np.int64]) -> NDArray[np.int64]:
        places = np.minimum(np.searchsorted(self._numbers, solutions), len(self._numbers) - 1)
        return np.where(self._numbers[places] == solutions, self._rows[self._steps, places], _NOTHING)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all that there is to remember."""
        return {
            "model_effects": self._effects,
            "model_covariance": self._covariance,
            "model_first": self._first,
            "model_learned": np.array([self._n_learned], dtype=np.int64),
        }

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take up what `state` gave; raises ValueError where it cannot be true."""
        effects, covariance, first, learned = (
            arrays[f"model_{name}"] for name in ("effects", "covariance", "first", "learned")
        )
        check_shape(effects, np.float64, *self._effects.shape)
        check_shape(covariance, np.float64, *self._covariance.shape)
        check_shape(first, np.float64, *self._first.shape)
        need(np.isfinite(covariance).all(), "a covariance")  # it depends on choices alone
        check_shape(learned, np.int64, 1)
        need(in_range(learned, 0, MOST_EVALUATIONS), "evaluations that were learned from")
        self._effects, self._covariance, self._first = effects.copy(), covariance.copy(), first.copy()
        self._n_learned = int(learned[0])
