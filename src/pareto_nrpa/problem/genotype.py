"""Genotypes: the type of solutions, for algorithms that change whole solutions instead of building them.

A problem declares it in its attribute `genotype`. Pareto-NRPA and the tree searches do not need it. It promises that
every playout is such an object and that every such object can be played; `check_genotype` checks both.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._util.checks import shown
from ..errors import ProblemError
from .base import AnyProblem, problem_name
from .stepper import first_illegal

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

_HASHABLE = "moves that can be hashed (numbers, text, tuples)"
_WAY_OUT = "set it to the moves that can be played, or to None"


@dataclass(frozen=True)
class Permutation:
    """Every order of these moves is a complete solution.

    With `repeats=True` a move may be among them several times, as the operations of a job: [0, 0, 1, 1, 1] is two
    operations of job 0 and three of job 1.
    """

    moves: tuple[Hashable, ...]

    def __init__(self, moves: Iterable[Hashable], *, repeats: bool = False) -> None:
        try:
            object.__setattr__(self, "moves", tuple(moves))
            all_differ = len(set(self.moves)) == len(self.moves)
        except TypeError as error:
            raise ProblemError(
                f"the moves of a Permutation must be a list of {_HASHABLE}, got {shown(moves)}."
            ) from error
        if not self.moves or not (all_differ or repeats):
            raise ProblemError(
                "a Permutation needs moves that all differ, and at least one; repeats=True allows a move several times."
            )

    def __str__(self) -> str:
        return f"a Permutation of {len(self.moves)} moves"

    @property
    def counts(self) -> Counter[Hashable]:
        """How often each move occurs."""
        return Counter(self.moves)

    def encode(self, solution: Sequence[Hashable]) -> list[int]:
        """Return the positions of the moves of a solution, or raise `ValueError` with the reason.

        Occurrences of a repeated move have its positions in order.
        """
        places: dict[Hashable, list[int]] = {}
        for place in range(len(self.moves) - 1, -1, -1):
            places.setdefault(self.moves[place], []).append(place)
        _check_moves(solution, lambda depth, move: move in places)
        for move, often in Counter(solution).items():
            if often > len(places[move]):
                raise ValueError(f"in which move {move!r} occurs {'twice' if len(places[move]) == 1 else 'too often'}")
        _check_length(solution, len(self.moves))
        return [places[move].pop() for move in solution]

    def examples(self) -> list[list[Any]]:
        """Return a few solutions in which each move occurs early and late."""
        return [list(self.moves), list(self.moves[::-1])]


@dataclass(frozen=True)
class Choices:
    """A solution makes one independent choice per step, each from a list of its own."""

    moves: tuple[tuple[Hashable, ...], ...]

    def __init__(self, moves: Iterable[Iterable[Hashable]]) -> None:
        try:
            object.__setattr__(self, "moves", tuple(map(tuple, moves)))
            repeating = [step for step in self.moves if len(set(step)) < len(step)]
        except TypeError as error:
            message = f"Choices need a list for each step, of {_HASHABLE}, got {shown(moves)}."
            raise ProblemError(message) from error
        if not self.moves or not all(self.moves):
            raise ProblemError("Choices need at least one step, and at least one move for each.")
        if repeating:
            raise ProblemError(f"Choices need moves that all differ at each step, got {shown(repeating[0])} for one.")

    def __str__(self) -> str:
        return f"Choices of {len(self.moves)} steps"

    def encode(self, solution: Sequence[Hashable]) -> list[int]:
        """Return the index of the choice at each step, or raise `ValueError` with the reason."""
        _check_length(solution, len(self.moves))
        _check_moves(solution, lambda depth, move: move in self.moves[depth])
        return [step.index(move) for step, move in zip(self.moves, solution, strict=True)]

    def examples(self) -> list[list[Any]]:
        """Return a few solutions that together contain each move of each step."""
        most = max(map(len, self.moves))
        return [[step[min(i, len(step) - 1)] for step in self.moves] for i in range(most)]


Genotype = Permutation | Choices


def _check_moves(solution: Sequence[Any], is_known: Callable[[int, Any], bool]) -> None:
    for depth, move in enumerate(solution):
        if not is_known(depth, move):
            raise ValueError(f"in which move {move!r} at depth {depth} is not one of them")


def _check_length(solution: Sequence[Any], n: int) -> None:
    if len(solution) != n:
        raise ValueError(f"which is {len(solution)} moves long")


def genotype_of(problem: AnyProblem, algorithm: str) -> Genotype:
    """Return the genotype of a problem, or raise that the algorithm requires one."""
    if problem.genotype is None:
        raise ProblemError(
            f"{algorithm} changes whole solutions and requires the genotype of {problem_name(problem)}; set it to "
            "Permutation(moves) or Choices(moves of each step)."
        )
    return problem.genotype


def encoded(problem: AnyProblem, solution: Sequence[Any]) -> list[int]:
    """Return the genes of a playout, or raise that the genotype does not fit it."""
    assert problem.genotype is not None
    try:
        return problem.genotype.encode(solution)
    except ValueError as error:
        came = f"a playout gave {_shown(solution)}, {error}"
        raise ProblemError(f"{_said(problem)}, and {came}; {_WAY_OUT}.") from error


def check_genotype(problem: AnyProblem, solutions: Iterable[Sequence[Any]]) -> None:
    """Raise `ProblemError` if the genotype of a problem does not fit some playouts, or cannot be played."""
    assert problem.genotype is not None
    for solution in solutions:
        encoded(problem, solution)
    for solution in problem.genotype.examples():
        depth = first_illegal(problem, solution)
        if depth is not None:
            raise ProblemError(unplayable_message(problem, solution, depth))


def checked_neighbours(problem: AnyProblem, solution: list[Any]) -> list[list[Any]]:
    """Return the problem's own neighbours of a solution, or raise `ProblemError` if they are not of its genotype."""
    name, genotype, neighbours = problem_name(problem), problem.genotype, getattr(problem, "neighbours", None)
    assert genotype is not None
    assert neighbours is not None
    try:
        found = list(map(list, neighbours(solution)))
    except Exception as error:
        raise ProblemError(f"neighbours() of {name} raised {type(error).__name__}: {error}.") from error
    for neighbour in found:
        try:
            genotype.encode(neighbour)
        except ValueError as error:
            raise ProblemError(
                f"neighbours() of {name} must return complete solutions of its genotype, {genotype}, got "
                f"{shown(neighbour)}, {error}."
            ) from error
    return found


def unplayable_message(problem: AnyProblem, solution: Sequence[Any], depth: int) -> str:
    """Return the message for a solution of the genotype that cannot be played, at a depth if given."""
    made = f"{_said(problem)}, which makes {_shown(solution)}"
    if depth == len(solution):
        return f"{made}, but there are legal moves left after these {depth} moves; {_WAY_OUT}."
    where = "all_moves()" if problem.all_moves is not None else "legal_moves()"
    other = "" if problem.all_moves is not None else ", or return it from all_moves"
    return f"{made}, but move {solution[depth]!r} at depth {depth} is not in {where} there; {_WAY_OUT}{other}."


def _said(problem: AnyProblem) -> str:
    return f"genotype of {problem_name(problem)} is {problem.genotype}"


def _shown(solution: Sequence[Any]) -> str:
    text = repr(list(solution))
    return text if len(text) <= 60 else f"{text[:57]}..."
