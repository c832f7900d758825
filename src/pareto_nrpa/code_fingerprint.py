"""A hash of the code of a plain-Python problem, by which a checkpoint notices that its problem has changed."""

from __future__ import annotations

import hashlib
import sys
import sysconfig
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def code_fingerprint(kind: type) -> str:
    """Return a hash of the methods of a class, and of all that they use of the user's own code.

    Installed libraries count by name only, and objects by their type: neither says the same in every process.
    """
    digest = hashlib.sha256()
    for part in _Reader(kind).parts(kind, ()):
        digest.update(f"{len(part)}:{part}".encode())  # with its length: "1", "23" is not "12", "3"
    return digest.hexdigest()[:16]


class _Reader:
    """Follows names from function to function, each once."""

    def __init__(self, kind: type) -> None:
        self._home = _package(kind)
        self._seen: dict[int, int] = {}

    def parts(self, value: Any, names: tuple[str, ...]) -> Iterator[str]:
        """Yield all that `value` means to code that uses `names`."""
        value = getattr(value, "py_func", getattr(value, "__wrapped__", value))  # behind a kernel or a cache
        if isinstance(value, types.FunctionType | type | types.ModuleType):
            is_new = id(value) not in self._seen
            # A number, as which of those seen before it is makes a difference too.
            yield f"{type(value).__name__} {self._seen.setdefault(id(value), len(self._seen))}"
            if not self._is_own(value):
                yield f"{getattr(value, '__module__', '')} {getattr(value, '__qualname__', value.__name__)}"
            elif is_new:
                yield from self._contents(value, names)
        elif isinstance(value, tuple | list):
            yield f"{type(value).__qualname__} of {len(value)}"
            for item in value:
                yield from self.parts(item, names)
        elif isinstance(value, dict):
            yield from self.parts(list(value.items()), names)
        elif value is None or isinstance(value, bool | int | float | complex | str | bytes):
            yield repr(value)
        else:
            yield type(value).__qualname__

    def _contents(self, value: Any, names: tuple[str, ...]) -> Iterator[str]:
        if isinstance(value, types.FunctionType):
            yield from self._code(value.__code__, value.__globals__)
            yield from self.parts(value.__defaults__, ())
            for cell in value.__closure__ or ():
                yield from self.parts(cell.cell_contents, value.__code__.co_names)
        elif isinstance(value, type):
            yield value.__qualname__
            for base in value.__mro__[1:]:
                yield from self.parts(base, ())
            for name, item in vars(value).items():
                if isinstance(item, types.FunctionType | bool | int | float | str | tuple) and name != "__module__":
                    yield name
                    yield from self.parts(item, ())
        else:
            for name in names:
                if hasattr(value, name):
                    yield from self.parts(getattr(value, name), names)

    def _code(self, code: types.CodeType, scope: dict[str, Any]) -> Iterator[str]:
        yield code.co_code.hex()
        yield repr(code.co_names)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                yield from self._code(constant, scope)
            else:
                yield repr(constant)
        for name in code.co_names:
            if name in scope:
                yield from self.parts(scope[name], code.co_names)

    def _is_own(self, value: Any) -> bool:
        """Tell whether something is the user's own, or of the package that the problem comes from."""
        package = _package(value)
        if package in (self._home, "pareto_nrpa"):
            return package == self._home
        file = getattr(sys.modules.get(package), "__file__", None)
        return file is not None and not any(Path(file).is_relative_to(folder) for folder in _LIBRARIES)


def _package(value: Any) -> str:
    module = value.__name__ if isinstance(value, types.ModuleType) else value.__module__
    return str(module).partition(".")[0]
