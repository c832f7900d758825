"""Problems of your own by name, `my_problem.py:factory`: a file of Python, and what in it is or makes the problem."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..exceptions import InstanceError, ParetoNRPAError
from ..problem import AnyProblem, CompiledProblem, Problem


def own_parts(name: str) -> tuple[str, str] | None:
    """Return file and factory of a name that has both, else None."""
    path, colon, factory = name.rpartition(":")
    return (path, factory) if colon and path.endswith(".py") else None


def load_own(path: str, factory: str) -> AnyProblem:
    """Return the problem of a file: a problem that it holds, or what a function or class without arguments gives."""
    module = _module(Path(path))
    if not hasattr(module, factory):
        there = [word for word, value in vars(module).items() if _is_factory(value, module.__name__)]
        known = f"; it has: {', '.join(there)}" if there else ""
        raise InstanceError(f"{path} has nothing called {factory!r}{known}.")
    made = getattr(module, factory)
    if callable(made) and not isinstance(made, Problem | CompiledProblem):
        try:
            made = made()
        except ParetoNRPAError:
            raise
        except Exception as error:
            raise InstanceError(f"{factory}() of {path} raised {type(error).__name__}: {error}.") from error
    if not isinstance(made, Problem | CompiledProblem):
        raise InstanceError(
            f"{factory} of {path} must be a problem, or a function or class that gives one without arguments, got "
            f"{type(made).__name__}."
        )
    if isinstance(made, CompiledProblem):
        return made if made.name else replace(made, name=factory)
    made.name = made.name or factory
    return made


def _module(path: Path) -> Any:
    """Return a file of Python as a module: the same one if it was read before, its neighbours found by their names."""
    if not path.is_file():
        raise InstanceError(f"there is no file {path}; a problem of your own is given as file.py:factory.")
    place = path.resolve()
    name = f"{place.stem}_{hashlib.sha256(str(place).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where pickle and dataclasses look for it
    if str(place.parent) not in sys.path:
        sys.path.append(str(place.parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise InstanceError(f"{path} cannot be imported: {type(error).__name__}: {error}.") from error
    return module


def _is_factory(value: Any, module: str) -> bool:
    is_here = getattr(value, "__module__", None) == module and callable(value)
    return is_here or isinstance(value, Problem | CompiledProblem)


def describe_own(problem: AnyProblem) -> list[str]:
    """Return what there is to say of a problem that we know nothing of."""
    kind = "compiled" if isinstance(problem, CompiledProblem) else "in plain Python"
    solutions = f", solutions are {problem.genotype}" if problem.genotype is not None else ""
    n = problem.n_objectives
    return [f"a problem of your own, {kind}, {n} objective{'s' if n > 1 else ''}{solutions}"]
