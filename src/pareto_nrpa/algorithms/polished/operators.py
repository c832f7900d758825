"""The kinds of changes of a solution that is a permutation, or a list of choices: neighbours on any problem."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...problem.genotype import Choices, Permutation

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from .search import PolishedSearch

    Moves = NDArray[np.int64]
    OneChange = Callable[[Moves], Moves]
    # So many ways to change a solution.
    Change = Callable[[Moves, int], list[Moves]]

_MOST_CHANGES, _TAIL = 50, 0.7
# Of how many members the nearest is taken for mixing: what lies between two that differ much is rarely good.
_MATES = 4


def changes_of(search: PolishedSearch, options: list[list[int]], another: Callable[[], Moves]) -> list[Change]:
    """Return the kinds of changes that a problem's genotype allows.

    `options` are those of its steps, `another` gives a solution to mix one with. Where nobody says what a solution is,
    there are none.
    """
    genotype = search.problem.genotype
    if isinstance(genotype, Permutation):
        order = _OrderChanges(search, another)
        kinds = order.put_elsewhere, order.segment_elsewhere, order.exchange, order.turn, order.cross
        return [partial(_several, kind) for kind in kinds]
    if isinstance(genotype, Choices):
        choice = _ChoiceChanges(search, options, another)
        return [*(partial(_several, kind) for kind in (choice.choose, choice.choose_some, choice.swap)), choice.mix]
    return []


def _several(change: OneChange, moves: Moves, n: int) -> list[Moves]:
    return [change(moves.copy()) for _ in range(n)]


class _OrderChanges:
    def __init__(self, search: PolishedSearch, another: Callable[[], Moves]) -> None:
        self._draw = search.draw
        self._another = another

    def put_elsewhere(self, moves: Moves, length: int = 1) -> Moves:
        first = self._draw(len(moves) - length + 1)
        segment, others = moves[first : first + length], np.delete(moves, slice(first, first + length))
        place = self._draw(len(others) + 1)
        if length > 1 and self._draw(2):
            segment = segment[::-1]
        return np.concatenate([others[:place], segment, others[place:]])

    def segment_elsewhere(self, moves: Moves) -> Moves:
        return self.put_elsewhere(moves, min(2 + self._draw(2), len(moves)))

    def exchange(self, moves: Moves) -> Moves:
        i, j = (self._draw(len(moves)) for _ in range(2))
        moves[[i, j]] = moves[[j, i]]
        return moves

    def turn(self, moves: Moves) -> Moves:
        first, last = sorted(self._draw(len(moves)) for _ in range(2))
        moves[first : last + 1] = moves[first : last + 1][::-1]
        return moves

    def cross(self, moves: Moves) -> Moves:
        """Keep a segment where it is, and let the others come in the order of another member."""
        other = self._another()
        first, last = sorted(self._draw(len(moves)) for _ in range(2))
        segment = moves[first : last + 1]
        rest = other[~np.isin(other, segment)]
        return np.concatenate([rest[:first], segment, rest[first:]])


class _ChoiceChanges:
    def __init__(self, search: PolishedSearch, options: list[list[int]], another: Callable[[], Moves]) -> None:
        self._search = search
        self._draw = search.draw
        self._options = options
        self._another = another

    def choose(self, moves: Moves) -> Moves:
        step = self._draw(len(moves))
        chosen = int(moves[step])
        others = [option for option in self._options[step] if option != chosen]
        if others:
            moves[step] = others[self._draw(len(others))]
        return moves

    def choose_some(self, moves: Moves) -> Moves:
        for _ in range(self._few()):
            moves = self.choose(moves)
        return moves

    def _few(self) -> int:
        """Draw how many changes to make: two most often, but ten or twenty at times (Doerr et al. 2017)."""
        return min(_MOST_CHANGES, int(2 * (1.0 - self._search.player.draw()) ** -_TAIL))

    def swap(self, moves: Moves) -> Moves:
        """Let two steps that chose differently choose as the other did: what keeps the sum of a load, say."""
        i = self._draw(len(moves))
        others = np.flatnonzero(moves != moves[i])
        if others.size:
            j = int(others[self._draw(others.size)])
            if moves[i] in self._options[j] and moves[j] in self._options[i]:
                moves[[i, j]] = moves[[j, i]]
        return moves

    def mix(self, moves: Moves, n: int) -> list[Moves]:
        """Take each choice from one of two members, and change one or two of them or none."""
        mate = self._mate(moves)
        return [self._mix_with(mate, moves) for _ in range(n)]

    def _mix_with(self, mate: Moves, moves: Moves) -> Moves:
        mixed = np.where(self._coins(len(moves)), moves, mate)
        change = (None, self.choose, self.swap)[self._draw(3)]
        return mixed if change is None else change(mixed)

    def _coins(self, n: int) -> NDArray[np.uint8]:
        """Toss n coins, 32 at a draw."""
        drawn = [self._draw(2**32) for _ in range(0, n, 32)]
        return np.unpackbits(np.array(drawn, dtype="<u4").view(np.uint8))[:n]

    def _mate(self, moves: Moves) -> Moves:
        """Return a solution to mix one with: of a few, the one that has most in common with it, but not all."""
        mates = [mate for mate in (self._another() for _ in range(_MATES)) if len(mate) == len(moves)]
        return min(mates, key=lambda mate: int((mate != moves).sum()) or len(moves) + 1, default=moves)


def options_of(search: PolishedSearch) -> list[list[int]]:
    """Return the numbers of the moves that may be chosen at each step; none where solutions are no lists of choices."""
    genotype = search.problem.genotype
    return [search.player.numbers(step) for step in genotype.moves] if isinstance(genotype, Choices) else []
