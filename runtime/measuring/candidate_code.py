"""Object code of one function, for a process that loads and runs it."""

from __future__ import annotations

from ...lowering.llvm import symbol
from ...lowering.llvm.heap import FAILED_ALLOCATIONS
from ...passes.machine.target import Target
from ..jit import object_code as jit
from ..labelling.messages import ObjectCode


def object_code(llvm_ir: str, function: str, target: Target) -> ObjectCode:
    """Compiles a module; it exports the function and, where it allocates, the count of failures."""
    code = jit.compile_module(llvm_ir, target=target)
    allocates = FAILED_ALLOCATIONS in llvm_ir
    exports = (symbol(function), *([FAILED_ALLOCATIONS] if allocates else []))
    return ObjectCode(code, exports, "GOMP_parallel" in llvm_ir)
