"""NSGA-II and SMS-EMOA of pymoo, generation by generation, on arrays instead of objects.

pymoo keeps every solution as an object and works on it in Python, which takes fifty times as long as evaluating it.
Here the same steps are made with the same random numbers in the same order, so that the population after every
generation is the one that pymoo has (`tests/algorithms/baselines/test_moea.py`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import moocore
import numpy as np
from numba import typeof, types

from ...engine.jit.kernels import Entry, compile_entry
from .evolution import crowding_gaps, mate

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

#: How often pymoo mates again when all children were there already.
_MATINGS = 100
#: How far behind the worst SMS-EMOA puts its reference point, in units of the population's range (pymoo's default).
_BEHIND = 10.0


class Generations(ABC):
    """A population that has children, is told how good they are, and keeps the best.

    Parameters
    ----------
    n_objectives, sizes
        Number of objectives; number of choices at each place of a solution.
    vary
        Kernel of `kernels.baselines.variation` that makes children.
    capacity, offspring
        Size of the population; new solutions per generation.
    """

    STATE: ClassVar[dict[str, Any]] = {
        "genes": "i8 [size, =] < 0:",
        "objectives": "f8 [size, =]",
        "crowding": "f8 [size]",
        "rng": "rng",
        "waiting": "i8 [*, =] < 0:",
        "avoids_known": "bool",
    }

    def __init__(self, n_objectives: int, sizes: Ints, vary: Any, capacity: int, offspring: int) -> None:
        self.capacity, self.offspring = capacity, offspring
        self.genes: Ints = np.zeros((0, len(sizes)), dtype=np.int64)
        self.objectives = np.zeros((0, n_objectives))
        self.crowding = np.zeros(0)
        self.rng = np.random.default_rng(0)
        self._sizes = sizes
        self.waiting = self.genes
        self._known: set[bytes] | None = set()
        rows, points = self.genes, self.objectives
        pairs, marks = np.zeros((2, 0, len(sizes)), np.int64), np.zeros(0, np.bool_)
        self._mate = _entry(mate, self.rng, sizes, rows, points, self.crowding, pairs, rows, sizes, marks, vary=vary)
        self._gaps = _entry(crowding_gaps, points, rows, sizes, points)
        self.entries = [self._mate, self._gaps]

    @property
    def avoids_known(self) -> bool:
        """Whether children that are in the population are made anew."""
        return self._known is not None

    @avoids_known.setter
    def avoids_known(self, avoids: bool) -> None:
        self._known = set(_keys(self.genes)) if avoids else None

    def begin(self, genes: Ints, rng: np.random.Generator) -> None:
        """Take the first population, and the generator that drew it."""
        self.waiting, self.rng = genes, rng

    def children(self) -> Ints:
        """Return new solutions [n, width]; `tell` must follow."""
        if len(self.genes):
            self.waiting = self._mated()
            if not len(self.waiting):
                # All that mating finds is there already, as on tiny problems: from here on it may be evaluated again.
                self._known = None
                self.waiting = self._mated()
        return self.waiting

    def tell(self, objectives: Floats) -> None:
        """Take the objectives of the children, and let the fittest of all survive."""
        genes = np.concatenate((self.genes, self.waiting))
        objectives = np.concatenate((self.objectives, objectives))
        n = self.capacity if len(self.genes) else len(genes)
        survivors, self.crowding = self._survivors(objectives, min(n, len(genes)))
        self.genes, self.objectives = genes[survivors], objectives[survivors]
        if self._known is not None:
            self._known = set(_keys(self.genes))

    def _mated(self) -> Ints:
        """Return children that differ from each other and from the population."""
        found: list[Ints] = []
        new: set[bytes] = set()
        missing = self.offspring
        for _ in range(_MATINGS):
            children = self._pairs(math.ceil(missing / 2))
            fresh = list(range(len(children))) if self._known is None else self._fresh(children, new)
            found.append(children[fresh[:missing]])
            missing -= len(found[-1])
            if not missing:
                break
            new |= set(_keys(found[-1]))
        return np.concatenate(found)

    def _fresh(self, children: Ints, new: set[bytes]) -> list[int]:
        """Return which children are neither in the population nor among the new ones, nor occurred before."""
        assert self._known is not None
        seen: set[bytes] = set()
        fresh = []
        for i, key in enumerate(_keys(children)):
            if key not in seen and key not in self._known and key not in new:
                fresh.append(i)
            seen.add(key)
        return fresh

    def _pairs(self, n: int) -> Ints:
        """Return the 2 n children of n pairs."""
        size = len(self.genes)
        rounds = math.ceil(4 * n / size)
        drawn = np.concatenate([self.rng.permutation(size) for _ in range(rounds)])
        parents = np.empty((2, n, self.genes.shape[1]), dtype=np.int64)
        children = np.empty((2 * n, parents.shape[2]), dtype=np.int64)
        marks = np.empty(2 * n + parents.shape[2], dtype=np.bool_)
        now = self.genes, self._fitness(), self.crowding
        self._mate(self.rng, drawn, *now, parents, children, self._sizes, marks)
        return children

    def _fitness(self) -> Floats:
        """Return the objectives by which parents are chosen."""
        return self.objectives

    @abstractmethod
    def _survivors(self, objectives: Floats, n: int) -> tuple[Ints, Floats]:
        """Return which n of all survive, in their new order, and the crowding distances of these."""


class RankAndCrowding(Generations):
    """NSGA-II: fronts in their order; of the last one that fits in part, those with the most room around them."""

    def _survivors(self, objectives: Floats, n: int) -> tuple[Ints, Floats]:
        from pymoo.util.randomized_argsort import randomized_argsort

        survivors, front, ranks = _fronts(objectives, n)
        crowding = self._crowding(objectives, ranks)
        if len(front):
            order = randomized_argsort(crowding[front], order="descending", random_state=self.rng)
            survivors = np.concatenate((survivors, front[order[: n - len(survivors)]]))
        return survivors, crowding[survivors]

    def _crowding(self, objectives: Floats, ranks: Ints) -> Floats:
        order = np.argsort(objectives, axis=0, kind="stable")
        gaps = np.empty_like(objectives)
        self._gaps(objectives, order, ranks, gaps)
        # Added up by NumPy, as pymoo does: another order of additions might differ in the last bit.
        crowding: Floats = np.sum(gaps, axis=1) / gaps.shape[1]
        crowding[np.bincount(ranks)[ranks] <= 2] = np.inf
        return crowding


class LeastContribution(Generations):
    """SMS-EMOA: fronts in their order; of the last one that fits in part, those that add most to the hypervolume."""

    def _survivors(self, objectives: Floats, n: int) -> tuple[Ints, Floats]:
        survivors, front, _ = _fronts(objectives, n)
        if len(front):
            survivors = np.concatenate((survivors, self._reduced(front, objectives[front], n - len(survivors))))
        return survivors, np.zeros(n)

    def _reduced(self, front: Ints, objectives: Floats, n: int) -> Ints:
        """Return the front without those that contribute least, one after the other."""
        from pymoo.util.normalization import normalize

        # In units of the population before the children came.
        low, high = self.objectives.min(axis=0), self.objectives.max(axis=0) + 1e-32
        points = normalize(objectives, low, high)
        reference = np.full(points.shape[1], 1.0 + _BEHIND)
        for size in range(len(front) - 1, n - 1, -1):
            least = moocore.hv_contributions(points, ref=reference).argmin()
            points[least:size] = points[least + 1 :]
            front[least:size] = front[least + 1 :]
            points, front = points[:size], front[:size]
        return front


def _fronts(objectives: Floats, n: int) -> tuple[Ints, Ints, Ints]:
    """Return the members of the fronts that fit into n, those of the one that fits in part, and the ranks of all."""
    ranks = moocore.pareto_rank(objectives).astype(np.int64)
    sizes = np.cumsum(np.bincount(ranks))
    n_whole = int(np.searchsorted(sizes, n, side="right"))
    begin = int(sizes[n_whole - 1]) if n_whole else 0
    end = int(sizes[n_whole]) if begin < n else begin
    by_rank = np.argsort(ranks, kind="stable")
    return by_rank[:begin], by_rank[begin:end], ranks


def _keys(rows: Ints) -> list[bytes]:
    """Return something to tell equal rows by."""
    return rows.view(f"V{rows.itemsize * rows.shape[1]}").ravel().tolist()


def _entry(function: Callable[..., Any], *examples: Any, **bound: Any) -> Entry:
    signature = types.int64(*(typeof(example) for example in examples))
    return compile_entry(function, signature, **bound)
