"""Loop IR to LLVM IR."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llvmlite import ir
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from . import (
    affine_expressions,
    allocation,
    casts,
    conditionals,
    constants,
    floats,
    integer_arithmetic,
    loops,
    mathematics,
    memory,
    vector_memory,
    vectors,
)
from .functions import declare_function, emit_function
from .module import Emitters, ModuleEmitter
from .options import Options

if TYPE_CHECKING:
    from ...passes.target import Target

DEFAULT_OPTIONS = Options()

EMITTERS: Emitters = {
    **affine_expressions.EMITTERS,
    **allocation.EMITTERS,
    **casts.EMITTERS,
    **conditionals.EMITTERS,
    **constants.EMITTERS,
    **floats.EMITTERS,
    **integer_arithmetic.EMITTERS,
    **loops.EMITTERS,
    **mathematics.EMITTERS,
    **memory.EMITTERS,
    **vector_memory.EMITTERS,
    **vectors.EMITTERS,
}


def translate(
    op: func.FuncOp | ModuleOp, *, target: Target, options: Options = DEFAULT_OPTIONS
) -> ir.Module:
    """Translates a function, or all functions of a module, to LLVM IR.

    The function `f` gets the symbol `symbol("f")` and the C signature described in `functions.py`.
    Raises SourceError at an operation or type that cannot be compiled.
    """
    module = ModuleEmitter("loopwright", target, options, EMITTERS)
    operations = op.walk() if isinstance(op, ModuleOp) else (op,)
    functions = [operation for operation in operations if isinstance(operation, func.FuncOp)]
    declared = [(function, declare_function(module, function)) for function in functions]
    for function, signature in declared:
        emit_function(module, function, signature)
    return module.module
