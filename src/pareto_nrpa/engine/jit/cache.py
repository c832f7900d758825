"""Machine code on disk, by `cache=True` of Numba: a damaged file, or a disk that is full or read-only, does no harm.

A file that cannot be read is replaced; if it cannot be written, the next process compiles again.
"""

from __future__ import annotations

import functools
import logging
from pathlib import Path
from typing import Any

import numba

logger = logging.getLogger("pareto_nrpa")


def keep_on_disk(function: Any, options: dict[str, Any]) -> Any:
    """Return a dispatcher whose machine code the next process finds again, where there is a place for it."""
    njit: Any = numba.njit
    if not is_circular(function):
        try:
            return njit(**options, cache=True)(function)
        except RuntimeError:  # neither the folder of the source nor the user's own can be written
            _say_once("there is no folder to keep it in")
    return njit(**options)(function)


def compile_kept(dispatcher: Any, signature: Any) -> None:
    """Compile a dispatcher for a signature, or load from disk what was compiled before."""
    try:
        dispatcher.compile(signature)
    except Exception as error:
        if isinstance(error, OSError) and dispatcher.overloads:
            _say_once(str(error))  # it is compiled, and cannot be written
            return
        files = files_of(dispatcher)
        if not files:
            raise
        logger.info("compiled code in %s is damaged and made anew: %r", files[0].parent, error)
        for file in files:
            file.unlink(missing_ok=True)
        compile_kept(dispatcher, signature)


def files_of(dispatcher: Any) -> list[Path]:
    """Return the files on disk that hold the machine code of a dispatcher."""
    folder = dispatcher.stats.cache_path
    return [] if folder is None else sorted(Path(folder).glob(f"*{dispatcher.py_func.__name__}-*.nb[ic]"))


@functools.cache
def _say_once(reason: str) -> None:
    logger.warning(
        "compiled code is not cached, and each start compiles again: %s; set NUMBA_CACHE_DIR to a writable folder.",
        reason,
    )


def is_circular(function: Any, is_done: dict[Any, bool] | None = None) -> bool:
    """Tell whether other functions that this one calls call each other: loaded by another process, they would crash it.

    They do so by addresses of the first process, which Numba stores all the same (its issue 6061).
    """
    is_done = {} if is_done is None else is_done
    is_done[function.__code__] = False
    for name in function.__code__.co_names:
        called = getattr(function.__globals__.get(name), "py_func", function)
        if called is not function:  # which may call itself
            is_new = called.__code__ not in is_done
            if is_circular(called, is_done) if is_new else not is_done[called.__code__]:
                return True
    is_done[function.__code__] = True
    return False
