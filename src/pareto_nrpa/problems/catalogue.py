"""One way to name a problem: an instance (`rc_204.3`), a file, or a spec (`tsptw:n=20,seed=1`)."""

from __future__ import annotations

import difflib
import os
from typing import TYPE_CHECKING

from ..exceptions import InstanceError
from .data import VARIABLE, find_instance, instance_names, official_names
from .families import FAMILIES, OF_FILES
from .instances import read_tsptw

if TYPE_CHECKING:
    from ..problem import CompiledProblem
    from .families import Family

#: The embedded instance: 25 cities, windows that have to be learned, a front of a few dozen trade-offs.
DEFAULT = "tsptw:n=25,seed=7,tightness=0.6,objectives=2"


def load(name_or_path: str | os.PathLike[str], *, data: str | os.PathLike[str] | None = None) -> CompiledProblem:
    """Return a problem.

    Parameters
    ----------
    name_or_path
        The name of an instance in the data folder, the path of a file in the Solomon-Potvin-Bengio format, a
        generator with options (`tsptw:n=25,seed=7,tightness=0.6,objectives=2`, `mo-tsp:n=100,seed=1`), a benchmark
        (`nas-bench-201`, `nas-bench-201:objectives=c100_error+flops`), or "default".
    data
        The folder to look in, instead of `$PARETO_NRPA_DATA` and the user's cache.
    """
    return _loaded(os.fspath(name_or_path), data)[1]


def describe(name: str, *, data: str | os.PathLike[str] | None = None) -> tuple[CompiledProblem, list[str]]:
    """Return a problem and what its family has to say of it, in lines."""
    family, problem = _loaded(name, data)
    first, *others = family.describe(problem)
    return problem, [f"{problem.name}: {first}", *others]


def _loaded(name: str, data: str | os.PathLike[str] | None) -> tuple[Family, CompiledProblem]:
    if name == "default":
        name = DEFAULT
    prefix, colon, options = name.partition(":")
    family = FAMILIES.get(prefix)
    if family is not None and (colon or family.is_read or not os.path.exists(name)):
        return family, family.make(options, data)
    if os.path.isfile(name):  # unlike Path.is_file, never raises
        return OF_FILES, read_tsptw(name)
    found = find_instance(name, data)
    if found is not None:
        return OF_FILES, read_tsptw(found)
    raise InstanceError(_unknown(name, data))


def _unknown(name: str, data: str | os.PathLike[str] | None) -> str:
    if os.path.isdir(name):
        return f"{name} is a folder; give an instance file, or a name with --data {name}."
    if os.sep in name or name.endswith(".txt"):
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
    near = difflib.get_close_matches(name, there, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"unknown instance {name!r}.{hint} There are: {', '.join(there)}; {specs}."
