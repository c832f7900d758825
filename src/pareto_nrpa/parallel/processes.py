"""What a process that works for another one should do about signals; standard library only, as it is imported first.

Run as a script it is a guard: it waits for the end of a worker, or of the process that the worker works for.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import select
import signal
import subprocess
import sys
import threading
from multiprocessing import connection, spawn
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36


def end_with_parent() -> None:
    """End this process when it is told to (SIGTERM), and when the process that started it is gone, even by a kill."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(1))
    parent = multiprocessing.parent_process()
    assert parent is not None

    if _has_guard(parent.sentinel):
        return

    def watch() -> None:
        connection.wait([parent.sentinel])
        kill_family(os.getpid())
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _has_guard(sentinel: int) -> bool:
    """Start a process that sees to the end of this one: a thread sees nothing while compiled code holds the GIL."""
    if not hasattr(os, "pidfd_open"):  # Linux
        return False
    command = [spawn.get_executable(), "-I", "-S", __file__, str(os.getpid())]
    try:
        return subprocess.run(command, stdin=sentinel, stderr=subprocess.DEVNULL, check=False).returncode == 0
    except OSError:
        return False


def lead_group() -> None:
    """Leave the terminal, and the group that its Ctrl-C goes to; what is started from here on ends with this process.

    A session of its own, not only a group: a terminal may stop a group in the background that writes to it.
    """
    if hasattr(os, "setsid"):
        os.setsid()
    if sys.platform == "linux":  # what is orphaned below this process is still found below it
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def kill_family(pid: int) -> None:
    """Kill a process and all that it has started: its group if it leads one, and on Linux whatever session it is in.

    The process that calls this may be one of them; it is left for the end.
    """
    _send(pid, "SIGSTOP")  # or it might start others meanwhile
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


def _guard(pid: int) -> None:
    """Kill a worker when nobody is left to work for, which the end of stdin tells."""
    worker = os.pidfd_open(pid)
    if os.fork():  # the worker goes on as soon as it is guarded
        return
    ready, _, _ = select.select([sys.stdin, worker], [], [])
    if worker not in ready:
        kill_family(pid)


if __name__ == "__main__":
    _guard(int(sys.argv[1]))
