"""Views: memrefs that name elements of another memref, and how their subscripts map to it.

%v = memref.subview %A[%o, 3] [4, 4] [1, 2] : ...    %v[i, j] is %A[%o + i, 3 + 2 * j]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from .....dialects.errors import SourceError
from .....dialects.memref import ReinterpretCastOp, TransposeOp, is_memref
from .emission import Size, index_value, sizes_of
from .layouts import is_row_major, may_be_row_major
from .linear_subscripts import RowMajor, delinearised


@dataclass(frozen=True)
class View:
    """Elements of `base`: `map` goes from subscripts, and `symbols`, to those of the base."""

    base: SSAValue
    map: AffineMap
    symbols: tuple[SSAValue, ...]
    sizes: tuple[Size, ...]

    @classmethod
    def of_all(cls, array: SSAValue, anchor: Operation) -> View:
        """A memref as a view of itself."""
        sizes = tuple(sizes_of(anchor, array))
        return cls(array, AffineMap.identity(len(sizes)), (), sizes)

    @property
    def is_whole(self) -> bool:
        """Whether the view has the subscripts of its base."""
        return self.map == AffineMap.identity(len(self.sizes))

    @property
    def is_injective(self) -> bool:
        """Whether its elements are all different: each dimension of the base has one of its own."""
        used = [each.used_dims() for each in self.map.results]
        wide = {n for n, size in enumerate(self.sizes) if size != 1}
        return all(len(dims) <= 1 for dims in used) and wide == set().union(*used) & wide

    def composed(
        self, subscripts: Sequence[AffineExpr], symbols: Sequence[SSAValue], sizes: Sequence[Size]
    ) -> View:
        """A view of this view: `subscripts` of this one are over new dims and `symbols`."""
        # The symbols of this view come first.
        shifted = [_shift_symbols(each, len(self.symbols)) for each in subscripts]
        results = tuple(
            each.replace_dims_and_symbols(
                shifted, [AffineExpr.symbol(n) for n in range(len(self.symbols))]
            )
            for each in self.map.results
        )
        joined = (*self.symbols, *symbols)
        return View(self.base, AffineMap(len(sizes), len(joined), results), joined, tuple(sizes))


def _shift_symbols(expression: AffineExpr, count: int) -> AffineExpr:
    dims = 1 + max(
        (part.position for part in expression.dfs() if isinstance(part, AffineDimExpr)), default=-1
    )
    symbols = [AffineExpr.symbol(n + count) for n in range(64)]
    return expression.replace_dims_and_symbols(
        [AffineExpr.dimension(n) for n in range(dims)], symbols
    )


class _Numbers:
    """Offsets, sizes or strides, of which some are operands: those become symbols."""

    def __init__(self) -> None:
        self.symbols: list[SSAValue] = []

    def sizes(self, static: Sequence[int], dynamic: Sequence[SSAValue]) -> list[Size]:
        """The numbers as sizes."""
        operands = iter(dynamic)
        return [next(operands) if number == DYNAMIC_INDEX else number for number in static]

    def expression(self, size: Size) -> AffineExpr:
        """A number as an expression."""
        if isinstance(size, int):
            return AffineExpr.constant(size)
        if isinstance(constant := _constant(size), int):
            return AffineExpr.constant(constant)
        if size not in self.symbols:
            self.symbols.append(size)
        return AffineExpr.symbol(self.symbols.index(size))


def _constant(value: SSAValue) -> int | None:
    owner = value.owner
    if isinstance(owner, Operation) and owner.name == "arith.constant":
        attribute = owner.properties["value"]
        number = getattr(attribute, "value", None)
        if isinstance(value.type, IndexType) and number is not None:
            return int(number.data)
    return None


def _scaled(dimension: AffineExpr, stride: AffineExpr) -> AffineExpr:
    one = AffineExpr.constant(1)
    return dimension if stride == one else dimension * stride


def _subview(operation: Operation, source: View) -> View:
    assert isinstance(operation, memref.SubviewOp)
    numbers = _Numbers()
    offsets = numbers.sizes(operation.static_offsets.get_values(), operation.offsets)
    sizes = numbers.sizes(operation.static_sizes.get_values(), operation.sizes)
    strides = numbers.sizes(operation.static_strides.get_values(), operation.strides)
    if not len(offsets) == len(sizes) == len(strides) == len(source.sizes):
        raise SourceError.at(operation, "the view has not as many offsets as its source has dims")
    kept = _kept_dimensions(operation, sizes, _shape(operation.result.type))
    subscripts: list[AffineExpr] = []
    for dimension, (offset, stride) in enumerate(zip(offsets, strides, strict=True)):
        subscript = numbers.expression(offset)
        if dimension in kept:
            own = AffineExpr.dimension(kept.index(dimension))
            scaled = _scaled(own, numbers.expression(stride))
            subscript = scaled if subscript == AffineExpr.constant(0) else scaled + subscript
        subscripts.append(subscript)
    return source.composed(subscripts, numbers.symbols, [sizes[n] for n in kept])


def _kept_dimensions(
    operation: Operation, sizes: Sequence[Size], shape: Sequence[int]
) -> list[int]:
    """The dimensions of the source that the result has: some of extent 1 may be left out."""
    kept: list[int] = []
    for dimension, size in enumerate(sizes):
        wanted = shape[len(kept)] if len(kept) < len(shape) else None
        if wanted == (size if isinstance(size, int) else DYNAMIC_INDEX):
            # Which of several extents of 1 is kept makes no difference: their subscripts are 0.
            kept.append(dimension)
        elif size != 1:
            break
    if len(kept) != len(shape):
        raise SourceError.at(operation, "the type of the view does not fit its sizes")
    return kept


def _shape(kind: Attribute) -> tuple[int, ...]:
    assert isinstance(kind, MemRefType)
    return kind.get_shape()


def _groups(
    operation: memref.CollapseShapeOp | memref.ExpandShapeOp, wide: int, narrow: int
) -> list[list[int]]:
    """The `wide` dimensions, grouped into `narrow` ones; raises SourceError."""
    groups = [[int(n.value.data) for n in group.data] for group in operation.reassociation.data]
    if len(groups) != narrow or [*chain(*groups)] != list(range(wide)) or not all(groups):
        raise SourceError.at(operation, "the groups are not those of the dimensions, in order")
    return groups


def _collapse_shape(operation: Operation, source: View) -> View:
    """Several dimensions as one: its subscript is divided."""
    assert isinstance(operation, memref.CollapseShapeOp)
    groups = _groups(operation, len(source.sizes), len(_shape(operation.result.type)))
    subscripts: list[AffineExpr] = []
    sizes: list[Size] = []
    for number, group in enumerate(groups):
        extents = [source.sizes[n] for n in group]
        wide = [n for n in group if source.sizes[n] != 1]
        linear = AffineExpr.dimension(number)
        if len(wide) <= 1:
            # All others have one element.
            subscripts += [linear if [n] == wide else AffineExpr.constant(0) for n in group]
            sizes.append(source.sizes[wide[0]] if wide else 1)
            continue
        inner = RowMajor.of(operation, extents)
        subscripts += inner.divided(linear)
        sizes.append(inner.total(operation))
    if not groups:
        subscripts = [AffineExpr.constant(0)] * len(source.sizes)
    return source.composed(subscripts, (), sizes)


def _expand_shape(operation: Operation, source: View) -> View:
    """One dimension as several: their subscripts are put together."""
    assert isinstance(operation, memref.ExpandShapeOp)
    numbers = _Numbers()
    sizes = numbers.sizes(operation.static_output_shape.get_values(), operation.output_shape)
    subscripts: list[AffineExpr] = []
    for group in _groups(operation, len(sizes), len(source.sizes)):
        linear: AffineExpr = AffineExpr.constant(0)
        for n in group:
            if sizes[n] != 1:
                own = AffineExpr.dimension(n)
                is_first = linear == AffineExpr.constant(0)
                linear = own if is_first else linear * numbers.expression(sizes[n]) + own
        subscripts.append(linear)
    return source.composed(subscripts, numbers.symbols, sizes)


def _reinterpret_cast(operation: Operation, source: View) -> View:
    """Elements at `offset + sum of subscript * stride`, counted in memory from the base."""
    assert isinstance(operation, ReinterpretCastOp)
    numbers = _Numbers()
    sizes = numbers.sizes(operation.static_sizes.get_values(), operation.sizes)
    strides = numbers.sizes(operation.static_strides.get_values(), operation.strides)
    (offset,) = numbers.sizes(operation.static_offsets.get_values(), operation.offsets)
    base = View.of_all(source.base, operation)
    # Offsets count from where the memory of the base starts.
    is_argument = isinstance(source.base, BlockArgument)  # those are contiguous
    if not (may_be_row_major if is_argument else is_row_major)(source.base.type):
        raise SourceError.at(operation, f"the strides of {source.base.type} are not known")
    factors = [numbers.expression(stride) for stride in strides]
    start = numbers.expression(offset)
    subscripts = delinearised(operation, base.sizes, start, factors, sizes)
    return base.composed(subscripts, numbers.symbols, sizes)


def _strided_metadata(operation: Operation, source: View) -> View:
    """Offset, sizes and strides of a whole memref, whose base buffer it is itself."""
    assert isinstance(operation, memref.ExtractStridedMetaDataOp)
    if not source.is_whole:
        raise SourceError.at(operation, "the memory of a part of a memref is used")
    memory = RowMajor.of(operation, source.sizes)
    numbers: list[Size] = [0, *source.sizes, *memory.strides]
    for result, number in zip(operation.results[1:], numbers, strict=True):
        if result.uses:
            result.replace_all_uses_with(index_value(operation, number))
    return source


def _transpose(operation: Operation, source: View) -> View:
    assert isinstance(operation, TransposeOp)
    order = [
        each.position
        for each in operation.permutation.data.results
        if isinstance(each, AffineDimExpr)
    ]
    if sorted(order) != list(range(len(source.sizes))):
        raise SourceError.at(operation, "the transposition is no permutation")
    subscripts = [AffineExpr.dimension(order.index(n)) for n in range(len(order))]
    return source.composed(subscripts, (), [source.sizes[n] for n in order])


def _same(operation: Operation, source: View) -> View:
    """Another type for the same elements."""
    (result,) = operation.results
    if is_memref(result.type) and result.type.get_num_dims() != len(source.sizes):
        raise SourceError.at(operation, "the cast changes the number of dimensions")
    if not is_memref(result.type):
        return source
    sizes = [
        known if isinstance(known, int) or extent == DYNAMIC_INDEX else extent
        for known, extent in zip(source.sizes, result.type.get_shape(), strict=True)
    ]
    return View(source.base, source.map, source.symbols, tuple(sizes))


VIEWS: dict[str, Callable[[Operation, View], View]] = {
    "memref.assume_alignment": _same,
    "memref.cast": _same,
    "memref.collapse_shape": _collapse_shape,
    "memref.expand_shape": _expand_shape,
    "memref.extract_strided_metadata": _strided_metadata,
    "memref.memory_space_cast": _same,
    "memref.reinterpret_cast": _reinterpret_cast,
    "memref.subview": _subview,
    "memref.transpose": _transpose,
}
"""By the name of the operation: the view that its result is."""
