"""The arguments of `solve`, and of all that is called like it: what was meant, or a sentence about what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._util.checks import shown
from ..problem.base import AnyProblem, CompiledProblem, Problem
from ..result.result import Front, Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ..algorithms.protocols import Algorithm, Search


def check_start(start: object, search: Search, algorithm: str) -> list[Sequence[Any]]:
    """Return the solutions to begin with, as lists of moves."""
    given = start.front if isinstance(start, Result) else start
    solutions: Any = given.solutions if isinstance(given, Front) else given
    is_many = isinstance(solutions, list | tuple)
    if not is_many or not all(isinstance(solution, list | tuple) for solution in solutions):
        raise TypeError(f"start must be lists of moves, or a result, got {shown(start)}.")
    if len(solutions) and hasattr(search, "n_searches"):
        raise ValueError("several searches cannot begin with solutions; leave out start, or workers and searches.")
    if len(solutions) and not hasattr(search, "add"):
        raise ValueError(f"{algorithm} cannot begin with solutions; leave out start, or use pareto-nrpa.")
    if len(solutions):
        search.expect_add()  # type: ignore[attr-defined]  # hasattr was asked
    return list(solutions)


def check_problem_type(problem: object) -> None:
    """Raise if something is not a problem."""
    if isinstance(problem, type) and issubclass(problem, Problem | CompiledProblem):
        name = problem.__name__
        raise TypeError(f"problem must be a Problem or a CompiledProblem, got the class {name}; call it: {name}(...).")
    if not isinstance(problem, Problem | CompiledProblem):
        raise TypeError(
            f"problem must be a Problem or a CompiledProblem, got {type(problem).__name__}; "
            'load("rc_204.3") gives one by name.'
        )


def check_algorithm(algorithm: object) -> Algorithm:
    """Return the algorithm that was meant: itself, one with all its defaults by class or name, or the default."""
    if algorithm is None or isinstance(algorithm, str):
        from ..algorithms.registry import DEFAULT
        from ..algorithms.registry import algorithm as by_name

        return by_name(DEFAULT if algorithm is None else algorithm)
    made = algorithm() if isinstance(algorithm, type) and hasattr(algorithm, "start") else algorithm
    if not callable(getattr(made, "start", None)):
        raise TypeError(
            f'algorithm must be one such as ParetoNRPA(level=3), or a name such as "nsga-ii", got {shown(algorithm)}.'
        )
    return made  # type: ignore[return-value]  # has been checked to be one


def check_seed(seed: object) -> int:
    """Return a seed as a whole number of at least 0."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed must be a whole number of at least 0, got {seed!r}.")
    return int(seed)


def check_reference_point(problem: AnyProblem, given: Sequence[float] | None) -> NDArray[np.float64] | None:
    """Return the reference point to use, in the problem's own sense, or None if there is none yet."""
    point = problem.reference_point if given is None else given
    if point is None:
        return None
    message = f"reference_point must be {problem.n_objectives} finite numbers, got {shown(point)}."
    try:
        array = np.asarray(point, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(message) from error
    if array.shape != (problem.n_objectives,) or not np.isfinite(array).all():
        raise ValueError(message)
    return array
