"""What kind of object a solution is, for algorithms that change whole solutions instead of building them.

A problem says so in its attribute `genotype`. Pareto-NRPA and the tree searches never need it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .exceptions import ProblemError
from .problem import AnyProblem, problem_name

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence


@dataclass(frozen=True)
class Permutation:
    """Every order of these moves is a complete solution."""

    moves: tuple[Hashable, ...]

    def __init__(self, moves: Iterable[Hashable]) -> None:
        object.__setattr__(self, "moves", tuple(moves))
        if not self.moves or max(Counter(self.moves).values()) > 1:
            raise ProblemError("a Permutation needs moves that all differ, and at least one.")

    def encode(self, solution: Sequence[Any]) -> list[int]:
        """Return the positions of the moves of a solution."""
        places = {move: place for place, move in enumerate(self.moves)}
        return [places[move] for move in solution]


@dataclass(frozen=True)
class Choices:
    """A solution makes one choice per step, each from a list of moves of its own, whatever was chosen before."""

    moves: tuple[tuple[Hashable, ...], ...]

    def __init__(self, moves: Iterable[Iterable[Hashable]]) -> None:
        object.__setattr__(self, "moves", tuple(map(tuple, moves)))
        if not self.moves or not all(self.moves):
            raise ProblemError("Choices need at least one step, and at least one move for each.")

    def encode(self, solution: Sequence[Any]) -> list[int]:
        """Return which of its moves was chosen at each step."""
        return [step.index(move) for step, move in zip(self.moves, solution, strict=True)]


Genotype = Permutation | Choices


def genotype_of(problem: AnyProblem, algorithm: str) -> Genotype:
    """Return what kind of object a solution is, or say that the algorithm cannot do without knowing."""
    if problem.genotype is None:
        raise ProblemError(
            f"{algorithm} changes whole solutions, and {problem_name(problem)} does not say what these are; set its "
            "genotype to Permutation(moves) or Choices(moves of each step)."
        )
    return problem.genotype
