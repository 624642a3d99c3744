"""Results of a function as stores to arrays, so that what is measured is compared as well."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import AffineMapAttr, FunctionType, MemRefType, ModuleOp
from xdsl.ir.affine import AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.affine import StoreOp
from ...passes.schedules.program_edits import free_name
from ..program import Function, Program, load

_NO_SUBSCRIPTS = AffineMapAttr(AffineMap(0, 0, ()))


def with_stored_results(function: Function) -> Function:
    """The function with an array of one element, its last arguments, for each of its results.

    func @f(%A: memref<9xf64>) -> f64 { ... return %s }
        ->  func @f(%A: memref<9xf64>, %result: memref<f64>) { ... store %s, %result[]; return }
    """
    if not function.function.function_type.outputs.data:
        return function
    module = function.module.clone()
    _remove_callers(module, function.name)
    changed = _function(module, function.name)
    body = changed.body.block
    end = body.last_op
    assert isinstance(end, func.ReturnOp)
    names = {argument.name_hint or "" for argument in body.args}
    for value in end.operands:
        place = body.insert_arg(MemRefType(value.type, ()), len(body.args))
        place.name_hint = free_name("result", names)
        names.add(place.name_hint)
        Rewriter.insert_op(StoreOp(value, place, (), _NO_SUBSCRIPTS), InsertPoint.before(end))
    Rewriter.replace_op(end, func.ReturnOp())
    kinds = [argument.type for argument in body.args]
    changed.properties["function_type"] = FunctionType.from_lists(kinds, [])
    return load(f"{Program(module)}\n")[function.name]


def _function(module: ModuleOp, name: str) -> func.FuncOp:
    found = (op for op in module.ops if isinstance(op, func.FuncOp) and op.sym_name.data == name)
    return next(found)


def _remove_callers(module: ModuleOp, name: str) -> None:
    """Removes the functions that call one, and those that call these."""
    for other in list(module.ops):
        if isinstance(other, func.FuncOp) and other in module.ops:
            calls = (op.callee.string_value() for op in other.walk() if isinstance(op, func.CallOp))
            if name in calls:
                other.detach()
                _remove_callers(module, other.sym_name.data)
