"""NRPA for a weighted sum of the objectives, one weight vector after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ..._util.checks import check_positive, check_whole
from ..algorithm import parameter
from ..nrpa.params import PAPER_BUDGET, ParetoNRPA
from ..nrpa.search import AskTellSearch
from .base import Baseline
from .weights import weight_vectors

if TYPE_CHECKING:
    from ...problem.base import AnyProblem


@dataclass(frozen=True)
class WeightedNRPA(Baseline):
    """Nested Rollout Policy Adaptation (Rosin 2011), with the problem's bias: GNRPA (Cazenave 2020).

    One policy, and one best sequence per level: fewer violations come first, then the weighted sum of the objectives,
    each divided by its range in the archive at the start of the search. All evaluations enter the archive.

    Parameters
    ----------
    level
        Depth of the nesting.
    weights
        Number of weight vectors, each with an equal share of the budget; approximate with more than two
        objectives.
    alpha
        Learning rate.
    bias
        Factor on the problem's bias; 0: none.
    pruning
        Whether playouts use the problem's pruning.
    """

    level: int = parameter(3, check_whole, 1, 100)
    weights: int = parameter(11, check_whole, 1)
    alpha: float = parameter(1.0, check_positive)

    name = "nrpa"

    def start(self, problem: AnyProblem, *, seed: int = 0, budget: int | None = None) -> AskTellSearch:
        """Return a new search."""
        vectors = weight_vectors(problem.n_objectives, self.weights)
        share = (PAPER_BUDGET if budget is None else budget) // len(vectors)
        params = ParetoNRPA(
            level=self.level,
            n_policies=1,
            alpha=self.alpha,
            iterations=_largest_root(share, self.level),
            weighting="none",
            bias=self.bias,
            pruning=self.pruning,
        )
        return _Search(budget, problem, params, algorithm=self, seed=seed, budget=share, objective_weights=vectors)


def _largest_root(budget: int, level: int) -> int:
    """Return the largest N of at least 1 for which N^level is within the budget, so that every weight is used."""
    n: int = max(1, round(budget ** (1 / level)))
    while n > 1 and n**level > budget:
        n -= 1
    return n


class _Search(AskTellSearch):
    """A search of Pareto-NRPA with a single policy and a weighted sum instead of dominance."""

    STATE: ClassVar[dict[str, Any]] = {}
    accepts_solutions = False

    def __init__(self, whole_budget: int | None, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.budget = whole_budget
