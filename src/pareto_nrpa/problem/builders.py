"""Problems made of a genotype and a function that evaluates a complete solution."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .._util.checks import check_choice, shown
from ..errors import ProblemError
from .base import Problem, problem_name
from .genotype import Choices, Genotype, Permutation

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
    "neighbours",
    "version",
)


class CompiledFunction:
    """A Numba function over an array of whole numbers, called with a list; compiled when first needed."""

    def __init__(self, function: Any, name: str) -> None:
        self.function, self.name = function, name

    def __call__(self, solution: list[Any]) -> Any:
        """Return what the compiled function gives."""
        return self.ready(np.array(solution, dtype=np.int64))

    def interpreted(self, solution: list[Any]) -> Any:
        """Return what the Python source gives, which unlike compiled code notices an index past the end."""
        with np.errstate(all="ignore"):
            return self.function.py_func(np.array(solution, dtype=np.int64))

    @cached_property
    def ready(self) -> Callable[..., Any]:
        """The compiled code, stored on disk where all that it uses can be compared."""
        from numba import int64

        from ..engine.jit.kernels import stored
        from ..engine.messages import uncompiled_message

        try:
            function = stored(self.function)
        except ProblemError:
            function = self.function
        try:
            if hasattr(function, "compile"):
                function.compile((int64[::1],))
        except Exception as error:  # Numba has errors of many kinds
            raise ProblemError(uncompiled_message(error, self.function, self.name)) from error
        return function  # type: ignore[no-any-return]  # Numba has no types

    def __reduce__(self) -> Any:
        return type(self), (self.function, self.name)


class BuiltProblem(Problem):
    """A problem whose states are tuples of the moves made, evaluated by a function."""

    genotype: Genotype

    def __init__(self, function: Callable[[list[Any]], Any], declared: dict[str, Any]) -> None:
        if not callable(function):
            raise ProblemError(f"function must take a solution and return its objectives, got {shown(function)}.")
        for word in declared:
            if word not in _DECLARATIONS:
                raise ProblemError(f"a problem has no attribute {word!r}; it takes: {', '.join(_DECLARATIONS)}.")
        neighbours = declared.get("neighbours")
        if neighbours is not None and not callable(neighbours):
            raise ProblemError(f"neighbours must take a solution and return solutions, got {shown(neighbours)}.")
        vars(self).update(declared)
        is_compiled = hasattr(function, "py_func")
        self.function = CompiledFunction(function, problem_name(self)) if is_compiled else function

    def _check_function(self, moves: Iterable[Hashable]) -> None:
        """Raise if a compiled function would be given anything but whole numbers."""
        if isinstance(self.function, CompiledFunction):
            for move in moves:
                if isinstance(move, bool) or not isinstance(move, int | np.integer):
                    raise ProblemError(
                        f"a compiled function takes an array of whole numbers, so all moves of {problem_name(self)} "
                        f"must be whole numbers, got {shown(move)}."
                    )

    def compile(self) -> None:
        """Compile the function, if it is a Numba function."""
        if isinstance(self.function, CompiledFunction):
            self.function.ready  # noqa: B018 - made when it is first asked for

    def initial_state(self) -> tuple[Hashable, ...]:
        """Return the empty tuple of moves."""
        return ()

    def play(self, state: tuple[Hashable, ...], move: Hashable) -> tuple[Hashable, ...]:
        """Return the moves so far."""
        return (*state, move)

    def evaluate(self, state: tuple[Hashable, ...]) -> Any:
        """Return objectives, and violations where there are constraints."""
        return self.function(list(state))

    def evaluate_solution(self, solution: list[Any]) -> Any:
        """Return the same for a list of moves."""
        return self.function(solution)


class ChoicesProblem(BuiltProblem):
    """One choice per step; made by `Problem.from_choices`."""

    def __init__(self, function: Callable[[list[Any]], Any], choices: Iterable[Iterable[Hashable]], **declared: Any):
        super().__init__(function, declared)
        self.genotype = Choices(choices)
        self.max_moves = len(self.genotype.moves)
        self._steps = self.genotype.moves
        self._check_function(move for step in self._steps for move in step)

    def legal_moves(self, state: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
        """Return the choices of this step."""
        return self._steps[len(state)] if len(state) < len(self._steps) else ()

    def move_code(self, state: tuple[Hashable, ...], move: Hashable) -> Hashable:
        """Return step and choice."""
        return len(state), move


class PermutationProblem(BuiltProblem):
    """An order of items; made by `Problem.from_permutation`."""

    def __init__(
        self,
        function: Callable[[list[Any]], Any],
        items: Iterable[Hashable] | int | np.integer[Any],
        *,
        code: str = "previous",
        repeats: bool = False,
        **declared: Any,
    ):
        super().__init__(function, declared)
        check_choice("code", code, ("previous", "position"))
        if isinstance(items, int | np.integer):
            if items < 1:
                raise ProblemError(f"items must be a list of moves or a number of at least 1, got {items}.")
            items = range(int(items))
        self.genotype = Permutation(items, repeats=repeats)
        self.max_moves = len(self.genotype.moves)
        self._counts, self._by_previous = dict(self.genotype.counts), code == "previous"
        self._check_function(self.genotype.moves)

    def legal_moves(self, state: tuple[Hashable, ...]) -> list[Hashable]:
        """Return the items not placed yet, each once."""
        placed = Counter(state)
        return [item for item, often in self._counts.items() if placed[item] < often]

    def move_code(self, state: tuple[Hashable, ...], move: Hashable) -> Hashable:
        """Return the item with the one before it, or with its place."""
        if not self._by_previous:
            return len(state), move
        return (state[-1], move) if state else (move,)
