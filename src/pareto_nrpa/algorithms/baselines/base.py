"""Base classes of the searches of baselines."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..._util.checks import check_flag, check_number, check_whole
from ...problem.base import AnyProblem, CompiledProblem, without_pruning
from ...problem.genotype import check_genotype, genotype_of
from ..algorithm import Algorithm, parameter
from ..search import Search, player_without_policies

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SLICE = 1_000
#: Number of playouts that a genotype is compared with before use.
_PLAYOUTS = 10


@dataclass(frozen=True)
class Baseline(Algorithm):
    """The parameters that all baselines have."""

    bias: float = parameter(1.0, check_number, kw_only=True)
    pruning: bool = parameter(True, check_flag, kw_only=True)


class BaselineSearch(Search):
    """A search of a baseline on one problem."""

    STATE: ClassVar[dict[str, Any]] = {}

    def __init__(self, problem: AnyProblem, baseline: Baseline, *, seed: int, budget: int | None) -> None:
        super().__init__(problem, baseline, seed=seed)
        self.baseline, self.budget = baseline, budget
        played = problem if baseline.pruning else without_pruning(problem)
        self.player = player_without_policies(played, self.rng, baseline.bias)

    @abstractmethod
    def step(self, n: int) -> int:
        """Make up to n evaluations, at least one unless arrays must grow; returns their number."""

    def advance(self, n: int) -> None:
        """Make n evaluations."""
        check_whole("n", n, 0)
        self.compile()
        done = 0
        while done < n:
            done += self.step(n - done)

    @property
    def slice_size(self) -> int:
        """A number of evaluations between two checks of the stop."""
        return _SLICE if isinstance(self.problem, CompiledProblem) else 1


class WholeSolutionSearch(BaselineSearch):
    """A baseline that changes whole solutions, which requires the genotype of its problem."""

    STATE: ClassVar[dict[str, Any]] = {}

    def __init__(self, problem: AnyProblem, baseline: Baseline, **where: Any) -> None:
        super().__init__(problem, baseline, **where)
        self.genotype = genotype_of(problem, baseline.name)
        self._fits = False

    def check_solutions(self, rows: NDArray[np.int64]) -> None:
        """Raise `ValueError` unless all rows of a restored table of moves are solutions."""
        for row in rows.tolist():
            self.genotype.encode(self.player.solution(row))

    def compile(self) -> None:
        """Compile what `advance` needs, and compare the genotype with some playouts."""
        super().compile()
        if not self._fits:
            draws = np.random.default_rng(self.seed)  # separate from the generator of the search
            check_genotype(self.problem, [self.player.sample(draws) for _ in range(_PLAYOUTS)])
            self._fits = True
