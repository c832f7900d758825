"""Checks of plan files: one sentence that names the file, the key, what was expected and what came."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any

from .._util.checks import did_you_mean
from ..errors import ParetoNRPAError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .plan import Contender

    Kind = tuple[str, Callable[[Any], bool]]

LAYOUTS = ("instances", "metrics", "grid")
FIGURES = ("fronts", "history", "attainment", "policies", "matrices")


# What a plan may ask for at most: more is a slip of the key, and would fill the memory before the first run.
_MOST_SEEDS = 10_000
_MOST_EVALUATIONS = 10**15
_MOST_SECONDS = 10**9
_LONGEST_MESSAGE = 600  # characters


class PlanError(ParetoNRPAError):
    """A plan is unknown, or its file does not say what it should: in one line, whatever the file has in it."""

    def __init__(self, message: str) -> None:
        line = " ".join(message.split())
        super().__init__(line if len(line) <= _LONGEST_MESSAGE else f"{line[: _LONGEST_MESSAGE - 4]} ...")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _are_rising(value: Any) -> bool:
    is_list = isinstance(value, list) and all(isinstance(n, int) and not isinstance(n, bool) for n in value)
    return is_list and min(value, default=1) >= 1 and sorted(set(value)) == value


_ANY: Kind = ("", lambda value: True)  # numbers, which have checks of their own
_TEXT: Kind = ("a text in quotes", _is_text)
_TEXTS: Kind = ("a list of texts in quotes", _is_list_of_texts)
_TABLE: Kind = ("a table", _is_table)
_TABLE_OF_TEXT: Kind = ("a table of texts", lambda value: _is_table(value) and all(map(_is_text, value.values())))
_TABLE_OF_TEXTS: Kind = (
    "a table of lists of texts",
    lambda value: _is_table(value) and all(map(_is_list_of_texts, value.values())),
)
_COUNT: Kind = ('"all" or "unique"', lambda value: value in ("all", "unique"))
_RISING: Kind = ("rising numbers of evaluations", _are_rising)
_TABLES: Kind = (
    "a list of tables, each beginning with [[algorithm]]",
    lambda value: isinstance(value, list) and all(map(_is_table, value)),
)

PLAN_KEYS: dict[str, Kind] = {
    "title": _TEXT,
    "paper": _TEXT,
    "layout": _TEXT,
    "reference": _TEXT,
    "problems": _TEXTS,
    "seeds": _ANY,
    "evaluations": _ANY,
    "cpu_seconds": _ANY,
    "count": _COUNT,
    "algorithm": _TABLES,
    "quick": _TABLE,
    "published": _TABLE_OF_TEXT,
    "figures": _TABLE_OF_TEXTS,
    "metrics": _TEXTS,
    "curve": _RISING,
}
ALGORITHM_KEYS: dict[str, Kind] = {"label": _TEXT, "name": _TEXT, "parameters": _TABLE}
QUICK_KEYS: dict[str, Kind] = {
    "problems": _TEXTS,
    "stand_ins": _TEXTS,
    "seeds": _ANY,
    "evaluations": _ANY,
    "cpu_seconds": _ANY,
    "algorithms": _TEXTS,
}


def check_keys(where: str, content: dict[str, Any], known: dict[str, Kind]) -> None:
    """Raise if there is a key that nobody reads, or a value of another kind than its key asks for."""
    for key, value in content.items():
        if key not in known:
            raise PlanError(f"{where} has an unknown key {shown(key)}{_hint(key, known)}")
        expected, is_right = known[key]
        if not is_right(value):
            raise PlanError(f"{key} of {where} must be {expected}, got {shown(value)}.")


def check_names(where: str, names: Iterable[str], known: Iterable[str]) -> None:
    """Raise if one of the names is not known."""
    for name in names:
        if name not in known:
            raise PlanError(f"{where}: {shown(name)} is unknown{_hint(name, known)}")


def _hint(name: str, known: Iterable[str]) -> str:
    return f"{did_you_mean(name, known)}; it knows: {', '.join(sorted(known))}."


def shown(value: Any) -> str:
    """Return a value as a message shows it: not more of it than one wants to read."""
    return reprlib.repr(value)


def check_count(name: str, value: Any, most: int | None = None) -> None:
    """Raise unless a value is a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise PlanError(f"{name} must be a whole number of at least 1, got {shown(value)}.")
    if most is not None and value > most:
        raise PlanError(f"{name} must be at most {most:,}, got {shown(value)}.")


def check_seeds(value: Any) -> None:
    """Raise unless a value is a number of seeds."""
    check_count("seeds", value, _MOST_SEEDS)


def check_budget(evaluations: Any, cpu_seconds: Any) -> None:
    """Raise unless there is one budget, and it is one."""
    if (evaluations is None) == (cpu_seconds is None):
        raise PlanError("a plan needs either evaluations or cpu_seconds as its budget, not both and not neither.")
    if evaluations is not None:
        check_count("evaluations", evaluations, _MOST_EVALUATIONS)
    elif isinstance(cpu_seconds, bool) or not isinstance(cpu_seconds, int | float) or not cpu_seconds > 0:
        raise PlanError(f"cpu_seconds must be a number above 0, got {shown(cpu_seconds)}.")
    elif cpu_seconds > _MOST_SECONDS:
        raise PlanError(f"cpu_seconds must be at most {_MOST_SECONDS:,}, got {shown(cpu_seconds)}.")


def check_quick(where: str, quick: dict[str, Any]) -> None:
    """Raise unless the quick version of a plan is one."""
    check_keys(f"quick of {where}", quick, QUICK_KEYS)
    for key in ("problems", "stand_ins"):
        if key in quick and not quick[key]:
            raise PlanError(f"{key} of quick of {where} must be a list with at least one entry.")
    if "seeds" in quick:
        check_seeds(quick["seeds"])
    if "evaluations" in quick or "cpu_seconds" in quick:
        check_budget(quick.get("evaluations"), quick.get("cpu_seconds"))


def check_grid(where: str, contenders: Iterable[Contender]) -> None:
    """Raise unless all algorithms have a place in a table of policies by learning rates."""
    for contender in contenders:
        if not {"n_policies", "alpha"} <= contender.parameters.keys():
            raise PlanError(
                f'layout of {where} is "grid", of n_policies by alpha; {contender.name} has no such parameters.'
            )


def check_unique(where: str, content: dict[str, Any]) -> None:
    """Raise if a plan that counts unique evaluations asks for something by time, or by all evaluations."""
    if content.get("evaluations") is None:
        raise PlanError(f'count of {where} is "unique": it needs evaluations as its budget, not cpu_seconds.')
    if "curve" in content:
        raise PlanError(f'curve of {where} is by all evaluations; leave it out, or count = "unique".')
