"""Compilation of kernels, and the cache on disk for later processes.

Numba's disk cache identifies a function by file, name, bytecode and signature; it does not detect changes of called
functions, and does not find functions again that received other functions as arguments or
through a closure. `compile_entry` solves both: the functions to call are bound as globals of a copy, and the name of
that copy carries a fingerprint of everything it can reach. Equal fingerprint, equal machine code.

There are three kinds of kernels: those of a problem, those of the engine, and small ones that are inlined. A kernel of
the engine with one call site is inlined too: this avoids passing arguments and counting references to arrays.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import os
import threading
import types
import weakref
from collections import Counter
from contextlib import contextmanager
from dis import get_instructions
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numba
import numpy as np

from ...problem.fingerprint import kernel_contents
from .bundles import JIT_IS_OFF, BundleType
from .cache import compile_kept, files_of, is_circular, keep_on_disk
from .inner import IS_POSSIBLE, EntryCompiler, InnerCompiler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Function = TypeVar("Function", bound="Callable[..., Any]")

# Numba's type hints lack some of its options and the type of kernels.
njit: Any = numba.njit
_typeof: Any = numba.typeof

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
# Explicit, as the default inlines a kernel depending on the first kernel that calls it.
_NOT_INLINED: dict[str, Any] = {**_OPTIONS, "forceinline": False}
_INLINED: dict[str, Any] = {**_OPTIONS, "forceinline": True}
# Wrappers for Python and C, which only an entry needs: much of the code of a small kernel.
_INNER: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_OUTER: dict[str, Any] = {}
if IS_POSSIBLE and os.environ.get("PARETO_NRPA_PLAIN_NUMBA", "0") in ("", "0"):
    _INNER["pipeline_class"] = InnerCompiler
    _OUTER["pipeline_class"] = EntryCompiler

#: Held by the thread that compiles.
COMPILING = threading.RLock()

#: Typed zero for counters that are passed on: a literal 0 would compile the callee once more.
ZERO = np.int64(0)


# Part of every fingerprint: the text of modules that generate code.
_OWN_TEXT = b"".join(file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py")))
_COMPILER = hashlib.sha256(_OWN_TEXT).hexdigest()

# The kernels, by kind.
_of_engine: weakref.WeakSet[Any] = weakref.WeakSet()
_of_problems: weakref.WeakSet[Any] = weakref.WeakSet()


def _marked(function: Callable[..., Any], known: weakref.WeakSet[Any], options: dict[str, Any]) -> Any:
    made = njit(**options)(function)
    if not JIT_IS_OFF:
        known.add(made)
    return made


def kernel(function: Function) -> Function:
    """Mark a function of a problem as compiled code; it becomes part of the playout that calls it.

    `initial_state` creates the arrays; the others use them, as they are called at each move.
    """
    return cast(Function, _marked(function, _of_problems, _INLINED))


def engine_kernel(function: Callable[..., Any]) -> Any:
    """Mark a function of the engine."""
    return _marked(function, _of_engine, _NOT_INLINED)


def small_kernel(function: Callable[..., Any]) -> Any:
    """Mark an engine kernel that is inlined, as a call would cost more than its body."""
    return _marked(function, _of_engine, _INLINED)


#: The same for kernels with bundles of arrays as arguments.
bundle_kernel = engine_kernel


def fused_kernel(function: Callable[..., Any]) -> Any:
    """Mark an engine kernel that may fuse multiply and add: faster, and different from plain Python in the last bit."""
    return _marked(function, _of_engine, {**_NOT_INLINED, "fastmath": {"contract"}})


def cached_kernel(function: Callable[..., Any]) -> Any:
    """Mark an engine kernel that Python calls directly, cached on disk; all that it calls must be in its file."""
    return function if JIT_IS_OFF else _Stored(function, _OPTIONS)


def is_kernel(function: Callable[..., Any]) -> bool:
    """Tell whether a function was marked as compiled code (any function if compiling is switched off)."""
    return JIT_IS_OFF or hasattr(function, "py_func")


def python_function(function: Callable[..., Any]) -> Any:
    """Return the plain Python function behind a kernel (the kernel itself if compiling is switched off)."""
    return getattr(function, "py_func", function)


def fingerprint(*functions: Callable[..., Any]) -> str:
    """Return a short hash of the code of `functions` and of all that they refer to."""
    return kernel_contents(functions, (numba.__version__, np.__version__, _COMPILER))


def rebound(function: Callable[..., Any], **bound: Any) -> types.FunctionType:
    """Return a copy of a function with `bound` for its unbound global names."""
    original = cast("types.FunctionType", function)
    scope = {**original.__globals__, **bound}
    copy = types.FunctionType(original.__code__, scope, original.__name__, original.__defaults__, original.__closure__)
    copy.__kwdefaults__ = original.__kwdefaults__
    copy.__module__ = original.__module__
    copy.__doc__ = original.__doc__
    return copy


def with_globals(function: Callable[..., Any], **bound: Any) -> types.FunctionType:
    """Return such a copy for compilation, under a name with its fingerprint."""
    copy = rebound(function, **bound)
    # If two processes compile functions of one name, only one is linked when a third process loads both.
    copy.__name__ = copy.__qualname__ = f"{copy.__name__}_{fingerprint(copy)}"
    return copy


# Numba creates millions of small objects that live until a kernel is compiled, and garbage collection would scan
# them repeatedly: about a tenth of the time. Rare collections take no more memory.
_SELDOM = 100_000, 50, 100


@contextmanager
def _seldom_collected() -> Iterator[None]:
    """Compile with rare garbage collection; one thread at a time."""
    usual = gc.get_threshold()
    if 0 < usual[0] < _SELDOM[0]:  # 0: switched off
        gc.set_threshold(*_SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def _options_of(dispatcher: Any) -> dict[str, Any]:
    return {name: value for name, value in dispatcher.targetoptions.items() if name != "nopython"}


@functools.cache
def stored(function: Any) -> Any:
    """Return a kernel of arrays for calls from Python, cached on disk."""
    if JIT_IS_OFF:
        return function
    copy = with_globals(function.py_func)
    copy.__name__ = copy.__qualname__ = f"{copy.__name__}_{fingerprint(function)}"  # includes its options
    _bind_twins(copy)
    return _Stored(copy, _options_of(function))


class _Stored:
    """A function of compiled code that Python calls, compiled for the arguments of the first call."""

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        self.py_func, self._is_compiled = function, False
        self._dispatcher = keep_on_disk(function, options)

    def compile(self, signature: tuple[Any, ...]) -> None:
        """Compile for arguments of these types, or load from disk what was compiled before."""
        with COMPILING:
            compile_kept(self._dispatcher, signature)
            self._is_compiled = True

    def __call__(self, *arguments: Any) -> Any:
        """Call it."""
        if not self._is_compiled:
            self.compile(tuple(map(_typeof, arguments)))
        return self._dispatcher(*arguments)


#: Twins of the kernels of problems: the same in all entries.
_shared: dict[Any, Any] = {}


def _bind_twins(function: types.FunctionType) -> None:
    """Let a copy of a function call twins of kernels without wrappers for Python, inlined at a single call site."""
    n_places = _kernels_in(function)
    found = list(n_places)
    for called in found:
        more = _kernels_in(called.py_func)
        n_places += more
        found += [other for other in more if other not in found]
    _bind(function, {}, n_places)


def _kernels_in(function: Any) -> Counter[Any]:
    """Return the kernels that a function calls, with the numbers of call sites."""
    scope = function.__globals__
    called = [scope.get(line.argval) for line in get_instructions(function) if line.opname == "LOAD_GLOBAL"]
    return Counter(value for value in called if _is_marked(value))


def _is_marked(value: Any) -> bool:
    return hasattr(value, "py_func") and (value in _of_engine or value in _of_problems)


def _bind(function: types.FunctionType, twins: dict[Any, Any], n_places: Counter[Any]) -> None:
    scope = function.__globals__
    for name in function.__code__.co_names:
        if _is_marked(scope.get(name)):
            scope[name] = _twin(scope[name], twins, n_places)


def _twin(called: Any, twins: dict[Any, Any], n_places: Counter[Any]) -> Any:
    if called in _of_problems:
        twins, n_places = _shared, Counter()
    if called not in twins:
        copy = with_globals(called.py_func)
        options = {**_options_of(called), **_INNER}
        if n_places[called] == 1:
            options["forceinline"] = True
        twins[called] = njit(**options)(copy)
        _bind(copy, twins, n_places)
    return twins[called]


_compiled_alone: dict[Any, Any] = {}


def compile_alone(function: Any, arguments: tuple[Any, ...]) -> Any:
    """Compile a kernel alone for the given types, as a test; returns its return type."""
    copy = with_globals(function.py_func)
    key = copy.__name__, arguments
    if key not in _compiled_alone:
        alone = njit(**_options_of(function), **_INNER)(copy)
        _bind(copy, {}, Counter())
        with COMPILING, _seldom_collected():
            alone.compile(arguments)
        _compiled_alone[key] = alone.overloads[arguments].signature.return_type
    return _compiled_alone[key]


class Entry:
    """A compiled function that Python calls: compiled when first needed, cached on disk.

    `pointer` is the typed function pointer for other compiled code. With only one kind of call (`way_in`), less is
    compiled.
    """

    def __init__(
        self, function: types.FunctionType, signature: Any, options: dict[str, Any], bound: dict[str, Any]
    ) -> None:
        copy = with_globals(function, **bound)
        digest = hashlib.sha256(f"{signature}{sorted(options)}".encode()).hexdigest()[:8]
        self.name = copy.__name__ = copy.__qualname__ = f"{copy.__name__}_{digest}"
        self._signature = signature
        self._are_bundles = [isinstance(kind, BundleType) for kind in signature.args]
        self._is_compiled = False
        self.pointer: Any = copy if JIT_IS_OFF else keep_on_disk(copy, options)

    def __call__(self, *arguments: Any) -> Any:
        """Call the function; compile it first if necessary."""
        if not self._is_compiled:
            self.compile()
        return self.call(*arguments)

    def call(self, *arguments: Any) -> Any:
        """Call the compiled function; bundles are passed as pointers."""
        if JIT_IS_OFF:
            return self.pointer(*arguments)
        both = zip(arguments, self._are_bundles, strict=True)
        return self.pointer(*[value.pointer if is_bundle else value for value, is_bundle in both])

    @property
    def is_kept(self) -> bool:
        """Whether there is a folder for the cache."""
        return not JIT_IS_OFF and self.pointer.stats.cache_path is not None

    def is_ready(self) -> bool:
        """Tell whether the function is compiled in this process or cached on disk."""
        if JIT_IS_OFF or self._is_compiled:
            return True
        return any(file.suffix == ".nbi" and file.stat().st_size for file in files_of(self.pointer))

    def compile(self) -> None:
        """Compile for the signature, or load the code from the cache."""
        with COMPILING:
            if self._is_compiled:
                return
            if not JIT_IS_OFF:
                if not self.is_ready() and not is_circular(self.pointer.py_func):
                    _bind_twins(self.pointer.py_func)
                with _seldom_collected():
                    compile_kept(self.pointer, self._signature)
                self.pointer.disable_compile()
            self._is_compiled = True


_entries: dict[str, Entry] = {}

_WAYS_IN: dict[str, dict[str, Any]] = {
    "both": {},
    "call": {"no_cfunc_wrapper": True},
    "pointer": {"no_cpython_wrapper": True},
}


def compile_entry(function: Any, signature: Any, *, way_in: str = "call", **bound: Any) -> Entry:
    """Return the entry of a function, with `bound` for its unbound global names."""
    entry = Entry(python_function(function), signature, {**_OPTIONS, **_OUTER, **_WAYS_IN[way_in]}, bound)
    return _entries.setdefault(entry.name, entry)
