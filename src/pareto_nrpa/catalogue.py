"""Load a problem by name: an instance (`rc_204.3`), a file (`my-stops.txt`), or a spec (`tsptw:n=20,seed=1`).

A spec names a family of problems, an entry each: options of a spec, constructor, description.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._util.checks import did_you_mean, shown
from .errors import InstanceError
from .own_problem import describe_own, is_own, load_own
from .problem.base import problem_name
from .routing.benchmarks import VARIABLE, find_instance, instance_names, official_names
from .routing.content import ACCEPTED
from .routing.instance import build_problem
from .routing.read import read_instance
from .routing.stops import without_return
from .routing.tsplib import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .problem.base import AnyProblem, CompiledProblem
    from .routing.instance import Instance, RoutingOptions

#: The keyword of the function that makes a problem, and what reads its value.
Option = tuple[str, Callable[[str], Any]]


@dataclass(frozen=True)
class Family:
    """Problems of one kind."""

    name: str  # what a spec begins with
    maker: str  # module and function, loaded when it is asked for
    options: dict[str, Option]  # what can be said in a spec, as the n of tsptw:n=25
    describe: Callable[[CompiledProblem], list[str]]  # sentences; the first has no subject
    example: str = ""  # optional first options without a name; the first of them must be given
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
                known = ", ".join(f"{option}={' names joined by +' * self.is_read}" for option in self.options)
                raise InstanceError(f"{part[:60]!r} is not an option of {self.name}; it takes {known}.")
            keyword, read = self.options[key]
            if keyword in values:
                raise InstanceError(f"{key} of {self.name} is given twice, in {text[:60]!r}; leave one out.")
            try:
                values[keyword] = read(value)
            except ValueError as error:
                raise InstanceError(f"{key} of {self.name} must be {_IN_WORDS[read]}, got {value[:60]!r}.") from error
        needed = self.example.partition("=")[0]
        if needed and self.options[needed][0] not in values:
            raise InstanceError(f"{self.name} needs {needed}=, as in {self.spec}.")
        module, function = self.maker.split(":")
        made: CompiledProblem = getattr(import_module(f".{module}", __package__), function)(**values)
        return made


def _names(text: str) -> list[str]:
    if not text:
        raise ValueError("no name")
    return text.split("+")


_IN_WORDS = {int: "a whole number", float: "a number", _names: "names joined by +"}


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
_CITIES: dict[str, Option] = {"n": ("n", int), "seed": ("seed", int)}
_WINDOWS = _CITIES | {"tightness": ("tightness", float)}
_COUNT: dict[str, Option] = {"objectives": ("n_objectives", int)}
_NAMES: dict[str, Option] = {"objectives": ("objectives", _names)}
_EXAMPLE = "n=50,seed=1"

#: Families read from files: the format of the official instances, and stops.
OF_FILES = Family("tsptw", "routing.generate:generate_tsptw", _WINDOWS | _COUNT, _describe_windows, _EXAMPLE)
OF_STOPS = Family("stops", "", {}, describe_stops)
#: What is not one of the families; made in `own_problem`.
OWN = Family("own", "", {}, describe_own)
_FLEETS = _WINDOWS | {"vehicles": ("vehicles", int)} | _NAMES
#: By what a spec begins with. A new family is an entry here.
FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        OF_FILES,
        Family("vrptw", "routing.generate:generate_vrptw", _FLEETS, describe_stops, _EXAMPLE),
        Family("mo-tsp", "routing.generate:generate_tsp", _CITIES | _COUNT, _describe_tours, _EXAMPLE),
        Family("nas-bench-201", "nas.nasbench201:nas_bench_201", _NAMES, _describe_table, is_read=True),
        Family("nas-bench-101", "nas.nasbench101:nas_bench_101", _NAMES, _describe_table, is_read=True),
        Family(
            "nas-bench-101-surrogate",
            "nas.nasbench101:nas_bench_101_surrogate",
            _NAMES,
            _describe_table,
            is_read=True,
        ),
    )
}


#: The embedded instance: 25 cities, tight windows, a front of a few dozen trade-offs.
DEFAULT = "tsptw:n=25,seed=7,tightness=0.6,objectives=2"

# Options of a file or an instance.
_RETURN = ":check_return="
_ANSWERS = {"yes": True, "no": False}


def load(name_or_path: str | os.PathLike[str], *, data: str | os.PathLike[str] | None = None) -> CompiledProblem:
    """Return a problem.

    Parameters
    ----------
    name_or_path
        The name of an instance in the data folder, the path of a file in the Solomon-Potvin-Bengio format or of one
        of stops (CSV and others, as `read_stops` reads them), a generator with options
        (`tsptw:n=25,seed=7,tightness=0.6,objectives=2`, `mo-tsp:n=100,seed=1`), a benchmark
        (`nas-bench-201`, `nas-bench-201:objectives=c100_error+flops`), or "default". Tours of a file must be back
        before the depot closes, those of the official instances, by convention, need not; choose with
        `my-stops.txt:check_return=no`, `rc_204.3:check_return=yes`. A problem of one's own is `my_problem.py:factory`:
        a Python file, and in it a problem or a function without arguments that returns one.
    data
        The folder to look in, instead of `$PARETO_NRPA_DATA` and the user's cache.
    """
    if not isinstance(name_or_path, str | os.PathLike):
        raise InstanceError(f'a problem is named by text or a path, as in load("rc_204.3"), got {shown(name_or_path)}.')
    if data is not None and not isinstance(data, str | os.PathLike):
        raise InstanceError(f"data must be the path of a folder, got {shown(data)}.")
    return open_problem([os.fspath(name_or_path)], data=data)[1]  # type: ignore[return-value]  # may be a plain problem


def describe(name: str, *, data: str | os.PathLike[str] | None = None) -> tuple[AnyProblem, list[str]]:
    """Return a problem and the description of it by its family, in lines."""
    family, problem = open_problem([name], data=data)
    first, *others = family.describe(problem)  # type: ignore[arg-type]  # may be a plain problem
    return problem, [f"{problem_name(problem)}: {first}", *others]


def open_problem(
    names: Sequence[str],
    options: RoutingOptions | None = None,
    *,
    rounding: str = "file",
    data: str | os.PathLike[str] | None = None,
) -> tuple[Family, AnyProblem]:
    """Return a problem with its family. A name is looked for as a Python file, a spec, a file, an instance, in turn.

    Parameters
    ----------
    names
        One name as in `load`, or several TSPLIB files, an objective each.
    options, rounding
        Options for files; refused for anything else.
    """
    first, *more = names
    if "\0" in first:
        raise InstanceError(f"unknown instance {shown(first)}: a name cannot contain the character \\0.")
    name = DEFAULT if first == "default" else first
    prefix, colon, spec = name.partition(":")
    family = OWN if is_own(name) else FAMILIES.get(prefix)
    if family is OWN or (family is not None and (colon or family.is_read or not os.path.exists(name))):
        given = [*(options.given if options else []), *(["rounding"] if rounding != "file" else [])]
        if given or more:
            what = f"--{'cost' if given[0] == 'costs' else given[0].replace('_', '-')}" if given else "a second file"
            raise InstanceError(f"{first} is not a file of stops ({ACCEPTED}); {what} applies to these only.")
        return family, load_own(name) if family is OWN else family.make(spec, data)
    instance = joined([_instance(each, data, rounding) for each in [name, *more]])
    problem = build_problem(instance, options)
    is_published = instance.kind == "windows" and not (options and options.given)
    return OF_FILES if is_published else OF_STOPS, problem


def _instance(name: str, data: str | os.PathLike[str] | None, rounding: str) -> Instance:
    """Return the instance of a file or an available name; an explicit `check_return` overrides the convention."""
    found, answer = _place(name, data), ""
    if found is None and _RETURN in name:
        stem, _, answer = name.rpartition(_RETURN)
        if answer not in _ANSWERS:
            raise InstanceError(f"check_return must be yes or no, got {answer[:40]!r}.")
        found, name = _place(stem, data), stem
    if found is None:
        raise InstanceError(_unknown(name, data))
    path, convention = found
    instance = read_instance(path, rounding=rounding)
    returns = _ANSWERS.get(answer, convention)
    if returns != convention:
        instance = replace(instance, name=f"{instance.name}{_RETURN}{answer}")
    return instance if returns else replace(instance, stops=without_return(instance.stops))


def _place(name: str, data: str | os.PathLike[str] | None) -> tuple[Path, bool] | None:
    """Return the path of an instance and whether tours must return before the depot closes; None if it is missing.

    The published code of the benchmark ignores the window of the depot on return.
    """
    if os.path.isfile(name):  # unlike Path.is_file, never raises
        return Path(name), True
    found = find_instance(name, data)
    return None if found is None else (found, name not in official_names())


def _unknown(name: str, data: str | os.PathLike[str] | None) -> str:
    if os.path.isdir(name):
        return f"{name} is a folder; give an instance file, or a name with --data {name}; {ACCEPTED}."
    if os.sep in name or name.endswith((".txt", ".csv", ".tsp", ".vrp", ".json", ".xlsx", ".xls", ".ods")):
        return f"there is no file {name}; give an instance file, a name (rc_204.3) or a spec (tsptw:n=25,seed=7)."
    there = instance_names(data)
    made, read = ([f.spec for f in FAMILIES.values() if f.is_read == is_read] for is_read in (False, True))
    specs = f"generators: {' and '.join(made)}; benchmarks: {', '.join(read)}"
    if name in official_names():
        return (
            f"the official instance {name} is not on this machine; get it with: pareto-nrpa data get "
            f"(or point {VARIABLE} to a folder that has it)."
        )
    if not there:
        return (
            f"unknown instance {name!r}: no such file, and no data folder with instances; get the official ones "
            f"with: pareto-nrpa data get. {specs.capitalize()}."
        )
    return f"unknown instance {name!r}{did_you_mean(name, there)}; there are: {', '.join(there)}; {specs}."
