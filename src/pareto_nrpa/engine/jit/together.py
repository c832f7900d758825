"""Entries compiled by two processes at once, which takes about two thirds of the time.

Threads would not help, as half of the work is Numba's Python and the other half holds a lock of LLVM. A fork of this
process has all functions to compile, also those of a script or a notebook. It stores its code on disk, where this
process finds it. If the fork fails, this process compiles the rest.
"""

from __future__ import annotations

import ctypes
import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from numba.core.compiler_lock import global_compiler_lock

from .kernels import COMPILING, Entry, python_function

if TYPE_CHECKING:
    from collections.abc import Sequence

_PR_SET_PDEATHSIG = 1
_SIGNALS = signal.SIGINT, signal.SIGTERM
# Longest wait in seconds for a copy, which should end at about the same time as this process.
_PATIENCE, _PATIENCE_AT_LEAST = 2.0, 5.0


def compile_all(entries: Sequence[Any]) -> None:
    """Compile what is not in the cache, by two processes if possible, and load the rest."""
    missing = [entry for entry in entries if isinstance(entry, Entry) and not entry.is_ready()]
    if len(missing) > 1 and all(entry.is_kept for entry in missing) and _may_fork():
        *others, largest = sorted(missing, key=_amount)
        _share([largest, *others])
    for entry in entries:
        entry.compile()


def _may_fork() -> bool:
    """Tell whether a copy of this process is possible: except on Linux it might crash, or outlive its parent."""
    return (
        sys.platform == "linux"
        and len(os.sched_getaffinity(0)) > 1
        and threading.current_thread() is threading.main_thread()
        and multiprocessing.parent_process() is None  # workers use all cores
        and os.environ.get("PARETO_NRPA_COMPILE_ALONE", "0") in ("", "0")
    )


def _amount(entry: Entry) -> int:
    """Return an estimate of the work to compile: bytes of reachable bytecode."""
    seen: dict[Any, int] = {}

    def visit(function: Any) -> None:
        code = python_function(function).__code__
        if code not in seen:
            seen[code] = len(code.co_code)
            scope = python_function(function).__globals__
            for name in code.co_names:
                if hasattr(scope.get(name), "py_func"):
                    visit(scope[name])

    visit(entry.pointer)
    return sum(seen.values())


def _share(entries: list[Entry]) -> None:
    """Compile entries together with a copy of this process, which begins with the last.

    A process takes a byte from a pipe for each entry, so that the two meet. The largest comes first, then the smallest:
    the copy has the large ones of one problem, which call the same kernels.
    """
    taken, given = os.pipe()
    os.write(given, bytes(len(entries)))
    os.close(given)
    parent = os.getpid()
    # No other thread may hold these locks at the fork: the copy would wait for them forever.
    with COMPILING, global_compiler_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads, whose locks the copy does not need
        # Until the copy has handlers of its own, Ctrl-C would let it continue with the user's program.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            copy = os.fork()
            if copy == 0:
                _help(entries, taken, parent)
        except OSError:  # no memory, or no more processes allowed
            os.close(taken)
            return
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    begin = time.monotonic()
    try:
        _work(entries, taken)
        _wait(copy, max(_PATIENCE_AT_LEAST, _PATIENCE * (time.monotonic() - begin)))
    finally:
        os.close(taken)
        _end(copy)


def _work(entries: list[Entry], taken: int) -> None:
    for entry in entries:
        if not os.read(taken, 1):
            return
        entry.compile()


def _help(entries: list[Entry], taken: int, parent: int) -> None:
    """Run the copy: work, end with its parent or by Ctrl-C, and never return."""
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        logging.disable()  # reported by the parent
        if os.getppid() == parent:
            _work(entries[::-1], taken)
    finally:
        os._exit(0)  # the parent gets the same error


def _wait(copy: int, seconds: float) -> None:
    end = time.monotonic() + seconds
    while _is_alive(copy) and time.monotonic() < end:
        time.sleep(0.02)


def _is_alive(copy: int) -> bool:
    try:
        return os.waitpid(copy, os.WNOHANG)[0] == 0
    except ChildProcessError:  # the program has waited for it, or ignores its children
        return False


def _end(copy: int) -> None:
    if _is_alive(copy):
        with suppress(OSError):  # the program may wait for its children in another thread
            os.kill(copy, signal.SIGKILL)
            os.waitpid(copy, 0)
