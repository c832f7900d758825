"""Machine code on disk: Numba's cache files, robust against damaged files, full disks and missing folders.

A file that cannot be read is replaced; if it cannot be written, the next process compiles again.
"""

from __future__ import annotations

import functools
import logging
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numba.core.caching import FunctionCache
from numba.core.codegen import RuntimeLinker

if TYPE_CHECKING:
    from collections.abc import Iterator

logger = logging.getLogger("pareto_nrpa")


def keep_on_disk(dispatcher: Any) -> Any:
    """Cache the code of a dispatcher on disk, if there is a folder for it."""
    try:
        dispatcher._cache = _Cache(dispatcher.py_func)  # noqa: SLF001 - what `enable_caching` does
    except RuntimeError:  # neither the folder of the source nor the user's own can be written
        _say_once("there is no writable folder for it")
    return dispatcher


@functools.cache
def _say_once(reason: str) -> None:
    logger.warning(
        "compiled code is not cached, and each start compiles again: %s; set NUMBA_CACHE_DIR to a writable folder.",
        reason,
    )


class _Cache(FunctionCache):
    """The files of one function."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the cached code for a signature, or None."""
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # any error of a damaged file
            logger.info("compiled code in %s is damaged and compiled again: %r", self.cache_path, error)
            try:
                self.flush()
            except OSError as unwritable:
                _say_once(str(unwritable))
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write the code for a signature."""
        if _is_circular(data.library):
            logger.info("%s is not cached, as kernels in it call each other.", self._py_func.__name__)
            return
        try:
            with _locked(Path(self.cache_path)):
                super().save_overload(sig, data)
        except OSError as error:
            _say_once(str(error))


def _is_circular(library: Any) -> bool:
    """Tell whether functions call each other by addresses of this process, which would crash another one.

    Numba stores them (its issue 6061).
    """
    module = library._final_module  # noqa: SLF001
    return any(variable.name.startswith(RuntimeLinker.PREFIX) for variable in module.global_variables)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock the folder: two processes that write one index would lose or mix entries."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "pareto_nrpa.lock", "ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX)  # ended by the end of the file, or of the process
        except OSError:  # some file systems do not support locks
            logger.debug("no locks in %s", folder)
        yield
