"""Load a problem by name: an instance (`rc_204.3`), a file (`my-stops.txt`), or a spec (`tsptw:n=20,seed=1`)."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ._util.checks import did_you_mean, shown
from .errors import InstanceError
from .families import FAMILIES, OF_FILES, OF_STOPS, OWN
from .own_problem import is_own, load_own
from .problem.base import problem_name
from .routing.benchmarks import VARIABLE, find_instance, instance_names, official_names
from .routing.content import ACCEPTED
from .routing.instance import build_problem
from .routing.read import read_instance
from .routing.stops import without_return
from .routing.tsplib import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .families import Family
    from .problem.base import AnyProblem, CompiledProblem
    from .routing.instance import Instance, RoutingOptions

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
        return f"{name} is a folder; give an instance file, or a name with --data {name}."
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
