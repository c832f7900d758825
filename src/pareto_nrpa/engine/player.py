"""What all that play a problem have in common: its machine code, its signs, its mistakes in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ..errors import ProblemError
from ..problem.base import objective_signs
from .evaluated import known_scores
from .jit.kernels import compile_entry, interpreted
from .jit.together import compile_all
from .messages import status_message

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from ..problem.base import AnyProblem
    from .arrays import Archive
    from .jit.kernels import Entry


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
        self._known_scores: Any = None

    def bind(self, function: Callable[..., Any], signature: Any, **bound: Any) -> Entry:
        """Return a function as compiled code, with `bound` standing in for global names that it leaves open."""
        entry = compile_entry(function, signature, **bound)
        self.entries.append(entry)
        return entry

    def compile(self) -> None:
        """Compile what is not on disk yet."""
        if self._n_compiled < len(self.entries):
            compile_all(self.entries)
            self._n_compiled = len(self.entries)

    def known(self, archive: Archive, identity: int, moves: NDArray[np.int64], n_moves: int) -> Any:
        """Return the scores of a solution that was evaluated before, where that is kept account of, or None."""
        if archive.keys.size == 0:
            return None
        if self._known_scores is None:
            self._known_scores = interpreted(known_scores)  # its kernels are then found again on disk
        return self._known_scores(archive.keys, archive.key_scores, identity, moves, n_moves)

    def error(self, status: int, depth: int) -> ProblemError:
        """Return the error for a promise that the problem broke."""
        return ProblemError(status_message(status, self.problem, depth))
