"""What a process that works for another one should do about signals; standard library only, as it is imported first."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from multiprocessing import connection


def end_with_parent() -> None:
    """End this process when it is told to (SIGTERM), and when the process that started it is gone, even by a kill."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(1))
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        connection.wait([parent.sentinel])
        kill_group(os.getpid())
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def lead_group() -> None:
    """Leave the terminal, and the group that its Ctrl-C goes to; what is started from here on ends with this process.

    A session of its own, not only a group: a terminal may stop a group in the background that writes to it.
    """
    if hasattr(os, "setsid"):
        os.setsid()


def kill_group(pid: int) -> None:
    """Kill a process that leads its group, and all that it has started; another one is left alone."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError):
            if os.getpgid(pid) == pid:
                os.killpg(pid, signal.SIGKILL)
