"""Build the `Result` of a search: its front, hypervolumes, and the descriptions that the problem gives."""

from __future__ import annotations

import platform
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from .._util.checks import shown
from ..errors import ProblemError
from ..metrics import hypervolume_history, is_affordable, worst_point
from ..problem.base import AnyProblem, objective_signs, problem_name
from ..result.result import Result, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ..algorithms.search import Search


def versions() -> dict[str, str]:
    """Return the versions of Python and of the installed libraries, on which a result depends."""
    found = {"python": platform.python_version()}
    for name in ("pareto-nrpa", "numpy", "numba", "moocore", "pymoo"):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def found_by(
    search: Search,
    problem: AnyProblem,
    algorithm: str,
    seed: int,
    stopped_by: str,
    reference: NDArray[np.float64] | None,
) -> Result:
    """Return the result of a search, not measured yet."""
    return Result(
        instance=problem_name(problem),
        algorithm=algorithm,
        parameters=search.parameters(),
        seed=seed,
        evaluations=search.evaluations,
        cpu_seconds=search.cpu_seconds,
        wall_seconds=search.wall_seconds,
        stopped_by=stopped_by,
        front=search.front(),
        history=np.zeros((0, 2)),
        reference_point=None if reference is None else reference.tolist(),
        maximise=(objective_signs(problem) < 0).tolist(),
        versions=versions(),
        unique_evaluations=search.unique_evaluations,
        objective_names=[str(name) for name in problem.objective_names or ()],
        log=search.log(),
        failures=search.failures,
        discarded=search.discarded,
    )


def measured(found: Result, log: NDArray[np.float64], problem: AnyProblem) -> Result:
    """Return a result with its hypervolumes, compared with the reference front of the problem if it has one."""
    signs = objective_signs(problem)
    m = len(signs)
    feasible = log[log[:, 1] == 0, 2:]
    reference = None if found.reference_point is None else np.array(found.reference_point) * signs
    if reference is None and len(feasible):
        reference = worst_point(feasible)
    front = found.front.objectives * signs if found.front.is_feasible else np.zeros((0, m))
    history = hypervolume_history(log, np.zeros(m) if reference is None else reference, front)
    if len(history) and history[-1, 0] < found.evaluations:
        history = np.vstack([history, [found.evaluations, history[-1, 1]]])
    known = problem.reference_front
    return replace(
        found,
        history=history,
        approximated=len(history) > 0 and not is_affordable(len(front), m),
        reference_point=None if reference is None else (reference * signs).tolist(),
        truth={} if known is None else known.compared(front),
    )


def described(found: Result, problem: AnyProblem) -> Result:
    """Return a result with the problem's descriptions of its solutions."""
    found = replace(found, context=_plain_dictionary(problem.context or {}, found, "context"))
    if problem.details is not None:
        said = _of_each(found, problem.details, "details()")
        found = replace(found, details=[_plain_dictionary(value, found, "details()") for value in said])
    if problem.describe is None:
        return found
    return replace(found, descriptions=list(map(str, _of_each(found, problem.describe, "describe()"))))


def _plain_dictionary(value: Any, found: Result, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ProblemError(f"{what} of {found.instance} must be a dictionary, got {shown(value)}.")
    return {str(key): plain(item) for key, item in value.items()}


def _of_each(found: Result, say: Callable[[list[Any]], Any], what: str) -> list[Any]:
    try:
        return [say(solution) for solution in found.front.solutions]
    except Exception as error:
        reason = f"{type(error).__name__}: {shown(str(error))}"
        raise ProblemError(f"{what} of {found.instance} raised {reason}; correct it.") from error
