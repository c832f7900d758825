"""What is imported when first used: public names, as `--help` must not wait for Numba, and optional libraries."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_ROOT = __package__.partition(".")[0]


@contextmanager
def needed(what: str, package: str, extra: str) -> Iterator[None]:
    """Say, where a library is missing, what needs it and which extra has it."""
    try:
        yield
    except ImportError as error:
        message = f'{what} needs {package}; install it with: pip install "pareto-nrpa[{extra}]".'
        raise ImportError(message) from error


def lazy_names(package: str, homes: Mapping[str, str], moved: Mapping[str, str] | None = None) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package whose names are defined in the modules `homes`, relative to it.

    Names in `moved` are public in another module of this project; they work for one release, with a warning.
    """

    def find(name: str) -> Any:
        if name in homes:
            value = getattr(import_module(f".{homes[name]}", package), name)
            setattr(sys.modules[package], name, value)
            return value
        if moved is not None and name in moved:
            home = f"{_ROOT}.{moved[name]}"
            message = f"{package}.{name} is deprecated and will be removed in the next release; import it from {home}."
            warnings.warn(message, DeprecationWarning, stacklevel=2)
            return getattr(import_module(home), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find
