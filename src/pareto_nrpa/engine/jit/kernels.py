"""How compiled code is made, and how a later start finds it again on disk.

Numba's disk cache knows a function by its file, name, bytecode and signature; it does not notice that something the
function *calls* has changed, and it never finds a function again that received other functions as arguments or
through a closure. `compile_entry` solves both: the functions to call are bound as globals of a copy, and the name of
that copy carries a fingerprint of everything it can reach. Equal fingerprint, equal machine code.

There are three kinds of kernels: those of a problem, those of the engine, and small ones that are inlined. A kernel of
the engine that is called at one place is inlined too: its arguments are then not passed, and references to arrays not
counted, as LLVM sees that nothing else uses them.
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
from .inner import IS_POSSIBLE, InnerCompiler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Function = TypeVar("Function", bound="Callable[..., Any]")

# Numba's type hints know neither all of its options nor what a kernel is.
njit: Any = numba.njit
_typeof: Any = numba.typeof

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
# Said, as a kernel of which nothing is said is inlined wherever the first kernel to call it is.
_NOT_INLINED: dict[str, Any] = {**_OPTIONS, "forceinline": False}
_INLINED: dict[str, Any] = {**_OPTIONS, "forceinline": True}
# Ways in from Python and C, which only an entry needs: much of the machine code of a small kernel.
_INNER: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
if IS_POSSIBLE and os.environ.get("PARETO_NRPA_PLAIN_NUMBA", "0") in ("", "0"):
    _INNER["pipeline_class"] = InnerCompiler

#: Held by the thread that compiles.
COMPILING = threading.RLock()

#: A zero to start counters from that are passed on: for a literal 0 Numba would compile the receiver once more.
ZERO = np.int64(0)


# Part of every fingerprint: the text of what makes machine code.
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

    `initial_state` creates the arrays; the others work on them, as they are called at each move.
    """
    return cast(Function, _marked(function, _of_problems, _INLINED))


def engine_kernel(function: Callable[..., Any]) -> Any:
    """Mark a function of the engine."""
    return _marked(function, _of_engine, _NOT_INLINED)


def small_kernel(function: Callable[..., Any]) -> Any:
    """Mark an engine kernel so small that calling it would cost more than what it does."""
    return _marked(function, _of_engine, _INLINED)


#: The same, of those that take bundles of arrays.
bundle_kernel = engine_kernel


def fused_kernel(function: Callable[..., Any]) -> Any:
    """Mark an engine kernel that may fuse multiply and add: faster, and other than plain Python in the last bit."""
    return _marked(function, _of_engine, {**_NOT_INLINED, "fastmath": {"contract"}})


def cached_kernel(function: Callable[..., Any]) -> Any:
    """Mark an engine kernel that Python calls as it is, found again on disk; all that it calls must be in its file."""
    return function if JIT_IS_OFF else _Stored(function, _OPTIONS)


def is_kernel(function: Callable[..., Any]) -> bool:
    """Tell whether a function was marked as compiled code (any function, where compiling is switched off)."""
    return JIT_IS_OFF or hasattr(function, "py_func")


def python_function(function: Callable[..., Any]) -> Any:
    """Return the plain Python function behind a kernel (itself where compiling is switched off)."""
    return getattr(function, "py_func", function)


def fingerprint(*functions: Callable[..., Any]) -> str:
    """Return a short hash of the code of `functions` and of all that they refer to."""
    return kernel_contents(functions, (numba.__version__, np.__version__, _COMPILER))


def rebound(function: Callable[..., Any], **bound: Any) -> types.FunctionType:
    """Return a copy of a function in which `bound` stands in for global names that it leaves open."""
    original = cast("types.FunctionType", function)
    scope = {**original.__globals__, **bound}
    copy = types.FunctionType(original.__code__, scope, original.__name__, original.__defaults__, original.__closure__)
    copy.__kwdefaults__ = original.__kwdefaults__
    copy.__module__ = original.__module__
    copy.__doc__ = original.__doc__
    return copy


def with_globals(function: Callable[..., Any], **bound: Any) -> types.FunctionType:
    """Return such a copy to be compiled, under a name that says what it is."""
    copy = rebound(function, **bound)
    # Of two functions of one name, compiled by two processes, only one would be linked when a third one loads both.
    copy.__name__ = copy.__qualname__ = f"{copy.__name__}_{fingerprint(copy)}"
    return copy


# Numba makes millions of small objects that all live until a kernel is compiled, and Python would look through them
# again and again for garbage: about a tenth of the time. Seldom is enough, and takes no more memory.
_SELDOM = 100_000, 50, 100


@contextmanager
def _seldom_collected() -> Iterator[None]:
    """Compile without looking for garbage all the time; one thread at a time."""
    usual = gc.get_threshold()
    if 0 < usual[0] < _SELDOM[0]:  # 0: somebody has switched it off
        gc.set_threshold(*_SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def _options_of(dispatcher: Any) -> dict[str, Any]:
    return {name: value for name, value in dispatcher.targetoptions.items() if name != "nopython"}


@functools.cache
def stored(function: Any) -> Any:
    """Return a kernel of arrays for calls from Python, found again on disk by the next process."""
    if JIT_IS_OFF:
        return function
    copy = with_globals(function.py_func)
    copy.__name__ = copy.__qualname__ = f"{copy.__name__}_{fingerprint(function)}"  # its options count too
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
    """Let a copy of a function call twins of kernels, without ways in from Python, inlined where it is the only one."""
    n_places = _kernels_in(function)
    found = list(n_places)
    for called in found:
        more = _kernels_in(called.py_func)
        n_places += more
        found += [other for other in more if other not in found]
    _bind(function, {}, n_places)


def _kernels_in(function: Any) -> Counter[Any]:
    """Return the kernels that a function calls, and at how many places."""
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
    """Compile a kernel for the given types, as part of nothing, to see whether it can be; returns its type."""
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
    """A function of compiled code that Python calls: compiled when first needed, then found again on disk.

    `pointer` is what other compiled code takes as a typed function pointer. Where there is one way in only (`way_in`),
    less is compiled.
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
        """Call it, compiled first if it is not yet."""
        if not self._is_compiled:
            self.compile()
        return self.call(*arguments)

    def call(self, *arguments: Any) -> Any:
        """Call it, once it is compiled; what is a bundle is passed as a pointer."""
        if JIT_IS_OFF:
            return self.pointer(*arguments)
        both = zip(arguments, self._are_bundles, strict=True)
        return self.pointer(*[value.pointer if is_bundle else value for value, is_bundle in both])

    @property
    def is_kept(self) -> bool:
        """Whether there is a place on disk for what is compiled."""
        return not JIT_IS_OFF and self.pointer.stats.cache_path is not None

    def is_ready(self) -> bool:
        """Tell whether `compile` has nothing to compile: done in this process, or stored on disk."""
        if JIT_IS_OFF or self._is_compiled:
            return True
        return any(file.suffix == ".nbi" and file.stat().st_size for file in files_of(self.pointer))

    def compile(self) -> None:
        """Compile for the signature, or load from disk what was compiled before."""
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
    """Return the entry point for a function, with `bound` standing in for global names that it leaves open."""
    entry = Entry(python_function(function), signature, {**_OPTIONS, **_WAYS_IN[way_in]}, bound)
    return _entries.setdefault(entry.name, entry)
