"""Row-major memrefs by linear subscripts: expressions in memory as subscripts of dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.ir import Operation
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from .....dialects.errors import SourceError
from ..cells import insert_before
from .emission import Size, index_value


@dataclass(frozen=True)
class RowMajor:
    """Dimensions of which all but the first have known extents; `strides` are those in memory."""

    extents: tuple[Size, ...]
    strides: tuple[int, ...]

    @classmethod
    def of(cls, operation: Operation, extents: Sequence[Size]) -> RowMajor:
        """The dimensions with these extents; raises SourceError at `operation`."""
        stride = 1
        strides: list[int] = []
        for position, extent in reversed(list(enumerate(extents))):
            strides.insert(0, stride)
            if position:
                if not isinstance(extent, int):
                    raise SourceError.at(
                        operation,
                        f"'{operation.name}' divides by a size that is not known",
                        hint="give all dimensions but the first constant sizes",
                    )
                stride *= max(extent, 1)  # without elements, none has a stride
        return cls(tuple(extents), tuple(strides))

    def total(self, anchor: Operation) -> Size:
        """The number of elements."""
        if not self.extents:
            return 1
        if 0 in self.extents:
            return 0
        first = self.extents[0]
        rest = self.strides[0]
        if isinstance(first, int):
            return first * rest
        product = arith.MuliOp(first, index_value(anchor, rest))
        insert_before(anchor, product)
        return product.result

    def divided(self, linear: AffineExpr) -> list[AffineExpr]:
        """The subscripts of the element that is number `linear`."""
        subscripts: list[AffineExpr] = []
        for position, stride in enumerate(self.strides):
            subscript = linear if stride == 1 else linear // stride
            if position:
                extent = self.extents[position]
                assert isinstance(extent, int)
                subscript = subscript % extent if extent > 1 else AffineExpr.constant(0)
            subscripts.append(subscript)
        return subscripts


def delinearised(
    operation: Operation,
    extents: Sequence[Size],
    start: AffineExpr,
    factors: Sequence[AffineExpr],
    sizes: Sequence[Size],
) -> list[AffineExpr]:
    """Subscripts of a row-major memref with `extents`, of the element `start + sum(dim * factor)`.

    `sizes` are the extents of the dims. Raises SourceError at `operation`.
    """
    dims = [AffineExpr.dimension(n) for n in range(len(factors))]
    linear = start
    for dim, factor, size in zip(dims, factors, sizes, strict=True):
        if size != 1 and factor != AffineExpr.constant(0):
            if not isinstance(factor, AffineConstantExpr):
                raise SourceError.at(operation, "a stride that is not constant is not affine")
            term = dim if factor == AffineExpr.constant(1) else dim * factor
            linear = term if linear == AffineExpr.constant(0) else linear + term
    if len(extents) == 1:
        return [linear]
    memory = RowMajor.of(operation, extents)
    return _separated(memory, start, factors, sizes) or memory.divided(linear)


def _separated(
    memory: RowMajor, start: AffineExpr, factors: Sequence[AffineExpr], sizes: Sequence[Size]
) -> list[AffineExpr] | None:
    """Subscripts without division, where each dim moves along one dimension and stays in it."""
    if not isinstance(start, AffineConstantExpr):
        return None
    rest = start.value
    subscripts: list[AffineExpr] = []
    largest: list[int | None] = []
    for stride in memory.strides:
        subscripts.append(AffineExpr.constant(rest // stride))
        largest.append(rest // stride)
        rest %= stride
    for position, (factor, size) in enumerate(zip(factors, sizes, strict=True)):
        if size == 1 or factor == AffineExpr.constant(0):
            continue
        if not isinstance(factor, AffineConstantExpr) or factor.value < 0:
            return None
        along = next(n for n, stride in enumerate(memory.strides) if factor.value % stride == 0)
        step = factor.value // memory.strides[along]
        dim = AffineExpr.dimension(position)
        term = dim if step == 1 else dim * step
        is_zero = subscripts[along] == AffineExpr.constant(0)
        subscripts[along] = term if is_zero else subscripts[along] + term
        before = largest[along]
        if isinstance(size, int) and before is not None:
            largest[along] = before + step * (size - 1)
        else:
            largest[along] = None
    for position, (extent, last) in enumerate(zip(memory.extents, largest, strict=True)):
        if position and (last is None or not isinstance(extent, int) or last >= extent):
            return None
    return subscripts
