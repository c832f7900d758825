"""Problems made of a genotype and a function, for those whose solutions have no story of how they are built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._util.checks import check_choice, shown
from ..errors import ProblemError
from .base import Problem
from .genotype import Choices, Permutation

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

_DECLARATIONS = (
    "n_objectives",
    "maximise",
    "constrained",
    "reference_point",
    "name",
    "objective_names",
    "reference_front",
    "describe",
    "version",
)


class BuiltProblem(Problem):
    """States are tuples of the moves made; the function judges them."""

    def __init__(self, function: Callable[[list[Any]], Any], declared: dict[str, Any]) -> None:
        if not callable(function):
            raise ProblemError(f"function must take a solution and return its objectives, got {shown(function)}.")
        for word in declared:
            if word not in _DECLARATIONS:
                raise ProblemError(f"a problem declares nothing called {word!r}; it takes: {', '.join(_DECLARATIONS)}.")
        self.function = function
        vars(self).update(declared)

    def initial_state(self) -> tuple[Hashable, ...]:
        """Return no moves."""
        return ()

    def play(self, state: tuple[Hashable, ...], move: Hashable) -> tuple[Hashable, ...]:
        """Return the moves so far."""
        return (*state, move)

    def evaluate(self, state: tuple[Hashable, ...]) -> Any:
        """Return what the function makes of the moves."""
        return self.function(list(state))

    def evaluate_solution(self, solution: list[Any]) -> Any:
        """Return what the function makes of a solution."""
        return self.function(solution)


class ChoicesProblem(BuiltProblem):
    """One choice per step; made by `Problem.from_choices`."""

    def __init__(self, function: Callable[[list[Any]], Any], choices: Iterable[Iterable[Hashable]], **declared: Any):
        super().__init__(function, declared)
        self.genotype = Choices(choices)
        self.max_moves = len(self.genotype.moves)
        self._steps = self.genotype.moves

    def legal_moves(self, state: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
        """Return what there is to choose from at this step."""
        return self._steps[len(state)] if len(state) < len(self._steps) else ()

    def move_code(self, state: tuple[Hashable, ...], move: Hashable) -> Hashable:
        """Return step and choice."""
        return len(state), move


class PermutationProblem(BuiltProblem):
    """An order of items; made by `Problem.from_permutation`."""

    def __init__(
        self,
        function: Callable[[list[Any]], Any],
        items: Iterable[Hashable],
        *,
        code: str = "previous",
        **declared: Any,
    ):
        super().__init__(function, declared)
        check_choice("code", code, ("previous", "position"))
        self.genotype = Permutation(items)
        self.max_moves = len(self.genotype.moves)
        self._items, self._by_previous = self.genotype.moves, code == "previous"

    def legal_moves(self, state: tuple[Hashable, ...]) -> list[Hashable]:
        """Return the items not placed yet."""
        placed = set(state)
        return [item for item in self._items if item not in placed]

    def move_code(self, state: tuple[Hashable, ...], move: Hashable) -> Hashable:
        """Return the item with the one before it, or with its place."""
        if not self._by_previous:
            return len(state), move
        return (state[-1], move) if state else (move,)
