"""Base class of local searches that change solutions of the front: kinds of changes, their shares, and a model."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...engine.arrays import N_MOVES
from .additive_model import AdditiveModel
from .credit import Credit
from .operators import changes_of, options_of
from .proposer import Proposer

if TYPE_CHECKING:
    from .operators import Change
    from .search import PolishedSearch
    from .solution_front import Scores

# The model screens all proposals and learns all evaluations up to a number of evaluations: at least the first number,
# and the second for each option. Later it is asked for a share of them that falls with this power of evaluations.
_SCREENED, _SCREENED_EACH, _FADING = 1_500, 10, 1.5


class ChangeSearch(Proposer):
    """A local search whose kinds of changes are drawn by how often each brought a new member of the front.

    Kind 0 is a playout, 1 and up are the changes: first those of one solution, then those that mix two. Without a
    genotype there are none, and kind 1 is for the subclass.
    """

    STATE: ClassVar[dict[str, Any]] = {"_in_vain": "int < 0:", "_credit": "component", "_model": "component"}
    #: Number of attempts at a new solution, and number of failures in a row after which one attempt is made: the space
    #: is then small, and all of it is known.
    TRIES, ENOUGH_IN_VAIN = 20, 3

    def __init__(self, search: PolishedSearch, **credit: float) -> None:
        super().__init__(search)
        self._options = options_of(search)
        self._single, mixing = changes_of(search, self._options, lambda: self._drawn()[0])
        self._changes = self._single + mixing
        self._n_kinds = 1 + max(1, len(self._changes))
        self._credit = Credit(self._n_kinds, **credit)
        self._in_vain = 0  # evaluations or proposals of known solutions in a row
        self._n_candidates = search.polish.candidates
        has_model = self._n_candidates > 1 and AdditiveModel.is_possible(self._options)
        self._model = AdditiveModel(self._options, search.problem.n_objectives) if has_model else None
        self._n_screened = max(_SCREENED, _SCREENED_EACH * sum(map(len, self._options)))

    def compile(self) -> None:
        """Compile the model."""
        if self._model is not None:
            self._model.compile()

    @abstractmethod
    def _drawn(self) -> tuple[list[int], Scores]:
        """Return a random member of the front, and its scores."""

    @abstractmethod
    def _is_promising(self, expected: list[float]) -> bool:
        """Tell whether predicted scores would be new to the front."""

    def _n_tries(self) -> int:
        return self.TRIES if self._in_vain < self.ENOUGH_IN_VAIN else 1

    def _is_screened(self, n: int) -> bool:
        """Tell whether the model is used at evaluation n."""
        if self._model is None:
            return False
        return n < self._n_screened or self._search.player.draw() < (self._n_screened / n) ** _FADING

    def _changed(self, change: Change, moves: list[int], scores: Scores, n: int) -> list[int]:
        """Change a solution in one way; with the model, the best of several.

        That is the first predicted to be feasible and not covered, or else the least violated of those not covered.
        """
        if self._model is None or not self._model.knows_enough or not self._is_screened(n):
            return change(moves)
        best, least = None, np.inf
        for _ in range(self._n_candidates):
            changed = change(moves)
            expected = self._model.predict(moves, scores, changed)
            if expected[0] < least and self._is_promising(expected):
                best, least = changed, expected[0]
                if least <= 0:
                    break
        return changed if best is None else best

    def _learn(self, moves: list[int], scores: Scores, n: int) -> None:
        if self._model is not None and self._is_screened(n):
            self._model.learn(moves, scores)

    def _recorded(self, slot: int) -> list[int]:
        pool = self._search.machine.pool
        return pool.moves[slot, : pool.heads[slot, N_MOVES]].tolist()  # type: ignore[no-any-return]  # a list of whole numbers
