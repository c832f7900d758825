"""Messages for errors in compiled code and in kernels of the user."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
from numba import types

from .._util.checks import shown
from ..problem.base import AnyProblem, CompiledProblem, problem_name
from .arrays import (
    BAD_BIAS,
    BAD_VIOLATIONS,
    CODE_OUT_OF_RANGE,
    NO_MOVE,
    NOT_FINITE,
    REPEATED_MOVE,
    TOO_LONG,
    TOO_MANY_CANDIDATES,
    TOO_MANY_OBJECTIVES,
)
from .jit.bundles import bundle
from .jit.kernels import compile_alone, python_function

if TYPE_CHECKING:
    from collections.abc import Sequence

_typeof: Any = numba.typeof  # which has no type hints

_SENTENCES = {
    NO_MOVE: "legal_moves() gave no move at the start of {name}; a problem needs at least one.",
    TOO_LONG: "{name} was not complete after {max_moves} moves; raise max_moves if its sequences are longer.",
    TOO_MANY_CANDIDATES: "legal_moves() gave more moves at depth {depth} of {name} than max_legal or max_candidates "
    "allow; raise them.",
    CODE_OUT_OF_RANGE: "move_code() gave a code outside 0..n_codes-1 at depth {depth} of {name}.",
    REPEATED_MOVE: "legal_moves() returned the same move twice at depth {depth} of {name}.",
    NOT_FINITE: "evaluate() gave an objective that is NaN or infinite in {name}; fill in all of them with finite "
    "numbers, and count violated constraints as violations.",
    BAD_BIAS: "bias() gave NaN or infinity in {name}; return finite numbers.",
    TOO_MANY_OBJECTIVES: "evaluate() of {name} filled in more objectives than its n_objectives={n_objectives}.",
    BAD_VIOLATIONS: "evaluate() gave violations that are negative, NaN or infinite in {name}; 0 means feasible.",
}


def status_message(status: int, problem: AnyProblem, depth: int) -> str:
    """Return the message for a status."""
    sizes = {"max_moves": problem.max_moves, "n_objectives": problem.n_objectives}
    return _SENTENCES[status].format(name=problem_name(problem), depth=depth, **sizes)


def unfollowed_message(problem: AnyProblem, solution: Sequence[Any], depth: int) -> str:
    """Return the message for a given solution whose move at some depth is not legal, or that is not complete."""
    name = problem_name(problem)
    if depth == len(solution):
        return f"solution must be complete, and in {name} there are legal moves left after its {depth} moves."
    return f"solution must have legal moves only, and {shown(solution[depth])} at depth {depth} is not legal in {name}."


def overflow_message(alpha: float, problem: AnyProblem) -> str:
    """Return the message for policy weights that overflowed."""
    return f"policy weights overflowed on {problem_name(problem)}; reduce alpha={alpha:g} to a value near 1."


def compile_message(error: Exception, problem: CompiledProblem) -> str:
    """Return the message for kernels that Numba cannot compile."""
    return uncompilable(problem) or f"the kernels of {problem_name(problem)} do not compile together: {_reason(error)}."


def uncompilable(problem: CompiledProblem) -> str | None:
    """Return the message for the first kernel that does not compile alone or returns a wrong type, if any."""
    name: str = problem_name(problem)
    state: Any = None
    moves, numbers, move = types.int64[::1], types.float64[::1], types.int64
    more: dict[str, tuple[Any, ...]] = {"legal_moves": (moves,), "all_moves": (moves,), "play": (move,)}
    more |= {"move_code": (move,), "evaluate": (numbers,), "bias": (move, numbers)}
    first: dict[str, tuple[Any, ...]] = {"initial_state": (), "canonical": (moves, move)}  # without a state
    if message := unfit_data(problem):
        return message
    data = _typeof(problem.data)
    for word, function in {**problem.kernels, "all_moves": problem.all_moves}.items():
        if function is None or python_function(function) is function:  # compiling is switched off
            continue
        arguments = (data, *first[word]) if word in first else (data, state, *more.get(word, ()))
        try:
            returned = compile_alone(function, arguments)
        except Exception as error:  # Numba has errors of many kinds
            return f"{word}() of {name} does not compile, {_place(error, function)}: {_reason(error)}."
        if word == "initial_state":
            state = returned
        elif word not in ("play", "canonical") and not isinstance(returned, types.Number | types.Boolean):
            return f"{word}() of {name} must return a number, {_place(None, function)} returns {returned}."
    return None


def uncompiled_message(error: Exception, function: Any, name: str) -> str:
    """Return the message for the function of a problem of that name that Numba cannot compile."""
    return f"the function of {name} does not compile, {_place(error, function)}: {_reason(error)}."


def unfit_data(problem: CompiledProblem) -> str | None:
    """Return the message for data of unsupported types, if any."""
    try:
        _typeof(bundle(type(problem.data))(*problem.data))
    except (AttributeError, TypeError, ValueError) as error:
        name = problem_name(problem)
        return f"data of {name} must be a NamedTuple of arrays and numbers: {_reason(error)}."
    return None


def _reason(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines()]
    reasons = [line for line in lines if line and not line.startswith(("During", "Failed", "[", "^", "File"))]
    return (reasons[0] if reasons else type(error).__name__).partition(" Raised from")[0].rstrip(".:")


def raised_message(error: Exception, problem: AnyProblem) -> str:
    """Return the message for a kernel that raised."""
    return f"a kernel of {problem_name(problem)} raised {type(error).__name__}: {error}."


def _place(error: Exception | None, function: Any) -> str:
    """Return the file and line of a compilation error, or of the kernel."""
    code = python_function(function).__code__
    file = Path(code.co_filename)
    places = re.findall(r'File "([^"]+)", line (\d+)|Raised from (.+?) \((\d+)\)', str(error))
    lines = [line or other for path, line, raised_in, other in places if Path(path or raised_in).resolve() == file]
    return f"{file.name} line {lines[-1] if lines else code.co_firstlineno}"
