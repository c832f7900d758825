"""What all that play a problem have in common: its machine code, its signs, its mistakes in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ..exceptions import ProblemError
from ..kernels._jit import compile_entry
from ..messages import status_message
from ..problem import objective_signs

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..kernels._jit import Entry
    from ..problem import AnyProblem


class Code(Protocol):
    """Compiled code that Python calls."""

    def is_ready(self) -> bool:
        """Tell whether there is nothing left to compile."""

    def compile(self) -> None:
        """Compile, or load from disk."""


class Adapter:
    """A problem at play. Objectives are minimised from here on: signs are turned when a solution is judged.

    Attributes
    ----------
    problem
        What is played.
    signs
        -1 for each objective that is maximised, else 1.
    entries
        All compiled code that is called.
    """

    def __init__(self, problem: AnyProblem) -> None:
        self.problem = problem
        self.signs = objective_signs(problem)
        self.entries: list[Code] = []
        self._n_compiled = 0

    def bind(self, function: Callable[..., Any], signature: Any, *, allocates: bool = False, **bound: Any) -> Entry:
        """Return a function as compiled code, with `bound` standing in for global names that it leaves open."""
        entry = compile_entry(function, signature, allocates=allocates, **bound)
        self.entries.append(entry)
        return entry

    def compile(self) -> None:
        """Compile what is not on disk yet."""
        if self._n_compiled < len(self.entries):
            for entry in self.entries:
                entry.compile()
            self._n_compiled = len(self.entries)

    def error(self, status: int, depth: int) -> ProblemError:
        """Return the error for a promise that the problem broke."""
        return ProblemError(status_message(status, self.problem, depth))
