"""Lowers affine.min and affine.max to affine.apply with arith.minsi or arith.maxsi."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineMap

from ....dialects.affine import ApplyOp, MaxOp, MinOp
from .cells import insert_before


def split_extremum(operation: Operation) -> None:
    """Replaces the operation in place, so that what remains of it is affine or arithmetic.

    %m = affine.min #map(%i)[%n]  ->  %0 = affine.apply #map0(%i)[%n]
                                      %1 = affine.apply #map1(%i)[%n]
                                      %m = arith.minsi %0, %1
    """
    assert isinstance(operation, MinOp | MaxOp)
    combine = arith.MinSIOp if isinstance(operation, MinOp) else arith.MaxSIOp
    functions = operation.map.data
    result: SSAValue | None = None
    for expression in functions.results:
        single = AffineMap(functions.num_dims, functions.num_symbols, (expression,))
        apply = ApplyOp(operation.operands, AffineMapAttr(single))
        insert_before(operation, apply)
        if result is None:
            result = apply.result
        else:
            extremum = combine(result, apply.result)
            insert_before(operation, extremum)
            result = extremum.result
    assert result is not None, "a minimum of no functions does not verify"
    result.name_hint = operation.result.name_hint
    operation.result.replace_all_uses_with(result)
    operation.detach()
    operation.erase()
