"""Updates under conditions as updates by a value that may be neutral.

    %s = affine.load %S[]                       %s = affine.load %S[]
    %0 = arith.addf %s, %x                      %0 = arith.select %c, %x, -0.0
    %1 = arith.select %c, %0, %s        ->      %1 = arith.addf %s, %0
    affine.store %1, %S[]                       affine.store %1, %S[]

So they are reductions. Results are the same in all bits: no sum changes by adding -0.0. Of a
product that is fused with a sum, the factors are chosen, 1.0 and the neutral value.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects import arith, func
from xdsl.dialects.affine import ForOp, LoadOp, StoreOp
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr
from xdsl.ir import Operation, SSAValue

from ..fused_products import fused_operand, fused_product
from ..reduction_kinds import neutral_element
from .cells import insert_before


def make_updates_unconditional(function: func.FuncOp) -> None:
    """Moves conditions of updates of places that the loop around does not change; in place."""
    for operation in list(function.walk()):
        if isinstance(operation, StoreOp) and not _moves(operation):
            _rewrite(operation)


def _moves(store: StoreOp) -> bool:
    """Whether a store goes to another place in each iteration of the loop around it."""
    around = store.parent_op()
    while around is not None and not isinstance(around, ForOp):
        around = around.parent_op()
    return around is None or around.body.block.args[0] in store.indices


def _rewrite(store: StoreOp) -> None:
    select = store.value.owner
    if not isinstance(select, arith.SelectOp) or select.parent is not store.parent:
        return
    for position, (updated, old) in enumerate(((select.lhs, select.rhs), (select.rhs, select.lhs))):
        update = updated.owner
        if not isinstance(update, Operation) or update.parent is not store.parent:
            continue
        neutral = neutral_element(update)
        own = next((k for k, each in enumerate(update.operands) if _same(each, old, store)), None)
        if neutral is None or own is None or not _are_used_once(updated, select.result):
            continue
        if own == 1 and isinstance(update, arith.SubfOp | arith.SubiOp):
            continue
        update.operands[1 - own] = _or_neutral(update, 1 - own, neutral, select, position)
        update.detach()
        assert select.parent is not None
        select.parent.insert_op_before(update, select)
        select.result.replace_all_uses_with(updated)
        select.detach()
        select.erase()
        return


def _or_neutral(
    update: Operation,
    position: int,
    neutral: IntegerAttr | FloatAttr,
    select: arith.SelectOp,
    used: int,
) -> SSAValue:
    """An operand where the select gives its operand number `used`, else the neutral value."""

    def chosen(value: SSAValue, otherwise: IntegerAttr | FloatAttr) -> SSAValue:
        constant = arith.ConstantOp(otherwise)
        pair = (constant.result, value) if used else (value, constant.result)
        choice = arith.SelectOp(select.cond, *pair)
        insert_before(select, constant, choice)
        return choice.result

    product = fused_product(update, position) if fused_operand(update) == position else None
    if product is None:
        return chosen(update.operands[position], neutral)
    one = FloatAttr(1.0, cast("AnyFloat", product.result.type))
    factors = chosen(product.lhs, neutral), chosen(product.rhs, one)
    result = arith.MulfOp(*factors, product.fastmath)
    insert_before(select, result)
    return result.result


def _are_used_once(*values: SSAValue) -> bool:
    return all(len(list(value.uses)) == 1 for value in values)


def _same(value: SSAValue, old: SSAValue, store: StoreOp) -> bool:
    """Whether both are what the store replaces, loaded with no other store in between."""
    loads = [each.owner for each in (value, old)]
    for load in loads:
        if not isinstance(load, LoadOp) or load.parent is not store.parent:
            return False
        place = (load.memref, load.map, tuple(load.indices))
        if place != (store.memref, store.map, tuple(store.indices)):
            return False
        after = load.next_op
        while after is not None and after is not store:
            if any(isinstance(inner, StoreOp | func.CallOp) for inner in after.walk()):
                return False
            after = after.next_op
        if after is None:
            return False
    return True
