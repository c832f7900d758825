"""Python called from compiled code: by the address of a C function, so that the code is the same for all functions."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .bundles import JIT_IS_OFF

if TYPE_CHECKING:
    from collections.abc import Callable

#: Functions of this module make machine code: `kernels.fingerprint` counts the text of the module instead of theirs.
__generates_code__ = True
_FUNCTION = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 4)


def callback(function: Callable[[int, int, int, int], None]) -> tuple[Any, Any]:
    """Return the address for compiled code to call a function of four integers, and an object to keep alive.

    The function must catch all exceptions. One raised outside of its `try`, as by Ctrl-C, is printed and lost: the
    result is therefore written to an array that holds an error status until then.
    """
    if JIT_IS_OFF:
        return function, function
    pointer = _FUNCTION(function)
    return ctypes.cast(pointer, ctypes.c_void_p).value, pointer


def _call_python(typing_context: Any, address: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """Call a function of Python with four integers."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        ir: Any = cgutils.ir  # type: ignore[attr-defined]  # llvmlite, which comes with Numba
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(64)] * 4)
        builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5), generate


def _called_directly(function: Any, a: int, b: int, c: int, d: int) -> None:
    function(a, b, c, d)


#: Called as `call_python(address, a, b, c, d)`; the thread takes the interpreter lock for the time of the call.
call_python: Any = _called_directly if JIT_IS_OFF else intrinsic(_call_python)
