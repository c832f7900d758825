"""The state of a sampler for one study: rebuilt from its finished trials, never stored."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from optuna.study import StudyDirection
from optuna.trial import TrialState

from ...algorithms.nrpa.driven import DrivenProblem
from .changes import FRESH, MIX, PLAYOUT, Changes, Origin
from .mutation import changed
from .parameters import Parameters
from .trial import TrialRun
from .trie import Trie

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from optuna.study import Study
    from optuna.trial import FrozenTrial

    from ...algorithms.nrpa.params import ParetoNRPA
    from ...problem.base import AnyProblem
    from .mutation import TrialPlan

#: Attributes of a trial: the policy that sampled it, and the trial that it was changed from. Nothing else is stored.
POLICY_KEY, ORIGIN_KEY = "pareto_nrpa:policy", "pareto_nrpa:origin"
_MOST_VIOLATED = 1e300
# How often a change is drawn again if it would repeat an evaluated trial.
_TRIES = 20


class StudyState:
    """A search that learns from the trials of one study, one that never learns, the front, and the evaluated trials."""

    def __init__(self, study: Study, algorithm: ParetoNRPA, seed: int, problems: dict[str, AnyProblem]) -> None:
        self._of = (study._storage, study._study_id)  # noqa: SLF001
        maximise = [direction == StudyDirection.MAXIMIZE for direction in study.directions]
        self._signs = np.where(maximise, -1.0, 1.0)
        problem = DrivenProblem(len(maximise), maximise=maximise)
        self.search, self._unlearned = (algorithm.start(problem, seed=0) for _ in range(2))
        self.parameters = Parameters(problems)
        self.runs: dict[int, TrialRun] = {}
        self._seed = seed
        self._visited = Trie()
        self._seen: set[frozenset[tuple[str, float]]] = set()
        self._changes = Changes()
        self._learned: set[int] = set()
        self._front: dict[int, FrozenTrial] = {}

    def is_of(self, study: Study) -> bool:
        """Return whether this is the state of a study."""
        return self._of == (study._storage, study._study_id)  # noqa: SLF001

    def run(self, study: Study, trial: FrozenTrial, *, avoid_repeats: bool) -> TrialRun:
        """Return a running trial; before a new one, learn from all finished trials."""
        if trial.number not in self.runs:
            self._learn(study)
            rng = np.random.default_rng([self._seed, trial.number])
            plan, origin = self._plan(rng, avoid_repeats=avoid_repeats)
            policy = None if plan is None or origin is None else self._policy_of(self._front[origin.parent])
            playout = self.search.playout(policy=policy, rng=rng)
            unlearned = self._unlearned.playout(policy=playout.policy, rng=rng)
            if origin is not None and origin.kind == FRESH:
                playout = unlearned
            store = partial(study._storage.set_trial_system_attr, trial._trial_id)  # noqa: SLF001
            store(POLICY_KEY, playout.policy)
            if origin is not None:
                store(ORIGIN_KEY, list(origin))
            self.runs[trial.number] = TrialRun(
                plan, playout, unlearned, rng, self.parameters, self._visited, avoid_repeats=avoid_repeats
            )
        return self.runs[trial.number]

    def preference(self, policy: int) -> Any:
        """Return the preference of a policy, for the bias."""
        return self.search.machine.preferences[policy]

    def _plan(self, rng: np.random.Generator, *, avoid_repeats: bool) -> tuple[TrialPlan | None, Origin | None]:
        """Draw the plan of a new trial and its origin; both are None for a playout."""
        for _ in range(_TRIES):
            kind = self._changes.draw_kind(rng)
            if kind == PLAYOUT:
                break
            if kind == FRESH:
                return None, Origin(FRESH)
            parent, other = (self._changes.draw_parent(rng) for _ in range(2))
            if kind == MIX and parent == other:
                continue  # a mixture of a trial with itself
            plan = changed(kind, self._front[parent], self._front[other], self.parameters, rng)
            if not (avoid_repeats and self._is_known(plan, (self._front[parent], self._front[other]))):
                return plan, Origin(kind, parent)
        return None, None

    def _is_known(self, plan: TrialPlan, alike: Iterable[FrozenTrial]) -> bool:
        """Return whether a plan repeats an evaluated trial, as far as its parameters are those of `alike`."""
        if plan.routes:
            return False  # decided while it is played
        spaces = [trial.distributions for trial in alike if plan.values.keys() >= trial.distributions.keys()]
        return any(self.parameters.key(plan.values, space) in self._seen for space in spaces)

    def _learn(self, study: Study) -> None:
        """Learn from all trials finished since the last call, in their order, from any sampler."""
        for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
            if trial.number not in self._learned:
                self._learned.add(trial.number)
                self._learn_from(trial)

    def _learn_from(self, trial: FrozenTrial) -> None:
        self._seen.add(self.parameters.key(trial.params, trial.distributions))
        dials = (self.parameters.dial(*parameter) for parameter in trial.distributions.items())
        if all(dial.is_exact for dial in dials):  # ranges of real numbers are never exhausted
            self._visited.add(list(self.parameters.choices(trial.params, trial.distributions)))
        if not all(map(math.isfinite, trial.values)):
            return  # infinite values cannot be compared
        policy = self._policy_of(trial)
        playout = self.search.playout(policy=policy)
        for codes, bias, position in self._turns(trial, policy):
            playout.take(position, codes, bias)
        if playout.solution:
            violations = _violations(trial)
            self.search.tell([playout.finish()], [trial.values], [violations])
            origin = Origin.read(trial.system_attrs.get(ORIGIN_KEY))
            self._changes.learn(trial.number, origin, self._signs * trial.values, violations)
            self._front[trial.number] = trial
            self._front = {number: self._front[number] for number in self._changes.front.numbers}

    def _policy_of(self, trial: FrozenTrial) -> int:
        """Return the policy that learns from a trial."""
        policy, n_policies = trial.system_attrs.get(POLICY_KEY), self.search.params.n_policies
        if type(policy) is int and 0 <= policy < n_policies:
            return policy
        return trial.number % n_policies  # enqueued, or sampled by another sampler

    def _turns(self, trial: FrozenTrial, policy: int) -> Iterator[tuple[list[Hashable], list[float] | None, int]]:
        """Yield codes, bias and position of all choices of a finished trial: parameters first, then played problems."""
        for parameter, distribution in trial.distributions.items():
            if self.parameters.step_of(parameter) is None:
                for turn, position in self.parameters.dial(parameter, distribution).turns(trial.params[parameter]):
                    yield turn.codes, turn.bias, position
        for name in self.parameters.played(trial):
            for game, position in self.parameters.replay(trial, name):
                if len(game.legal) > 1:
                    yield game.codes(), game.bias(self.preference(policy)), position


def _violations(trial: FrozenTrial) -> float:
    """Return the sum of all violations, as stored by Optuna 5 or 4."""
    values = trial.constraints.values() if hasattr(trial, "constraints") else trial.system_attrs.get("constraints")
    return min(sum(max(float(value), 0.0) for value in values or ()), _MOST_VIOLATED)
