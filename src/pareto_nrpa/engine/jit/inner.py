"""Compilers that avoid repeated work of Numba.

Kernels called by compiled code only are kept as LLVM's intermediate code until an entry needs them.

Numba optimises every function together with its callees and generates machine code for it, and its caller does the same
with a copy. A kernel eight calls deep is compiled eight times, of which the last counts. Here it is done once, for the
entry, which saves a good part of the compile time.

At each operation, Numba looks up implementations by types and flags of the compilation, and compares all flags, which
takes half of the time of type inference. Here only the few that are set are compared.
"""

from __future__ import annotations

from typing import Any

from numba.core import config
from numba.core.codegen import JITCodeLibrary, RuntimeLinker, ll  # type: ignore[attr-defined]  # llvmlite
from numba.core.compiler import Compiler, Flags

_NEEDED = ("_ensure_finalized", "_finalize_dynamic_globals", "_finalize_final_module", "_optimize_final_module")
#: Whether this version of Numba supports it: an undocumented part, present in versions 0.61 to 0.68.
IS_POSSIBLE = (
    all(hasattr(JITCodeLibrary, name) for name in _NEEDED)
    and hasattr(Compiler, "_compile_core")
    and hasattr(Flags(), "_values")
    and hasattr(ll, "create_pass_builder")
)
_HASH = hash(Flags())  # the same for all flags


class _Flags(Flags):
    """Flags of a compilation, equal if the same ones are set to equal values."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Flags) and self._values == other._values

    def __hash__(self) -> int:
        return _HASH


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

    def _optimize_functions(self, module: Any) -> None:
        """Optimise without unrolling loops: a call in a loop looks small until it is inlined, many times then."""
        codegen: Any = self._codegen
        module.data_layout = codegen._data_layout  # noqa: SLF001 - as the original does
        options = ll.create_pipeline_tuning_options()
        options.speed_level = int(config.OPT)  # type: ignore[attr-defined]  # set when Numba is loaded
        options.loop_unrolling = False
        passes = ll.create_pass_builder(codegen._tm, options)  # noqa: SLF001
        manager = passes.getFunctionPassManager()
        for function in module.functions:
            manager.run(function, passes)

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        if any(variable.name.startswith(RuntimeLinker.PREFIX) for variable in self._final_module.global_variables):
            super()._finalize_final_module()  # part of a cycle of kernels, which call each other by address
            return
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class EntryCompiler(Compiler):
    """Compiles an entry."""

    def _compile_core(self) -> Any:
        self.state.flags = _Flags(self.state.flags)
        return super()._compile_core()


class InnerCompiler(EntryCompiler):
    """Compiles a kernel to the intermediate code that its callers need."""

    def _compile_core(self) -> Any:
        state = self.state
        state.library = _Unfinished(state.targetctx.codegen(), state.func_id.func_qualname)
        return super()._compile_core()
