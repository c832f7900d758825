"""Plays a `CompiledProblem`: its kernels become part of the code of an algorithm."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._util.checks import shown
from ..errors import ProblemError
from ..problem.base import CompiledProblem, problem_name
from .evaluated import no_identity
from .evaluation import judge, no_bias, no_canonical
from .jit.bundles import bundle, unpacked
from .jit.kernels import python_function, small_kernel, with_globals
from .messages import compile_message, raised_message, unfit_data
from .player import Adapter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ..problem.segments import Segments
    from .jit.kernels import Entry

_MAX_MOVE = 2**62

word: Any = None  # this and the next are left open in what follows
data_class: Any = None


def on_bundle(kernel: Callable[..., Any], data: Any) -> Any:
    """Return a kernel of a problem as the engine calls it, with a bundle: the kernel gets its class of named tuples."""
    if python_function(kernel) is kernel:  # compiling is switched off
        return kernel
    return small_kernel(with_globals(_unpack_and_call, word=kernel, data_class=type(data)))


def segments_on_bundle(problem: CompiledProblem) -> Segments:
    """Return the segments of a problem that has some, as the engine calls their kernels."""
    assert problem.segments is not None
    taking = {name: on_bundle(kernel, problem.data) for name, kernel in problem.segments.kernels.items()}
    return replace(problem.segments, **taking)


def _unpack_and_call(data, *arguments):  # type: ignore[no-untyped-def]
    return word(data_class(*unpacked(data)), *arguments)


class CompiledAdapter(Adapter):
    """A `CompiledProblem` at play.

    Attributes
    ----------
    parts
        Its data as a bundle, whose type is known by names and kinds of its fields: the user's NamedTuple class is
        another type at each start, and code compiled for it would never be found again.
    start
        What turns them into a state, by the names that kernels leave open.
    words
        The kernels of the problem by the names that kernels leave open, with something in the place of those missing.
    """

    problem: CompiledProblem

    def __init__(self, problem: CompiledProblem) -> None:
        super().__init__(problem)
        if message := unfit_data(problem):
            raise ProblemError(message)
        self.parts = bundle(type(problem.data))(*problem.data)
        own = {**problem.kernels, "all_moves": problem.all_moves or problem.legal_moves}
        taking = {name: on_bundle(function, problem.data) for name, function in own.items()}
        self.start = {"initial_state": taking["initial_state"]}
        self.words: dict[str, Any] = {
            "bias": no_bias,
            "identity": no_identity,
            "canonical": no_canonical,
            **taking,
            "judge": small_kernel(with_globals(judge, evaluate=taking["evaluate"], signs=self._bound_signs())),
        }

    def _bound_signs(self) -> NDArray[np.float64]:
        """Return the signs as part of the code: none where all is minimised, whatever the number of objectives."""
        return self.signs if (self.signs < 0).any() else np.zeros(0)

    def compile(self) -> None:
        """Compile what is not on disk yet; say in a sentence whose fault it is when that fails."""
        try:
            super().compile()
        except Exception as error:  # Numba has errors of many kinds
            raise ProblemError(compile_message(error, self.problem)) from error

    def call(self, entry: Entry, *arguments: Any) -> Any:
        """Call compiled code that may raise what a kernel of the problem raises."""
        try:
            return entry.call(self.parts, *arguments)
        except Exception as error:
            raise ProblemError(raised_message(error, self.problem)) from error

    def solution(self, numbers: Sequence[int]) -> list[Any]:
        """Return the moves behind their numbers, which here are the moves themselves."""
        return list(numbers)

    def numbers(self, solution: Sequence[Any]) -> list[int]:
        """Return the numbers of moves of a genotype, or of a solution made elsewhere."""
        for move in solution:
            if not isinstance(move, int | np.integer) or not -_MAX_MOVE < move < _MAX_MOVE:
                raise ProblemError(
                    f"genotype and given solutions of {problem_name(self.problem)} must have whole numbers as moves, "
                    f"as it is compiled, got {shown(move)}."
                )
        return list(solution)
