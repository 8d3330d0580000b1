"""Compile functions that only other kernels call once, instead of once by themselves and again in each caller.

Numba optimises every function and turns it into machine code, with a copy of all that it calls, level by level: what is
called through five levels is optimised five times. But a function without a wrapper for Python (`kernel(inner=True)`,
and Numba's own versions of NumPy functions) never runs by itself. Here such a function is kept as it was lowered, and
optimised only as a part of the kernels that Python calls. The machine code of these stays the same in what it computes.

It works on parts of Numba that are not public, so `install` leaves everything as it is where these look different.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm  # type: ignore[import-untyped]
from numba.core.codegen import JITCodeLibrary
from numba.core.environment import lookup_environment
from numba.core.registry import cpu_target
from numba.core.targetconfig import ConfigStack

_ENVIRONMENT = "_ZN08NumbaEnv"
"""How names of the variables begin that hold a function's environment."""
_KIND = "linked"
"""Kind of a stored library that has no machine code."""
_NEEDED = ("_optimize_final_module", "_finalize_final_module", "_get_module_for_linking", "_unserialize")
"""Parts of Numba that are changed or called here."""


class LinkedLibrary(JITCodeLibrary):
    """Compiled code of one function; without machine code if the function is only linked into others."""

    only_linked = False
    _codegen: Any

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager()
                passes.run(function, builder)

    def _optimize_final_module(self) -> None:
        flags = ConfigStack.top_or_none()
        if compiling[0] > 0 and flags is not None and flags.no_cpython_wrapper:
            self.only_linked = True
        else:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        if self.only_linked:
            self._finalize_dynamic_globals()
            self._verify_declare_only_symbols()
            self._finalized = True
            return
        super()._finalize_final_module()
        for variable in self._final_module.global_variables:  # of functions that are linked in
            if variable.name.startswith(_ENVIRONMENT):
                environment = lookup_environment(variable.name)
                if environment is not None:
                    self._codegen.set_env(variable.name, environment)

    def get_pointer_to_function(self, name: str) -> int:
        """Return the address of a function, or 0 if there is none."""
        return 0 if self.only_linked else int(super().get_pointer_to_function(name))

    def serialize_using_object_code(self) -> tuple[Any, ...]:
        """Return what is stored in a cache."""
        if self.only_linked:
            return self.name, _KIND, self._get_module_for_linking().as_bitcode()
        return tuple(super().serialize_using_object_code())

    @classmethod
    def _unserialize(cls, codegen: Any, state: tuple[Any, ...]) -> Any:
        name, kind, data = state
        if kind != _KIND:
            return super()._unserialize(codegen, state)
        library = codegen.create_library(name)
        library.only_linked = True
        library._final_module = llvm.parse_bitcode(data)
        library._finalize_final_module()
        return library


compiling = [0]
"""Number of kernels of gaitway that are being compiled now; the code of other packages is compiled as ever."""


def install() -> None:
    """Have functions that are only linked into others compiled there alone."""
    codegen = cpu_target.target_context.codegen()
    if getattr(codegen, "_library_class", None) is not JITCodeLibrary:
        return
    if not all(hasattr(JITCodeLibrary, name) for name in _NEEDED) or not hasattr(codegen, "set_env"):
        return
    set_env, engine = codegen.set_env, codegen._engine

    def set_known(name: str, environment: Any) -> None:
        if engine.get_global_value_address(name):
            set_env(name, environment)

    codegen.set_env = set_known
    codegen._library_class = LinkedLibrary
