"""The parameters of Pareto-NRPA; the defaults are the paper's."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..._util.checks import check_choice, check_flag, check_number, check_positive, check_whole, shown
from ...problem.base import AnyProblem, paper_preference
from ..algorithm import Algorithm, parameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .search import AskTellSearch

#: The budget that determines N if the stop has no number of evaluations: that of the paper.
PAPER_BUDGET = 100_000
_MOST_ITERATIONS = 2**62  # the range of compiled counters


@dataclass(frozen=True)
class ParetoNRPA(Algorithm):
    """Nested Rollout Policy Adaptation with several policies and Pareto fronts (Lallouet et al., ECAI 2025).

    Parameters
    ----------
    level
        Depth of the nesting, at least 1.
    n_policies
        Size of the policy set.
    alpha
        Learning rate, above 0.
    iterations
        N, the iterations of each level. None: the smallest N for which N^level covers the budget. If the stop has not
        fired after N^level evaluations, a new search begins; the archive is kept.
    weighting
        "crowding" weights each sequence by its crowding distance, clipped to 2; "none" weights all equally.
    adapt
        "all" adapts to every sequence of the set; "one" only to the most isolated one of each policy.
    bias
        Factor on the problem's bias: 1 is the bias of the problem, 0 none.
    preferences
        The preference of each policy's bias. "paper": the same for all, as the problem declares (by default its
        first objective); "spread": from one objective to the other over the policies.
    temperature
        Divides weight plus bias before the softmax, in playout and adapt alike; above 0.
    limited_repetitions
        End a level after this many results in a row without a new member of its first front; 0 is off.
    playouts_per_step
        Number of playouts of level 1 with the same policies before each step of learning (Stabilized-NRPA, Cazenave et
        al. 2021): 1 is the paper's. A search then has this factor times N^level evaluations.
    pruning
        Whether playouts use the problem's pruning, if it has any.
    """

    level: int = parameter(4, check_whole, 1, 100)
    n_policies: int = parameter(4, check_whole, 1, 10_000)
    alpha: float = parameter(0.5, check_positive)
    iterations: int | None = parameter(None, check_whole, 1)
    weighting: Literal["crowding", "none"] = parameter("crowding", check_choice, ("crowding", "none"))
    adapt: Literal["all", "one"] = parameter("all", check_choice, ("all", "one"))
    bias: float = parameter(1.0, check_number)
    preferences: Literal["paper", "spread"] = parameter("paper", check_choice, ("paper", "spread"))
    temperature: float = parameter(1.0, check_positive)
    limited_repetitions: int = parameter(0, check_whole, 0)
    pruning: bool = parameter(True, check_flag)
    playouts_per_step: int = parameter(1, check_whole, 1, 1_000_000)

    name = "pareto-nrpa"
    can_be_asked = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.iterations is not None:
            check_whole("iterations", self.iterations, 1, _MOST_ITERATIONS // self.playouts_per_step)

    def resolve_iterations(self, budget: int | None) -> int:
        """Return N: the given value, or the smallest for which N^level steps cover the budget."""
        if self.iterations is not None:
            return self.iterations
        budget = -(-(PAPER_BUDGET if budget is None else int(budget)) // self.playouts_per_step)
        low, high = 0, 1 << -(-budget.bit_length() // self.level)  # low^level < budget <= high^level
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if middle**self.level >= budget else (middle, high)
        if high * self.playouts_per_step > _MOST_ITERATIONS:
            raise ValueError(f"the budget is too large for level {self.level}, got {shown(budget)} evaluations.")
        return high

    def preference_matrix(self, problem: AnyProblem) -> NDArray[np.float64]:
        """Return the preference vector of each policy, [n_policies, n_objectives]."""
        p, m = self.n_policies, problem.n_objectives
        if self.preferences == "paper":
            return np.tile(paper_preference(problem), (p, 1))
        return _spread(p, m)

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain values; later additions are included only if they differ from the default.

        Keys of stored runs and checkpoints thus stay valid.
        """
        values = asdict(self)
        if self.playouts_per_step == 1:
            del values["playouts_per_step"]
        return values

    def start(self, problem: AnyProblem, *, seed: int = 0, budget: int | None = None) -> AskTellSearch:
        """Return a new search over `problem`."""
        from .search import AskTellSearch

        return AskTellSearch(problem, self, seed=seed, budget=budget)


def _spread(p: int, m: int) -> NDArray[np.float64]:
    """Return p preference vectors, evenly spaced from the first objective over the others to the last."""
    if m == 1:
        return np.ones((p, 1))
    position = np.linspace(0, m - 1, p) if p > 1 else np.array([(m - 1) / 2])
    return np.maximum(0.0, 1.0 - np.abs(position[:, None] - np.arange(m)[None, :]))
