"""Ctrl-C and SIGTERM end a search without losing its front."""

from __future__ import annotations

import math
import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

# Signals in quick succession count as one: the user cannot have seen the effect of the first.
_SAME_REQUEST, _LONGEST_REQUEST = 0.5, 1.0


class Interrupt:
    """Turns a first Ctrl-C or SIGTERM into a request that is checked between slices.

    A later signal raises KeyboardInterrupt if it arrives `patience` seconds or more after the one before: at once by
    default, never while `patience` is infinite. It raises at most once, so that its handler is not interrupted. After a
    request, `__exit__` waits until no second signal can belong to it, as that one must not reach the caller.
    """

    _names: ClassVar[dict[int, str]] = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}

    def __init__(self, patience: float = 0.0) -> None:
        self.requested = ""
        self.patience = patience
        self._heard = -math.inf
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Interrupt:
        if threading.current_thread() is threading.main_thread():
            for number in self._names:
                previous = signal.getsignal(number)
                # A handler that the caller has installed is kept.
                if previous in (signal.default_int_handler, signal.SIG_DFL):
                    self._previous[number] = previous
                    signal.signal(number, self._hear)
        return self

    def _hear(self, number: int, frame: FrameType | None) -> None:
        now, is_first = time.monotonic(), not self.requested
        since, self._heard = now - self._heard, now
        self.requested = self.requested or self._names[number]
        if not is_first and since >= self.patience:
            self.patience = math.inf
            raise KeyboardInterrupt

    @contextmanager
    def held(self) -> Iterator[None]:
        """Defer interrupts until the end of the block."""
        patience, self.patience = self.patience, math.inf
        try:
            yield
        finally:
            self.patience = patience

    def __exit__(self, *exception: object) -> None:
        self.patience, latest = math.inf, time.monotonic() + _LONGEST_REQUEST
        while (left := min(self._heard + _SAME_REQUEST, latest) - time.monotonic()) > 0:
            time.sleep(left)
        for number, previous in self._previous.items():
            signal.signal(number, previous)
