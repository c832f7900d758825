"""A hash of code and data, equal in every process: it detects a changed kernel or problem.

Values are read as `pickle` would store them, and functions by their bytecode and all that it can reach. Sets are
sorted, as their order differs between processes; addresses do not count. An unreadable value is an error, as a change
of it would not be detected.
"""

from __future__ import annotations

import dis
import enum
import functools
import hashlib
import importlib
import importlib.util
import sys
import sysconfig
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ProblemError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_Cached: type = type(functools.cache(len))
_PLAIN = frozenset({type(None), type(...), bool, int, float, complex, str, bytes})
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
)


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
        return _digest(Reader(is_own), {"": declared, name: problem})
    except UnreadableError as error:
        raise UnreadableError(
            f"later changes of {name} could not be detected: {error}. Give it an attribute `version`, any "
            "value that you change when its code or data change."
        ) from error


def data_contents(data: Any) -> str:
    """Return a hash of values, in which code counts by name only."""
    return _digest(Reader(lambda package: False), {"": data})


def kernel_contents(functions: Sequence[Any], versions: Sequence[str]) -> str:
    """Return a hash of kernels and of all code that they can reach, except NumPy, Numba and Python."""
    reader = _KernelReader(lambda package: package not in ("numpy", "numba", "llvmlite") and not _is_standard(package))
    try:
        return _digest(reader, {"": tuple(versions), "kernels": tuple(functions)})
    except UnreadableError as error:
        raise UnreadableError(
            f"kernels may use numbers, text, arrays, tuples, enums and other kernels, others cannot be checked for a "
            f"change: {error}."
        ) from error


def _digest(reader: Reader, values: dict[str, Any]) -> str:
    digest = hashlib.sha256()
    for where, value in values.items():
        try:
            for part in reader.parts(value, (), where):
                digest.update(f"{len(part)}:{part}".encode())  # with its length: "1", "23" is not "12", "3"
        except RecursionError as error:
            raise UnreadableError(f"{where} is nested too deeply to be compared") from error
    return digest.hexdigest()[:16]


class Reader:
    """Visits values, and functions that code refers to, each once."""

    def __init__(self, is_own: Callable[[str], bool]) -> None:
        self._is_own = functools.cache(is_own)
        # Visited objects by address, with their numbers; kept alive, so that no address is reused.
        self._seen: dict[Any, tuple[int, Any]] = {}

    def parts(self, value: Any, names: tuple[str, ...], where: str) -> Iterator[str]:
        """Yield all parts of `value` that code using `names` depends on."""
        kind = type(value)
        if kind in _PLAIN:
            yield f"{kind.__name__} {value!r}"
        elif isinstance(value, np.ndarray | np.generic):
            yield f"{kind.__qualname__} {value.dtype}{value.shape}"
            if value.dtype.hasobject:
                yield from self.parts(value.tolist(), names, where)
            else:
                yield hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
            if isinstance(value, np.ma.MaskedArray):
                yield from self._all((np.ma.getmaskarray(value), value.fill_value), names, where)
            elif kind is not np.ndarray and hasattr(value, "__dict__"):
                yield from self.parts(vars(value), names, where)
        elif kind is tuple:  # equal constants may be one object or two
            yield from self._items(value, names, where)
        elif kind is frozenset:
            yield from self._unordered(value, names, where)
        elif kind is types.ModuleType:
            yield from self._module(value, names, where)
        elif id(value) in self._seen:
            yield f"seen {self._seen[id(value)][0]}"
        else:
            self._seen[id(value)] = (len(self._seen), value)
            yield from self._contents(value, kind, names, where)

    def _contents(self, value: Any, kind: type, names: tuple[str, ...], where: str) -> Iterator[str]:
        yield kind.__qualname__
        if kind is list:
            yield from self._items(value, names, where)
        elif kind in (dict, types.MappingProxyType):
            for key, item in value.items():
                yield from self.parts(key, names, where)
                yield from self.parts(item, names, f"{where}.{key:.40}" if type(key) is str else where)
        elif kind is set:
            yield from self._unordered(value, names, where)
        elif kind is types.FunctionType:
            yield from self._function(value, where)
        elif kind is types.MethodType:
            yield from self._all((value.__func__, value.__self__), names, where)
        elif kind is types.BuiltinFunctionType:
            yield f"{value.__module__} {value.__qualname__}"
            if not isinstance(value.__self__, types.ModuleType):
                yield from self.parts(value.__self__, names, where)
        elif kind in (staticmethod, classmethod):
            yield from self.parts(value.__func__, names, where)
        elif kind is property:
            yield from self._all((value.fget, value.fset, value.fdel), names, where)
        elif kind is functools.cached_property:
            yield from self.parts(value.func, names, where)
        elif kind is _Cached:
            yield from self.parts(value.__wrapped__, names, where)
        elif kind in (types.GetSetDescriptorType, types.MemberDescriptorType):
            yield value.__qualname__
        elif isinstance(value, type):
            yield from self._class(value, where)
        elif isinstance(value, enum.Enum):
            yield from self._all((value.name, value._value_, kind), names, where)
        elif isinstance(value, np.dtype):
            yield str(value.descr)
        elif _package(kind.__module__) == "numba":
            yield from self._numba(value, kind, names, where)
        else:
            yield from self._object(value, kind, names, where)

    def _all(self, values: tuple[Any, ...], names: tuple[str, ...], where: str) -> Iterator[str]:
        for value in values:
            yield from self.parts(value, names, where)

    def _items(self, values: Any, names: tuple[str, ...], where: str) -> Iterator[str]:
        yield f"{type(values).__name__} of {len(values)}"
        if {type(value) for value in values} <= _PLAIN:
            yield repr(values)
        else:
            yield from self._all(tuple(values), names, where)

    def _unordered(self, values: Any, names: tuple[str, ...], where: str) -> Iterator[str]:
        """Yield the members of a set, each read as if it came first, as the order differs between processes."""
        before, texts = self._seen, []
        for value in values:
            self._seen = before.copy()
            texts.append("".join(f"{len(part)}:{part}" for part in self.parts(value, names, where)))
        self._seen = before
        yield f"{type(values).__name__} of {len(values)}"
        yield from sorted(texts)

    def _module(self, module: types.ModuleType, names: tuple[str, ...], where: str) -> Iterator[str]:
        yield f"module {module.__name__}"
        if not self._is_own(_package(module.__name__)):
            return
        for name in names:
            if hasattr(module, name) and (module.__name__, name) not in self._seen:
                self._seen[module.__name__, name] = (len(self._seen), None)
                yield name
                yield from self.parts(getattr(module, name), names, f"{where}.{name}")

    def _function(self, function: types.FunctionType, where: str) -> Iterator[str]:
        # The module of the function itself; decorators write that of the wrapped function into `__module__`.
        module = str(function.__globals__.get("__name__"))
        if not self._is_own(_package(module)):
            yield f"{module} {function.__code__.co_qualname if sys.version_info >= (3, 11) else function.__qualname__}"
            if "__wrapped__" in vars(function):
                yield from self.parts(vars(function)["__wrapped__"], (), where)
            return
        yield from self._code(function.__code__, function.__globals__, where)
        names = _names(function.__code__)
        yield from self._all((function.__defaults__, function.__kwdefaults__, vars(function)), names, where)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            try:
                content = cell.cell_contents
            except ValueError:
                yield "empty"
            else:
                yield from self.parts(content, names, f"{where}.{name}")

    def _code(self, code: types.CodeType, scope: dict[str, Any], where: str) -> Iterator[str]:
        yield code.co_code.hex()
        yield getattr(code, "co_exceptiontable", b"").hex()
        yield repr((code.co_names, code.co_freevars, code.co_argcount, code.co_kwonlyargcount, code.co_flags))
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                yield from self._code(constant, scope, where)
            else:
                yield from self.parts(constant, (), where)
        names = _names(code)
        for name in names:
            if name in scope:
                yield from self.parts(scope[name], names, f"{where}.{name}")
        for module in _imported(code, scope):
            yield from self._imported_module(module, names, where)

    def _imported_module(self, name: str, names: tuple[str, ...], where: str) -> Iterator[str]:
        """Yield the names that a function uses of a module imported in its body."""
        if not self._is_own(_package(name)):
            yield f"module {name}"
            return
        try:
            module = importlib.import_module(name)
        except ImportError:  # it may be optional
            yield f"no module {name}"
        except Exception as error:
            raise UnreadableError(f"{where} imports {name}, which raises {type(error).__name__}") from error
        else:
            yield from self.parts(module, names, f"{where}.{name}")

    def _class(self, kind: type, where: str) -> Iterator[str]:
        yield f"{kind.__module__}.{kind.__qualname__}"
        if not self._is_own(_package(kind.__module__)):
            return
        if type(kind) is not type:
            yield from self.parts(type(kind), (), where)
        yield from self._all(kind.__mro__[1:], (), where)
        members = getattr(kind, "__members__", {}) if isinstance(kind, enum.EnumMeta) else {}
        for name, member in members.items():
            yield name
            yield from self.parts(member._value_, (), f"{where}.{name}")
        for name, item in vars(kind).items():
            is_machinery = members and (name in members or (name[0] == name[-1] == "_" and name[1] != "_"))
            if name not in _NOISE and name != "_abc_impl" and not is_machinery:
                yield name
                yield from self.parts(item, (), f"{where}.{name}")

    def _object(self, value: Any, kind: type, names: tuple[str, ...], where: str) -> Iterator[str]:
        """Yield what `pickle` would store of an object."""
        try:
            reduced = value.__reduce_ex__(4)
        except RecursionError:
            raise
        except Exception as error:
            raise UnreadableError(f"{where} is a {kind.__qualname__}, whose content cannot be read") from error
        if isinstance(reduced, str):
            yield f"{kind.__module__}.{reduced}"
            return
        yield from self.parts(kind, (), where)
        make_arguments_state, items = tuple(reduced[:3]), reduced[3:5]
        yield from self._all(make_arguments_state, names, where)
        for iterator in items:
            yield from self.parts(list(iterator or ()), names, where)

    def _numba(self, value: Any, kind: type, names: tuple[str, ...], where: str) -> Iterator[str]:
        """Yield the function behind a kernel, or the name of a type."""
        functions = [getattr(value, name) for name in ("py_func", "_defn", "_pyfunc") if hasattr(value, name)]
        if functions:
            yield from self._all((getattr(value, "targetoptions", None), functions[0]), names, where)
        elif "0x" in str(value) or "#" in str(value):  # identified by an address
            raise UnreadableError(f"{where} is a {kind.__qualname__}, whose content cannot be read")
        else:
            yield str(value)


class _KernelReader(Reader):
    """Reads what compiled code can use."""

    def _function(self, function: types.FunctionType, where: str) -> Iterator[str]:
        if "__generates_code__" in function.__globals__:  # part of the compiler, whose text counts as a version
            yield function.__qualname__
        else:
            yield from super()._function(function, where)

    def _class(self, kind: type, where: str) -> Iterator[str]:
        if hasattr(kind, "_fields"):  # compiled code calls no methods of a NamedTuple
            yield f"{kind.__module__}.{kind.__qualname__}{kind._fields}"
            yield from self.parts(getattr(kind, "_field_defaults", None), (), where)
        elif _package(type(kind).__module__) == "numba":
            raise UnreadableError(f"{where} is a jitclass, whose code is not followed; use a NamedTuple of arrays")
        else:
            yield from super()._class(kind, where)


# Functions that look up a name given as text.
_LOOK_UP = frozenset({"getattr", "globals", "vars"})


def _names(code: types.CodeType) -> tuple[str, ...]:
    """Return the names that a function uses, including those given as text."""
    if _LOOK_UP.isdisjoint(code.co_names):
        return code.co_names
    return (*code.co_names, *(text for text in code.co_consts if isinstance(text, str) and text.isidentifier()))


def _imported(code: types.CodeType, scope: dict[str, Any]) -> Iterator[str]:
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
