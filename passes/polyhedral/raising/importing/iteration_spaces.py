"""Iteration spaces of structured operations: their loops, and the subscripts of each operand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.utils.hints import isa

from .....dialects.errors import SourceError
from .....dialects.linalg import BroadcastOp, GenericOp, MapOp, ReduceOp, StructuredOp, TransposeOp
from .....dialects.linalg.definitions import DEFINITIONS, Definition
from .....dialects.memref import is_memref
from .emission import Size, size_of

_ELEMENTWISE = Definition("*->*", "elementwise")


@dataclass(frozen=True)
class IterationSpace:
    """The maps from `loops` many loops to the subscripts of each operand."""

    loops: int
    maps: tuple[AffineMap, ...]

    def bounds(self, anchor: Operation, operands: Sequence[SSAValue]) -> list[Size]:
        """The extents of the loops, as the operands have them; raises SourceError."""
        found: dict[int, Size] = {}
        for operand, subscripts in zip(operands, self.maps, strict=True):
            if not is_memref(operand.type):
                continue
            for position, subscript in enumerate(subscripts.results):
                if not isinstance(subscript, AffineDimExpr):
                    continue
                loop = subscript.position
                if not isinstance(found.get(loop), int):
                    extent = size_of(anchor, operand, position)
                    if loop not in found or isinstance(extent, int):
                        found[loop] = extent
        if len(found) < self.loops:
            raise SourceError.at(
                anchor,
                f"'{anchor.name}' has a loop that is no subscript of any operand",
                hint="each loop is a subscript on its own of some operand",
            )
        return [found[loop] for loop in range(self.loops)]


def iteration_space(operation: StructuredOp) -> IterationSpace:
    """The iteration space of a structured operation on memrefs; raises SourceError."""
    operands = (*operation.inputs, *operation.outputs)
    given = operation.properties.get("indexing_maps")
    if isa(given, ArrayAttr[AffineMapAttr]):
        maps = tuple(each.data for each in given)
        if len(maps) != len(operands) or any(each.num_symbols for each in maps):
            raise SourceError.at(operation, f"'{operation.name}' needs a map for each operand")
        return _checked(operation, IterationSpace(maps[0].num_dims, maps))
    match operation:
        case ReduceOp():
            return _checked(operation, _reduction(operation))
        case TransposeOp():
            rank = len(operation.permutation)
            source = [AffineExpr.dimension(0)] * rank
            for position, axis in enumerate(operation.permutation.get_values()):
                source[axis] = AffineExpr.dimension(position)
            maps = (AffineMap(rank, 0, tuple(source)), AffineMap.identity(rank))
            return _checked(operation, IterationSpace(rank, maps))
        case BroadcastOp():
            rank = _rank(operation.outputs[0])
            added = operation.dimensions.get_values()
            kept = tuple(AffineExpr.dimension(n) for n in range(rank) if n not in added)
            maps = (AffineMap(rank, 0, kept), AffineMap.identity(rank))
            return _checked(operation, IterationSpace(rank, maps))
        case GenericOp():
            raise SourceError.at(operation, "'linalg.generic' without indexing_maps")
        case MapOp():
            definition = _ELEMENTWISE
        case _:
            definition = DEFINITIONS.get(operation.name.partition(".")[2], _ELEMENTWISE)
    return _checked(operation, _from_notation(operation, definition))


def _checked(operation: StructuredOp, space: IterationSpace) -> IterationSpace:
    operands = (*operation.inputs, *operation.outputs)
    ranks = [_rank(each) for each in operands]
    if ranks != [len(each.results) for each in space.maps]:
        raise SourceError.at(
            operation, f"an operand of '{operation.name}' has not as many dimensions as it needs"
        )
    return space


def _rank(operand: SSAValue) -> int:
    return operand.type.get_num_dims() if is_memref(operand.type) else 0


def _reduction(operation: ReduceOp) -> IterationSpace:
    rank = _rank(operation.inputs[0])
    reduced = operation.dimensions.get_values()
    kept = AffineMap(
        rank, 0, tuple(AffineExpr.dimension(n) for n in range(rank) if n not in reduced)
    )
    count = len(operation.inputs)
    return IterationSpace(rank, (AffineMap.identity(rank),) * count + (kept,) * count)


def _from_notation(operation: StructuredOp, definition: Definition) -> IterationSpace:
    rank = _rank(operation.outputs[0])
    identity = AffineMap.identity(rank)
    if definition.output == "*":
        # Scalars may stand for whole arrays.
        inputs = tuple(
            identity if is_memref(each.type) else AffineMap(rank, 0, ())
            for each in operation.inputs
        )
        return IterationSpace(rank, (*inputs, *(identity for _ in operation.outputs)))
    if len(operation.inputs) != len(definition.inputs):
        raise SourceError.at(operation, f"'{operation.name}' has {len(definition.inputs)} inputs")
    last_first = re.sub(r"\W", "", "".join(reversed(definition.inputs)))
    letters = list(dict.fromkeys(definition.output + last_first))
    windows = sum(part.count("(") for part in definition.inputs)
    strides = _numbers(operation, operation.properties.get("strides"), windows)
    dilations = _numbers(operation, operation.properties.get("dilations"), windows)
    maps: list[AffineMap] = []
    for subscripts in (*definition.inputs, definition.output):
        results: list[AffineExpr] = []
        window = 0
        for part in re.findall(r"\(\w\+\w\)|\w", subscripts):
            if len(part) == 1:
                results.append(AffineExpr.dimension(letters.index(part)))
            else:
                outer, inner = (AffineExpr.dimension(letters.index(part[n])) for n in (1, 3))
                results.append(outer * strides[window] + inner * dilations[window])
                window += 1
        maps.append(AffineMap(len(letters), 0, tuple(results)))
    return IterationSpace(len(letters), tuple(maps))


def _numbers(operation: Operation, given: Attribute | None, count: int) -> list[int]:
    """Strides or dilations; 1 where there are none."""
    values: Sequence[int] = ()
    if given is None:
        values = [1] * count
    elif isa(given, DenseArrayBase[IntegerType]) or isa(
        given, DenseIntOrFPElementsAttr[IntegerType]
    ):
        values = given.get_values()
    if len(values) != count or min(values, default=1) < 1:
        raise SourceError.at(operation, f"'{operation.name}' needs {count} positive strides")
    return list(values)
