"""The parameters of Polished NRPA."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from ..._util.checks import check_flag, check_number, check_whole
from ..algorithm import Algorithm
from ..nrpa.params import ParetoNRPA

if TYPE_CHECKING:
    from ...problem.base import AnyProblem
    from .search import PolishedSearch


@dataclass(frozen=True)
class PolishedNRPA(Algorithm):
    """Pareto-NRPA combined with local search; each uses solutions of the other.

    Policies are sampled from and learn as in Pareto-NRPA. Solutions of the front, and playouts, are improved by local
    search; what that ends in is given to the policies to learn from. Where the problem has `segments`, all neighbours
    are judged before any is evaluated; else each neighbour is an evaluation, and what kind of change is made most
    follows from what each kind has brought.

    Parameters
    ----------
    level, iterations, n_policies, alpha
        Those of the Pareto-NRPA that makes and learns from the playouts.
    playouts
        With segments: how many playouts are made before each local search.
    fresh
        With segments: the share of local searches that begin at a playout; the others begin near the front.
    explore
        With segments: which share of the neighbours that are judged may be those of solutions of the front, at most.
    sample
        With segments: a local search near the front begins at the best of this share of its solutions, of eight at
        least.
    shake
        With segments: how many random steps away from there it begins, at least; at most twice as many.
    reach
        With segments: within how many moves of one place these steps are made.
    detour
        With segments that have limits: once all neighbours of the front were looked at, a local search near it begins
        up to so many random steps away, feasible or not, and passes through infeasible solutions; 0 is never.
    kicks
        With arcs (`Segments.arc_of`) and without limits: how often a local search is kicked at its end, and
        continues from the better of the two ends.
    candidates
        Without segments, where solutions are lists of choices: how many changes are thought of before one is evaluated,
        the one that a model of what each choice adds likes best. 1 is without a model.
    bias
        Factor on the problem's bias; each policy has it care for the objectives in its own way.
    pruning
        Whether to keep to the moves that the problem thinks worth trying.
    """

    level: int = 3
    iterations: int = 10
    n_policies: int = 4
    alpha: float = 0.5
    playouts: int = 5
    fresh: float = 0.1
    explore: float = 0.2
    sample: float = 0.1
    shake: int = 8
    reach: int = 50
    detour: int = 8
    kicks: int = 300
    candidates: int = 16
    bias: float = 1.0
    pruning: bool = True

    name = "polished-nrpa"
    revision = 8
    can_be_asked = True

    def __post_init__(self) -> None:
        check_whole("playouts", self.playouts, 1, 1_000_000)
        check_whole("iterations", self.iterations, 1)  # there is no budget from which it could follow
        check_whole("shake", self.shake, 1, 1_000)
        check_whole("reach", self.reach, 1, 1_000_000)
        check_whole("kicks", self.kicks, 0, 1_000_000)
        check_whole("detour", self.detour, 0, 1_000)
        check_whole("candidates", self.candidates, 1, 1_000)
        for name in ("fresh", "explore", "sample"):
            share = getattr(self, name)
            check_number(name, share)
            if not 0 <= share <= 1:
                raise ValueError(f"{name} must be a share from 0 to 1, got {share!r}.")
        check_flag("pruning", self.pruning)
        learning = self.learning()
        for field in fields(self):  # plain numbers, whatever came
            kind: Any = type(field.default)
            object.__setattr__(self, field.name, kind(getattr(learning, field.name, getattr(self, field.name))))

    def learning(self) -> ParetoNRPA:
        """Return the Pareto-NRPA that makes the playouts and learns."""
        return ParetoNRPA(
            level=self.level,
            n_policies=self.n_policies,
            alpha=self.alpha,
            iterations=self.iterations,
            weighting="none",
            bias=self.bias,
            preferences="spread",
            pruning=self.pruning,
        )

    def start(self, problem: AnyProblem, *, seed: int = 0, budget: int | None = None) -> PolishedSearch:
        """Return a search over `problem` that has not made an evaluation yet; it needs no budget."""
        from .search import PolishedSearch

        return PolishedSearch(problem, self, seed=seed)
