"""Call graph of a module."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from .operations import operations


def calls_in(function: func.FuncOp) -> list[func.CallOp]:
    """The calls in a function."""
    return [op for op in operations(function) if isinstance(op, func.CallOp)]


def callee_of(call: func.CallOp) -> str:
    """The name of the function that is called."""
    return call.callee.root_reference.data


def functions_in(module: ModuleOp) -> dict[str, func.FuncOp]:
    """The functions of a module that have a body, by name."""
    return {
        op.sym_name.data: op
        for op in operations(module)
        if isinstance(op, func.FuncOp) and not op.is_declaration
    }


def with_callees(function: func.FuncOp) -> dict[str, func.FuncOp]:
    """A function and those of its module that it calls, directly or not, by name."""
    around = function.get_toplevel_object()
    bodies = functions_in(around) if isinstance(around, ModuleOp) else {}
    reached = {function.sym_name.data: function}
    open_functions = [function]
    while open_functions:
        for call in calls_in(open_functions.pop()):
            callee = callee_of(call)
            if callee in bodies and callee not in reached:
                reached[callee] = bodies[callee]
                open_functions.append(bodies[callee])
    return reached
