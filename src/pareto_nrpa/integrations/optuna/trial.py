"""A running trial: planned values, choices of a policy, and avoided repeats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .trie import ROOT

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    import numpy as np
    from optuna.trial import FrozenTrial

    from ...algorithms.nrpa.driven import Playout
    from .encoding import Dial, Split
    from .mutation import TrialPlan
    from .parameters import Parameters
    from .playing import Game
    from .trie import Trie


class TrialRun:
    """A running trial.

    Parameters
    ----------
    plan
        Planned values and moves; None for a playout.
    playout
        A playout of the policy that chooses what is not planned.
    unlearned
        A playout of the same policy with its initial weights.
    rng
        The random numbers of the trial.
    parameters, visited
        Those of the study.
    avoid_repeats
        Whether to avoid choices whose outcomes were all evaluated.
    """

    def __init__(
        self,
        plan: TrialPlan | None,
        playout: Playout,
        unlearned: Playout,
        rng: np.random.Generator,
        parameters: Parameters,
        visited: Trie,
        *,
        avoid_repeats: bool,
    ) -> None:
        self._values, self._routes = ({}, {}) if plan is None else plan
        self._playout, self._unlearned = playout, unlearned
        self._rng, self._parameters = rng, parameters
        self._visited, self._avoid_repeats = visited, avoid_repeats
        self._node = ROOT
        self._walked: set[str] = set()

    @property
    def policy(self) -> int:
        """The number of the policy that chooses what is not planned."""
        return self._playout.policy

    def sample(self, trial: FrozenTrial, parameter: str, dial: Dial) -> Any:
        """Return a value for a parameter, chosen digit by digit."""
        node, cells = self._walk(trial), dial.whole()
        planned = dial.fitting(self._values[parameter]) if parameter in self._values else None
        goal = None if planned is None else dial.cell_of(planned)
        while turn := dial.turn(cells):
            free = self._free(node, turn)
            position = -1 if goal is None else turn.towards(goal)
            if position not in free:
                position, goal = self._choose(free, turn.codes, turn.bias, self._playout), None
            node, cells = self._visited.below(node, turn.codes[position]), turn.parts[position]
        if goal is not None:
            return planned
        return dial.value(cells, self._rng.random() if not dial.is_exact else 0.0)

    def sample_move(self, trial: FrozenTrial, name: str, dial: Dial, game: Game, preference: Any) -> int:
        """Return the position of a move of a problem that is played under a name."""
        turn = dial.turn(dial.whole())
        assert turn is not None  # a step with one legal move is no parameter
        free, route = self._free(self._walk(trial), turn), self._routes.get(name)
        position = None if route is None else route.position(game.moves, game.legal)
        playout = self._playout
        if route is not None and len(game.moves) in route.leave_at:
            # Learned weights favour the moves of the front, one of which is to be replaced here.
            free, position, playout = [i for i in free if i != position] or free, None, self._unlearned
        if position is not None and position in free:
            return position
        return self._choose(free, game.codes(), game.bias(preference), playout)

    def _free(self, node: int, turn: Split) -> Sequence[int]:
        """Return the options that lead to at least one unevaluated trial; all options if none does."""
        everything = range(len(turn.codes))
        if not self._avoid_repeats:
            return everything
        below = [self._visited.below(node, code) for code in turn.codes]
        return [i for i in everything if not self._visited.is_exhausted(below[i])] or everything

    def _choose(self, free: Sequence[int], codes: list[Hashable], bias: list[float] | None, playout: Playout) -> int:
        """Let a policy choose one of some positions."""
        return free[playout.choose([codes[i] for i in free], bias and [bias[i] for i in free])]

    def _walk(self, trial: FrozenTrial) -> int:
        """Return the node of the trie for all parameters of the trial, including enqueued ones."""
        new = {name: space for name, space in trial.distributions.items() if name not in self._walked}
        for choice, _ in self._parameters.choices(trial.params, new):
            self._node = self._visited.below(self._node, choice)
        self._walked.update(new)
        return self._node
