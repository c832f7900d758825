"""For people who write problems: `check_problem` plays random games and names the first promise that is broken."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.jit.kernels import python_function
from ..engine.messages import uncompilable
from ..errors import ProblemError
from .base import (
    AnyProblem,
    CompiledProblem,
    Problem,
    as_float,
    check_declarations,
    paper_preference,
    plain_bias,
    problem_name,
    wrong_evaluation,
)
from .genotype import check_genotype
from .segments import check_judgement

if TYPE_CHECKING:
    from numpy.typing import NDArray


def check_problem(problem: AnyProblem, *, n_games: int = 20, seed: int = 0) -> None:
    """Play random games and raise `ProblemError` at the first broken promise.

    Kernels are compiled, to see that they can be, and then run as plain Python, which notices what compiled code would
    not: writing past the end of an array.
    """
    if not isinstance(problem, Problem | CompiledProblem):
        raise TypeError(f"problem must be a Problem or a CompiledProblem, got {type(problem).__name__}.")
    check_declarations(problem)
    if isinstance(problem, CompiledProblem) and (message := uncompilable(problem)):
        raise ProblemError(message)
    rng = np.random.default_rng(seed)
    solutions = []
    for _ in range(n_games):
        game = _CompiledGame(problem) if isinstance(problem, CompiledProblem) else _PlainGame(problem)
        solutions.append(_play(game, rng))
    if problem.genotype is not None:
        check_genotype(problem, solutions)
    if isinstance(problem, CompiledProblem) and problem.segments is not None:
        solutions += problem.genotype.examples()  # type: ignore[union-attr]  # segments need a genotype
        for solution in [*solutions, *_feasible_ones(problem, solutions, seed)]:
            check_judgement(problem, solution, rng)


# Evaluations in which a search must find a feasible solution to look at.
_ENOUGH = 100_000


def _feasible_ones(problem: CompiledProblem, played: list[list[Any]], seed: int) -> list[list[Any]]:
    """Return feasible solutions where random games had none, found by a short search: only there do costs count."""
    if any(problem.replay(solution)[1] == 0 for solution in played):
        return []
    from ..algorithms.nrpa.params import ParetoNRPA

    search = ParetoNRPA().start(replace(problem, segments=None), seed=seed, budget=_ENOUGH)
    while search.evaluations < _ENOUGH and not search.front().is_feasible:
        search.advance(1_000)
    return search.front().solutions if search.front().is_feasible else []


def _play(game: _PlainGame | _CompiledGame, rng: np.random.Generator) -> list[Any]:
    """Play a game to its end; returns the moves."""
    game.begin()
    played: list[Any] = []
    depth = 0
    while moves := game.legal_moves(depth):
        if depth >= game.max_moves:
            raise ProblemError(
                f"{game.name} went on after {depth} moves; raise max_moves if its sequences are really longer."
            )
        _check_moves(moves, depth, game.name)
        for move in moves:
            game.check_move(move, depth)
        played.append(moves[int(rng.integers(len(moves)))])
        game.play(played[-1], depth)
        depth += 1
    if depth == 0:
        raise ProblemError(f"legal_moves() gave no move at the start of {game.name}; a problem needs at least one.")
    _check_evaluation(game)
    return played


def _check_moves(moves: list[Any], depth: int, name: str) -> None:
    seen = set()
    for move in moves:
        if not isinstance(move, Hashable):
            raise ProblemError(f"legal_moves() returned {move!r} at depth {depth} of {name}; moves must be hashable.")
        if move in seen:
            raise ProblemError(f"legal_moves() returned move {move!r} twice at depth {depth} of {name}.")
        seen.add(move)


def _check_evaluation(game: _PlainGame | _CompiledGame) -> None:
    objectives, violations = game.evaluate()
    if not np.isfinite(objectives).all():
        raise ProblemError(
            f"evaluate() of {game.name} gave an objective that is NaN or infinite: {objectives.tolist()}."
        )
    if not 0 <= violations < math.inf:
        raise ProblemError(
            f"evaluate() of {game.name} gave {violations} violations; 0 means feasible, none are negative."
        )
    _check_identity(game)
    again, _ = game.evaluate()
    if not np.array_equal(objectives, again):
        raise ProblemError(f"evaluate() of {game.name} gave two answers for one state: {objectives} and {again}.")


def _check_identity(game: _PlainGame | _CompiledGame) -> None:
    number = game.identity()
    if number is None:
        return
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or not 0 <= number < 2**62:
        raise ProblemError(
            f"identity() of {game.name} must be a whole number of at least 0, below 2^62, got {number!r}."
        )
    if game.identity() != number:
        raise ProblemError(f"identity() of {game.name} gave two answers for one state: {number} and {game.identity()}.")


def _check_bias(value: Any, move: Any, depth: int, name: str) -> None:
    try:
        finite = math.isfinite(value)
    except TypeError:
        finite = False
    if not finite:
        raise ProblemError(
            f"bias() of move {move!r} at depth {depth} of {name} must be a finite number, got {value!r}."
        )


class _PlainGame:
    def __init__(self, problem: Problem) -> None:
        self.problem, self.name, self.max_moves = problem, problem_name(problem), problem.max_moves
        self.bias = plain_bias(problem)
        self.preference = paper_preference(problem)

    def begin(self) -> None:
        self.state = self.problem.initial_state()

    def legal_moves(self, depth: int) -> list[Any]:
        moves = self.problem.legal_moves(self.state)
        if isinstance(moves, set | frozenset) and not all(isinstance(move, int | float) for move in moves):
            raise ProblemError(
                f"legal_moves() returned a set at depth {depth} of {self.name}, the order of which is another in each "
                "process, and so would be the result of a seed; return a list, sorted(moves) for example."
            )
        try:
            return list(moves)
        except TypeError as error:
            message = f"legal_moves() must return moves at depth {depth} of {self.name}, got {moves!r}."
            raise ProblemError(message) from error

    def check_move(self, move: Any, depth: int) -> None:
        code = self.problem.move_code(self.state, move)
        if not isinstance(code, Hashable):
            raise ProblemError(
                f"move_code() of move {move!r} at depth {depth} of {self.name} must be hashable, got {code!r}."
            )
        if self.bias is not None:
            _check_bias(self.bias(self.state, move, self.preference), move, depth, self.name)

    def play(self, move: Any, depth: int) -> None:
        before = self.legal_moves(depth)
        after = self.problem.play(self.state, move)
        if self.legal_moves(depth) != before:
            raise ProblemError(
                f"play() changed the state that it was given at depth {depth} of {self.name}; return a new one."
            )
        self.state = after

    def identity(self) -> Any:
        return None if self.problem.identity is None else self.problem.identity(self.state)

    def evaluate(self) -> tuple[NDArray[np.float64], float]:
        try:
            value, violations = self.problem.evaluate(self.state), 0.0
        except Exception as error:
            raise ProblemError(f"evaluate() of {self.name} raised {type(error).__name__}: {error}.") from error
        m = self.problem.n_objectives
        try:
            if self.problem.constrained:
                value, violations = value
            values = [value] if m == 1 and np.ndim(value) == 0 else list(value)
            objectives, violations = np.array(list(map(as_float, values))), as_float(violations)
        except (TypeError, ValueError, OverflowError) as error:
            raise ProblemError(wrong_evaluation(self.problem, value)) from error
        if objectives.shape != (m,):
            raise ProblemError(f"evaluate() of {self.name} must return {m} objectives, got {objectives.size}.")
        return objectives, violations


class _CompiledGame:
    def __init__(self, problem: CompiledProblem) -> None:
        self.problem, self.name, self.max_moves = problem, problem_name(problem), problem.max_moves
        self.words = {word: python_function(function) for word, function in problem.kernels.items()}
        self.preference = paper_preference(problem)
        self.n_candidates = 0
        self.step_of_code: dict[int, int] = {}
        self.bias_of_code: dict[int, float] = {}

    def begin(self) -> None:
        self.state = self.words["initial_state"](self.problem.data)

    def legal_moves(self, depth: int) -> list[int]:
        out = np.zeros(self.problem.max_legal or 1, dtype=np.int64)
        try:
            count = int(self.words["legal_moves"](self.problem.data, self.state, out))
        except IndexError as error:
            raise ProblemError(
                f"legal_moves() wrote more than max_legal={out.size} moves at depth {depth} of {self.name}."
            ) from error
        if not 0 <= count <= out.size:
            raise ProblemError(
                f"legal_moves() returned {count} at depth {depth} of {self.name}; expected 0 to max_legal={out.size}."
            )
        self.n_candidates += count
        # Beyond max_moves it is the length that is wrong, and `_play` says so.
        if depth < self.max_moves and self.n_candidates > (self.problem.max_candidates or 0):
            raise ProblemError(
                f"{self.name} has more than max_candidates={self.problem.max_candidates} legal moves in one sequence."
            )
        return [int(move) for move in out[:count]]

    def check_move(self, move: int, depth: int) -> None:
        code = int(self.words["move_code"](self.problem.data, self.state, move))
        if not 0 <= code < self.problem.n_codes:
            raise ProblemError(
                f"move_code() of move {move} at depth {depth} of {self.name} gave {code}; expected 0 to "
                f"{self.problem.n_codes - 1}."
            )
        if self.step_of_code.setdefault(code, depth) != depth and self.problem.distinct_codes:
            raise ProblemError(f"code {code} is legal at two steps of {self.name}, which promises distinct_codes.")
        if "bias" in self.words:
            value = self.words["bias"](self.problem.data, self.state, move, self.preference)
            _check_bias(value, move, depth, self.name)
            if self.bias_of_code.setdefault(code, value) != value and self.problem.bias_by_code:
                raise ProblemError(f"code {code} has two biases in {self.name}, which promises bias_by_code.")

    def play(self, move: int, depth: int) -> None:
        self.words["play"](self.problem.data, self.state, move)

    def identity(self) -> Any:
        return self.words["identity"](self.problem.data, self.state) if "identity" in self.words else None

    def evaluate(self) -> tuple[NDArray[np.float64], float]:
        objectives = np.full(self.problem.n_objectives, np.nan)
        try:
            violations = self.words["evaluate"](self.problem.data, self.state, objectives)
        except (IndexError, ValueError) as error:
            m = self.problem.n_objectives
            raise ProblemError(f"evaluate() of {self.name} wrote more than its {m} objectives: {error}.") from error
        try:
            return objectives, float(violations)
        except TypeError as error:
            message = f"evaluate() of {self.name} must return a violation count (0 if none), got {violations!r}."
            raise ProblemError(message) from error
