"""A problem of ours inside a trial: every move is a suggestion, and only legal moves are suggested."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..problem import CompiledProblem, Problem, checked_evaluation, plain_bias
from ..result import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..problem import AnyProblem


def play(trial: Any, problem: AnyProblem, *, name: str = "move") -> tuple[float, ...]:
    """Let a trial play a problem to the end; returns its objectives.

    Every step with more than one legal move is an integer parameter, `move 0`, `move 1` and so on: the position of the
    move among the legal ones. The moves themselves become the attribute `solution` of the trial; violations become a
    constraint. Any sampler can play; `ParetoNRPASampler` learns by the codes of the problem, and by its bias.

    Parameters
    ----------
    trial
        A trial of Optuna, also a `FixedTrial`.
    problem
        What to play. Its objectives are returned as they are: the directions of the study must fit its `maximise`.
    name
        What the parameters are called, where several problems are played in one trial.
    """
    sampler = getattr(getattr(trial, "study", None), "sampler", None)
    expect = getattr(sampler, "expect", None)
    game = Game(problem)
    for step, moves in game.steps():
        if len(moves) == 1:
            game.play(0)
            continue
        parameter = f"{name} {step}"
        if expect is not None:
            expect(trial.number, name, parameter, game)
        game.play(trial.suggest_int(parameter, 0, len(moves) - 1))
    trial.set_user_attr("solution" if name == "move" else f"solution of {name}", [plain(move) for move in game.moves])
    objectives, violations = game.evaluation()
    if problem.constrained if isinstance(problem, Problem) else True:
        _set_constraint(trial, f"violations of {name}", violations)
    return tuple(objectives)


def _set_constraint(trial: Any, key: str, value: float) -> None:
    if hasattr(trial, "set_constraint"):
        trial.set_constraint(key, value)
    elif hasattr(trial, "storage"):  # Optuna 4 keeps them where its samplers look for them
        trial.storage.set_trial_system_attr(trial._trial_id, "constraints", [value])  # noqa: SLF001


class Game:
    """A problem being played, plain or compiled, one move after the other."""

    def __init__(self, problem: AnyProblem) -> None:
        self.problem = problem
        self.moves: list[Any] = []
        self.legal: list[Any] = []
        self._words = _compiled_words(problem) if isinstance(problem, CompiledProblem) else _plain_words(problem)
        self._state = self._words["initial_state"]()

    def steps(self) -> Iterator[tuple[int, list[Any]]]:
        """Yield the number of each step and its legal moves; `play` must be called in between."""
        while True:
            self.legal = list(self._words["legal_moves"](self._state))
            if not self.legal:
                return
            yield len(self.moves), self.legal

    def codes(self) -> list[Any]:
        """Return the codes of the legal moves."""
        return [self._words["move_code"](self._state, move) for move in self.legal]

    def bias(self, preference: Sequence[float]) -> list[float] | None:
        """Return the bias of the legal moves, where there is one."""
        bias = self._words["bias"]
        return None if bias is None else [float(bias(self._state, move, preference)) for move in self.legal]

    def play(self, position: int) -> None:
        """Play the legal move at a position."""
        self.moves.append(self.legal[position])
        self._state = self._words["play"](self._state, self.legal[position])

    def evaluation(self) -> tuple[list[float], float]:
        """Return objectives and violations of what was played."""
        if isinstance(self.problem, CompiledProblem):
            objectives, violations = self.problem.replay(self.moves)
            return objectives.tolist(), violations
        violations, values = checked_evaluation(self.problem, self.problem.evaluate(self._state))
        return values, violations


def _plain_words(problem: Problem) -> dict[str, Any]:
    words = {word: getattr(problem, word) for word in ("initial_state", "legal_moves", "move_code", "play")}
    return {**words, "bias": plain_bias(problem)}


def _compiled_words(problem: CompiledProblem) -> dict[str, Any]:
    """Return the kernels of a problem as methods would be, in plain Python: a trial has time."""
    import numpy as np

    from ..kernels._jit import python_function

    kernels = {word: python_function(function) for word, function in problem.kernels.items()}
    data, out = problem.data, np.zeros(problem.max_legal or 1, dtype=np.int64)

    def legal_moves(state: Any) -> list[int]:
        moves: list[int] = out[: kernels["legal_moves"](data, state, out)].tolist()
        return moves

    def play_move(state: Any, move: int) -> Any:
        kernels["play"](data, state, move)
        return state

    bias = kernels.get("bias")
    return {
        "initial_state": lambda: kernels["initial_state"](data),
        "legal_moves": legal_moves,
        "move_code": lambda state, move: int(kernels["move_code"](data, state, move)),
        "play": play_move,
        "bias": bias and (lambda state, move, preference: bias(data, state, move, np.asarray(preference))),
    }
