"""Numba's flags compared quickly while an entry is compiled.

Numba looks up every operator of every line by the flags in force, and compares flags by asking for fifty options one
by one: a tenth of the time to compile. Here only those are compared that were set; all others have their default.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from numba.core.compiler import Flags
from numba.core.targetconfig import TargetConfig

if TYPE_CHECKING:
    from collections.abc import Iterator

_its_eq: Any = TargetConfig.__eq__
_its_hash: Any = TargetConfig.__hash__
_HASH = hash(tuple(sorted(Flags.options)))
#: Whether this version of Numba has flags as we know them (0.61 to 0.68 do): one hash for all, values in a dictionary.
IS_POSSIBLE = isinstance(getattr(Flags(), "_values", None), dict) and hash(Flags()) == _HASH


def _is_equal(self: Any, other: Any) -> Any:
    if type(self) is not type(other):
        return _its_eq(self, other)
    mine, theirs = self._values, other._values  # noqa: SLF001
    if mine == theirs:
        return True
    options = self.options
    return all(
        mine.get(name, options[name].default) == theirs.get(name, options[name].default) for name in {**mine, **theirs}
    )


def _quick_hash(self: Any) -> int:
    return _HASH if type(self) is Flags else int(_its_hash(self))


@contextmanager
def quick_flags() -> Iterator[None]:
    """Let flags be compared quickly for a while; one thread at a time."""
    TargetConfig.__eq__, TargetConfig.__hash__ = _is_equal, _quick_hash  # type: ignore[method-assign]  # Numba's own, replaced for a while
    try:
        yield
    finally:
        TargetConfig.__eq__, TargetConfig.__hash__ = _its_eq, _its_hash  # type: ignore[method-assign]  # put back
