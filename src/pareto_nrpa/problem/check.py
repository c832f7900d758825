"""`check_problem` plays random solutions and reports the first violation of the interface of a problem."""

from __future__ import annotations

import math
from collections.abc import Hashable
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.jit.kernels import python_function
from ..engine.messages import uncompilable
from ..errors import ProblemError
from .base import (
    AnyProblem,
    CompiledProblem,
    Problem,
    check_declarations,
    check_identity,
    check_problem_type,
    checked_evaluation,
)
from .builders import CompiledFunction
from .genotype import check_genotype, checked_neighbours
from .segments import check_judgement
from .stepper import Stepper, canonical_form, replay, stepper

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Number of changes tried in the search for a feasible solution.
_CHANGES = 3_000


def check_problem(problem: AnyProblem, *, n_games: int = 20, seed: int = 0) -> None:
    """Play random solutions and raise `ProblemError` at the first violation of the interface.

    Kernels are compiled once, as a test, and then run as plain Python, which detects what compiled code does not:
    writing past the end of an array.
    """
    check_problem_type(problem)
    check_declarations(problem)
    if isinstance(problem, CompiledProblem) and (message := uncompilable(problem)):
        raise ProblemError(message)
    rng = np.random.default_rng(seed)
    solutions = [_Game(problem).play(rng) for _ in range(n_games)]
    if problem.genotype is not None:
        check_genotype(problem, solutions)
        if getattr(problem, "neighbours", None) is not None:
            checked_neighbours(problem, list(solutions[0]))
    if isinstance(problem, CompiledProblem) and problem.segments is not None:
        solutions += problem.genotype.examples()  # type: ignore[union-attr]  # segments need a genotype
        for solution in [*solutions, *_feasible(problem, solutions, rng)]:
            check_judgement(problem, solution, rng)


def _feasible(problem: CompiledProblem, solutions: list[list[Any]], rng: np.random.Generator) -> list[list[Any]]:
    """Return a feasible solution if none of those given is, as costs of segments are compared on feasible ones only.

    A descent by violations: a stretch of moves is relocated or reversed, unless that is worse.
    """
    scores = [replay(problem, solution)[1] for solution in solutions]
    least = min(range(len(scores)), key=scores.__getitem__)
    if scores[least] == 0:
        return []
    moves, violations = list(solutions[least]), scores[least]
    for _ in range(_CHANGES):
        i, j = sorted(rng.integers(len(moves) + 1, size=2).tolist())
        stretch, rest = moves[i:j], moves[:i] + moves[j:]
        place = i if rng.random() < 0.5 else int(rng.integers(len(rest) + 1))
        changed = rest[:place] + (stretch[::-1] if place == i else stretch) + rest[place:]
        changed = canonical_form(problem, changed)
        if (now := replay(problem, changed)[1]) <= violations:
            moves, violations = changed, now
        if violations == 0:
            return [moves]
    return []


class _Game:
    """A random solution of a problem, checked at each step."""

    def __init__(self, problem: AnyProblem) -> None:
        self.problem, self.stepper = problem, stepper(problem)
        self.name = self.stepper.name
        self.n_candidates = 0
        self.step_of_code: dict[int, int] = {}
        self.bias_of_code: dict[int, float] = {}

    def play(self, rng: np.random.Generator) -> list[Any]:
        """Play to the end; returns the moves."""
        walk, problem = self.stepper, self.problem
        while moves := walk.legal_moves():
            depth = len(walk.moves)
            if depth >= problem.max_moves:
                raise ProblemError(
                    f"{self.name} was not complete after {depth} moves; raise max_moves if its sequences are longer."
                )
            self._check_moves(moves, depth)
            for move in moves:
                self._check_code(move, depth)
                if walk.has_bias:
                    self._check_bias(move, depth)
            self._play_move(moves, moves[int(rng.integers(len(moves)))])
        if not walk.moves:
            raise ProblemError(f"legal_moves() gave no move at the start of {self.name}; a problem needs at least one.")
        self._check_evaluation(walk)
        return walk.moves

    def _check_moves(self, moves: list[Any], depth: int) -> None:
        seen = set()
        for move in moves:
            if not isinstance(move, Hashable):
                raise ProblemError(
                    f"legal_moves() returned {move!r} at depth {depth} of {self.name}; moves must be hashable."
                )
            if move in seen:
                raise ProblemError(f"legal_moves() returned move {move!r} twice at depth {depth} of {self.name}.")
            seen.add(move)
        self.n_candidates += len(moves)
        if isinstance(self.problem, CompiledProblem) and self.n_candidates > (self.problem.max_candidates or 0):
            raise ProblemError(
                f"{self.name} has more than max_candidates={self.problem.max_candidates} legal moves in one sequence."
            )

    def _check_code(self, move: Any, depth: int) -> None:
        code, problem = self.stepper.code(move), self.problem
        if isinstance(problem, Problem):
            if not isinstance(code, Hashable):
                raise ProblemError(
                    f"move_code() of move {move!r} at depth {depth} of {self.name} must be hashable, got {code!r}."
                )
            return
        if not 0 <= code < problem.n_codes:
            raise ProblemError(
                f"move_code() of move {move} at depth {depth} of {self.name} gave {code}; expected 0 to "
                f"{problem.n_codes - 1}."
            )
        if self.step_of_code.setdefault(code, depth) != depth and problem.distinct_codes:
            raise ProblemError(f"code {code} is legal at two steps of {self.name}, which promises distinct_codes.")

    def _check_bias(self, move: Any, depth: int) -> None:
        value = self.stepper.bias(move)
        try:
            finite = math.isfinite(value)
        except TypeError:
            finite = False
        if not finite:
            raise ProblemError(
                f"bias() of move {move!r} at depth {depth} of {self.name} must be a finite number, got {value!r}."
            )
        if isinstance(self.problem, CompiledProblem) and self.problem.bias_by_code:
            code = self.stepper.code(move)
            if self.bias_of_code.setdefault(code, value) != value:
                raise ProblemError(f"code {code} has two biases in {self.name}, which promises bias_by_code.")

    def _play_move(self, moves: list[Any], move: Any) -> None:
        walk = self.stepper
        before = walk.state
        walk.play(move)
        if isinstance(self.problem, Problem) and list(self.problem.legal_moves(before)) != moves:
            raise ProblemError(
                f"play() changed the state that it was given at depth {len(walk.moves) - 1} of {self.name}; return a "
                "new one."
            )

    def _check_evaluation(self, walk: Stepper) -> None:
        objectives, violations = self._evaluated()
        if not np.isfinite(objectives).all():
            raise ProblemError(
                f"evaluate() of {self.name} gave an objective that is NaN or infinite: {objectives.tolist()}."
            )
        if not 0 <= violations < math.inf:
            raise ProblemError(
                f"evaluate() of {self.name} gave {violations} violations; 0 means feasible, none are negative."
            )
        if (number := walk.identity()) is not None:
            check_identity(self.name, number)
            if walk.identity() != number:
                raise ProblemError(
                    f"identity() of {self.name} gave two answers for one state: {number} and {walk.identity()}."
                )
        again, _ = self._evaluated()
        if not np.array_equal(objectives, again):
            raise ProblemError(f"evaluate() of {self.name} gave two answers for one state: {objectives} and {again}.")

        self._check_solution(walk.moves, objectives, violations)

    def _check_solution(self, moves: list[Any], objectives: NDArray[np.float64], violations: float) -> None:
        """Compare `evaluate_solution` with `evaluate` for complete moves."""
        problem = self.problem
        if problem.evaluate_solution is None:
            return
        if isinstance(problem, CompiledProblem):
            values = np.full(problem.n_objectives, np.nan)
            late = python_function(problem.evaluate_solution)(problem.data, np.array(moves, dtype=np.int64), values)
        else:
            late, listed = self._plain_evaluation(problem, moves)
            values = np.array(listed)
        tolerance = 0.0 if isinstance(problem, CompiledProblem) else 1e-9  # Numba may round otherwise than Python
        if not np.allclose(values, objectives, rtol=tolerance, atol=0.0) or late != violations:
            raise ProblemError(
                f"evaluate_solution() of {self.name} gives {values.tolist()} and {late} violations for {moves!r:.60}, "
                f"and evaluate() {objectives.tolist()} and {violations}; correct it, or leave it out."
            )

    def _plain_evaluation(self, problem: Problem, moves: list[Any]) -> tuple[float, list[float]]:
        """Return what `evaluate_solution` says; a Numba function runs as Python, which checks every index."""
        function = getattr(problem, "function", None)
        evaluate: Any = function.interpreted if isinstance(function, CompiledFunction) else problem.evaluate_solution
        try:
            value = evaluate(list(moves))
        except Exception as error:
            place = extract_tb(error.__traceback__)[-1]
            raise ProblemError(
                f"the function of {self.name} raised {type(error).__name__} for {moves!r:.60}, "
                f"{Path(place.filename).name} line {place.lineno}: {error}."
            ) from error
        return checked_evaluation(problem, value)

    def _evaluated(self) -> tuple[NDArray[np.float64], float]:
        try:
            return self.stepper.evaluate()
        except ProblemError:
            raise
        except Exception as error:
            raise ProblemError(f"evaluate() of {self.name} raised {type(error).__name__}: {error}.") from error
