"""Ctrl-C and SIGTERM, which end a search and lose nothing of it."""

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

# Signals that follow each other as fast as this are one wish: nobody has seen yet what the first one did.
_SAME_WISH, _LONGEST_WISH = 0.5, 1.0


class Interrupt:
    """Turns a first Ctrl-C or SIGTERM into a request that is looked at between slices.

    A later one raises KeyboardInterrupt if it comes `patience` seconds or more after the one before: at once by
    default, never where something must not be cut short. It raises once at most, so that what is done about it is safe.
    After a request, leaving waits until no second signal can be part of the same wish: it must not hit the caller.
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
                # A handler of the caller's own stays.
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
        """Let nothing be cut short for a moment."""
        patience, self.patience = self.patience, math.inf
        try:
            yield
        finally:
            self.patience = patience

    def __exit__(self, *exception: object) -> None:
        self.patience, latest = math.inf, time.monotonic() + _LONGEST_WISH
        while (left := min(self._heard + _SAME_WISH, latest) - time.monotonic()) > 0:
            time.sleep(left)
        for number, previous in self._previous.items():
            signal.signal(number, previous)
