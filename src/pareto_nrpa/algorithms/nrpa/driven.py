"""A playout that the caller drives, choice by choice: for code that builds a solution as it runs."""

from __future__ import annotations

import math
from numbers import Integral
from typing import TYPE_CHECKING, Any

from ..._util.checks import shown
from ...engine.plain import PlayedSteps
from ...errors import ProblemError
from ...problem.base import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from .search import AskTellSearch, Candidate


class DrivenProblem(Problem):
    """A problem whose solutions are built and evaluated by the caller; see `AskTellSearch.playout`.

    Parameters
    ----------
    n_objectives, maximise, name
        As in `Problem`.
    """

    def __init__(self, n_objectives: int = 2, *, maximise: bool | Sequence[bool] = False, name: str = "") -> None:
        self.n_objectives, self.maximise, self.name = n_objectives, maximise, name

    def _only_driven(self, *arguments: Any) -> Any:
        raise ProblemError("a DrivenProblem has no moves of its own; build its solutions with search.playout().")

    initial_state = legal_moves = play = move_code = evaluate = _only_driven  # type: ignore[assignment]  # one refusal for all five

    def bias(self, state: Any, move: Any, preference: Any) -> float:
        """Return no bias; the caller may give one with each choice."""
        raise AssertionError


class Playout:
    """A sequence under construction. Several may exist at a time; an unfinished one has no effect.

    Attributes
    ----------
    policy
        The number of the policy that plays.
    solution
        The moves chosen so far.
    """

    def __init__(self, search: AskTellSearch, policy: int, draw: Callable[[], float]) -> None:
        self.policy = policy
        self._record = PlayedSteps()
        self.solution: list[Any] = self._record.moves
        self._search, self._draw = search, draw
        self._player: Any = search.player
        self._is_open = True

    def choose(
        self,
        codes: Sequence[Hashable],
        bias: Sequence[float] | None = None,
        *,
        moves: Sequence[Hashable] | None = None,
    ) -> int:
        """Draw one of several choices by the policy; returns its position.

        Parameters
        ----------
        codes
            The codes of the choices, for which the policy has weights.
        bias
            Added to the learned weight of each choice.
        moves
            The representation of each choice in the solution; the codes by default.
        """
        numbers, extra = self._checked(codes, bias)
        position = self._player.choose(self.policy, numbers, extra, self._draw()) if len(numbers) > 1 else 0
        return self._note(numbers, extra, position, codes if moves is None else moves)

    def take(
        self,
        position: int,
        codes: Sequence[Hashable],
        bias: Sequence[float] | None = None,
        *,
        moves: Sequence[Hashable] | None = None,
    ) -> int:
        """Take the choice at a position, independent of the policy."""
        numbers, extra = self._checked(codes, bias)
        if not isinstance(position, Integral) or not 0 <= position < len(numbers):
            raise ProblemError(
                f"position must be a whole number between 0 and {len(numbers) - 1}, got {shown(position)}."
            )
        return self._note(numbers, extra, position, codes if moves is None else moves)

    def finish(self) -> Candidate:
        """Return the sequence as a candidate for `tell`."""
        if not self._is_open:
            raise ProblemError("finish() was called twice; start another playout with search.playout().")
        self._is_open = False
        return self._search.candidate_from(self._record, self.policy)

    def _checked(self, codes: Sequence[Hashable], bias: Sequence[float] | None) -> tuple[list[int], list[float]]:
        if not self._is_open:
            raise ProblemError("this playout is finished; start another one with search.playout().")
        try:
            numbers = [self._player.codes[code] for code in codes]
        except TypeError as error:
            message = f"codes must be a list of hashable values (numbers, text, tuples), got {shown(codes)}."
            raise ProblemError(message) from error
        if not numbers:
            raise ProblemError("codes must have at least one entry, got none.")
        has_bias = self._player.settings.has_bias
        if bias is not None and not _is_bias(bias, len(numbers)):
            raise ProblemError(f"bias must be a finite number for each of the {len(numbers)} codes, got {shown(bias)}.")
        if bias is not None and not has_bias:
            raise ProblemError("bias is accepted only for problems with a bias, such as a DrivenProblem; leave it out.")
        if len(set(numbers)) < len(numbers):
            raise ProblemError(f"codes must all differ, got {shown(list(codes))}.")
        scale = self._player.settings.bias_scale
        extra = [] if not has_bias else [0.0] * len(numbers) if bias is None else [scale * float(b) for b in bias]
        return numbers, extra

    def _note(self, numbers: list[int], extra: list[float], position: int, moves: Sequence[Hashable]) -> int:
        try:
            move = moves[position]
            if len(moves) != len(numbers):
                raise IndexError
        except (TypeError, LookupError) as error:
            raise ProblemError(
                f"moves, which are the codes by default, must be a list with an entry for each of the {len(numbers)} "
                f"codes, got {shown(moves)}."
            ) from error
        if len(numbers) > 1:
            self._record.steps += (len(numbers), *numbers, position)
            self._record.biases += extra
        self.solution.append(move)
        return position


def _is_bias(bias: Sequence[float], n: int) -> bool:
    """Tell whether a bias is n finite numbers."""
    try:
        return len(bias) == n and all(map(math.isfinite, bias))
    except (TypeError, OverflowError):
        return False
