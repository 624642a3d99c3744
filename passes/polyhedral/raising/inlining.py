"""Inlining of calls within the module."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Operation, SSAValue

from ....dialects.errors import SourceError
from ..fused_products import drop_needless_marks, mark_fused


def inline_calls(function: func.FuncOp, module: ModuleOp | None) -> None:
    """Inlines every call of a function with a body in place, transitively.

    Raises SourceError at calls to functions that `module` does not have, and at recursion.
    """
    if any(isinstance(op, func.CallOp) for op in function.walk()):
        mark_fused(function)
        _inline(function, module, (function.sym_name.data,))
        drop_needless_marks(function)


def _inline(function: func.FuncOp, module: ModuleOp | None, active: tuple[str, ...]) -> None:
    for call in [op for op in function.walk() if isinstance(op, func.CallOp)]:
        callee = _callee(call, module)
        if callee.is_declaration:
            continue
        name = callee.sym_name.data
        if name in active:
            raise SourceError.at(
                call, f"the call makes '@{name}' recursive", hint="write the recursion as a loop"
            )
        copy = callee.clone()
        mark_fused(copy)
        _inline(copy, module, (*active, name))
        _splice(copy, call)


def _callee(call: func.CallOp, module: ModuleOp | None) -> func.FuncOp:
    name = call.callee.root_reference.data
    for op in module.ops if module is not None else ():
        if isinstance(op, func.FuncOp) and op.sym_name.data == name:
            if len(op.body.blocks) > 1:
                break
            return op
    raise SourceError.at(
        call,
        f"the function '@{name}' has no body in this module",
        hint="define it in the module, or declare it there: func.func private "
        f"@{name}(...), with attributes {{llvm.readnone}} where it is pure",
    )


def _splice(body_owner: func.FuncOp, call: func.CallOp) -> None:
    block = call.parent
    body = body_owner.body.block
    assert block is not None
    for parameter, argument in zip(body.args, call.arguments, strict=True):
        # The name in the caller is the one that the user knows.
        parameter.name_hint = None
        parameter.replace_all_uses_with(argument)
    operations: list[Operation] = list(body.ops)
    end = operations.pop()
    results: list[SSAValue] = list(end.operands)
    for op in operations:
        op.detach()
        block.insert_op_before(op, call)
    for result, value in zip(call.results, results, strict=True):
        result.replace_all_uses_with(value)
    end.detach()
    end.erase()
    call.detach()
    call.erase()


def check_blocks(function: func.FuncOp) -> None:
    """Raises SourceError at a region of several blocks."""
    for operation in function.walk():
        if any(len(region.blocks) > 1 for region in operation.regions):
            raise SourceError.at(
                operation, "branches between blocks", hint="use affine.for and affine.if"
            )


def module_of(function: func.FuncOp) -> ModuleOp | None:
    """The module that a function is part of."""
    parent = function.parent_op()
    return parent if isinstance(parent, ModuleOp) else None


def drop_casts(function: func.FuncOp) -> None:
    """Replaces the results of memref.cast, which only forget about sizes, by their sources."""
    for op in list(function.walk()):
        if op.name == "memref.cast" and isinstance(op.operands[0].type, MemRefType):
            op.results[0].replace_all_uses_with(op.operands[0])
            op.detach()
            op.erase()
