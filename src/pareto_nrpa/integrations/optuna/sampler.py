"""The sampler: every suggestion is a choice of a policy or of a good trial, every finished trial one to learn from."""

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

#: For hundreds of trials, nobody knows how many: one level that never ends, and learns a little from the front of all
#: trials after each. Nested levels would begin anew when they are over, and have no time to pay.
FOR_TRIALS = ParetoNRPA(level=1, n_policies=4, alpha=0.1, iterations=2**40)


class ParetoNRPASampler(BaseSampler):
    """Pareto-NRPA as a sampler: for categorical, integer and conditional spaces, and for problems built move by move.

    Policies make up trials; others are trials of the study's front, changed or mixed, by what each kind has brought.
    What it has learned is rebuilt from the finished trials of the study: any number of threads and processes may share
    a study, and one that is resumed goes on as if it had never stopped. Failed and pruned trials teach nothing.

    Parameters
    ----------
    algorithm
        A `ParetoNRPA` with other parameters than those chosen for some hundred trials.
    seed
        Same seed, same study, where trials follow one another. Each trial draws numbers of its own, by its number.
    avoid_repeats
        Whether to leave out what was evaluated before. Wrong where equal parameters have different values, by chance.
    constraints_func
        As in other samplers, values above 0 mean violated; `trial.set_constraint` of Optuna 5 needs none.
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
        # What was learned is in the study; a lock cannot be copied.
        return {**vars(self), "_games": {}, "_memory": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.RLock())

    def reseed_rng(self) -> None:
        """Do nothing: trials draw numbers of their own in any case."""

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """Return an empty space: what comes next is known when it is asked for."""
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
        """Hear which problem is played under a name in a trial, and where it stands before the next suggestion."""
        with self._lock:
            if name not in self._problems:
                self._memory = None  # it took moves of this problem for mere numbers
            self._problems[name] = game.problem  # which may be made anew in each trial
            self._games[number] = (parameter, name, game)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        """Forget what was under way, and store constraints."""
        with self._lock:
            self._games.pop(trial.number, None)
            if self._memory is not None:
                self._memory.runs.pop(trial.number, None)
        if self._constraints_func is not None:
            _process_constraints_after_trial(self._constraints_func, study, trial, state)
