"""Hooks into a running `solve`: one class of methods that do nothing unless overridden."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._util.checks import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..result.result import Result
    from .stop import Progress


class Callbacks:
    """Override what you want to hear of."""

    def on_compile(self) -> None:
        """Be told that kernels are about to be compiled for the first time on this machine: it takes a while."""

    def on_start(self, progress: Progress) -> None:
        """Be told that the search begins, or goes on from a checkpoint."""

    def on_progress(self, progress: Progress) -> None:
        """Be told where the search stands, many times a second for fast problems."""

    def on_end(self, result: Result) -> None:
        """Be told the result."""


class _Told(Callbacks):
    """A function that wants to be told of progress."""

    def __init__(self, function: Callable[[Progress], object]) -> None:
        self._function = function

    def on_progress(self, progress: Progress) -> None:
        self._function(progress)


def check_callbacks(given: Listener | Sequence[Listener]) -> list[Callbacks]:
    """Return callbacks as a list of `Callbacks`, or say which of them is none."""
    listeners = list(given) if isinstance(given, list | tuple) else [given]
    return [_check(listener) for listener in listeners]  # type: ignore[arg-type]  # _check refuses what is no callback


def _check(listener: Listener) -> Callbacks:
    if isinstance(listener, Callbacks):
        return listener
    if isinstance(listener, type) or not callable(listener):
        raise TypeError(
            "callbacks must be objects of a class derived from Callbacks, or functions of the progress, got "
            f"{shown(listener)}."
        )
    return _Told(listener)


if TYPE_CHECKING:
    Listener = Callbacks | Callable[[Progress], object]
