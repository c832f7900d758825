"""Pareto-MCTS, also called Pareto-UCT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..._util.checks import check_positive, check_whole
from ...engine.archive import enlarge
from ...engine.arrays import HERE
from ...engine.state import need
from ...problem.base import CompiledProblem
from ...problem.stepper import legal_after
from ..algorithm import parameter
from . import mcts_kernels as kernels
from .base import Baseline, BaselineSearch

if TYPE_CHECKING:
    from ...problem.base import AnyProblem

_FIRST_NODES = 4096
_FIRST_CHILDREN = 64


@dataclass(frozen=True)
class ParetoMCTS(Baseline):
    """Pareto-MCTS (Chen & Liu 2019) as the paper of Pareto-NRPA uses it.

    Children are chosen by dominance of their upper confidence bounds, leaves are evaluated by several playouts (leaf
    parallelisation), the exploration constant of a node is the range of its children's means, and a violation costs
    10^6 in every objective.

    Parameters
    ----------
    playouts
        Playouts per leaf.
    exploration
        Factor on the exploration constant of each node.
    bias
        Factor on the problem's bias in playouts; 0: legal moves are drawn uniformly.
    pruning
        Whether tree and playouts use the problem's pruning. The Pareto-MCTS of the paper did not, judging by its
        figures.
    """

    playouts: int = parameter(10, check_whole, 1)
    exploration: float = parameter(1.0, check_positive)

    name = "pareto-mcts"

    def start(self, problem: AnyProblem, *, seed: int = 0, budget: int | None = None) -> BaselineSearch:
        """Return a new search."""
        return _Search(problem, self, seed=seed, budget=budget)


class _Search(BaselineSearch):
    STATE: ClassVar[dict[str, Any]] = {"_tree": kernels.Tree}

    def __init__(self, problem: AnyProblem, baseline: ParetoMCTS, **where: Any) -> None:
        super().__init__(problem, baseline, **where)
        numbers = np.zeros(kernels.N_NUMBERS, dtype=np.int64)
        numbers[[kernels.N_NODES, kernels.N_PLAYOUTS]] = 1, baseline.playouts
        first_child = np.zeros(_FIRST_NODES, dtype=np.int64)
        first_child[kernels.ROOT] = kernels.NOT_EXPANDED
        self._tree = kernels.Tree(
            visits=np.zeros(_FIRST_NODES, dtype=np.int64),
            sums=np.zeros((_FIRST_NODES, problem.n_objectives)),
            moves=np.zeros(_FIRST_NODES, dtype=np.int64),
            first_child=first_child,
            n_children=np.zeros(_FIRST_NODES, dtype=np.int64),
            path=np.zeros(problem.max_moves + 1, dtype=np.int64),
            bounds=np.zeros((_FIRST_CHILDREN, problem.n_objectives)),
            exploration=np.array([baseline.exploration]),
            numbers=numbers,
        )
        self._search = self.player.loop(kernels.tree_search, self._tree)

    def step(self, n: int) -> int:
        self._make_room()
        return self._search(self._tree, n)

    @property
    def state_sizes(self) -> dict[str, int | str | None]:
        """The values of the names in the forms of the state."""
        return super().state_sizes | {"D": self._tree.path.size}

    def restored(self) -> None:
        """Check the restored state: children lie within the tree, and moves that are not checked again are legal."""
        tree, problem = self._tree, self.player.problem
        need((tree.first_child + tree.n_children <= tree.numbers[kernels.N_NODES]).all(), "children in its tree")
        if not isinstance(problem, CompiledProblem):
            return
        at_work = self.player.store.pool.moves[HERE, : tree.numbers[kernels.DEPTH_OF_LEAF]].tolist()
        need(legal_after(problem, at_work) is not None, "a leaf that can be reached")
        paths: dict[int, list[int]] = {kernels.ROOT: []}
        for node in np.flatnonzero(tree.first_child > kernels.ROOT).tolist():
            children = range(tree.first_child[node], tree.first_child[node] + tree.n_children[node])
            need(node in paths and children.start > node, "children that come after their node")
            moves = tree.moves[children.start : children.stop].tolist()
            need((legal_after(problem, paths[node]) or set()).issuperset(moves), "children that are legal")
            paths |= {child: [*paths[node], move] for child, move in zip(children, moves, strict=True)}

    def _make_room(self) -> None:
        """Grow the tree for one more expansion, by the size of the last one."""
        tree, count = self._tree, int(self.player.store.n_legal[0])
        if count > len(tree.bounds):
            tree = tree._replace(bounds=enlarge(tree.bounds, 2 * count, tree.bounds.shape[1]))
        if tree.numbers[kernels.N_NODES] + count > tree.visits.size:
            size = 2 * tree.visits.size + count
            tree = tree._replace(
                visits=enlarge(tree.visits, size),
                sums=enlarge(tree.sums, size, tree.sums.shape[1]),
                moves=enlarge(tree.moves, size),
                first_child=enlarge(tree.first_child, size),
                n_children=enlarge(tree.n_children, size),
            )
        self._tree = tree
