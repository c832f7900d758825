"""One way to name a problem: an instance (`rc_204.3`), a file (`my-stops.txt`), or a spec (`tsptw:n=20,seed=1`)."""

from __future__ import annotations

import difflib
import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ..exceptions import InstanceError
from .data import VARIABLE, find_instance, instance_names, official_names
from .generate import generate_tsp, generate_tsptw
from .instances import read_tsptw

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..problem import CompiledProblem

#: The embedded instance: 25 cities, windows that have to be learned, a front of a few dozen trade-offs.
DEFAULT = "tsptw:n=25,seed=7,tightness=0.6,objectives=2"

_GENERATORS: dict[str, Callable[..., CompiledProblem]] = {"tsptw": generate_tsptw, "mo-tsp": generate_tsp}
_OPTIONS: dict[str, dict[str, Callable[[str], float]]] = {
    "tsptw": {"n": int, "seed": int, "tightness": float, "objectives": int},
    "mo-tsp": {"n": int, "seed": int, "objectives": int},
}

# What can be said of a file or an instance.
_RETURN = ":check_return="
_ANSWERS = {"yes": True, "no": False}

# Where each benchmark is made; loaded when it is asked for.
_BENCHMARKS = {
    "nas-bench-201": ("nas.nasbench201", "nas_bench_201"),
    "nas-bench-101": ("nas.nasbench101", "nas_bench_101"),
    "nas-bench-101-surrogate": ("nas.nasbench101", "nas_bench_101_surrogate"),
}


def load(name_or_path: str | os.PathLike[str], *, data: str | os.PathLike[str] | None = None) -> CompiledProblem:
    """Return a problem.

    Parameters
    ----------
    name_or_path
        The name of an instance in the data folder, the path of a file in the Solomon-Potvin-Bengio format, a
        generator with options (`tsptw:n=25,seed=7,tightness=0.6,objectives=2`, `mo-tsp:n=100,seed=1`), a benchmark
        (`nas-bench-201`, `nas-bench-201:objectives=c100_error+flops`), or "default". Tours of a file must be back
        before the depot closes, those of the official instances, by convention, need not: say otherwise with
        `my-stops.txt:check_return=no`, `rc_204.3:check_return=yes`.
    data
        The folder to look in, instead of `$PARETO_NRPA_DATA` and the user's cache.
    """
    name = os.fspath(name_or_path)
    if name == "default":
        name = DEFAULT
    family, colon, options = name.partition(":")
    if family in _BENCHMARKS:
        return _benchmark(family, options, data)
    if family in _GENERATORS and (colon or not os.path.exists(name)):
        return _generate(family, options)
    problem = _read(name, data)
    if problem is None and _RETURN in name:
        place, _, answer = name.rpartition(_RETURN)
        if answer not in _ANSWERS:
            raise InstanceError(f"check_return must be yes or no, got {answer[:40]!r}.")
        problem = _read(place, data, check_return=_ANSWERS[answer])
        name = place
    if problem is None:
        raise InstanceError(_unknown(name, data))
    return problem


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


def _generate(family: str, text: str) -> CompiledProblem:
    kinds, values = _OPTIONS[family], {}
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if key not in kinds or not equals:
            known = ", ".join(f"{k}=" for k in kinds)
            raise InstanceError(f"{part!r} is not an option of {family}; it takes {known.rstrip()}.")
        try:
            values["n_objectives" if key == "objectives" else key] = kinds[key](value)
        except ValueError as error:
            kind = "a whole number" if kinds[key] is int else "a number"
            raise InstanceError(f"{key} of {family} must be {kind}, got {value!r}.") from error
    if "n" not in values:
        raise InstanceError(f"{family} needs a number of cities, as in {family}:n=50,seed=1.")
    if values.get("seed", 0) < 0:
        raise InstanceError(f"seed of {family} must be at least 0, got {values['seed']}.")
    return _GENERATORS[family](**values)


def _benchmark(family: str, text: str, data: str | os.PathLike[str] | None) -> CompiledProblem:
    """Return a benchmark with the objectives of its options, as in nas-bench-201:objectives=c10_error+flops."""
    key, equals, value = text.partition("=")
    if text and (key != "objectives" or not equals or not value):
        raise InstanceError(f"{text!r} is not an option of {family}; it takes objectives=, names joined by +.")
    module, function = _BENCHMARKS[family]
    make = getattr(import_module(f".{module}", __package__), function)
    made: CompiledProblem = make(*([value.split("+")] if text else []), data=data)
    return made


def _unknown(name: str, data: str | os.PathLike[str] | None) -> str:
    if os.path.isdir(name):
        return f"{name} is a folder; give an instance file, or a name with --data {name}."
    if os.sep in name or name.endswith(".txt"):
        return f"there is no file {name}; give an instance file, a name (rc_204.3) or a spec (tsptw:n=25,seed=7)."
    there = instance_names(data)
    specs = f"generators: tsptw:n=25,seed=7 and mo-tsp:n=50,seed=1; benchmarks: {', '.join(_BENCHMARKS)}"
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
