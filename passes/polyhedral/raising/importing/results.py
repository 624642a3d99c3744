"""Memrefs that a function returns -> arguments that it stores to.

    func.func @f(%A: memref<8xf32>) -> memref<8xf32> {   ->   func.func @f(%A: memref<8xf32>,
      %B = memref.alloc() : memref<8xf32>                                  %B: memref<8xf32>) {

as MLIR's `-buffer-results-to-out-params` does. An argument that is returned is no result.
"""

from __future__ import annotations

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, MemRefType
from xdsl.ir import BlockArgument, SSAValue
from xdsl.utils.hints import isa

from .....dialects.memref import behind_casts
from .copies import copy_elements
from .emission import erase


def results_to_arguments(function: func.FuncOp) -> None:
    """Rewrites a function in place."""
    block = function.body.block
    end = block.last_op
    assert isinstance(end, func.ReturnOp)
    if not any(isinstance(value.type, MemRefType) for value in end.operands):
        return
    kept: list[SSAValue] = []
    kept_attributes: list[DictionaryAttr] = []
    given = function.res_attrs
    added = 0
    taken: dict[SSAValue, SSAValue] = {}
    for number, value in enumerate(list(end.operands)):
        kind = value.type
        if not isa(kind, MemRefType):
            kept.append(value)
            if given is not None:
                kept_attributes.append(given.data[number])
            continue
        root = behind_casts(value)
        if isinstance(root, BlockArgument) and root.block is block and root.type == kind:
            continue
        argument = block.insert_arg(MemRefType(kind.element_type, kind.shape), len(block.args))
        argument.name_hint = value.name_hint or "result"
        added += 1
        owner = value.owner
        if value in taken:
            copy_elements(end, taken[value], argument)
        elif isinstance(owner, memref.AllocOp) and owner.parent is block and argument.type == kind:
            for use in list(value.uses):
                if isinstance(use.operation, memref.DeallocOp):
                    erase(use.operation)
            taken[value] = argument
            value.replace_all_uses_with(argument)
            erase(owner)
        else:
            copy_elements(end, value, argument)
    end.operands = kept
    function.properties["function_type"] = FunctionType.from_lists(
        list(block.arg_types), [value.type for value in kept]
    )
    if function.arg_attrs is not None:
        more = [DictionaryAttr({})] * added
        function.properties["arg_attrs"] = ArrayAttr([*function.arg_attrs.data, *more])
    if given is not None:
        function.properties["res_attrs"] = ArrayAttr(kept_attributes)
