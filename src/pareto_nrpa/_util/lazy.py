"""Public names that are imported when first used: `--help` must not wait for Numba."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ROOT = __package__.partition(".")[0]


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
