"""A problem inside a trial: every move is a suggestion, and only legal moves are suggested."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ..._util.checks import shown
from ...errors import ParetoNRPAError
from ...problem.base import Problem, check_problem_type
from ...problem.stepper import stepper
from ...result.result import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...problem.base import AnyProblem

# Problems played in running trials: violations by name, None without constraints. The stored attributes of a trial
# cannot replace this table, as a retried trial still has those of its failure.
_PLAYED: WeakKeyDictionary[Any, dict[str, float | None]] = WeakKeyDictionary()


def play(trial: Any, problem: AnyProblem, *, name: str = "move") -> tuple[float, ...]:
    """Play a problem to the end inside a trial; returns its objectives.

    Every step with more than one legal move is an integer parameter, `move 0`, `move 1` and so on: the position of the
    move among the legal ones. The moves themselves become the attribute `solution` of the trial; violations become a
    constraint. Any sampler can play; `ParetoNRPASampler` learns by the codes of the problem, and by its bias.

    Parameters
    ----------
    trial
        A trial of Optuna, also a `FixedTrial`.
    problem
        The problem. Its objectives are returned unchanged: the directions of the study must match its `maximise`.
    name
        Prefix of the parameters. Several problems in one trial need different names.
    """
    played = _played_in(trial)
    check_problem_type(problem)
    if name in played:
        raise ParetoNRPAError(
            f"name must differ for each problem played in a trial, got {shown(name)} twice, which would make the same "
            'moves again; give each its own name=, as in play(trial, problem, name="second").'
        )
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
    objectives, violations = game.evaluate()
    is_constrained = problem.constrained if isinstance(problem, Problem) else True
    played[name] = violations if is_constrained else None
    if is_constrained:
        _set_constraint(trial, f"violations of {name}", violations, played)
    return tuple(objectives.tolist())


def _played_in(trial: Any) -> dict[str, float | None]:
    """Return the table of problems played in a trial; a finished trial gets an empty one."""
    if not (hasattr(trial, "suggest_int") and hasattr(trial, "set_user_attr")):
        raise ParetoNRPAError(
            f"trial must be a trial of Optuna, got {shown(trial)}; call play(trial, problem) in what study.optimize is "
            "given, or with what study.ask returns."
        )
    return _PLAYED.setdefault(trial, {}) if hasattr(trial, "storage") else {}


def _set_constraint(trial: Any, key: str, value: float, played: dict[str, float | None]) -> None:
    if hasattr(trial, "set_constraint"):
        trial.set_constraint(key, value)
    elif hasattr(trial, "storage"):  # samplers of Optuna 4 read all constraints from one list
        values = [violations for violations in played.values() if violations is not None]
        trial.storage.set_trial_system_attr(trial._trial_id, "constraints", values)  # noqa: SLF001


class Game:
    """A solution under construction with its legal moves."""

    def __init__(self, problem: AnyProblem) -> None:
        self.problem, self._stepper = problem, stepper(problem)
        self.legal: list[Any] = []
        self.moves = self._stepper.moves
        self.evaluate = self._stepper.evaluate

    def steps(self) -> Iterator[tuple[int, list[Any]]]:
        """Yield the number of each step and its legal moves; `play` must be called in between."""
        while legal := self._stepper.legal_moves():
            self.legal = legal
            yield len(self.moves), legal

    def codes(self) -> list[Any]:
        """Return the codes of the legal moves."""
        return [self._stepper.code(move) for move in self.legal]

    def bias(self, preference: Sequence[float]) -> list[float] | None:
        """Return the bias of the legal moves, where there is one."""
        walk = self._stepper
        return [float(walk.bias(move, preference)) for move in self.legal] if walk.has_bias else None

    def play(self, position: int) -> None:
        """Play the legal move at a position."""
        self._stepper.play(self.legal[position])
