"""Scalarised nested Monte-Carlo search, one search per weight vector: the idea of A-NMCS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..._util.checks import check_whole
from ...engine.archive import enlarge
from ...engine.state import need
from ...problem.base import CompiledProblem
from ...problem.stepper import legal_after
from ..algorithm import parameter
from . import nmcs_kernels as kernels
from .base import Baseline, BaselineSearch
from .weights import weight_vectors

if TYPE_CHECKING:
    from ...problem.base import AnyProblem


@dataclass(frozen=True)
class WeightedNMCS(Baseline):
    """Nested Monte-Carlo Search (Cazenave 2009) for one weighted sum of the objectives after the other.

    Fewer violations come first, then the weighted sum of the objectives, each divided by its range in the archive at
    the start of the search. All evaluations enter the archive. After the last weight vector the first one is
    used again.

    Parameters
    ----------
    level
        Depth of the nesting; level 1 tries each move with one playout.
    weights
        Number of weight vectors; with more than two objectives, about as many.
    bias
        Factor on the problem's bias in playouts; 0: legal moves are drawn uniformly.
    pruning
        Whether playouts use the problem's pruning.
    """

    level: int = parameter(2, check_whole, 1, 10)
    weights: int = parameter(11, check_whole, 1)

    name = "nmcs"

    def start(self, problem: AnyProblem, *, seed: int = 0, budget: int | None = None) -> BaselineSearch:
        """Return a new search."""
        return _Search(problem, self, seed=seed, budget=budget)


class _Search(BaselineSearch):
    STATE: ClassVar[dict[str, Any]] = {"_nest": kernels.Nest}

    def __init__(self, problem: AnyProblem, baseline: WeightedNMCS, **where: Any) -> None:
        super().__init__(problem, baseline, **where)
        levels, n_moves, n_legal = baseline.level, problem.max_moves, self.player.store.legal.size
        self._nest = kernels.Nest(
            levels=np.zeros((levels, kernels.N_COLUMNS), dtype=np.int64),
            candidates=np.zeros((levels, n_legal), dtype=np.int64),
            best_moves=np.zeros((levels, n_moves), dtype=np.int64),
            best_scores=np.zeros((levels, 2)),
            given=np.zeros(n_moves, dtype=np.int64),
            weights=weight_vectors(problem.n_objectives, baseline.weights),
            scale=np.ones(problem.n_objectives),
            value=np.zeros((1, 2)),
            numbers=np.array([kernels.NO_LEVEL, -1, kernels.NOT_CHOSEN], dtype=np.int64),
        )
        self._search = self.player.loop(kernels.nested_search, self._nest)

    def step(self, n: int) -> int:
        self._make_room()
        return self._search(self._nest, n)

    @property
    def state_sizes(self) -> dict[str, int | str | None]:
        """The values of the names in the forms of the state."""
        (n_weights, _), (n_levels, n_moves) = self._nest.weights.shape, self._nest.best_moves.shape
        return super().state_sizes | {"N": n_levels, "D": n_moves, "W": n_weights}

    def restored(self) -> None:
        """Check the restored state: all moves that are played without further checks are legal."""
        nest, problem = self._nest, self.player.problem
        top = int(nest.numbers[kernels.TOP])
        if not isinstance(problem, CompiledProblem) or top == kernels.NO_LEVEL:
            return
        for level in range(top, len(nest.levels)):
            depth, n_candidates, _, length = nest.levels[level].tolist()
            given, best = nest.given[:depth].tolist(), nest.best_moves[level, :length].tolist()
            legal = legal_after(problem, given)
            need(legal is not None and legal.issuperset(nest.candidates[level, : max(0, n_candidates)]), "legal moves")
            need(not best or (best[:depth] == given and legal_after(problem, best) == set()), "best sequences that end")

    def _make_room(self) -> None:
        """Grow with the store, as that of a plain problem grows."""
        nest, n_legal = self._nest, self.player.store.legal.size
        if n_legal > nest.candidates.shape[1]:
            self._nest = nest._replace(candidates=enlarge(nest.candidates, len(nest.levels), n_legal))
