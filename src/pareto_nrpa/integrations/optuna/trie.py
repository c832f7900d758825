"""The evaluated solutions as a tree of choices, so that exhausted branches can be avoided."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

ROOT = 0
_NOWHERE = -1


class Trie:
    """A tree of choices. A node is a number; unvisited nodes are `_NOWHERE`."""

    def __init__(self) -> None:
        self._children: dict[tuple[int, Hashable], int] = {}
        self._exhausted: set[int] = set()
        self._n_exhausted: dict[int, int] = {}

    def below(self, node: int, choice: Hashable) -> int:
        """Return the node that a choice leads to."""
        return self._children.get((node, choice), _NOWHERE)

    def is_exhausted(self, node: int) -> bool:
        """Return whether all solutions below a node were evaluated."""
        return node in self._exhausted

    def add(self, path: Sequence[tuple[Hashable, int]]) -> None:
        """Add a solution: the code of each choice, and its number of options."""
        nodes = [ROOT]
        for choice, _ in path:
            key = (nodes[-1], choice)
            nodes.append(self._children.setdefault(key, len(self._children) + 1))
        for depth in range(len(path), -1, -1):
            if nodes[depth] in self._exhausted:
                return
            if depth < len(path) and self._n_exhausted[nodes[depth]] < path[depth][1]:
                return
            self._exhausted.add(nodes[depth])
            if depth:
                parent = nodes[depth - 1]
                self._n_exhausted[parent] = self._n_exhausted.get(parent, 0) + 1
