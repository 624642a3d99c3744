"""memref.copy -> loops, elementwise.

memref.copy %A, %B : memref<4x?xf64> to memref<4x?xf64>

->  affine.for %i = 0 to 4 {
      affine.for %j = 0 to %n {
        %0 = affine.load %A[%i, %j]
        affine.store %0, %B[%i, %j]
"""

from __future__ import annotations

from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineMap

from .....dialects.affine import LoadOp, StoreOp
from ..cells import insert_before
from .emission import erase, loop_nest, sizes_of


def expand_copy(operation: Operation) -> None:
    """Replaces the operation."""
    source, destination = operation.operands
    copy_elements(operation, source, destination)
    erase(operation)


def copy_elements(anchor: Operation, source: SSAValue, destination: SSAValue) -> None:
    """Copies all elements of `destination` from `source`, before `anchor`."""
    bounds = sizes_of(anchor, destination)
    for position, extent in enumerate(sizes_of(anchor, source)):
        if isinstance(extent, int):
            bounds[position] = extent
    variables, end = loop_nest(anchor, bounds)
    identity = AffineMapAttr(AffineMap.identity(len(variables)))
    load = LoadOp(source, variables, identity)
    insert_before(end, load, StoreOp(load.result, destination, variables, identity))
