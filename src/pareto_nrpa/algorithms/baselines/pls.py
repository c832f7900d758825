"""Pareto Local Search, on permutations and on independent choices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..._util.checks import check_whole
from ...engine.archive import enlarge
from ...problem.genotype import Permutation
from ..algorithm import parameter
from . import pls_kernels as kernels
from .base import Baseline, BaselineSearch, WholeSolutionSearch

if TYPE_CHECKING:
    from ...problem.base import AnyProblem

_FIRST_SIZE = 512


@dataclass(frozen=True)
class ParetoLocalSearch(Baseline):
    """Pareto Local Search (Paquete, Chiarandini & Stützle 2004).

    Starting from sampled solutions, a solution of the front with unknown neighbours is drawn, and all its neighbours
    are evaluated; those that the front does not cover enter it. Neighbours of a permutation: 2-opt (a segment
    reversed) and or-opt (a segment of a few moves relocated); of choices: one choice changed. When all
    neighbours are known, another local search begins from new samples, and the archive is kept.

    Parameters
    ----------
    initial
        Number of sampled solutions to start from.
    longest_segment
        The longest segment that or-opt moves; 0: neighbours are those of 2-opt only.
    bias
        Factor on the problem's bias when they are sampled; 0: legal moves are drawn uniformly.
    pruning
        Whether the sampling uses the problem's pruning.
    """

    initial: int = parameter(250, check_whole, 1)
    longest_segment: int = parameter(3, check_whole, 0)

    name = "pls"

    def start(self, problem: AnyProblem, *, seed: int = 0, budget: int | None = None) -> BaselineSearch:
        """Return a new search."""
        return _Search(problem, self, seed=seed, budget=budget)


class _Search(WholeSolutionSearch):
    STATE: ClassVar[dict[str, Any]] = {"_front": kernels.WorkingFront}

    def __init__(self, problem: AnyProblem, baseline: ParetoLocalSearch, **where: Any) -> None:
        super().__init__(problem, baseline, **where)
        self._front = self._working_front(baseline)
        self._search = self.player.loop(kernels.local_search, self._front)

    def _working_front(self, baseline: ParetoLocalSearch) -> kernels.WorkingFront:
        genotype = self.genotype
        n, m = len(genotype.moves), self.problem.n_objectives
        is_permutation = isinstance(genotype, Permutation)
        steps = [] if is_permutation else [self.player.numbers(step) for step in genotype.moves]  # type: ignore[arg-type]  # moves of choices are lists
        options = np.zeros((n, max(map(len, steps), default=1)), dtype=np.int64)
        for row, step in zip(options, steps, strict=False):
            row[: len(step)] = step
        numbers = np.zeros(kernels.N_NUMBERS, dtype=np.int64)
        numbers[[kernels.BASE_ID, kernels.N_FIRST]] = kernels.NO_BASE, baseline.initial
        numbers[kernels.LONGEST_SEGMENT] = baseline.longest_segment
        numbers[kernels.IS_PERMUTATION] = is_permutation
        return kernels.WorkingFront(
            scores=np.zeros((_FIRST_SIZE, 1 + m)),
            moves=np.zeros((_FIRST_SIZE, n), dtype=np.int64),
            heads=np.zeros((_FIRST_SIZE, 2), dtype=np.int64),
            base=np.zeros(n, dtype=np.int64),
            cursor=np.zeros(3, dtype=np.int64),
            numbers=numbers,
            options=options,
            n_options=np.array([len(step) for step in steps] or [0] * n, dtype=np.int64),
        )

    def restored(self) -> None:
        """Check the restored state."""
        numbers = self._front.numbers
        self.check_solutions(self._front.moves[: numbers[kernels.SIZE]])
        if numbers[kernels.BASE_ID] != kernels.NO_BASE:
            self.check_solutions(self._front.base[None])

    def step(self, n: int) -> int:
        front = self._front
        if front.numbers[kernels.SIZE] == len(front.heads):
            size = 2 * len(front.heads)
            grown = {
                name: enlarge(getattr(front, name), size, getattr(front, name).shape[1])
                for name in ("scores", "moves", "heads")
            }
            self._front = front._replace(**grown)
        return self._search(self._front, n)
