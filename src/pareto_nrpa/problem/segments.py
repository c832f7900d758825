"""Segments: stretches of a solution are evaluated by concatenation, so that neighbours need not be played."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..engine.arrays import END as END
from ..engine.arrays import START as START
from ..errors import ProblemError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from .base import CompiledProblem


@dataclass(frozen=True)
class Segments:
    """Kernels for a problem whose solutions are permutations: rows of numbers stand for stretches of moves.

    A solution is START, its moves in their order, END. The row of a stretch must hold all that neighbouring stretches
    depend on, so that joining rows from left to right, in any grouping, gives the row of the whole. Costs and limits
    are separate: most neighbours cost more, and their limits are never computed.

    Attributes
    ----------
    cost_of
        `cost_of(data, move, out)` fills the row of one move, or of START or END.
    join_costs
        `join_costs(data, left, right, out)` fills the row of two stretches one after the other; `out` is neither.
    cost_width
        The length of such a row. The last `n_objectives` numbers in the row of a whole solution are its objectives,
        if it is feasible; if not, an approximation is enough.
    limit_of, join_limits, limit_width
        The same for constraints; None if every order is feasible. The first number is the distance of the stretch
        from feasibility: 0 if feasible, and never less than that of a part of it.
    arc_of
        `arc_of(data, a, b, out)` fills the contribution to each objective if b comes directly after a; one may be
        START or END. If all objectives are sums of arcs, neighbours are evaluated by the few arcs that differ.
    near
        `near(data, a, b)` returns the cost of placing b directly after a besides the arc, such as waiting and
        lateness, in units of a typical arc: with arc_of or without, only near moves are placed side by side.
    """

    cost_of: Callable[..., Any]
    join_costs: Callable[..., Any]
    cost_width: int
    limit_of: Callable[..., Any] | None = None
    join_limits: Callable[..., Any] | None = None
    limit_width: int = 1
    arc_of: Callable[..., Any] | None = None
    near: Callable[..., Any] | None = None

    @property
    def kernels(self) -> dict[str, Callable[..., Any]]:
        """The kernels by name, without absent ones."""
        words = ("cost_of", "join_costs", "limit_of", "join_limits", "arc_of", "near")
        return {word: getattr(self, word) for word in words if getattr(self, word) is not None}


def check_segments(segments: Segments, problem: CompiledProblem) -> None:
    """Raise `ProblemError` if the segments of a problem are inconsistent."""
    from ..engine.jit.kernels import is_kernel
    from .genotype import Permutation

    for word, function in segments.kernels.items():
        if not is_kernel(function):
            raise ProblemError(f"{word} of segments is not a kernel; put @kernel before its definition.")
    if (segments.limit_of is None) != (segments.join_limits is None):
        raise ProblemError("segments need both limit_of and join_limits, or neither.")
    if not isinstance(problem.genotype, Permutation) or max(problem.genotype.counts.values()) > 1:
        raise ProblemError(
            "segments need solutions that are permutations; set genotype to a Permutation of moves that all differ."
        )
    if segments.cost_width < problem.n_objectives or segments.limit_width < 1:
        raise ProblemError(
            f"cost_width of segments must be at least the number of objectives ({problem.n_objectives}), and "
            f"limit_width at least 1, got {segments.cost_width} and {segments.limit_width}."
        )


# Far above the difference of sums in another order.
_TOLERANCE = 1e-6


def check_judgement(problem: CompiledProblem, solution: Sequence[int], rng: np.random.Generator) -> None:
    """Raise `ProblemError` if the segments of a solution, joined in some grouping, differ from `evaluate`."""
    segments = problem.segments
    assert segments is not None
    objectives, violations = problem.replay(solution)
    moves = [START, *solution, END]
    costs = _joined(problem, "cost_of", "join_costs", segments.cost_width, moves, rng)[-problem.n_objectives :]
    if violations == 0 and not _are_equal(costs, objectives):
        raise ProblemError(
            f"the segments of {problem.name} give objectives {costs.tolist()} for {list(solution)!r:.60}, and "
            f"evaluate() {objectives.tolist()}; correct cost_of or join_costs, or leave segments out."
        )
    _check_arcs(problem, solution, objectives if violations == 0 else None)
    if segments.limit_of is not None:
        _check_limits(problem, solution, violations, rng)
    elif violations > 0:
        raise ProblemError(
            f"the segments of {problem.name} have no limits, and evaluate() gives {violations:g} violations for "
            f"{list(solution)!r:.60}; add limit_of and join_limits, or leave segments out."
        )


def _check_arcs(problem: CompiledProblem, solution: Sequence[int], objectives: NDArray[np.float64] | None) -> None:
    """Raise `ProblemError` if arcs do not add up to the objectives, or if `near` is not a number."""
    import numpy as np

    from ..engine.jit.kernels import python_function

    kernels, moves = problem.segments.kernels, [START, *solution, END]  # type: ignore[union-attr]  # only called where there are segments
    total = np.zeros(problem.n_objectives)
    for a, b in itertools.pairwise(moves):
        if "arc_of" in kernels:
            arc = np.full(problem.n_objectives, np.nan)
            python_function(kernels["arc_of"])(problem.data, a, b, arc)
            total += arc
        distance = python_function(kernels["near"])(problem.data, a, b) if "near" in kernels else 0.0
        if not 0.0 <= distance < np.inf:
            raise ProblemError(
                f"near() of the segments of {problem.name} gave {distance} for {b} after {a}; it must be a finite "
                "number of at least 0."
            )
    if "arc_of" in kernels and objectives is not None and not _are_equal(total, objectives):
        raise ProblemError(
            f"the arcs of {problem.name} add up to {total.tolist()} for {list(solution)!r:.60}, and evaluate() gives "
            f"{objectives.tolist()}; correct arc_of, or leave it out."
        )


def _are_equal(sums: Iterable[float], objectives: Iterable[float]) -> bool:
    return all(abs(a - b) <= _TOLERANCE * max(1.0, abs(b)) for a, b in zip(sums, objectives, strict=True))


def _check_limits(
    problem: CompiledProblem, solution: Sequence[int], violations: float, rng: np.random.Generator
) -> None:
    """Raise `ProblemError` if limits accept an infeasible solution, or rate a stretch worse than the whole."""
    moves = [START, *solution, END]

    def distance_of(stretch: Sequence[int]) -> float:
        width = problem.segments.limit_width  # type: ignore[union-attr]  # only called where there are segments
        return float(_joined(problem, "limit_of", "join_limits", width, stretch, rng)[0])

    distance = distance_of(moves)
    if (distance == 0) != (violations == 0):
        raise ProblemError(
            f"the segments of {problem.name} are {distance:g} from feasible for {list(solution)!r:.60}, and "
            f"evaluate() gives {violations:g} violations; correct limit_of or join_limits, or leave segments out."
        )
    first, last = sorted(rng.choice(len(moves) + 1, 2, replace=False).tolist())
    part = distance_of(moves[first:last])
    if part > distance + _TOLERANCE * max(1.0, part):
        raise ProblemError(
            f"the segments of {problem.name} are {distance:g} from feasible for {list(solution)!r:.60}, and {part:g} "
            "for a part of it, which must not exceed the whole; correct limit_of or join_limits."
        )


def _joined(
    problem: CompiledProblem, one: str, join: str, width: int, moves: Sequence[int], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the row of a stretch of moves, joined from two parts recursively."""
    import numpy as np

    from ..engine.jit.kernels import python_function

    out = np.full(width, np.nan)
    kernels = problem.segments.kernels  # type: ignore[union-attr]  # only called where there are segments
    if len(moves) == 1:
        python_function(kernels[one])(problem.data, moves[0], out)
        return out
    cut = int(rng.integers(1, len(moves)))
    parts = (_joined(problem, one, join, width, part, rng) for part in (moves[:cut], moves[cut:]))
    python_function(kernels[join])(problem.data, *parts, out)
    return out
