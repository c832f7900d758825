"""A problem in a file of the user's own, named `module.py:factory`."""

from __future__ import annotations

import inspect
import sys
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._util.checks import did_you_mean, shown
from .errors import InstanceError
from .problem.base import AnyProblem, CompiledProblem, Problem, check_declarations

if TYPE_CHECKING:
    from types import ModuleType

_ENDING = ".py"


def is_own(name: str) -> bool:
    """Tell whether a name denotes a Python file: `module.py:factory` or `module.py`."""
    return name.endswith(_ENDING) or f"{_ENDING}:" in name


def load_own(name: str) -> AnyProblem:
    """Return the problem that a Python file makes. The file is run, as `python module.py` would run it.

    Parameters
    ----------
    name
        `module.py:factory`: the path of a file, and a function or class in it that needs no arguments and returns a
        problem, or the problem itself.
    """
    path, _, factory = (f"{name}:" if name.endswith(_ENDING) else name).rpartition(f"{_ENDING}:")
    module = _module(Path(f"{path}{_ENDING}"))
    return _made(name, _found(name, module, factory))


def _module(path: Path) -> ModuleType:
    """Import a file under its own name, by which the processes of `solve_expensive` find it again."""
    try:
        path = path.resolve(strict=True)
    except (OSError, RuntimeError):
        raise InstanceError(f"there is no file {path}; name your own problem as in knapsack.py:make.") from None
    known = sys.modules.get(path.stem)
    if known is not None:
        if known.__dict__.get("__file__") == str(path):
            return known
        raise InstanceError(f"{path.name} has the name of a module that is in use; rename the file.")
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise InstanceError(f"{path} is not a Python file.")
    module = module_from_spec(spec)
    sys.modules[path.stem] = module
    # The folder of the file is first on the path during the import, as in a script, and last afterwards: a file there
    # must not shadow a package of this project.
    folder = str(path.parent)
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[path.stem]
        raise InstanceError(f"{path.name} cannot be imported: {_reason(error, path)}.") from error
    finally:
        sys.path.remove(folder)
        if folder not in sys.path:
            sys.path.append(folder)
    return module


def _found(name: str, module: ModuleType, factory: str) -> Any:
    """Return the object of a given name in a module."""
    if factory and hasattr(module, factory):
        return getattr(module, factory)
    theirs = [key for key, value in vars(module).items() if _may_make_a_problem(value, module.__name__)]
    file = f"{module.__name__}{_ENDING}"
    there = f"it has: {', '.join(theirs)}" if theirs else "it has no function or class without arguments"
    if not factory:
        example = theirs[0] if theirs else "make"
        raise InstanceError(
            f"{file} needs the name of a problem or of a function that returns one, as in {file}:{example}; {there}."
        )
    raise InstanceError(f"{file} has no {shown(factory)}{did_you_mean(factory, theirs)}; {there}.")


def _may_make_a_problem(value: Any, module: str) -> bool:
    if isinstance(value, Problem | CompiledProblem):
        return True
    return callable(value) and getattr(value, "__module__", None) == module and not _missing(value)


def _missing(function: Any) -> list[str]:
    """Return the required arguments of a function."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some callables have no signature
        return []
    optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in parameters if p.default is p.empty and p.kind not in optional]


def _made(name: str, value: Any) -> AnyProblem:
    """Return a problem, or what a factory makes."""
    factory = name.rpartition(":")[2]
    if callable(value):
        missing = _missing(value)
        if missing:
            raise InstanceError(
                f"{name} needs {', '.join(missing)}; write a function without arguments that returns the problem."
            )
        try:
            value = value()
        except (Exception, SystemExit) as error:
            raise InstanceError(f"{name} failed: {_reason(error)}.") from error
    if not isinstance(value, Problem | CompiledProblem):
        raise InstanceError(f"{name} must return a Problem or a CompiledProblem, got {shown(value)}.")
    problem: AnyProblem = value
    check_declarations(problem)
    if not problem.name:
        if isinstance(problem, CompiledProblem):
            return replace(problem, name=factory)
        problem.name = factory
    return problem


def _reason(error: BaseException, path: Path | None = None) -> str:
    """Return the reason of an error in a file, with its line where that is known."""
    line = error.lineno if isinstance(error, SyntaxError) else None
    trace = error.__traceback__
    while trace is not None and path is not None and not isinstance(error, SyntaxError):
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    words = error.msg if isinstance(error, SyntaxError) else " ".join(str(error).split())
    return f"{type(error).__name__}{f' in line {line}' if line else ''}: {words or 'no reason given'}".rstrip(".")


def describe_own(problem: AnyProblem) -> list[str]:
    """Describe a problem of unknown family."""
    kind = "compiled" if isinstance(problem, CompiledProblem) else "in plain Python"
    solutions = f", solutions are {problem.genotype}" if problem.genotype is not None else ""
    n = problem.n_objectives
    return [f"a problem of your own, {kind}, {n} objective{'s' if n > 1 else ''}{solutions}"]
