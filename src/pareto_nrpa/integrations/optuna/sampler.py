"""The sampler: suggestions are choices of a policy or of a good trial; finished trials are learned from."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
from optuna.samplers import BaseSampler
from optuna.samplers._base import _process_constraints_after_trial

from ..._util.checks import check_flag, check_seed, shown
from ...algorithms.nrpa.params import ParetoNRPA
from .study import StudyState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from optuna.distributions import BaseDistribution
    from optuna.study import Study
    from optuna.trial import FrozenTrial, TrialState

    from ...problem.base import AnyProblem
    from .playing import Game

#: For an unknown number of some hundred trials: one level that never ends and learns a little from the front after
#: each trial. Nested levels would restart after `iterations ** level` trials, which is too late to pay off.
FOR_TRIALS = ParetoNRPA(level=1, n_policies=4, alpha=0.1, iterations=2**40)


class ParetoNRPASampler(BaseSampler):
    """Pareto-NRPA as a sampler: for categorical, integer and conditional spaces, and for problems built move by move.

    A trial is a playout of a policy, a trial of the study's front with changes, or a mixture of two; kinds that enter
    the front more often are drawn more often. What is learned is rebuilt from the finished trials of the study: any
    number of threads and processes may share a study, and a resumed one continues as if it had not stopped. Failed and
    pruned trials teach nothing.

    Parameters
    ----------
    algorithm
        A `ParetoNRPA` with other parameters than those chosen for some hundred trials.
    seed
        Same seed, same study, where trials follow one another. Each trial has its own random numbers.
    avoid_repeats
        Whether to avoid parameters that were evaluated before. Set it to False where evaluations are noisy.
    constraints_func
        As in other samplers: values above 0 are violations. Not needed with `trial.set_constraint` of Optuna 5.
    """

    def __init__(
        self,
        algorithm: ParetoNRPA | None = None,
        *,
        seed: int | None = None,
        avoid_repeats: bool = True,
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
    ) -> None:
        if algorithm is not None and not isinstance(algorithm, ParetoNRPA):
            raise TypeError(f"algorithm must be a ParetoNRPA, got {shown(algorithm)}.")
        check_flag("avoid_repeats", avoid_repeats)
        if constraints_func is not None and not callable(constraints_func):
            raise TypeError(
                "constraints_func must be a function from a finished trial to numbers, of which those above 0 mean "
                f"violated, got {shown(constraints_func)}; leave it out if there are no constraints."
            )
        self._algorithm = FOR_TRIALS if algorithm is None else algorithm
        self._seed = check_seed(np.random.SeedSequence().entropy if seed is None else seed)
        self._avoid_repeats, self._constraints_func = avoid_repeats, constraints_func
        self._problems: dict[str, AnyProblem] = {}
        self._games: dict[int, tuple[str, str, Game]] = {}  # by trial: the parameter to come, its game by name
        self._memory: StudyState | None = None
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        # What was learned is rebuilt from the study; a lock cannot be copied.
        return {**vars(self), "_games": {}, "_memory": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.RLock())

    def reseed_rng(self) -> None:
        """Do nothing: each trial has its own random numbers."""

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """Return an empty space: parameters are sampled one by one."""
        return {}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return a value for each parameter of a given space."""
        return {name: self.sample_independent(study, trial, name, space) for name, space in search_space.items()}

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Return a value for a parameter."""
        with self._lock:
            if self._memory is None or not self._memory.is_of(study):
                self._memory = StudyState(study, self._algorithm, self._seed, self._problems)
            run = self._memory.run(study, trial, avoid_repeats=self._avoid_repeats)
            dial = self._memory.parameters.dial(param_name, param_distribution)
            expected, name, game = self._games.get(trial.number, ("", "", None))
            if game is None or expected != param_name:
                return run.sample(trial, param_name, dial)
            return run.sample_move(trial, name, dial, game, self._memory.preference(run.policy))

    def expect(self, number: int, name: str, parameter: str, game: Game) -> None:
        """Register the problem played under a name in a trial, and its state before the next suggestion."""
        with self._lock:
            if name not in self._problems:
                self._memory = None  # it has treated moves of this problem as numbers
            self._problems[name] = game.problem  # each trial may create it again
            self._games[number] = (parameter, name, game)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        """Drop the state of the finished trial, and store its constraints."""
        with self._lock:
            self._games.pop(trial.number, None)
            if self._memory is not None:
                self._memory.runs.pop(trial.number, None)
        if self._constraints_func is not None:
            _process_constraints_after_trial(self._constraints_func, study, trial, state)
