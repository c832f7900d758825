"""One way to name a problem: an instance (`rc_204.3`), a file (`my-stops.txt`), or a spec (`tsptw:n=20,seed=1`)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ._util.checks import did_you_mean, shown
from .errors import InstanceError
from .families import FAMILIES, OF_FILES, OF_STOPS, OWN
from .own_problem import is_own, load_own
from .routing.benchmarks import VARIABLE, find_instance, instance_names, official_names
from .routing.tsptw_files import read_tsptw

if TYPE_CHECKING:
    from .families import Family
    from .problem.base import CompiledProblem

#: The embedded instance: 25 cities, windows that have to be learned, a front of a few dozen trade-offs.
DEFAULT = "tsptw:n=25,seed=7,tightness=0.6,objectives=2"

# What can be said of a file or an instance.
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
        before the depot closes, those of the official instances, by convention, need not: say otherwise with
        `my-stops.txt:check_return=no`, `rc_204.3:check_return=yes`. A problem of one's own is `my_problem.py:factory`:
        a file of Python, and what in it is a problem, or gives one when it is called without arguments.
    data
        The folder to look in, instead of `$PARETO_NRPA_DATA` and the user's cache.
    """
    if not isinstance(name_or_path, str | os.PathLike):
        raise InstanceError(f'a problem is named by text or a path, as in load("rc_204.3"), got {shown(name_or_path)}.')
    if data is not None and not isinstance(data, str | os.PathLike):
        raise InstanceError(f"data must be the path of a folder, got {shown(data)}.")
    return _loaded(os.fspath(name_or_path), data)[1]


def describe(name: str, *, data: str | os.PathLike[str] | None = None) -> tuple[CompiledProblem, list[str]]:
    """Return a problem and what its family has to say of it, in lines."""
    family, problem = _loaded(name, data)
    first, *others = family.describe(problem)
    return problem, [f"{problem.name}: {first}", *others]


def _loaded(name: str, data: str | os.PathLike[str] | None) -> tuple[Family, CompiledProblem]:
    if "\0" in name:
        raise InstanceError(f"unknown instance {shown(name)}: no name has the character \\0 in it.")
    if name == "default":
        name = DEFAULT
    if is_own(name):
        return OWN, load_own(name)  # type: ignore[return-value]  # may be a plain problem
    prefix, colon, options = name.partition(":")
    family = FAMILIES.get(prefix)
    if family is not None and (colon or family.is_read or not os.path.exists(name)):
        return family, family.make(options, data)
    stops = _read_stops(name)
    if stops is not None:
        return OF_STOPS, stops
    problem = _read(name, data)
    if problem is None and _RETURN in name:
        name, _, answer = name.rpartition(_RETURN)
        if answer not in _ANSWERS:
            raise InstanceError(f"check_return must be yes or no, got {answer[:40]!r}.")
        problem = _read(name, data, check_return=_ANSWERS[answer])
    if problem is None:
        raise InstanceError(_unknown(name, data))
    return OF_FILES, problem


def _read_stops(name: str) -> CompiledProblem | None:
    """Return the problem in a file of stops, as it is without any option."""
    from .routing.instance import RoutingOptions
    from .routing.read import is_routing_file, read_routing

    return read_routing([name], RoutingOptions()) if is_routing_file(name) else None


def _read(
    name: str, data: str | os.PathLike[str] | None, *, check_return: bool | None = None
) -> CompiledProblem | None:
    """Return the problem in a file, or of an instance that is there."""
    if os.path.isfile(name):  # unlike Path.is_file, never raises
        path, convention = Path(name), True
    elif (found := find_instance(name, data)) is not None:
        # The published code of the benchmark does not look at the depot's window on return.
        path, convention = found, name not in official_names()
    else:
        return None
    if check_return in (None, convention):
        return read_tsptw(path, check_return=convention)
    return read_tsptw(path, check_return=not convention, name=f"{path.stem}{_RETURN}{'no' if convention else 'yes'}")


def _unknown(name: str, data: str | os.PathLike[str] | None) -> str:
    if os.path.isdir(name):
        return f"{name} is a folder; give an instance file, or a name with --data {name}."
    if os.sep in name or name.endswith((".txt", ".csv", ".tsp", ".vrp", ".json")):
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
