"""Evaluation of complete solutions as lists, without legal moves, codes and, if possible, states."""

from __future__ import annotations

from math import inf, isfinite
from operator import mul
from typing import TYPE_CHECKING, Any

from ...engine.arrays import BAD_VIOLATIONS, NOT_FINITE
from ...errors import ProblemError
from ...problem.base import checked_evaluation, problem_name
from ...problem.builders import BuiltProblem
from ...problem.stepper import first_illegal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...engine.plain import PlainPlayer
    from .solution_front import Scores

_NUMBERS = frozenset([int, float])
_LARGE = 1e300  # whole numbers may be larger than any float


class SolutionJudge:
    """Evaluates lists of numbers of moves.

    `evaluate_solution` of a problem gets the moves. If states are the tuples of the moves so far, as `look_at` detects,
    `evaluate` gets the tuple. Otherwise the moves are played.
    """

    def __init__(self, player: PlainPlayer) -> None:
        self._player, self._problem = player, player.problem
        self._moves = player.moves_met  # all moves of the genotype
        self._are_numbers = all(type(move) is int and move == i for i, move in enumerate(self._moves))
        self._signs = player.signs.tolist()
        self._m, self._is_constrained = player.problem.n_objectives, player.problem.constrained
        self._states_are_tuples = False
        #: Whether every list of the genotype can be played; otherwise solutions that enter the front are played.
        self.all_are_legal = isinstance(player.problem, BuiltProblem)

    def look_at(self, solutions: Iterable[Sequence[Any]]) -> None:
        """Detect by some solutions whether each state is the tuple of the moves so far."""
        if self._problem.evaluate_solution is None:
            self._states_are_tuples = all(map(self._has_tuples, solutions))

    def _has_tuples(self, solution: Sequence[Any]) -> bool:
        state = self._problem.initial_state()
        for depth in range(len(solution) + 1):
            if type(state) is not tuple or state != tuple(solution[:depth]):
                return False
            if depth < len(solution):
                state = self._problem.play(state, solution[depth])
        return True

    def is_right(self, numbers: Sequence[int], state: Any) -> bool:
        """Tell whether an evaluated solution has this final state; if not, all are played from then on."""
        if self._states_are_tuples and state != tuple(self.solution(numbers)):
            self._states_are_tuples = False
            return False
        return True

    def solution(self, numbers: Sequence[int]) -> list[Any]:
        """Return the moves of numbers, as a new list."""
        return list(numbers) if self._are_numbers else list(map(self._moves.__getitem__, numbers))

    def scores(self, numbers: Sequence[int]) -> Scores | None:
        """Return violations and minimised objectives; None if the solution cannot be played, detected by an error."""
        problem, solution = self._problem, self.solution(numbers)
        try:
            if problem.evaluate_solution is not None:
                value = problem.evaluate_solution(solution)
            elif self._states_are_tuples:
                value = problem.evaluate(tuple(solution))
            else:
                value = problem.evaluate(self._player.replay(solution))
        except ProblemError:
            raise
        except Exception as error:
            if not self.all_are_legal and first_illegal(problem, self.solution(numbers)) is not None:
                return None
            message = f"evaluate() of {problem_name(problem)} raised {type(error).__name__}: {error}."
            raise ProblemError(message) from error
        if (scores := self._simply(value)) is not None:
            return scores
        violations, values = checked_evaluation(problem, value)
        if not all(map(isfinite, values)):
            raise self._player.error(NOT_FINITE, 0)
        if not 0 <= violations < inf:
            raise self._player.error(BAD_VIOLATIONS, 0)
        return (violations, *map(mul, self._signs, values))

    def _simply(self, value: Any) -> Scores | None:
        """Return the scores of two objectives given as two numbers, the common case: three times as fast to check."""
        violations = 0.0
        if self._is_constrained:
            if type(value) is not tuple or len(value) != 2:
                return None
            value, violations = value
            if type(violations) not in _NUMBERS or not 0 <= violations < _LARGE:
                return None
        if self._m != 2 or type(value) is not tuple or len(value) != 2:
            return None
        first, second = value
        are_numbers = type(first) in _NUMBERS and type(second) in _NUMBERS
        if are_numbers and -_LARGE < first < _LARGE and -_LARGE < second < _LARGE:
            return float(violations), self._signs[0] * first, self._signs[1] * second
        return None
