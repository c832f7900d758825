"""NSGA-III of pymoo, for three objectives and more: survival by pymoo, the rest on arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...engine.state import Maybe
from .generations import Generations
from .moea import GenerationSearch, WithOffspring, check_several_objectives, directions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...problem.base import AnyProblem
    from .base import BaselineSearch


@dataclass(frozen=True)
class NSGA3(WithOffspring):
    """NSGA-III (Deb & Jain 2014) as in pymoo, with the sizes that the paper gives NSGA-II.

    Parameters
    ----------
    population
        Size of the population, and largest number of reference directions (Das-Dennis): 231 with three objectives.
    offspring
        New solutions per generation.
    bias, pruning
        As in `NSGA2`.
    """

    name = "nsga-iii"

    def algorithm(self, problem: AnyProblem, sampling: Any) -> Any:
        """Return pymoo's algorithm."""
        from pymoo.algorithms.moo.nsga3 import NSGA3

        return NSGA3(
            directions(problem.n_objectives, self.population),
            pop_size=self.population,
            n_offsprings=self.offspring,
            sampling=sampling,
        )

    def start(self, problem: AnyProblem, *, seed: int = 0, budget: int | None = None) -> BaselineSearch:
        """Return a new search."""
        check_several_objectives(problem, "NSGA-III")
        return GenerationSearch(ReferenceDirections, problem, self, seed=seed, budget=budget)


class ReferenceDirections(Generations):
    """NSGA-III: fronts in their order; of the last partial one, those in directions with few members."""

    STATE: ClassVar[dict[str, Any]] = {"normalisation": Maybe("f8 [*, M]")}
    _survival: Any = None

    @property
    def normalisation(self) -> NDArray[np.float64] | None:
        """The normalisation of pymoo: ideal, worst and nadir point, then the extreme points."""
        if self._survival is None:
            return None
        norm = self._survival.norm
        return np.vstack([norm.ideal_point, norm.worst_point, norm.nadir_point, norm.extreme_points])

    @normalisation.setter
    def normalisation(self, points: NDArray[np.float64] | None) -> None:
        self._survival = None if points is None else self._new_survival()
        if points is not None:
            norm = self._survival.norm
            norm.ideal_point, norm.worst_point, norm.nadir_point, norm.extreme_points = *points[:3], points[3:]

    def _new_survival(self) -> Any:
        from pymoo.algorithms.moo.nsga3 import ReferenceDirectionSurvival

        return ReferenceDirectionSurvival(directions(self.objectives.shape[1], self.capacity))

    def _survivors(self, objectives: NDArray[np.float64], n: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        from pymoo.core.population import Population
        from pymoo.core.problem import Problem

        m = objectives.shape[1]
        if self._survival is None:
            self._survival = self._new_survival()
        population = Population.new("F", objectives, "place", np.arange(len(objectives)))
        problem = Problem(n_var=1, n_obj=m)
        survivors = self._survival.do(problem, population, n_survive=n, random_state=self.rng)
        # Equal crowding distances and no dominance: parents are drawn at random.
        return np.array(survivors.get("place"), dtype=np.int64), np.zeros(n)

    def _fitness(self) -> NDArray[np.float64]:
        return np.zeros_like(self.objectives)
