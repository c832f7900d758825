"""Kernels that only compiled code calls, kept as what LLVM reads until an entry is made that needs them.

Numba optimises every function with all that it calls and makes machine code of it, though the function above does the
same once more with its copy. Of a kernel that is eight calls deep that is eight times, of which the last counts. Here
it is done once, for the entry: that saves a good part of the time to compile.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.compiler import Compiler

_NEEDED = ("_ensure_finalized", "_finalize_dynamic_globals", "_finalize_final_module", "_optimize_final_module")
#: Whether this version of Numba can be told so: it is not part of what Numba promises, versions 0.61 to 0.68 can.
IS_POSSIBLE = all(hasattr(JITCodeLibrary, name) for name in _NEEDED) and hasattr(Compiler, "_compile_core")


class _NoEngine:
    """In the place of what runs machine code, for a kernel that has none."""

    def set_env(self, name: str, environment: Any) -> None:
        """Take what a function needs to call Python, which a kernel never does."""


class _Unfinished(JITCodeLibrary):
    """A kernel and all that it calls, neither optimised nor made into machine code."""

    @property
    def codegen(self) -> Any:
        return _NoEngine()

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        if any(variable.name.startswith(RuntimeLinker.PREFIX) for variable in self._final_module.global_variables):
            super()._finalize_final_module()  # one of a circle of kernels, which call each other by address
            return
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class InnerCompiler(Compiler):
    """Compiles a kernel as far as those who call it need."""

    def _compile_core(self) -> Any:
        state = self.state
        state.library = _Unfinished(state.targetctx.codegen(), state.func_id.func_qualname)
        return super()._compile_core()
