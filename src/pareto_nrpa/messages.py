"""What went wrong in compiled code, in a sentence for the person who wrote the problem."""

from __future__ import annotations

import re
from pathlib import Path

from .kernels.bundles import (
    BAD_BIAS,
    BAD_VIOLATIONS,
    CODE_OUT_OF_RANGE,
    NO_MOVE,
    NOT_FINITE,
    REPEATED_MOVE,
    TOO_LONG,
    TOO_MANY_CANDIDATES,
)
from .problem import AnyProblem, problem_name

_KERNELS = Path(__file__).parent / "kernels"

_SENTENCES = {
    NO_MOVE: "legal_moves() gave no move at the start of {name}; a problem needs at least one.",
    TOO_LONG: "{name} went on after {max_moves} moves; raise max_moves if its sequences are really longer.",
    TOO_MANY_CANDIDATES: "legal_moves() gave more moves at depth {depth} of {name} than max_legal or max_candidates "
    "allow; raise them.",
    CODE_OUT_OF_RANGE: "move_code() gave a code outside 0..n_codes-1 at depth {depth} of {name}.",
    REPEATED_MOVE: "legal_moves() returned the same move twice at depth {depth} of {name}.",
    NOT_FINITE: "evaluate() gave an objective that is NaN or infinite in {name}; return finite numbers, and count what "
    "is wrong with a solution as violations.",
    BAD_BIAS: "bias() gave NaN or infinity in {name}; return finite numbers.",
    BAD_VIOLATIONS: "evaluate() gave violations that are negative, NaN or infinite in {name}; 0 means feasible.",
}


def status_message(status: int, problem: AnyProblem, depth: int) -> str:
    """Return the sentence for a status."""
    return _SENTENCES[status].format(name=problem_name(problem), depth=depth, max_moves=problem.max_moves)


def compile_message(error: Exception, problem: AnyProblem) -> str:
    """Return the sentence for kernels that Numba cannot compile."""
    lines = [line.strip() for line in str(error).splitlines()]
    reasons = [line for line in lines if line and not line.startswith(("During", "Failed", "[", "^", "File"))]
    reason = reasons[0] if reasons else type(error).__name__
    return (
        f"the kernels of {problem_name(problem)} do not compile: {reason}{_place(str(error))} "
        "(only initial_state may create arrays)."
    )


def raised_message(error: Exception, problem: AnyProblem) -> str:
    """Return the sentence for a kernel that raised."""
    return f"a kernel of {problem_name(problem)} raised {type(error).__name__}: {error}."


def _place(message: str) -> str:
    """Return where in the problem's own file Numba gave up, as far as it says so."""
    places = re.findall(r'File "([^"]+)", line (\d+)', message)
    own = [f", {Path(file).name} line {line}" for file, line in places if Path(file).parent != _KERNELS]
    return own[-1] if own else ""
