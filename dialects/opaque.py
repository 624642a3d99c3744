"""The mark of opaque statements: functions that raising outlines, and their calls."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

OPAQUE = "loopwright.opaque"
"""The attribute of outlined functions and of their calls."""


def is_opaque(operation: Operation) -> bool:
    """Whether an operation is the call of an outlined function."""
    return isinstance(operation, func.CallOp) and OPAQUE in operation.attributes


def callee_of(call: func.CallOp) -> func.FuncOp:
    """The outlined function that an opaque call runs."""
    module = call.get_toplevel_object()
    assert isinstance(module, ModuleOp)
    name = call.callee.root_reference.data
    return next(op for op in module.ops if isinstance(op, func.FuncOp) and op.sym_name.data == name)


def opaque_regions(function: func.FuncOp) -> list[func.FuncOp]:
    """The outlined functions that a function calls, in the order of its module."""
    module = function.parent_op()
    if not isinstance(module, ModuleOp):
        return []
    called = {
        inner.callee.root_reference.data
        for inner in function.walk()
        if isinstance(inner, func.CallOp) and OPAQUE in inner.attributes
    }
    functions = (op for op in module.ops if isinstance(op, func.FuncOp))
    return [op for op in functions if op.sym_name.data in called]
