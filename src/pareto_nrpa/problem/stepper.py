"""One solution under construction, move by move, in plain Python: the same for plain and for compiled problems."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from .._util.checks import shown
from ..errors import ProblemError
from .base import AnyProblem, CompiledProblem, Problem, checked_evaluation, paper_preference, plain_bias, problem_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray


class Stepper(ABC):
    """A partial solution of a problem: its `state`, and the `moves` played so far."""

    state: Any

    def __init__(self, problem: AnyProblem) -> None:
        self.name = problem_name(problem)
        self.moves: list[Any] = []
        self.has_bias = problem.bias is not None

    @abstractmethod
    def legal_moves(self, *, pruned: bool = True) -> list[Any]:
        """Return the legal moves, without pruning if not `pruned`."""

    @abstractmethod
    def code(self, move: Any) -> Any:
        """Return the code of a legal move."""

    @abstractmethod
    def bias(self, move: Any, preference: ArrayLike | None = None) -> Any:
        """Return the bias of a legal move, by default for the preference of the paper; the problem must have a bias."""

    def play(self, move: Any) -> None:
        """Play a move."""
        self._play(move)
        self.moves.append(move)

    @abstractmethod
    def _play(self, move: Any) -> None:
        """Change the state."""

    @abstractmethod
    def evaluate(self) -> tuple[NDArray[np.float64], float]:
        """Return objectives in the problem's own sense, and violations; they need not be finite."""

    @abstractmethod
    def identity(self) -> Any:
        """Return the identity of the solution, or None if the problem has none."""


class _PlainStepper(Stepper):
    """Calls the methods of a `Problem`."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem, self.state = problem, problem.initial_state()
        self._bias, self._preference = plain_bias(problem), paper_preference(problem)

    def legal_moves(self, *, pruned: bool = True) -> list[Any]:
        problem = self.problem
        find = problem.legal_moves if pruned or problem.all_moves is None else problem.all_moves
        moves: Iterable[Any] = find(self.state)
        if isinstance(moves, set | frozenset) and not all(isinstance(move, int | float) for move in moves):
            raise ProblemError(
                f"legal_moves() returned a set at depth {len(self.moves)} of {self.name}, its order, and so the "
                "result of a seed, differs between processes: return a list, sorted(moves) for example."
            )
        try:
            return list(moves)
        except TypeError as error:
            raise ProblemError(
                f"legal_moves() must return moves at depth {len(self.moves)} of {self.name}, got {moves!r}."
            ) from error

    def code(self, move: Any) -> Any:
        return self.problem.move_code(self.state, move)

    def bias(self, move: Any, preference: ArrayLike | None = None) -> Any:
        assert self._bias is not None
        return self._bias(self.state, move, self._preference if preference is None else preference)

    def _play(self, move: Any) -> None:
        self.state = self.problem.play(self.state, move)

    def evaluate(self) -> tuple[NDArray[np.float64], float]:
        violations, objectives = checked_evaluation(self.problem, self.problem.evaluate(self.state))
        return np.array(objectives), violations

    def identity(self) -> Any:
        return None if self.problem.identity is None else self.problem.identity(self.state)


class _KernelStepper(Stepper):
    """Calls the kernels of a `CompiledProblem` as plain Python, which detects writing past the end of an array."""

    def __init__(self, problem: CompiledProblem) -> None:
        super().__init__(problem)
        self.problem, self._data = problem, problem.data
        self._kernels = {word: _python(function) for word, function in problem.kernels.items()}
        self._out = np.zeros(problem.max_legal or 1, dtype=np.int64)
        self._preference = paper_preference(problem)
        self.state = self._kernels["initial_state"](self._data)

    def legal_moves(self, *, pruned: bool = True) -> list[Any]:
        all_moves = self.problem.all_moves
        find = self._kernels["legal_moves"] if pruned or all_moves is None else _python(all_moves)
        depth, most = len(self.moves), self._out.size
        try:
            count = int(find(self._data, self.state, self._out))
        except IndexError as error:
            raise ProblemError(
                f"legal_moves() wrote more than max_legal={most} moves at depth {depth} of {self.name}."
            ) from error
        if not 0 <= count <= most:
            raise ProblemError(
                f"legal_moves() returned {count} at depth {depth} of {self.name}; expected 0 to max_legal={most}."
            )
        moves: list[Any] = self._out[:count].tolist()
        return moves

    def code(self, move: Any) -> Any:
        return int(self._kernels["move_code"](self._data, self.state, move))

    def bias(self, move: Any, preference: ArrayLike | None = None) -> Any:
        cared_for = self._preference if preference is None else np.asarray(preference, dtype=float)
        return self._kernels["bias"](self._data, self.state, move, cared_for)

    def _play(self, move: Any) -> None:
        self._kernels["play"](self._data, self.state, move)

    def evaluate(self) -> tuple[NDArray[np.float64], float]:
        objectives = np.full(self.problem.n_objectives, np.nan)
        try:
            violations = self._kernels["evaluate"](self._data, self.state, objectives)
        except (IndexError, ValueError) as error:
            raise ProblemError(
                f"evaluate() of {self.name} wrote more than its {objectives.size} objectives: {error}."
            ) from error
        try:
            return objectives, float(violations)
        except TypeError as error:
            raise ProblemError(
                f"evaluate() of {self.name} must return a violation count (0 if none), got {shown(violations)}."
            ) from error

    def identity(self) -> Any:
        return self._kernels["identity"](self._data, self.state) if "identity" in self._kernels else None


def stepper(problem: AnyProblem) -> Stepper:
    """Return an empty solution of a problem."""
    return _KernelStepper(problem) if isinstance(problem, CompiledProblem) else _PlainStepper(problem)


def replay(problem: AnyProblem, moves: Iterable[Any]) -> tuple[NDArray[np.float64], float]:
    """Play given moves; returns objectives and violations."""
    walk = stepper(problem)
    for move in moves:
        walk.play(move)
    return walk.evaluate()


def first_illegal(problem: AnyProblem, moves: Sequence[Any]) -> int | None:
    """Return the depth of the first move that cannot be played, the length if there are legal moves left, or None.

    Moves that pruning forbids are legal here.
    """
    walk = stepper(problem)
    for depth, move in enumerate(canonical_form(problem, moves)):
        if move not in walk.legal_moves(pruned=False):
            return depth
        walk.play(move)
    return len(moves) if walk.legal_moves(pruned=False) else None


def legal_after(problem: AnyProblem, moves: Iterable[Any]) -> set[Any] | None:
    """Return all moves that may follow some moves, without pruning; None if these cannot be played themselves."""
    walk = stepper(problem)
    for move in moves:
        if move not in walk.legal_moves(pruned=False):
            return None
        walk.play(move)
    return set(walk.legal_moves(pruned=False))


def canonical_form(problem: AnyProblem, moves: Sequence[Any]) -> list[Any]:
    """Return the canonical list of moves of a solution, where a compiled problem defines one."""
    if not isinstance(problem, CompiledProblem) or problem.canonical is None:
        return list(moves)
    numbers = np.array(moves, dtype=np.int64)
    _python(problem.canonical)(problem.data, numbers, numbers.size)
    listed: list[Any] = numbers.tolist()
    return listed


def _python(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return the Python function of a kernel."""
    from ..engine.jit.kernels import python_function

    function: Callable[..., Any] = python_function(kernel)
    return function
