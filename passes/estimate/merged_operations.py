"""Operations that are computed as a part of another one: fused products, extrema."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import Operation

from ..polyhedral.fused_products import fused_operand, fused_product
from ..polyhedral.scop import Statement


def merged_operations(statement: Statement) -> frozenset[Operation]:
    """The products that are fused with an addition, and the comparisons of extrema."""
    return frozenset(_fused_products(statement) | extremum_comparisons(statement))


def extremum_comparisons(statement: Statement) -> set[Operation]:
    """Comparisons that are a part of selections: the lesser or greater of two is one operation."""
    return {
        compared
        for operation in statement.body
        if (compared := extremum_comparison(operation)) is not None
    }


def extremum_comparison(operation: Operation) -> arith.CmpfOp | None:
    """What a selection of one of two numbers asks of these, and nothing else asks."""
    compared = operation.cond.owner if isinstance(operation, arith.SelectOp) else None
    if not isinstance(operation, arith.SelectOp) or not isinstance(compared, arith.CmpfOp):
        return None
    is_extremum = {compared.lhs, compared.rhs} == {operation.lhs, operation.rhs}
    return compared if is_extremum and compared.result.has_one_use() else None


def _fused_products(statement: Statement) -> set[Operation]:
    """The products that are a part of the one addition that they are for."""
    found = set[Operation]()
    for operation in statement.body:
        position = fused_operand(operation)
        if position is not None:
            product = fused_product(operation, position)
            if product is not None and product.result.has_one_use():
                found.add(product)
    return found
