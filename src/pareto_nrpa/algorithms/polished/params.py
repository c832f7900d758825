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

    Policies are sampled and learn as in Pareto-NRPA. Local search improves solutions of the front and playouts, and
    policies learn from its ends. If the problem has `segments`, all neighbours are judged before one is evaluated;
    otherwise each neighbour is an evaluation, and kinds of changes are drawn by their success.

    Parameters
    ----------
    level, iterations, n_policies, alpha
        Those of the Pareto-NRPA that makes the playouts and learns from them. Of a compiled problem, `iterations` are
        fewer where recorded playouts would take more than 128 MB: above about 240 cities.
    playouts
        With segments: number of playouts before each local search.
    fresh
        With segments: the share of local searches that begin at a playout; the others begin near the front.
    explore
        With segments: largest share of judged neighbours that may be those of solutions of the front.
    sample
        With segments: a local search near the front begins at the best of this share of its solutions, at least eight.
    shake
        With segments: least number of random steps before it begins; at most twice as many.
    reach
        With segments: number of moves around one place within which these steps are made.
    detour
        With segments that have limits: after all neighbours of the front were judged, a local search near it begins up
        to so many random steps away, and passes through infeasible solutions; 0 switches it off.
    kicks
        With arcs (`Segments.arc_of`) and without limits: number of kicks at the end of a local search, each
        followed by a descent and undone if its end is worse.
    candidates
        Without segments, if solutions are lists of choices: number of changes of which the best one, predicted by an
        additive model of the choices, is evaluated. 1 is without a model.
    bias
        Factor on the problem's bias; its preference for the objectives differs between policies.
    pruning
        Whether playouts use the problem's pruning.
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
    revision = 9
    can_be_asked = True

    def __post_init__(self) -> None:
        check_whole("playouts", self.playouts, 1, 1_000_000)
        check_whole("iterations", self.iterations, 1)  # no budget determines it
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
        for field in fields(self):  # plain numbers of any given type
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
        """Return a new search over `problem`; it needs no budget."""
        from .search import PolishedSearch

        return PolishedSearch(problem, self, seed=seed)
