"""Index arrays: arguments whose elements are subscripts of other arrays, `A[idx[i]]`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.dialects import func, memref
from xdsl.dialects.affine import LoadOp, StoreOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineSymExpr

from ...dialects.opaque import callee_of
from .scop import Scop

_CASTS = ("arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui", "arith.trunci")


def index_arrays(scop: Scop) -> dict[int, list[tuple[int, int]]]:
    """Arguments, each with the arguments and dimensions that its elements are subscripts of."""
    arguments = {each.value: each.argument for each in scop.arrays if each.argument is not None}
    found: dict[int, list[tuple[int, int]]] = {}
    for statement in scop.statements:
        for operation in statement.body:
            inner = [operation]
            outer: dict[SSAValue, SSAValue] = {}
            if isinstance(operation, func.CallOp):
                callee = callee_of(operation)
                inner = list(callee.walk())
                outer = dict(zip(callee.body.block.args, operation.arguments, strict=True))
            for each in inner:
                for array, dimension, subscript in _subscripts(each):
                    source = arguments.get(_source(subscript, outer))
                    target = arguments.get(outer.get(array, array))
                    if source is not None and target is not None:
                        found.setdefault(source, []).append((target, dimension))
    return found


def _subscripts(operation: Operation) -> Iterator[tuple[SSAValue, int, SSAValue]]:
    """Array, dimension and value of subscripts that are values as they are."""
    if isinstance(operation, memref.LoadOp | memref.StoreOp):
        for dimension, index in enumerate(operation.indices):
            yield operation.memref, dimension, index
    elif isinstance(operation, LoadOp | StoreOp):
        for dimension, expression in enumerate(operation.map.data.results):
            if isinstance(expression, AffineDimExpr | AffineSymExpr):
                first = 0 if isinstance(expression, AffineDimExpr) else operation.map.data.num_dims
                yield operation.memref, dimension, operation.indices[first + expression.position]


def _source(value: SSAValue, outer: Mapping[SSAValue, SSAValue]) -> SSAValue:
    """The array that an index is loaded from, else the value itself."""
    while True:
        value = outer.get(value, value)
        operation = value.owner
        if isinstance(operation, LoadOp | memref.LoadOp):
            return outer.get(operation.memref, operation.memref)
        if not isinstance(operation, Operation) or operation.name not in _CASTS:
            return value
        value = operation.operands[0]
