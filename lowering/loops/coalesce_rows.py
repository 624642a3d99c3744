"""Loop coalescing: one loop for two of which the inner one goes along whole rows.

    affine.for %i = 0 to %n {                      affine.for %k = 0 to %n * 3 {
      affine.for %c = 0 to 3 {              ->       ... %A[%k floordiv 3, %k mod 3] ...
        ... %A[%i, %c] ...

All accesses are at the same element of arrays whose rows are as long as the inner loop. The
address is that of element `%k`. LLVM makes vectors of the long loop; of the short one it would
make none, or others with shuffles. The order of the iterations stays.
"""

from __future__ import annotations

from xdsl.dialects import affine, func
from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap

from ...dialects.memref import is_memref
from ...passes.estimate.coalesced_rows import LONGEST_ROW
from .operations import operations


def coalesce_rows(function: func.FuncOp) -> None:
    """Coalesces the loops of a function over short rows; in place."""
    for op in operations(function):
        if isinstance(op, affine.ForOp) and op.parent is not None:
            inner = _inner(op)
            if inner is not None and (width := _width(op, inner)) is not None:
                _coalesce(op, inner, width)


def _inner(loop: affine.ForOp) -> affine.ForOp | None:
    """The loop that is all of another one's body, if both have step 1 and hand nothing on."""
    first = loop.body.block.first_op
    if not isinstance(first, affine.ForOp) or first.next_op is not loop.body.block.last_op:
        return None
    for each in (loop, first):
        if each.step.value.data != 1 or each.results or each.attributes:
            return None
    return first


def _width(outer: affine.ForOp, inner: affine.ForOp) -> int | None:
    """The length of the rows that the loops go along; None where they do something else."""
    lower, upper = inner.lowerBoundMap.data, inner.upperBoundMap.data
    if lower != AffineMap.constant_map(0) or inner.lowerBoundOperands or inner.upperBoundOperands:
        return None
    if len(upper.results) != 1 or not (width := _constant(upper)) or width > LONGEST_ROW:
        return None
    indices = outer.body.block.args[0], inner.body.block.args[0]
    stores = 0
    for op in inner.body.block.ops:
        if op.regions:
            return None
        uses = [operand in indices for operand in op.operands]
        if not any(uses):
            continue
        if not isinstance(op, affine.LoadOp | affine.StoreOp) or not _is_in_row(op, indices, width):
            return None
        stores += isinstance(op, affine.StoreOp)
    return width if stores else None


def _constant(map: AffineMap) -> int | None:
    (result,) = map.results
    return result.value if isinstance(result, AffineConstantExpr) else None


def _is_in_row(
    op: affine.LoadOp | affine.StoreOp, indices: tuple[SSAValue, SSAValue], width: int
) -> bool:
    """Whether the last two subscripts are the indices, in a row that is as long as the loop."""
    map, kind = op.map.data, op.memref.type
    assert is_memref(kind)
    if kind.get_shape()[-1:] != (width,) or len(map.results) < 2:
        return False
    places = {index: [k for k, each in enumerate(op.indices) if each is index] for index in indices}
    dims = [AffineExpr.dimension(found[0]) for found in places.values() if len(found) == 1]
    if list(map.results[-2:]) != dims:
        return False
    used = {dim for result in map.results[:-2] for dim in result.used_dims()}
    return not any(k in used for found in places.values() for k in found)


def _coalesce(outer: affine.ForOp, inner: affine.ForOp, width: int) -> None:
    row, column = outer.body.block.args[0], inner.body.block.args[0]
    for op in inner.body.block.ops:
        if isinstance(op, affine.LoadOp | affine.StoreOp) and row in op.indices:
            *results, _, _ = op.map.data.results
            element = AffineExpr.dimension(list(op.indices).index(row))
            results += [element // width, element % width]
            op.properties["map"] = AffineMapAttr(
                AffineMap(op.map.data.num_dims, op.map.data.num_symbols, tuple(results))
            )
    for name in ("lowerBoundMap", "upperBoundMap"):
        bound = getattr(outer, name).data
        results = tuple(result * width for result in bound.results)
        outer.properties[name] = AffineMapAttr(
            AffineMap(bound.num_dims, bound.num_symbols, results)
        )
    column.replace_all_uses_with(row)
    block: Block = outer.body.block
    for op in list(inner.body.block.ops)[:-1]:
        op.detach()
        block.insert_op_before(op, inner)
    inner.detach()
    inner.erase()
