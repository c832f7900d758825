"""Results as files of JSON: keys, types and consistency checks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from msgspec import Meta, Struct

from .._util.files import write_text
from .._util.structs import read
from ..errors import ParetoNRPAError
from ..metrics import is_nondominated
from .result import Front, Result, plain

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from numpy.typing import NDArray

_Whole = Annotated[int, Meta(ge=0, le=2**63 - 1)]
_Amount = Annotated[float, Meta(ge=0)]
_FORMAT = "pareto-nrpa result 1"
_WHAT = "a result of pareto-nrpa"


class ResultFile(Struct):
    """The keys of a file. Keys with a default are written only where they have another value."""

    format: Literal["pareto-nrpa result 1"]
    instance: str
    algorithm: str
    parameters: dict[str, Any]
    seed: _Whole
    evaluations: _Whole
    cpu_seconds: _Amount
    wall_seconds: _Amount
    stopped_by: str
    reference_point: list[float] | None
    maximise: Annotated[list[bool], Meta(min_length=1)]
    objectives: list[list[float]]
    violations: list[_Amount]
    solutions: list[list[Any]]
    policies: list[_Whole]
    history: list[tuple[_Whole, _Amount]]
    versions: dict[str, Any]
    unique_evaluations: _Whole | None = None
    objective_names: list[str] = []
    descriptions: list[str] = []
    truth: dict[str, _Whole | _Amount] = {}
    failures: _Whole = 0
    approximated: bool = False
    discarded: _Whole = 0
    context: dict[str, Any] = {}
    details: list[dict[str, Any]] = []
    command: str = ""


def read_result(path: str | os.PathLike[str]) -> Result:
    """Return the result in a file, or raise an error that names the invalid field."""
    file = read(path, ResultFile, what=_WHAT)
    try:
        return _result(file)
    except ValueError as error:
        raise ParetoNRPAError(f"{path} is not {_WHAT}, or is damaged: {error}.") from error


def result_to_dict(result: Result) -> dict[str, object]:
    """Return the keys of a file with plain values, without those that have their default."""
    front = result.front
    special = {
        "format": _FORMAT,
        "parameters": plain(result.parameters),
        "objectives": front.objectives.tolist(),
        "violations": [int(v) if v == int(v) else v for v in front.violations.tolist()],
        "solutions": plain(front.solutions),
        "policies": front.policies.tolist(),
        "history": [[int(n), value] for n, value in result.history.tolist()],
    }
    names = ResultFile.__struct_fields__
    values = {name: special[name] if name in special else getattr(result, name) for name in names}
    optional = names[len(names) - len(ResultFile.__struct_defaults__) :]
    return {name: value for name, value in values.items() if value or name not in optional}


def write_result(path: str | os.PathLike[str], result: Result) -> Path:
    """Write a result, a line for each key, and return the path."""
    compact = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    lines = ",\n".join(f'"{key}": {compact.encode(value)}' for key, value in result.to_dict().items())
    # Lone surrogates, as in file names that are not UTF-8, are not valid JSON.
    return write_text(path, f"{{\n{lines}\n}}".encode(errors="replace").decode())


def _result(file: ResultFile) -> Result:
    """Return the result of a file after checking that its parts are consistent."""
    n, m = len(file.solutions), len(file.maximise)
    _check_lengths(file, n, m)
    objectives = np.array(file.objectives, dtype=float).reshape(n, m)
    violations = np.array(file.violations, dtype=float)
    _check_front(objectives * np.where(file.maximise, -1.0, 1.0), violations)
    history = np.array(file.history, dtype=float).reshape(-1, 2)
    if (np.diff(history[:, 0]) < 0).any():
        raise ValueError("evaluations of history must not decrease")
    if file.truth and not file.truth.keys() >= {"points", "found", "igd_plus"}:
        raise ValueError("truth must have points, found and igd_plus")
    solutions = [[_move(move) for move in solution] for solution in file.solutions]
    front = Front(objectives, violations, solutions, np.array(file.policies, dtype=np.int64))
    in_front = ("format", "objectives", "violations", "solutions", "policies", "history")
    others = {name: getattr(file, name) for name in file.__struct_fields__ if name not in in_front}
    return Result(front=front, history=history, **others)


def _check_lengths(file: ResultFile, n: int, m: int) -> None:
    if any(len(row) != m for row in file.objectives):
        raise ValueError(f"every row of objectives must have {m} numbers")
    lengths = {"objectives": n, "violations": n, "policies": n, "reference_point": m, "objective_names": m}
    for name, length in (lengths | {"descriptions": n, "details": n}).items():
        given = getattr(file, name)
        may_be_missing = name not in ("objectives", "violations", "policies")
        if (given or not may_be_missing) and len(given) != length:
            raise ValueError(f"{name} must have {length} entries, got {len(given)}")


def _check_front(minimised: NDArray[np.float64], violations: NDArray[np.float64]) -> None:
    if len(violations) and (violations != violations[0]).any():
        raise ValueError("the solutions of a front have equal violations")
    if not is_nondominated(minimised).all():
        raise ValueError("a solution of the front is dominated by another one")


def _move(value: Any) -> Any:
    """Return a move, with lists turned into tuples, as moves are hashable."""
    if isinstance(value, dict):
        raise ValueError(f"solutions must be lists of moves, got an object as a move: {str(value)[:40]}")
    return tuple(_move(item) for item in value) if isinstance(value, list) else value
