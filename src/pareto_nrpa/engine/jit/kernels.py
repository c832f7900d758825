"""How compiled code is made, and how a later start finds it again on disk.

Numba's disk cache knows a function by its file, name, bytecode and signature; it does not notice that something the
function *calls* has changed, and it never finds a function again that received other functions as arguments or
through a closure. `compile_entry` solves both: the functions to call are bound as globals of a copy, and the name of
that copy carries a fingerprint of everything it can reach. Equal fingerprint, equal machine code.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import os
import threading
import types
import weakref
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numba
import numpy as np
from numba.core import config
from numba.core.compiler import CompileResult
from numba.core.cpu import CPUTargetOptions
from numba.core.dispatcher import Dispatcher

from ...problem.fingerprint import kernel_contents
from .cache import keep_on_disk
from .flags import IS_POSSIBLE as FLAGS_ARE_KNOWN
from .flags import quick_flags
from .inner import IS_POSSIBLE, InnerCompiler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Function = TypeVar("Function", bound="Callable[..., Any]")

# Numba's type hints know neither all of its options nor what a kernel is.
njit: Any = numba.njit
_JIT_IS_OFF: bool = getattr(config, "DISABLE_JIT", False)
# What the fast way rests on, none of which Numba promises: versions 0.61 to 0.68 have it.
_HAS_ALL = (
    hasattr(CPUTargetOptions, "_nrt")
    and hasattr(CompileResult, "entry_point")
    and hasattr(Dispatcher, "get_compile_result")
)
_IS_PLAIN = os.environ.get("PARETO_NRPA_PLAIN_NUMBA", "0") not in ("", "0") or not _HAS_ALL

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
# The engine allocates nothing. Without Numba's reference counting, which would touch every array of a bundle at each
# call, it runs twice as fast and compiles in a fraction of the time. Where that cannot be said (or
# PARETO_NRPA_PLAIN_NUMBA is set) all works, more slowly.
_ENGINE_OPTIONS: dict[str, Any] = _OPTIONS if _IS_PLAIN else {**_OPTIONS, "_nrt": False}
_ALLOCATING: dict[str, Any] = _OPTIONS if _IS_PLAIN else {**_OPTIONS, "_nrt": True}
# Said, as a kernel of which nothing is said is inlined wherever the first kernel to call it is: in `tell` that was
# twice the code to optimise.
_NOT_INLINED: dict[str, Any] = {"forceinline": False}
# Ways in from Python and C, which only an entry needs: much of the machine code of a small kernel.
_NO_WAY_IN: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_INNER: dict[str, Any] = (
    {**_NO_WAY_IN, "pipeline_class": InnerCompiler} if IS_POSSIBLE and not _IS_PLAIN else _NO_WAY_IN
)

#: Held by the thread that compiles.
COMPILING = threading.RLock()

#: A zero to start counters from that are passed on: for a literal 0 Numba would compile the receiver once more.
ZERO = np.int64(0)


# Part of every name on disk: raised where files that are there must not be loaded any more.
_KEPT_AS = 2

_ours: weakref.WeakSet[Any] = weakref.WeakSet()


def _marked(function: Callable[..., Any], **options: Any) -> Any:
    made = njit(**options)(function)
    if not _JIT_IS_OFF:
        _ours.add(made)
    return made


def _kept(function: Callable[..., Any], **options: Any) -> Any:
    return function if _JIT_IS_OFF else keep_on_disk(njit(**options)(function))


def kernel(function: Function) -> Function:
    """Mark a function of a problem as compiled code; it becomes part of the playout that calls it.

    Only `initial_state` may create arrays: the others work on those of the state.
    """
    return cast(Function, _marked(function, **_OPTIONS, forceinline=True))


def engine_kernel(function: Callable[..., Any]) -> Any:
    """Mark a function of the engine, which must not allocate."""
    return _marked(function, **_ENGINE_OPTIONS, **_NOT_INLINED)


def bundle_kernel(function: Callable[..., Any]) -> Any:
    """Mark an engine kernel that takes bundles of arrays and that Python never calls (which would crash).

    Taking a bundle apart for a call from Python is more code than most kernels are: leaving it out compiles faster.
    """
    return _marked(function, **_ENGINE_OPTIONS, **_NOT_INLINED, no_cpython_wrapper=True)


def allocating_kernel(function: Callable[..., Any]) -> Any:
    """Mark a kernel that makes arrays, as the state of a problem; those who call it need not count references."""
    return _marked(function, **_ALLOCATING, no_cpython_wrapper=True)


def small_kernel(function: Callable[..., Any]) -> Any:
    """Mark an engine kernel so small that calling it would cost more than what it does."""
    return _marked(function, **_ENGINE_OPTIONS, forceinline=True)


def fused_kernel(function: Callable[..., Any]) -> Any:
    """Mark an engine kernel that may fuse multiply and add: faster, and other than plain Python in the last bit."""
    return _marked(function, **_ENGINE_OPTIONS, **_NOT_INLINED, fastmath={"contract"})


def cached_kernel(function: Callable[..., Any]) -> Any:
    """Mark an engine kernel that Python calls as it is, found again on disk; all that it calls must be in its file."""
    return _kept(function, **_ENGINE_OPTIONS)


def is_kernel(function: Callable[..., Any]) -> bool:
    """Tell whether a function was marked as compiled code (any function, where compiling is switched off)."""
    return _JIT_IS_OFF or hasattr(function, "py_func")


def python_function(function: Callable[..., Any]) -> Any:
    """Return the plain Python function behind a kernel (itself where compiling is switched off)."""
    return getattr(function, "py_func", function)


def fingerprint(*functions: Callable[..., Any]) -> str:
    """Return a short hash of the code of `functions` and of all that they refer to."""
    return kernel_contents(functions, (numba.__version__, np.__version__))


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
    copy.__name__ = copy.__qualname__ = f"{copy.__name__}_{_KEPT_AS}{fingerprint(copy)}"
    return copy


# Numba makes millions of small objects that all live until a kernel is compiled, and Python would look through them
# again and again for garbage: about a tenth of the time. Seldom is enough, and takes no more memory.
_SELDOM = 100_000, 50, 100


@contextmanager
def _quickly() -> Iterator[None]:
    """Compile without what takes long for nothing; one thread at a time."""
    usual = gc.get_threshold()
    if 0 < usual[0] < _SELDOM[0]:  # 0: somebody has switched it off
        gc.set_threshold(*_SELDOM)
    try:
        with quick_flags() if FLAGS_ARE_KNOWN and not _IS_PLAIN else nullcontext():
            yield
    finally:
        gc.set_threshold(*usual)


def _options_of(dispatcher: Any) -> dict[str, Any]:
    return {name: value for name, value in dispatcher.targetoptions.items() if name != "nopython"}


@functools.cache
def stored(function: Any) -> Any:
    """Return a kernel of arrays for calls from Python, found again on disk by the next process."""
    if _JIT_IS_OFF:
        return function
    copy = with_globals(function.py_func)
    copy.__name__ = copy.__qualname__ = f"{copy.__name__}_{_KEPT_AS}{fingerprint(function)}"  # its options count too
    _bind_inner(copy)
    return _kept(copy, **_options_of(function))


_inner_twins: dict[Any, Any] = {}


def _inner(function: Any) -> Any:
    """Return a kernel as compiled code sees it, without ways in from Python, and unfinished: less to compile."""
    if function not in _inner_twins:
        copy = with_globals(function.py_func)
        _inner_twins[function] = njit(**{**_options_of(function), **_INNER})(copy)
        _bind_inner(copy)
    return _inner_twins[function]


def _bind_inner(function: types.FunctionType) -> None:
    """Let a copy of a function call the inner twins of kernels."""
    scope = function.__globals__
    for name in function.__code__.co_names:
        if isinstance(scope.get(name), Dispatcher) and scope[name] in _ours:
            scope[name] = _inner(scope[name])


def interpreted(function: Callable[..., Any]) -> types.FunctionType:
    """Return a kernel as plain Python that takes any object for a bundle of arrays; kernels of arrays stay compiled."""
    function = python_function(function)
    called: dict[str, Any] = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    options = {name: value.targetoptions for name, value in called.items() if hasattr(value, "targetoptions")}
    bound = {
        name: interpreted(called[name]) if option.get("no_cpython_wrapper") else stored(called[name])
        for name, option in options.items()
    }
    return rebound(function, **bound)


_compiled_alone: dict[Any, Any] = {}


def compile_alone(function: Any, arguments: tuple[Any, ...], *, allocates: bool) -> Any:
    """Compile a kernel for the given types, as part of nothing, to see whether it can be; returns its type."""
    options = {**_options_of(function), **(_ALLOCATING if allocates else _ENGINE_OPTIONS), **_INNER}
    copy = with_globals(function.py_func)
    key = copy.__name__, arguments, allocates
    if key not in _compiled_alone:
        _bind_inner(copy)
        alone = njit(**options)(copy)
        with COMPILING, _quickly():
            alone.compile(arguments)
        _compiled_alone[key] = alone.overloads[arguments].signature.return_type
    return _compiled_alone[key]


class Entry:
    """A function of compiled code that Python calls: compiled when first needed, then found again on disk.

    `pointer` is what other compiled code takes as a typed function pointer. `call` is the way in from Python, there
    after `compile`; it goes straight to the machine code, without Numba's look at the types of the arguments, which
    for bundles of arrays takes longer than many a call. The caller vouches for them. Where there is one way in only
    (`way_in`), less is compiled.
    """

    def __init__(
        self, function: types.FunctionType, signature: Any, options: dict[str, Any], bound: dict[str, Any]
    ) -> None:
        copy = with_globals(function, **bound)
        digest = hashlib.sha256(f"{signature}{sorted(options)}".encode()).hexdigest()[:8]
        self.name = copy.__name__ = copy.__qualname__ = f"{copy.__name__}_{digest}"
        self.call: Any = None
        self._signature = signature
        self.pointer: Any = _kept(copy, **options)

    def __call__(self, *arguments: Any) -> Any:
        """Call it, compiled first where nobody has seen to that."""
        if self.call is None:
            self.compile()
        return self.call(*arguments)

    @property
    def is_kept(self) -> bool:
        """Whether there is a place on disk for what is compiled."""
        return not _JIT_IS_OFF and self.pointer.stats.cache_path is not None

    def is_ready(self) -> bool:
        """Tell whether `compile` has nothing to compile: done in this process, or stored on disk."""
        if _JIT_IS_OFF or self.call is not None:
            return True
        folder = self.pointer.stats.cache_path
        return folder is not None and any(file.stat().st_size for file in Path(folder).glob(f"*{self.name}-*.nbi"))

    def compile(self) -> None:
        """Compile for the signature, or load from disk what was compiled before."""
        with COMPILING:
            if self.call is not None:
                return
            if _JIT_IS_OFF:
                self.call = self.pointer
                return
            if not self.is_ready():
                _bind_inner(self.pointer.py_func)
            with _quickly():
                self.pointer.compile(self._signature)
            self.pointer.disable_compile()
            (compiled,) = self.pointer.overloads.values()
            self.call = self.pointer if _IS_PLAIN else compiled.entry_point
            if not _IS_PLAIN and not self.pointer.targetoptions.get("no_cfunc_wrapper"):
                known = _KnownResult(self.pointer.get_compile_result(self._signature))
                self.pointer.get_compile_result = lambda signature: known
            if self.pointer.targetoptions.get("no_cpython_wrapper"):
                self.call = _not_from_python


class _KnownResult:
    """What Numba asks for whenever a function is passed as a pointer: it would look at all types anew each time.

    That takes a third of a millisecond for bundles of arrays, as long as twenty playouts.
    """

    def __init__(self, result: Any) -> None:
        self.fndesc, self.library = result.fndesc, self
        self.get_pointer_to_function = functools.cache(result.library.get_pointer_to_function)


def _not_from_python(*arguments: Any) -> None:
    raise AssertionError("this entry is called by way of its pointer")


_entries: dict[str, Entry] = {}


_WAYS_IN: dict[str, dict[str, Any]] = {
    "both": {},
    "call": {"no_cfunc_wrapper": True},
    "pointer": {"no_cpython_wrapper": True},
}


def compile_entry(
    function: Any, signature: Any, *, allocates: bool = False, way_in: str = "call", **bound: Any
) -> Entry:
    """Return the entry point for a function, with `bound` standing in for global names that it leaves open."""
    options = {**(_OPTIONS if allocates else _ENGINE_OPTIONS), **_WAYS_IN[way_in]}
    entry = Entry(python_function(function), signature, options, bound)
    return _entries.setdefault(entry.name, entry)
