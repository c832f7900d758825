"""A hash of code and data, equal in every process: it detects a changed kernel or problem.

Values are read as `pickle` stores them, but functions and classes by their content and all that it can reach, where
`pickle` keeps a name. Sets are sorted, as their order differs between processes; addresses do not count. An unreadable
value is an error, as a change of it would not be detected.
"""

from __future__ import annotations

import dis
import enum
import functools
import hashlib
import importlib
import importlib.util
import inspect
import pickle
import sys
import sysconfig
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ProblemError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_PLAIN = frozenset({type(None), type(...), bool, int, float, complex, str, bytes})
#: What is read by some of its attributes.
_BY_ATTRIBUTES: dict[type, tuple[str, ...]] = {
    property: ("fget", "fset", "fdel"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
    functools.cached_property: ("func",),
    type(functools.cache(len)): ("__wrapped__",),
    types.MethodType: ("__func__", "__self__"),
    types.BuiltinFunctionType: ("__qualname__", "__self__"),
    types.GetSetDescriptorType: ("__qualname__",),
    types.MemberDescriptorType: ("__qualname__",),
}
_STANDARD = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib")})
# Folders of installed packages: of this environment, of its base, of the user, of Debian.
_INSTALLED = frozenset({"site-packages", "dist-packages"})
# Attributes of a class that Python adds (some only after pickling or reading an object), and those that dataclasses
# repeat.
_NOISE = frozenset(
    f"__{name}__"
    for name in (
        *("module", "qualname", "doc", "dict", "weakref", "firstlineno", "static_attributes", "abstractmethods"),
        *("annotations", "annotate", "annotate_func", "annotations_cache", "dataclass_fields", "dataclass_params"),
        "slotnames",
    )
) | {"_abc_impl"}

# Flags of code that change what it does; a profiler may clear others.
_MEANING = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR | inspect.CO_COROUTINE


class UnreadableError(ProblemError):
    """A value whose content cannot be read."""


def problem_contents(problem: Any, declared: Sequence[Any]) -> str:
    """Return a hash of a plain problem: its methods, the user's own code that they use, and its data.

    Installed libraries count by name only.
    """
    module = type(problem).__module__
    home = "" if module == "pareto_nrpa.problem.builders" else _package(module)  # there the user's code is a function

    def is_own(package: str) -> bool:
        if package in (home, "pareto_nrpa"):
            return package == home
        return not (_is_standard(package) or _is_installed(package))

    name = type(problem).__qualname__
    try:
        reduced: Any = problem.__reduce_ex__(4)
        held = reduced[2] if len(reduced) > 2 and isinstance(reduced[2], dict) else {"state": reduced[2:]}
        values = {f"{name}.{key}": value for key, value in held.items()}
        return _Reader(is_own).digest({"": declared, name: reduced[1], **values})
    except UnreadableError as error:
        raise UnreadableError(
            f"later changes of {name} could not be detected: {error}. Give it an attribute `version`, any "
            "value that you change when its code or data change."
        ) from error


def data_contents(data: Any) -> str:
    """Return a hash of values, in which code counts by name only."""
    return _Reader(lambda package: False).digest({"": data})


def kernel_contents(functions: Sequence[Any], versions: Sequence[str]) -> str:
    """Return a hash of kernels and of all code that they can reach, except NumPy, Numba and Python."""
    reader = _KernelReader(lambda package: package not in ("numpy", "numba", "llvmlite") and not _is_standard(package))
    try:
        return reader.digest({"": tuple(versions), "kernels": tuple(functions)})
    except UnreadableError as error:
        raise UnreadableError(
            f"kernels may use numbers, text, arrays, tuples, enums and other kernels, others cannot be checked for a "
            f"change: {error}."
        ) from error


_Pickler: Any = pickle._Pickler  # noqa: SLF001 - the one in Python: it asks about all, and may forget constants


class _Reader(_Pickler):  # type: ignore[misc]  # see above
    """Follows values, and names from function to function, each once."""

    def __init__(self, is_own: Callable[[str], bool]) -> None:
        self._hash = hashlib.sha256()
        super().__init__(types.SimpleNamespace(write=self._hash.update), 4)
        self._is_own = functools.cache(is_own)
        self._of_modules: set[tuple[str, str]] = set()

    def digest(self, values: dict[str, Any]) -> str:
        """Return a hash of some values, with names for messages."""
        for where, value in values.items():
            try:
                self.dump(value)
            except RecursionError as error:
                raise UnreadableError(f"{where} is nested too deeply to be compared with what it was") from error
            except UnreadableError:
                raise
            except Exception as error:  # whatever an object says of itself
                raise UnreadableError(f"{where} cannot be read ({error})") from error
        return self._hash.hexdigest()[:16]

    def memoize(self, value: Any) -> None:
        """Remember what was read, but no constants: equal ones may be one object, or two."""
        if type(value) not in _PLAIN and type(value) is not tuple:
            super().memoize(value)

    def reducer_override(self, value: Any) -> Any:
        """Return what a value is read as: a name, and what is read after it; by default as `pickle` stores it."""
        kind = type(value)
        if kind in _PLAIN or (isinstance(value, type) and value.__module__ == "builtins"):
            return NotImplemented
        if kind in (list, tuple):
            is_long = len(value) > 3 and {type(item) for item in value} <= _PLAIN
            return (str, (repr(value),)) if is_long else NotImplemented
        if kind in (set, frozenset):  # each member is read as if it came first, as the order is another each time
            members = (type(self)(self._is_own).digest({"a set": item}) for item in value)
            return str, (f"{kind.__name__} of {sorted(members)}",)
        if kind in _BY_ATTRIBUTES:
            return str, (kind.__qualname__,), [getattr(value, name) for name in _BY_ATTRIBUTES[kind]]
        if kind is types.MappingProxyType:
            return dict, (dict(value),)
        if kind is types.ModuleType:  # what functions use of it, they say
            return str, (f"module {value.__name__}",)
        if kind is types.FunctionType:
            return self._function(value)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, np.ndarray):
            return _array(value)
        return self._numba(value, kind) if _package(kind.__module__) == "numba" else NotImplemented

    def _function(self, function: types.FunctionType) -> Any:
        # Its own module, not that of what it wraps, which decorators write into `__module__`.
        module = str(function.__globals__.get("__name__"))
        if not self._is_own(_package(module)):
            name = function.__code__.co_qualname if sys.version_info >= (3, 11) else function.__qualname__
            return str, (f"{module} {name}",), vars(function).get("__wrapped__")
        cells = [_content(cell) for cell in function.__closure__ or ()]
        kept = [function.__defaults__, function.__kwdefaults__, vars(function), cells]
        used = self._used_of_modules(cells, _names(function.__code__))
        return str, ("function",), [kept, used, self._code(function.__code__, function.__globals__)]

    def _code(self, code: types.CodeType, scope: dict[str, Any]) -> list[Any]:
        """Return the bytecode of a function, its constants, and all that it names."""
        names = _names(code)
        used = {name: scope[name] for name in names if name in scope}
        modules = [self._imported(name) for name in _imports(code, scope)]
        return [
            [code.co_code, getattr(code, "co_exceptiontable", b""), code.co_names, code.co_freevars],
            [code.co_argcount, code.co_kwonlyargcount, code.co_flags & _MEANING],
            [self._code(x, scope) if isinstance(x, types.CodeType) else x for x in code.co_consts],
            [used, modules, self._used_of_modules([*used.values(), *modules], names)],
        ]

    def _imported(self, name: str) -> Any:
        """Return a module that a function imports itself, or a word in its place."""
        if not self._is_own(_package(name)):
            return f"module {name}"
        try:
            return importlib.import_module(name)
        except ImportError:  # it may be optional
            return f"no module {name}"

    def _used_of_modules(self, values: Iterable[Any], names: tuple[str, ...]) -> dict[str, Any]:
        """Return what is used of the user's own modules, each once."""
        found: dict[str, Any] = {}
        for module in values:
            if not isinstance(module, types.ModuleType) or not self._is_own(_package(module.__name__)):
                continue
            for name in names:
                if hasattr(module, name) and (module.__name__, name) not in self._of_modules:
                    self._of_modules.add((module.__name__, name))
                    value = found[f"{module.__name__}.{name}"] = getattr(module, name)
                    found |= self._used_of_modules([value], names)
        return found

    def _class(self, kind: type) -> Any:
        name = f"{kind.__module__}.{kind.__qualname__}"
        if not self._is_own(_package(kind.__module__)):
            return str, (name,)
        members = getattr(kind, "__members__", {}) if isinstance(kind, enum.EnumMeta) else {}
        written = {
            name: item
            for name, item in vars(kind).items()
            if name not in _NOISE and not (members and (name in members or (name[0] == name[-1] == "_" != name[1])))
        }
        values = {name: member._value_ for name, member in members.items()}
        return str, (name,), [type(kind), kind.__mro__[1:], values, written]

    def _numba(self, value: Any, kind: type) -> Any:
        """Return the function behind a kernel, or the name of a type."""
        functions = [getattr(value, name) for name in ("py_func", "_defn", "_pyfunc") if hasattr(value, name)]
        if functions:
            return str, ("kernel",), [getattr(value, "targetoptions", None), functions[0]]
        if "0x" in str(value) or "#" in str(value):  # known by an address
            raise UnreadableError(f"the content of a {kind.__qualname__} cannot be read")
        return str, (str(value),)


class _KernelReader(_Reader):
    """Reads what compiled code can use."""

    def _function(self, function: types.FunctionType) -> Any:
        if "__generates_code__" in function.__globals__:  # a piece of the compiler, whose text counts as a version
            return str, (function.__qualname__,)
        return super()._function(function)

    def _class(self, kind: Any) -> Any:
        if hasattr(kind, "_fields"):  # compiled code calls no methods of a NamedTuple
            return str, (f"{kind.__module__}.{kind.__qualname__}{kind._fields}",), [kind._field_defaults]
        if _package(type(kind).__module__) == "numba":
            raise UnreadableError(f"the code of a jitclass, {kind.__qualname__}, is not followed; use a NamedTuple")
        return super()._class(kind)


def _array(array: Any) -> Any:
    name = f"{type(array).__qualname__} {array.dtype}{array.shape}"
    if array.dtype.hasobject:
        return str, (name,), [array.tolist()]
    if isinstance(array, np.ma.MaskedArray):
        return str, (name,), [np.ma.getdata(array), np.ma.getmaskarray(array), array.fill_value]
    content = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
    return str, (f"{name}{content}",), getattr(array, "__dict__", None)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return "empty"


# Functions that look up a name given as text.
_LOOK_UP = frozenset({"getattr", "globals", "vars"})


def _names(code: types.CodeType) -> tuple[str, ...]:
    """Return the names that a function uses, including those given as text."""
    if _LOOK_UP.isdisjoint(code.co_names):
        return code.co_names
    return (*code.co_names, *(text for text in code.co_consts if isinstance(text, str) and text.isidentifier()))


def _imports(code: types.CodeType, scope: dict[str, Any]) -> Iterator[str]:
    """Yield the modules that a function imports in its body, by their full names."""
    if dis.opmap["IMPORT_NAME"] not in code.co_code[::2]:
        return
    before: list[Any] = [0, None]  # the last two values on the stack: level of the relative import, and names
    for step in dis.get_instructions(code):
        if step.opname == "IMPORT_NAME":
            level, package = before[0], scope.get("__package__")
            if not level:
                yield step.argval
            elif package:
                yield importlib.util.resolve_name("." * level + step.argval, package)
        if step.opname != "EXTENDED_ARG":
            before = [before[1], step.argval]


def _package(module: str) -> str:
    return str(module).partition(".")[0]


def _is_standard(package: str) -> bool:
    """Tell whether a package belongs to Python's standard library."""
    path = _path(package)
    if path is None:
        return package in sys.stdlib_module_names
    return not _is_installed(package) and any(path.is_relative_to(folder) for folder in _STANDARD)


def _is_installed(package: str) -> bool:
    """Tell whether a package is installed; some of these folders lie within that of the standard library."""
    path = _path(package)
    return path is not None and not _INSTALLED.isdisjoint(path.parts)


def _path(package: str) -> Path | None:
    if package in sys.modules:
        file = getattr(sys.modules[package], "__file__", None)
    else:  # a function may import it later
        try:
            file = getattr(importlib.util.find_spec(package), "origin", None)
        except (ImportError, ValueError):
            file = None
    return None if file is None else Path(file)
