"""Hooks into a running `solve`: one class of methods that do nothing unless overridden."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .result import Result
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
