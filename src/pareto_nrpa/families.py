"""The families of problems, an entry each: options of a spec, constructor, description."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import InstanceError
from .own_problem import describe_own

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from .problem.base import CompiledProblem


@dataclass(frozen=True)
class Option:
    """An option of a spec, such as n in tsptw:n=25."""

    keyword: str  # of the function that makes it
    read: Callable[[str], Any]
    kind: str  # in words
    least: int | None = None


@dataclass(frozen=True)
class Family:
    """Problems of one kind."""

    name: str  # what a spec begins with
    maker: str  # module and function, loaded when it is asked for
    options: dict[str, Option]
    describe: Callable[[CompiledProblem], list[str]]  # sentences; the first has no subject
    example: str = ""  # optional first options without a name
    hint: str = ""  # how its options are given
    needs: dict[str, str] = field(default_factory=dict)  # options that must be given, in words
    is_read: bool = False  # from files in a data folder

    @property
    def spec(self) -> str:
        """An example of a spec of the family."""
        return f"{self.name}:{self.example}" if self.example else self.name

    def make(self, text: str, data: str | os.PathLike[str] | None = None) -> CompiledProblem:
        """Return the problem of a spec, whose options are given."""
        values: dict[str, Any] = {"data": data} if self.is_read else {}
        for part in filter(None, text.split(",")):
            key, equals, value = part.partition("=")
            if key not in self.options or not equals:
                known = ", ".join(f"{option}=" for option in self.options)
                raise InstanceError(f"{part[:60]!r} is not an option of {self.name}; it takes {known}{self.hint}.")
            option = self.options[key]
            if option.keyword in values:
                raise InstanceError(f"{key} of {self.name} is given twice, in {text[:60]!r}; leave one out.")
            try:
                values[option.keyword] = number = option.read(value)
            except ValueError as error:
                raise InstanceError(f"{key} of {self.name} must be {option.kind}, got {value[:60]!r}.") from error
            if option.least is not None and number < option.least:
                raise InstanceError(f"{key} of {self.name} must be at least {option.least}, got {value[:60]}.")
        for key, words in self.needs.items():
            if self.options[key].keyword not in values:
                raise InstanceError(f"{self.name} needs {words}, as in {self.spec}.")
        module, function = self.maker.split(":")
        made: CompiledProblem = getattr(import_module(f".{module}", __package__), function)(**values)
        return made


def _names(text: str) -> list[str]:
    if not text:
        raise ValueError("no name")
    return text.split("+")


def _describe_tours(problem: CompiledProblem) -> list[str]:
    return [f"{problem.max_moves + 1} cities, {problem.n_objectives} objective(s)", "no time windows"]


def _describe_windows(problem: CompiledProblem) -> list[str]:
    widths = (problem.data.closes - problem.data.opens)[1:]
    windows = f"time windows: {widths.min():g} to {widths.max():g} wide, {widths.mean():.1f} on average"
    back = problem.data.closes[0]
    until = f"tours must be back by {back:g}" if math.isfinite(back) else "tours may be back at any time"
    return [_describe_tours(problem)[0], windows, until]


def describe_stops(problem: CompiledProblem) -> list[str]:
    """Return how a file of stops was understood."""
    objectives = f"objectives: {', '.join(problem.objective_names or ())}"
    assert problem.context is not None
    depot, *stops = problem.context["stops"]
    n_vehicles = problem.max_moves - len(stops) + 1
    n_windows = sum(stop["opens"] > 0 or stop["closes"] is not None for stop in stops)
    others = [name for name in depot if name not in _COLUMNS_OF_STOPS]
    lines = [
        f"{len(stops)} stops, {n_vehicles} vehicle(s) from {depot['name']!r}, {n_windows} time windows",
        objectives,
    ]
    return [*lines, f"other columns: {', '.join(others)}"] if others else lines


def _describe_table(problem: CompiledProblem) -> list[str]:
    assert problem.reference_front is not None
    return [
        f"{problem.max_moves} moves, {len(problem.reference_front.points):,} solutions",
        f"objectives: {', '.join(problem.objective_names or ())}",
    ]


_COLUMNS_OF_STOPS = ("name", "x", "y", "lat", "lon", "opens", "closes", "service", "demand", "kind")
_CITIES = {"n": Option("n", int, "a whole number"), "seed": Option("seed", int, "a whole number", least=0)}
_VEHICLES = {"vehicles": Option("vehicles", int, "a whole number", least=1)}
_TIGHTNESS = {"tightness": Option("tightness", float, "a number")}
_COUNT = {"objectives": Option("n_objectives", int, "a whole number")}
_NAMES = {"objectives": Option("objectives", _names, "names joined by +")}
_N = {"n": "a number of cities"}

#: By what a spec begins with. A new family is an entry here.
FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family(
            "tsptw",
            "routing.generate:generate_tsptw",
            _CITIES | _TIGHTNESS | _COUNT,
            _describe_windows,
            "n=50,seed=1",
            needs=_N,
        ),
        Family(
            "vrptw",
            "routing.generate:generate_vrptw",
            _CITIES | _TIGHTNESS | _VEHICLES | _NAMES,
            describe_stops,
            "n=50,seed=1",
            needs=_N,
        ),
        Family("mo-tsp", "routing.generate:generate_tsp", _CITIES | _COUNT, _describe_tours, "n=50,seed=1", needs=_N),
        *(
            Family(name, maker, _NAMES, _describe_table, hint=" names joined by +", is_read=True)
            for name, maker in (
                ("nas-bench-201", "nas.nasbench201:nas_bench_201"),
                ("nas-bench-101", "nas.nasbench101:nas_bench_101"),
                ("nas-bench-101-surrogate", "nas.nasbench101:nas_bench_101_surrogate"),
            )
        ),
    )
}
#: Families read from files: the format of the official instances, and stops.
OF_FILES = FAMILIES["tsptw"]
OF_STOPS = Family("stops", "", {}, describe_stops)
#: What is not one of the families; made in `own`.
OWN = Family("own", "", {}, describe_own)
