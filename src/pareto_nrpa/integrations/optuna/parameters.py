"""The parameters of a study: each has an encoding, and some are moves of a problem."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .encoding import Dial
from .playing import Game

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial

    from ...problem.base import AnyProblem

_MOVE = re.compile(r"(.*) (\d+)")


class Parameters:
    """The meaning of parameters, by their names and distributions.

    Parameters
    ----------
    problems
        The problems that are played, by name.
    """

    def __init__(self, problems: dict[str, AnyProblem]) -> None:
        self.problems = problems
        self._dials: dict[tuple[str, BaseDistribution], Dial] = {}

    def dial(self, parameter: str, distribution: BaseDistribution) -> Dial:
        """Return the encoding of a parameter; a move of a problem is one choice."""
        key = parameter, distribution
        if key not in self._dials:
            self._dials[key] = Dial(*key, flat=self.step_of(parameter) is not None)
        return self._dials[key]

    def step_of(self, parameter: str) -> tuple[str, int] | None:
        """Return the name of a problem and a step of it, for a parameter that is a move; None for any other."""
        move = _MOVE.fullmatch(parameter)
        return (move[1], int(move[2])) if move and move[1] in self.problems else None

    def played(self, trial: FrozenTrial) -> list[str]:
        """Return the names of the problems that were played in a trial, in order."""
        steps = (self.step_of(parameter) for parameter in trial.distributions)
        return list(dict.fromkeys(step[0] for step in steps if step is not None))

    def replay(self, trial: FrozenTrial, name: str) -> Iterator[tuple[Game, int]]:
        """Yield a problem before each move that a trial made of it, and the position of that move."""
        game = Game(self.problems[name])
        for step, moves in game.steps():
            position = trial.params.get(f"{name} {step}", 0)
            if not 0 <= position < len(moves):  # the trial is of another version of the problem
                return
            yield game, position
            game.play(position)

    def moves(self, trial: FrozenTrial, name: str) -> list[Hashable]:
        """Return the moves that a trial made of a problem."""
        return [game.legal[position] for game, position in self.replay(trial, name)]

    def key(self, values: dict[str, Any], distributions: dict[str, BaseDistribution]) -> frozenset[tuple[str, float]]:
        """Return a key that is shared by equal values of parameters, in any order."""
        return frozenset((name, space.to_internal_repr(values[name])) for name, space in distributions.items())

    def choices(
        self, values: dict[str, Any], distributions: dict[str, BaseDistribution]
    ) -> Iterator[tuple[Hashable, int]]:
        """Yield the code of each choice that leads to the values, and the number of options."""
        for parameter, distribution in distributions.items():
            for turn, position in self.dial(parameter, distribution).turns(values[parameter]):
                yield turn.codes[position], len(turn.codes)
