"""Plays a `Problem` through its methods. Moves of any hashable kind get dense numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..errors import ProblemError
from ..problem.base import Problem, checked_evaluation, plain_bias, problem_name
from .arrays import BAD_VIOLATIONS, NOT_FINITE
from .player import Adapter
from .state import need

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class Index(dict[Any, int]):
    """Dense numbers for hashable things, in the order in which they are first met."""

    #: Grows along with the numbers where there is one: the strength of a code just met is exp(0).
    table: list[float] | None = None

    def __missing__(self, key: Any) -> int:
        number = self[key] = len(self)
        if self.table is not None:
            self.table.append(1.0)
        return number


class PlainAdapter(Adapter):
    """A `Problem` at play.

    Attributes
    ----------
    moves
        The numbers of all moves met so far.
    bias
        A function of state, move and preference, or None where there is none or nobody wants it.
    """

    STATE: ClassVar[dict[str, Any]] = {"moves_met": "values [moves]"}
    problem: Problem

    def __init__(self, problem: Problem, *, has_bias: bool) -> None:
        super().__init__(problem)
        self.moves: Index = Index()
        self.bias = plain_bias(problem) if has_bias else None
        self._by_number: list[Any] = []
        self._sign_of: list[float] = self.signs.tolist()
        self._scores = np.zeros(1 + problem.n_objectives)
        self._scores_view: Any = self._scores.data  # the fast way to write single numbers

    def judge(self, state: Any) -> NDArray[np.float64]:
        """Return violations and minimised objectives of a complete solution, checking every promise about them.

        The array is the same at each call.
        """
        try:
            value = self.problem.evaluate(state)
        except Exception as error:
            message = f"evaluate() of {problem_name(self.problem)} raised {type(error).__name__}: {error}."
            raise ProblemError(message) from error
        violations, values = checked_evaluation(self.problem, value)
        if not all(map(math.isfinite, values)):
            raise self.error(NOT_FINITE, 0)
        if not 0 <= violations < math.inf:
            raise self.error(BAD_VIOLATIONS, 0)
        scores = self._scores_view
        scores[0] = violations
        for k, sign in enumerate(self._sign_of, 1):
            scores[k] = sign * values[k - 1]
        return self._scores

    def raised(self, error: Exception, depth: int) -> ProblemError:
        """Return what a method of the problem raised as an error that says where."""
        name = problem_name(self.problem)
        return ProblemError(f"{name} raised {type(error).__name__} at depth {depth} of a playout: {error}.")

    def solution(self, numbers: Sequence[int]) -> list[Any]:
        """Return the moves behind their numbers."""
        if len(self._by_number) < len(self.moves):
            self._by_number = self.met()
        return [self._by_number[number] for number in numbers]

    @property
    def moves_met(self) -> list[Any]:
        """All moves met, in the order of their numbers."""
        return self.met()

    @moves_met.setter
    def moves_met(self, moves: list[Any]) -> None:
        self.moves, self._by_number = Index(), []
        need(self.numbers(moves) == list(range(len(moves))), "one number for each move")

    def met(self) -> list[Any]:
        """Return all moves met, in the order of their numbers."""
        return list(self.moves)

    def numbers(self, solution: Sequence[Any]) -> list[int]:
        """Return the numbers of moves."""
        return [self.moves[move] for move in solution]
