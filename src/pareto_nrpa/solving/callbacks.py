"""Hooks into a running `solve`: one class of methods that do nothing unless overridden."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._util.checks import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..result.result import Result
    from .stop import Progress


class Callbacks:
    """Methods that `solve` calls; override the ones you need."""

    def on_compile(self) -> None:
        """Report that kernels are compiled, for the first time on this machine: it takes several seconds."""

    def on_start(self, progress: Progress) -> None:
        """Report that the search starts or resumes from a checkpoint."""

    def on_progress(self, progress: Progress) -> None:
        """Report the progress, many times a second for fast problems."""

    def on_end(self, result: Result) -> None:
        """Report the result, before `solve` returns it."""


class _OnProgress(Callbacks):
    """A function of the progress, as callbacks."""

    def __init__(self, function: Callable[[Progress], object]) -> None:
        self._function = function

    def on_progress(self, progress: Progress) -> None:
        self._function(progress)


def check_callbacks(given: Callback | Sequence[Callback]) -> list[Callbacks]:
    """Return callbacks as a list of `Callbacks`; raise for anything else."""
    callbacks = list(given) if isinstance(given, list | tuple) else [given]
    return [_check(callback) for callback in callbacks]  # type: ignore[arg-type]  # _check refuses everything else


def _check(callback: Callback) -> Callbacks:
    if isinstance(callback, Callbacks):
        return callback
    if isinstance(callback, type) or not callable(callback):
        raise TypeError(
            "callbacks must be objects of a class derived from Callbacks, or functions of the progress, got "
            f"{shown(callback)}."
        )
    return _OnProgress(callback)


if TYPE_CHECKING:
    Callback = Callbacks | Callable[[Progress], object]
