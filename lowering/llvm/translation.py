"""Translation of loop IR to LLVM IR."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llvmlite import ir
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ..loops.call_graph import functions_in, with_callees
from . import (
    affine_expressions,
    allocation,
    calls,
    casts,
    conditionals,
    constants,
    extrema,
    floats,
    integer_arithmetic,
    loops,
    mathematics,
    memory,
    parallel,
    vector_memory,
    vectors,
    while_loops,
)
from .calls import check_calls, functions_with_overlap
from .emitter import Emitters
from .entry_points import EntryPoint, emit_entry_point
from .functions import declare_function, emit_function
from .module import ModuleEmitter
from .names import EXPLICIT_VECTORS
from .options import Options
from .short_loops import vector_hints
from .unrolling import all_loops_have_vectors

if TYPE_CHECKING:
    from ...passes.machine.target import Target

DEFAULT_OPTIONS = Options()

EMITTERS: Emitters = {
    **affine_expressions.EMITTERS,
    **allocation.EMITTERS,
    **calls.EMITTERS,
    **casts.EMITTERS,
    **conditionals.EMITTERS,
    **constants.EMITTERS,
    **floats.EMITTERS,
    **extrema.EMITTERS,
    **integer_arithmetic.EMITTERS,
    **loops.EMITTERS,
    **mathematics.EMITTERS,
    **memory.EMITTERS,
    **parallel.EMITTERS,
    **vector_memory.EMITTERS,
    **vectors.EMITTERS,
    **while_loops.EMITTERS,
}


def translate(
    op: func.FuncOp | ModuleOp,
    *,
    target: Target,
    options: Options = DEFAULT_OPTIONS,
    entry: EntryPoint | None = None,
) -> ir.Module:
    """Translates all functions of a module, or a function and those that it calls, to LLVM IR.

    The function `f` gets the symbol `symbol("f")` and the C signature described in `functions.py`.
    With `entry`, the only public symbol is that of the entry point. Raises SourceError at an
    operation or type that cannot be compiled.
    """
    functions = functions_in(op) if isinstance(op, ModuleOp) else with_callees(op)
    check_calls(functions)
    overlapping = functions_with_overlap(functions)
    explicit = all(all_loops_have_vectors(function) for function in functions.values())
    attributes = (EXPLICIT_VECTORS,) if explicit else ()
    hints: dict[SSAValue, bool] = {}
    if not explicit:
        for function in functions.values():
            hints |= vector_hints(function, target, reassociates=options.fast_math)
    module = ModuleEmitter("loopwright", target, options, EMITTERS, attributes, hints)
    for name, function in functions.items():
        declare_function(module, function, noalias=name not in overlapping)
    for name, function in functions.items():
        emit_function(module, function, noalias=name not in overlapping)
    if entry is not None:
        emit_entry_point(module, functions[entry.function], entry)
    return module.finish()
