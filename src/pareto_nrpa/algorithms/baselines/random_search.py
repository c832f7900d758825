"""Random playouts, the lowest baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ..._util.checks import check_number
from ...engine.evaluation import sample
from ..algorithm import parameter
from .base import Baseline, BaselineSearch

if TYPE_CHECKING:
    from ...problem.base import AnyProblem


@dataclass(frozen=True)
class RandomSearch(Baseline):
    """Independent random playouts.

    Parameters
    ----------
    bias
        Factor on the problem's bias; 0, the default, draws legal moves uniformly.

    pruning
        Whether playouts use the problem's pruning.
    """

    bias: float = parameter(0.0, check_number)

    name = "random"

    def start(self, problem: AnyProblem, *, seed: int = 0, budget: int | None = None) -> BaselineSearch:
        """Return a new search."""
        return _Search(problem, self, seed=seed, budget=budget)


class _Search(BaselineSearch):
    STATE: ClassVar[dict[str, Any]] = {}

    def __init__(self, problem: AnyProblem, baseline: RandomSearch, **where: Any) -> None:
        super().__init__(problem, baseline, **where)
        self._sample = self.player.loop(sample)

    def step(self, n: int) -> int:
        return self._sample(n)
