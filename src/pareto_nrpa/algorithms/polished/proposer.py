"""The interface between the default search and its parts: each proposes solutions and is told their scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ...engine.state import need
from ...problem.genotype import Permutation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .search import PolishedSearch

#: The kind of a proposal from which policies always learn: a playout.
PLAYOUT = 0


class Proposal(NamedTuple):
    """A solution in a slot, to be evaluated."""

    slot: int
    state: Any = None  # the final state of a plain problem
    kind: int = PLAYOUT  # a number returned to the proposer with the scores; stored with pending candidates


class Proposer(ABC):
    """A source of solutions to evaluate."""

    STATE: ClassVar[dict[str, Any]] = {"n_playouts": "int", "n_refused": "int"}
    n_playouts = 0  # playouts that the search makes before the next proposal
    n_refused = 0  # number of proposed solutions that could not be played

    def __init__(self, search: PolishedSearch) -> None:
        self._search = search

    @abstractmethod
    def propose(self) -> Proposal:
        """Play the next solution to evaluate into a slot."""

    @abstractmethod
    def judged(self, slot: int, kind: int) -> bool:
        """Receive the scores of a slot; returns whether policies should learn from it."""

    @abstractmethod
    def adopted(self, slot: int) -> None:
        """Receive a solution of another search, which will be counted next."""

    def check_solutions(self, solutions: Sequence[Any]) -> None:
        """Raise if a restored solution, of these or of the search, is not a permutation as required."""
        search = self._search
        if isinstance(search.problem.genotype, Permutation):
            order = np.sort(search.player.numbers(search.problem.genotype.moves))
            held = [*search.moves_held(), *solutions]
            need(all(np.array_equal(np.sort(moves), order) for moves in held), "permutations as solutions")

    def compile(self) -> None:  # noqa: B027 - most have nothing to compile
        """Compile code that the player does not include."""

    def advance(self, n: int) -> None:
        """Make at least one evaluation, and at most n."""
        slot, state, kind = self.propose()
        self._search.player.evaluate(slot, state)
        self._search.learn_from(slot, kind)
