"""scf.execute_region, memref.alloca_scope and scf.index_switch without regions of their own.

scf.index_switch %i case 2 { A } default { B }  ->  scf.if (%i == 2) { A } else { B }
"""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from .....dialects.errors import SourceError
from ..cells import insert_before
from .emission import erase, move_before


def inline_region(operation: Operation) -> None:
    """Puts what is in the only region of an operation in its place."""
    (region,) = operation.regions
    if len(region.blocks) != 1:
        raise SourceError.at(operation, f"'{operation.name}' has branches between blocks")
    end = region.block.last_op
    values: list[SSAValue] = [] if end is None else list(end.operands)
    move_before(operation, region.block, end)
    for result, value in zip(operation.results, values, strict=True):
        result.replace_all_uses_with(value)
    erase(operation)


def expand_switch(operation: Operation) -> None:
    """Replaces scf.index_switch by branches in each other."""
    assert isinstance(operation, scf.IndexSwitchOp)
    types = list(operation.result_types)
    cases = list(operation.cases.iter_values())
    regions = [operation.detach_region(1) for _ in cases]
    otherwise = operation.detach_region(0)
    for case, region in reversed(list(zip(cases, regions, strict=True))):
        block = Block()
        number = arith.ConstantOp(IntegerAttr(int(str(case)), IndexType()))
        compare = arith.CmpiOp(operation.arg, number, "eq")
        branch = scf.IfOp(compare, types, region, otherwise)
        block.add_ops([number, compare, branch, scf.YieldOp(*branch.results)])
        for each in block.ops:
            each.location = operation.location
        otherwise = Region(block)
    block = otherwise.block
    end = block.last_op
    assert isinstance(end, scf.YieldOp)
    values = list(end.operands)
    move_before(operation, block, end)
    for result, value in zip(operation.results, values, strict=True):
        result.replace_all_uses_with(value)
    erase(operation)


def expand_integer_loop(operation: Operation) -> None:
    """Makes scf.for count in type index.

    scf.for %i = %a to %b step %c : i32  ->  scf.for %k = ... { %i = arith.index_cast %k }
    """
    assert isinstance(operation, scf.ForOp)
    kind = operation.lb.type
    if isinstance(kind, IndexType) or operation.properties.get("unsignedCmp") is not None:
        return
    for position in range(3):
        cast = arith.IndexCastOp(operation.operands[position], IndexType())
        constant = operation.operands[position].owner
        if isinstance(constant, arith.ConstantOp) and isinstance(constant.value, IntegerAttr):
            replaced = arith.ConstantOp(IntegerAttr(constant.value.value.data, IndexType()))
            insert_before(operation, replaced)
            operation.operands[position] = replaced.result
        else:
            insert_before(operation, cast)
            operation.operands[position] = cast.result
    block = operation.body.block
    old = block.args[0]
    variable = block.insert_arg(IndexType(), 0)
    variable.name_hint = old.name_hint
    first = block.first_op
    assert first is not None
    cast = arith.IndexCastOp(variable, kind)
    insert_before(first, cast)
    old.replace_all_uses_with(cast.result)
    block.erase_arg(old)
