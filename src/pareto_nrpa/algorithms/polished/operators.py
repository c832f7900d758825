"""Changes of solutions that are orders of moves or lists of choices, for any problem."""

from __future__ import annotations

from collections import Counter
from itertools import compress
from operator import ne
from typing import TYPE_CHECKING, Any

from ...problem.genotype import Choices, Permutation, checked_neighbours

if TYPE_CHECKING:
    from collections.abc import Callable

    from .search import PolishedSearch

    #: Function to a changed copy of a list of numbers of moves.
    Change = Callable[[list[int]], list[int]]
    Draw = Callable[[], float]

_MOST_CHANGES, _TAIL = 50, 0.7
# Number of members of which the nearest is used for mixing: mixtures of very different ones are rarely good.
_MATES = 2
# Number of attempts to find a step with a different choice.
_PARTNERS = 8
# Number of coin tosses by one random number.
_COINS = 32


def changes_of(
    search: PolishedSearch, options: list[list[int]], another: Callable[[], list[int]]
) -> tuple[list[Change], list[Change]]:
    """Return the changes of one solution for the genotype of a problem, and those that mix two.

    `options` are those of its steps, `another` returns a solution to mix with. Without a genotype there are none.
    """
    genotype, draw = search.problem.genotype, search.player.draw
    own: list[Change] = [_Neighbours(search).one] if getattr(search.problem, "neighbours", None) is not None else []
    if isinstance(genotype, Permutation):
        order = _OrderChanges(draw, another, repeats=len(set(genotype.moves)) < len(genotype.moves))
        return [*own, order.put_elsewhere, order.segment_elsewhere, order.exchange, order.turn], [order.cross]
    if isinstance(genotype, Choices):
        choice = _ChoiceChanges(draw, options, another)
        return [*own, choice.choose, choice.choose_some, choice.swap], [choice.mix]
    return [], []


class _OrderChanges:
    def __init__(self, draw: Draw, another: Callable[[], list[int]], *, repeats: bool) -> None:
        self._draw, self._another, self._repeats = draw, another, repeats

    def put_elsewhere(self, moves: list[int]) -> list[int]:
        draw, n, changed = self._draw, len(moves), moves[:]
        changed.insert(int(draw() * n), changed.pop(int(draw() * n)))
        return changed

    def segment_elsewhere(self, moves: list[int]) -> list[int]:
        draw = self._draw
        length = min(2 + int(draw() * 2), len(moves))
        first = int(draw() * (len(moves) - length + 1))
        segment = moves[first : first + length]
        if draw() < 0.5:
            segment.reverse()
        others = moves[:first] + moves[first + length :]
        place = int(draw() * (len(others) + 1))
        others[place:place] = segment
        return others

    def exchange(self, moves: list[int]) -> list[int]:
        draw, n, changed = self._draw, len(moves), moves[:]
        i, j = int(draw() * n), int(draw() * n)
        changed[i], changed[j] = changed[j], changed[i]
        return changed

    def turn(self, moves: list[int]) -> list[int]:
        first, end = self._stretch(len(moves))
        return moves[:first] + moves[first:end][::-1] + moves[end:]

    def cross(self, moves: list[int]) -> list[int]:
        """Keep a segment in its place, and put the others in the order of another member."""
        first, end = self._stretch(len(moves))
        segment = moves[first:end]
        if self._repeats:
            left = Counter(segment)
            rest = []
            for move in self._another():
                if left[move] > 0:
                    left[move] -= 1
                else:
                    rest.append(move)
        else:
            kept = set(segment)
            rest = [move for move in self._another() if move not in kept]
        return rest[:first] + segment + rest[first:]

    def _stretch(self, n: int) -> tuple[int, int]:
        first, last = int(self._draw() * n), int(self._draw() * n)
        return (first, last + 1) if first <= last else (last, first + 1)


class _ChoiceChanges:
    def __init__(self, draw: Draw, options: list[list[int]], another: Callable[[], list[int]]) -> None:
        self._draw, self._options, self._another = draw, options, another
        self._allowed = [set(step) for step in options]
        self._free = [step for step, choices in enumerate(options) if len(choices) > 1]

    def choose(self, moves: list[int]) -> list[int]:
        changed = moves[:]
        self._choose_in(changed, 1)
        return changed

    def _choose_in(self, moves: list[int], n: int) -> None:
        """Change n choices, which may be of one step."""
        draw, free, options_of = self._draw, self._free, self._options
        n_free = len(free)
        for _ in range(n if n_free else 0):
            drawn = draw() * n_free
            place = int(drawn)
            step = free[place]
            options = options_of[step]
            chosen = options[int((drawn - place) * (len(options) - 1))]
            moves[step] = chosen if chosen != moves[step] else options[-1]

    def choose_some(self, moves: list[int]) -> list[int]:
        """Change a heavy-tailed number of choices: mostly two, sometimes ten or twenty (Doerr et al. 2017)."""
        changed = moves[:]
        self._choose_in(changed, min(_MOST_CHANGES, int(2 * (1.0 - self._draw()) ** -_TAIL)))
        return changed

    def swap(self, moves: list[int]) -> list[int]:
        """Exchange the choices of two steps that chose differently, which preserves sums such as a load."""
        changed = moves[:]
        self._swap_in(changed)
        return changed

    def _swap_in(self, moves: list[int]) -> None:
        draw, n, allowed = self._draw, len(moves), self._allowed
        i = int(draw() * n)
        for _ in range(_PARTNERS):
            j = int(draw() * n)
            if moves[i] != moves[j] and moves[i] in allowed[j] and moves[j] in allowed[i]:
                moves[i], moves[j] = moves[j], moves[i]
                return

    def mix(self, moves: list[int]) -> list[int]:
        """Take each choice from one of two members, not all from one, and change up to two of them."""
        mate = self._mate(moves)
        mixed = moves[:]
        apart = list(compress(range(len(moves)), map(ne, moves, mate)))
        for begin in range(0, len(apart), _COINS):
            tossed = apart[begin : begin + _COINS]
            coins = 1 + int(self._draw() * (2 ** len(tossed) - 2))
            for i in tossed:
                if coins & 1:
                    mixed[i] = mate[i]
                coins >>= 1
        further = int(self._draw() * 3)
        if further == 2:
            self._swap_in(mixed)
        elif further == 1 or len(apart) < 2:
            self._choose_in(mixed, 1)
        return mixed

    def _mate(self, moves: list[int]) -> list[int]:
        """Return a solution to mix with: of a few, the most similar one that is not equal."""
        nearest, least = moves, len(moves) + 1
        for _ in range(_MATES):
            mate = self._another()
            if len(mate) == len(moves) and 0 < (apart := sum(map(ne, mate, moves))) < least:
                nearest, least = mate, apart
        return nearest


class _Neighbours:
    """The problem's own neighbours of a solution; those of the last one are cached, as chains often stay."""

    def __init__(self, search: PolishedSearch) -> None:
        self._problem = search.problem
        self._player, self._draw = search.player, search.player.draw
        self._base: list[int] = []
        self._found: list[Any] = []

    def one(self, moves: list[int]) -> list[int]:
        if moves != self._base:
            self._found, self._base = checked_neighbours(self._problem, self._player.solution(moves)), moves
        if not self._found:
            return moves[:]
        neighbour = self._found[int(self._draw() * len(self._found))]
        return self._player.numbers(neighbour)


def options_of(search: PolishedSearch) -> list[list[int]]:
    """Return the numbers of the moves of each step; empty if solutions are not lists of choices."""
    genotype = search.problem.genotype
    return [search.player.numbers(step) for step in genotype.moves] if isinstance(genotype, Choices) else []
