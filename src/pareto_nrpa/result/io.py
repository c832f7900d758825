"""A result read from a file, which anybody may have written: everything in it is checked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from .._util.checks import is_number, shown
from .._util.files import check_file_name
from ..errors import ParetoNRPAError
from ..routing.plan_fields import are_schedules, fit_together, is_plan
from .result import EXTRAS, FORMAT, Front, Result

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from numpy.typing import NDArray


class _Wrong(ValueError):
    """What is wrong with a file, in words."""


def read_result(path: str | os.PathLike[str]) -> Result:
    """Return the result in a file, or raise an error that says what is wrong with it."""
    check_file_name(path)
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file, parse_constant=_refuse)
        return _result(content)
    except OSError as error:
        raise ParetoNRPAError(f"cannot read {path}: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        reason = f": {error}" if isinstance(error, _Wrong) else ""
        raise ParetoNRPAError(f"{path} is not a result of pareto-nrpa, or is damaged{reason}.") from error


def _refuse(constant: str) -> Any:
    raise _Wrong(f"it has {constant} where a finite number must be")


def _result(content: Any) -> Result:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError("unknown format")
    values = {name: _value(content, name, *rule) for name, rule in _RULES.items()}
    values |= {name: _value(content, name, *rule) for name, rule in _OPTIONAL.items() if name in content}
    m, n = len(values["maximise"]), len(values["solutions"])
    for name, length in _lengths(values, n, m).items():
        if len(values[name] or ()) not in length:
            raise _Wrong(f"{name} must have {length[0]} entries, got {len(values[name])}")
    objectives = np.array(values.pop("objectives"), dtype=float).reshape(n, m)
    violations = np.array(values.pop("violations"), dtype=float)
    _check_front(objectives * np.where(values["maximise"], -1.0, 1.0), violations)
    front = Front(objectives, violations, values.pop("solutions"), np.array(values.pop("policies"), dtype=np.int64))
    if not fit_together(values.get("plan", {}), values.get("schedules", [])):
        raise _Wrong("schedules have stops that are not in the plan")
    history = np.array(values.pop("history"), dtype=float).reshape(-1, 2)
    if (np.diff(history[:, 0]) < 0).any():
        raise _Wrong("history goes back in its evaluations")
    return Result(front=front, history=history, **values)


def _lengths(values: dict[str, Any], n: int, m: int) -> dict[str, tuple[int, ...]]:
    """Return how long the parts must be that go with each other; 0 where one may be missing."""
    whole = {"objectives": (n,), "violations": (n,), "policies": (n,), "reference_point": (m, 0)}
    parts = {"objective_names": (m, 0), "descriptions": (n, 0), "schedules": (n, 0)}
    if any(len(row) != m for row in values["objectives"]):
        raise _Wrong(f"every row of objectives must have {m} numbers")
    return whole | {name: length for name, length in parts.items() if name in values}


def _check_front(minimised: NDArray[np.float64], violations: NDArray[np.float64]) -> None:
    if len(violations) and (violations != violations[0]).any():
        raise _Wrong("the solutions of a front have equal violations")
    if len(minimised) > 1 and not _is_front(minimised):
        raise _Wrong("a solution of the front is dominated by another one")


def _is_front(minimised: NDArray[np.float64]) -> bool:
    if minimised.shape[1] == 1:
        return bool((minimised == minimised[0]).all())
    import moocore

    return bool(moocore.is_nondominated(minimised, keep_weakly=True).all())


def _value(content: dict[str, Any], name: str, read: Callable[[Any], Any], expected: str) -> Any:
    """Return a part of the file as it should be, or say what should be there."""
    if name not in content:
        raise _Wrong(f"{name} is missing")
    try:
        return read(content[name])
    except (TypeError, ValueError, OverflowError) as error:
        raise _Wrong(f"{name} must be {expected}, got {shown(content[name])}") from error


def _checked(is_right: Callable[[Any], bool]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if not is_right(value):
            raise ValueError
        return value

    return read


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _is_amount(value: Any) -> bool:
    return is_number(value) and value >= 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _list_of(is_right: Callable[[Any], bool]) -> Callable[[Any], Any]:
    return _checked(lambda value: isinstance(value, list) and all(map(is_right, value)))


def _list_of_lists(is_right: Callable[[Any], bool]) -> Callable[[Any], Any]:
    return _list_of(lambda row: isinstance(row, list) and all(map(is_right, row)))


def _moves(solutions: Any) -> list[list[Any]]:
    return [[_move(move) for move in _list_of(lambda _: True)(solution)] for solution in _list_of(_is_list)(solutions)]


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _move(value: Any) -> Any:
    """Return a move as it was: moves are hashable, so that a list in the file was a tuple."""
    if isinstance(value, dict):
        raise ValueError
    return tuple(_move(item) for item in value) if isinstance(value, list) else value


def _is_step(row: Any) -> bool:
    return isinstance(row, list) and len(row) == 2 and _is_whole(row[0]) and _is_amount(row[1])


def _is_comparison(truth: Any) -> bool:
    return (
        isinstance(truth, dict)
        and truth.keys() >= {"points", "found", "igd_plus"}
        and all(map(_is_amount, truth.values()))
    )


_DICTIONARY = (_checked(lambda value: isinstance(value, dict)), "an object of JSON")
_TEXT = (_checked(_is_text), "text")
_WHOLE = (_checked(_is_whole), "a whole number of at least 0")
_AMOUNT = (_checked(_is_amount), "a finite number of at least 0")
_TEXTS = (_list_of(_is_text), "a list of texts")

# How each part of a file is read, and what it must be.
_RULES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "instance": _TEXT,
    "algorithm": _TEXT,
    "parameters": _DICTIONARY,
    "seed": _WHOLE,
    "evaluations": _WHOLE,
    "cpu_seconds": _AMOUNT,
    "wall_seconds": _AMOUNT,
    "stopped_by": _TEXT,
    "maximise": (_checked(lambda value: bool(value) and all(type(x) is bool for x in value)), "true or false for each"),
    "reference_point": (
        lambda value: value if value is None else _list_of(is_number)(value),
        "a finite number for each objective",
    ),
    "objectives": (_list_of_lists(is_number), "rows of finite numbers"),
    "violations": (_list_of(_is_amount), "finite numbers of at least 0"),
    "solutions": (_moves, "lists of moves"),
    "policies": (_list_of(_is_whole), "whole numbers of at least 0"),
    "history": (_list_of(_is_step), "pairs of an evaluation and a hypervolume"),
    "versions": _DICTIONARY,
}
_OPTIONAL: dict[str, tuple[Callable[[Any], Any], str]] = {
    "unique_evaluations": (lambda value: value if value is None else _WHOLE[0](value), _WHOLE[1]),
    "objective_names": _TEXTS,
    "descriptions": _TEXTS,
    "truth": (_checked(_is_comparison), "points, found, igd_plus and other numbers"),
    "failures": _WHOLE,
    "discarded": _WHOLE,
    "plan": (_checked(is_plan), "stops with names and numbers, clock and geographic"),
    "schedules": (_checked(are_schedules), "routes of rows, with stop, name and times, for each solution"),
    "command": _TEXT,
    "approximated": (_checked(lambda value: type(value) is bool), "true or false"),
}
assert _OPTIONAL.keys() == set(EXTRAS)
