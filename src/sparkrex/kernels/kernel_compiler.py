"""Numba's compiler for kernels of many parts (`inlined`). The code that runs is the same; less is compiled on the way.

Numba turns every function into optimised machine code, and copies the optimised functions that it calls into it. A part
four calls deep would so be optimised five times over, and its own machine code is never run. Two things are saved:

1. A part is simplified and kept. It is optimised, with all that it calls, in the kernel that contains it: each function
   is there once.
2. Where no references are counted, a variable that is no longer used need not be overwritten. A group of arrays is
   hundreds of numbers, and each `return` would overwrite all groups.

Numba has no types of its own, so that each call of it is untyped to mypy.
"""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import binding, ir
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering

_KNOWN_VERSIONS = ("0.68",)
_ENVIRONMENT = "_ZN08NumbaEnv"  # how the variables begin in which Numba keeps what belongs to a Python function


class PartLibrary(JITCodeLibrary):
    """The code of a part, which is only linked into kernels."""

    def _optimize_final_module(self) -> None:
        """Leave that to the kernel."""

    def _finalize_final_module(self) -> None:
        """Keep the code as that which is linked, and make machine code of nothing but the variables."""
        whole = self._final_module
        for function in list(whole.functions):
            if not function.is_declaration and function.linkage == binding.Linkage.external:
                function.linkage = "linkonce_odr"  # the same function may come into a kernel on several ways
        self._shared_module = whole
        variables = self._codegen._create_empty_module(self.name)  # type: ignore[no-untyped-call]
        pointer = ir.IntType(8).as_pointer()
        for variable in whole.global_variables:
            if variable.name.startswith(_ENVIRONMENT):
                place = ir.GlobalVariable(variables, pointer, variable.name)
                place.linkage = "common"
                place.initializer = ir.Constant(pointer, None)
        self._final_module = binding.parse_assembly(str(variables))
        super()._finalize_final_module()  # type: ignore[no-untyped-call]


class KernelLower(Lower):
    """Numba's translation to LLVM's language."""

    def delvar(self, name: str) -> None:
        if self.context.enable_nrt or name not in self.varmap:
            super().delvar(name)  # type: ignore[no-untyped-call]


@register_pass(mutates_CFG=True, analysis_only=False)  # type: ignore[no-untyped-call]
class KernelLowering(NativeLowering):
    """The step of the compiler that calls it."""

    _name = "sparkrex_kernel_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        return KernelLower


class KernelCompiler(Compiler):
    """All steps; those of a part write to a library of its kind."""

    def define_pipelines(self) -> list[Any]:
        state = self.state
        if state.flags.no_cpython_wrapper:
            codegen, name = state.targetctx.codegen(), state.func_id.func_qualname
            state.library = PartLibrary(codegen, name)  # type: ignore[no-untyped-call]
            state.library.enable_object_caching()
        steps = DefaultPassBuilder.define_nopython_pipeline(state, "sparkrex_kernel")  # type: ignore[no-untyped-call]
        steps.passes = [
            (KernelLowering if step is NativeLowering else step, title) for step, title in steps.passes
        ]
        steps.finalize()
        return [steps]


def pipeline_options() -> dict[str, Any]:
    """What `njit` is told. With a Numba whose insides we do not know, it compiles as it would without us."""
    version = ".".join(numba.__version__.split(".")[:2])
    return {"pipeline_class": KernelCompiler} if version in _KNOWN_VERSIONS else {}
