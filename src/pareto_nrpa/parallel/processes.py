"""How a process that works for another one ends, with all that it has started."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
import threading
from multiprocessing import connection
from pathlib import Path

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def end_with_parent() -> None:
    """End this process at SIGTERM, and when its parent has ended, also if that was killed."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(1))
    parent = multiprocessing.parent_process()
    assert parent is not None

    if sys.platform == "linux":  # a thread sees nothing while compiled code holds the GIL
        libc = ctypes.CDLL(None)
        libc.signal.argtypes = ctypes.c_int, ctypes.c_void_p
        # The handler gets the number of its signal, 1: an alarm in a second, which ends the process.
        libc.signal(signal.SIGHUP, ctypes.cast(libc.alarm, ctypes.c_void_p))
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGHUP, 0, 0, 0)

    def watch() -> None:
        connection.wait([parent.sentinel])
        kill_family(os.getpid())
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def lead_group() -> None:
    """Leave the terminal and the process group of its Ctrl-C; child processes end with this process.

    A session of its own, not only a group: a terminal may stop a group in the background that writes to it.
    """
    if hasattr(os, "setsid"):
        os.setsid()
    if sys.platform == "linux":  # orphaned descendants become children of this process
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def kill_family(pid: int) -> None:
    """Kill a process and its descendants: its group if it leads one, and on Linux those in other sessions too.

    The calling process may be one of them; it is killed last.
    """
    _send(pid, "SIGSTOP")  # or it could start others meanwhile
    family = [pid]
    for member in family:
        family += _children(member)
    for member in family:
        _send(member, "SIGKILL")
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.getpgid(pid) == pid:
                os.killpg(pid, signal.SIGKILL)


def _send(pid: int, name: str) -> None:
    if pid != os.getpid() and hasattr(signal, name):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, getattr(signal, name))


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, file.read_text().split())
    return found
