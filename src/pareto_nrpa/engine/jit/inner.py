"""Kernels called by compiled code only, kept as LLVM's intermediate code until an entry needs them.

Numba optimises every function together with its callees and generates machine code for it, and its caller does the same
with a copy. A kernel eight calls deep is compiled eight times, of which the last counts. Here it is done once, for the
entry, which saves a good part of the compile time.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.compiler import Compiler

_NEEDED = ("_ensure_finalized", "_finalize_dynamic_globals", "_finalize_final_module", "_optimize_final_module")
#: Whether this version of Numba supports it: an undocumented part, present in versions 0.61 to 0.68.
IS_POSSIBLE = all(hasattr(JITCodeLibrary, name) for name in _NEEDED) and hasattr(Compiler, "_compile_core")


class _NoEngine:
    """Execution engine of a kernel without machine code."""

    def set_env(self, name: str, environment: Any) -> None:
        """Ignore the environment for calls of Python, which kernels never make."""


class _Unfinished(JITCodeLibrary):
    """A kernel and its callees as intermediate code, not optimised."""

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
            super()._finalize_final_module()  # part of a cycle of kernels, which call each other by address
            return
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class InnerCompiler(Compiler):
    """Compiles a kernel to the intermediate code that its callers need."""

    def _compile_core(self) -> Any:
        state = self.state
        state.library = _Unfinished(state.targetctx.codegen(), state.func_id.func_qualname)
        return super()._compile_core()
