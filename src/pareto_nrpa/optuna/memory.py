"""What a sampler knows of a study: rebuilt from its finished trials, never stored."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
from optuna.study import StudyDirection
from optuna.trial import TrialState

from ..nrpa.playout import DrivenProblem
from .dials import Dial
from .playing import Game
from .visited import ROOT, Visited

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from optuna.distributions import BaseDistribution
    from optuna.study import Study
    from optuna.trial import FrozenTrial

    from ..nrpa.params import ParetoNRPA
    from ..nrpa.playout import Playout
    from ..problem import AnyProblem

#: Where a trial keeps which policy made it: all that is stored of ours.
POLICY_KEY = "pareto_nrpa:policy"
_MOST_VIOLATED = 1e300
_MOVE = re.compile(r"(.*) \d+")


class Memory:
    """A search fed with the trials of one study, and the tree of what was evaluated."""

    def __init__(self, study: Study, algorithm: ParetoNRPA, seed: int, problems: dict[str, AnyProblem]) -> None:
        self._of = (study._storage, study._study_id)  # noqa: SLF001
        maximise = [direction == StudyDirection.MAXIMIZE for direction in study.directions]
        self.search = algorithm.start(DrivenProblem(len(maximise), maximise=maximise), seed=0)
        self.visited = Visited()
        self.runs: dict[int, Run] = {}
        self._seed, self._problems = seed, problems
        self._learned: set[int] = set()
        self.mutation = 0.0  # how often a choice is made as if nothing had been learned
        self._dials: dict[tuple[str, BaseDistribution], Dial] = {}

    def is_of(self, study: Study) -> bool:
        """Tell whether this is about a study."""
        return self._of == (study._storage, study._study_id)  # noqa: SLF001

    def run(self, study: Study, trial: FrozenTrial) -> Run:
        """Return a trial under way; a new one begins with all that can be learned by now."""
        if trial.number not in self.runs:
            self._learn(study)
            rng = np.random.default_rng([self._seed, trial.number])
            playout = self.search.playout(rng=rng)
            study._storage.set_trial_system_attr(trial._trial_id, POLICY_KEY, playout.policy)  # noqa: SLF001
            self.runs[trial.number] = Run(playout, rng, self)
        return self.runs[trial.number]

    def dial(self, parameter: str, distribution: BaseDistribution) -> Dial:
        """Return a parameter as a dial; moves of a problem are one choice, however many there are."""
        key = parameter, distribution
        if key not in self._dials:
            self._dials[key] = Dial(*key, flat=self._game_of(parameter) is not None)
        return self._dials[key]

    def path(self, trial: FrozenTrial) -> list[tuple[Hashable, int]] | None:
        """Return the choices of a trial; None where real numbers are among them, which are never exhausted."""
        dials = [(self.dial(name, trial.distributions[name]), value) for name, value in trial.params.items()]
        if not all(dial.is_exact for dial, _ in dials):
            return None
        return [choice for dial, value in dials for choice in choices(dial, value)]

    def _game_of(self, parameter: str) -> str | None:
        """Return the name under which a problem is played, for a parameter that is a move of it."""
        name = _MOVE.fullmatch(parameter)
        return name[1] if name and name[1] in self._problems else None

    def preference(self, policy: int) -> Any:
        """Return what the bias of a policy should care for."""
        return self.search.machine.preferences[policy]

    def _learn(self, study: Study) -> None:
        """Learn from the trials that were finished since the last time, whoever made them, in their order."""
        for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
            if trial.number not in self._learned:
                self._learned.add(trial.number)
                self._learn_from(trial)

    def _learn_from(self, trial: FrozenTrial) -> None:
        path = self.path(trial)
        if path is not None:
            self.visited.add(path)
        if not all(map(math.isfinite, trial.values)):
            return  # it cannot be compared
        policy = trial.system_attrs.get(POLICY_KEY)
        n_policies = self.search.params.n_policies
        if type(policy) is not int or not 0 <= policy < n_policies:  # enqueued, or made by another sampler
            policy = trial.number % n_policies
        playout = self.search.playout(policy=policy)
        for codes, bias, position in self._turns(trial, policy):
            playout.take(position, codes, bias)
        if playout.solution:
            self.mutation = 1 / len(playout.solution)
            self.search.tell([playout.finish()], [trial.values], [_violations(trial)])

    def _turns(self, trial: FrozenTrial, policy: int) -> Iterator[tuple[list[Hashable], list[float] | None, int]]:
        """Yield codes, bias and position of all choices of a finished trial."""
        played: set[str] = set()
        for parameter, distribution in trial.distributions.items():
            name = self._game_of(parameter)
            if name is not None:
                if name not in played:
                    played.add(name)
                    yield from self._replayed(trial, name, policy)
                continue
            dial = self.dial(parameter, distribution)
            for turn, position in dial.turns(trial.params[parameter]):
                yield turn.codes, turn.bias, position

    def _replayed(
        self, trial: FrozenTrial, name: str, policy: int
    ) -> Iterator[tuple[list[Hashable], list[float] | None, int]]:
        """Yield the moves of a problem that was played in a trial."""
        game = Game(self._problems[name])
        for step, moves in game.steps():
            position = trial.params.get(f"{name} {step}", 0)
            if not 0 <= position < len(moves):  # of another version of the problem
                return
            if len(moves) > 1:
                yield game.codes(), game.bias(self.preference(policy)), position
            game.play(position)


class Run:
    """A trial under way: a playout, and where it stands in the tree of what was evaluated."""

    def __init__(self, playout: Playout, rng: np.random.Generator, memory: Memory) -> None:
        self._playout, self._rng, self._memory, self._visited = playout, rng, memory, memory.visited
        self.policy = playout.policy
        self._node = ROOT
        self._walked: set[str] = set()

    def sample(
        self,
        trial: FrozenTrial,
        dial: Dial,
        *,
        avoid_repeats: bool,
        codes: list[Hashable] | None = None,
        bias: list[float] | None = None,
    ) -> Any:
        """Turn a dial and return its value; codes and bias are those of a problem that is played."""
        node = self._walk(trial)
        cells = dial.whole()
        while turn := dial.turn(cells):
            below = [self._visited.below(node, code) for code in turn.codes]
            free = [i for i, next_node in enumerate(below) if not self._visited.is_exhausted(next_node)]
            here, extra = (turn.codes, turn.bias) if codes is None else (codes, bias)
            if avoid_repeats and 0 < len(free) < len(here):
                chosen = free[self._choose([here[i] for i in free], extra and [extra[i] for i in free])]
            else:
                chosen = self._choose(here, extra)
            node, cells = below[chosen], turn.parts[chosen]
        return dial.value(cells, self._rng.random() if not dial.is_exact else 0.0)

    def _choose(self, codes: list[Hashable], bias: list[float] | None) -> int:
        """Choose by the policy; about once in a trial as if nothing had been learned, as a mutation does."""
        if self._rng.random() >= self._memory.mutation:
            return self._playout.choose(codes, bias)
        strengths = np.exp(np.array(bias or [0.0] * len(codes)) - max(bias or [0.0]))
        return int(self._rng.choice(len(codes), p=strengths / strengths.sum()))

    def _walk(self, trial: FrozenTrial) -> int:
        """Return the node that the parameters of the trial lead to, those that were given to it included."""
        for name, distribution in trial.distributions.items():
            if name not in self._walked:
                self._walked.add(name)
                for key, _ in choices(self._memory.dial(name, distribution), trial.params[name]):
                    self._node = self._visited.below(self._node, key)
        return self._node


def choices(dial: Dial, value: Any) -> Iterator[tuple[Hashable, int]]:
    """Yield what was chosen on the way to a value, and among how many."""
    for turn, position in dial.turns(value):
        yield turn.codes[position], len(turn.codes)


def _violations(trial: FrozenTrial) -> float:
    """Return by how much constraints are violated in all, as Optuna 5 and 4 keep them."""
    values = trial.constraints.values() if hasattr(trial, "constraints") else trial.system_attrs.get("constraints")
    return min(sum(max(float(value), 0.0) for value in values or ()), _MOST_VIOLATED)
