"""Overlapping vector loads as shuffles of two adjacent vectors in registers.

A load across the border of a cache line costs as much as two, and of the neighbours of a point that
a stencil reads along a row, one at most does not cross it. Where a block loads the vectors at both
sides anyway, as when a vector loop is unrolled, the one in between is made of their elements:

    a = load A[j]                        a = load A[j]
    b = load A[j + 1]           ->       c = load A[j + 8]
    c = load A[j + 8]                    b = shuffle a, c from 1 on
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from xdsl.dialects import affine
from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import Block, Operation
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineMap

from ...dialects.vector import is_vector
from ..memory.memory_versions import MemoryVersions


@dataclass(frozen=True)
class ShiftedLoad:
    """The elements from `shift` on of the vectors that `low` and `high` load, one after the other.

    Both may be moved to where the load is that this stands for.
    """

    low: affine.VectorLoadOp
    high: affine.VectorLoadOp
    shift: int


def shifted_loads(block: Block, *, noalias: bool) -> Mapping[Operation, ShiftedLoad]:
    """The loads of a block that can be put together from others of it.

    `noalias` says that no two memrefs share memory.
    """
    groups: defaultdict[Hashable, dict[int, affine.VectorLoadOp]] = defaultdict(dict)
    versions = MemoryVersions(noalias=noalias)
    for operation in block.ops:
        if isinstance(operation, affine.VectorLoadOp):
            place = _place(operation)
            if place is not None:
                subscripts, offset = place
                key = (versions.now(operation.memref), subscripts, operation.result.type)
                groups[key].setdefault(offset, operation)
        versions.after(operation)
    result: dict[Operation, ShiftedLoad] = {}
    for loads in groups.values():
        result.update(_between(loads))
    return result


def _place(load: affine.VectorLoadOp) -> tuple[Hashable, int] | None:
    """Where a load goes: all but the constant in its last subscript, and that constant."""
    attribute = load.map
    assert isinstance(attribute, AffineMapAttr)
    coefficients = _coefficients(attribute.data)
    if coefficients is None:
        return None
    *outer, (offset, *last) = coefficients
    operands = tuple(load.indices)
    # Sums of the same operands in another order are the same place.
    terms = (frozenset(zip(operands, row, strict=True)) for row in (*(r[1:] for r in outer), last))
    return (frozenset(operands), *terms, *(row[0] for row in outer)), offset


def _coefficients(map: AffineMap) -> list[list[int]] | None:
    """Per result of a map its constant and the factors of its operands; None if it divides."""
    count = map.num_dims + map.num_symbols
    for expression in map.results:
        for part in expression.dfs():
            if isinstance(part, AffineBinaryOpExpr) and part.kind not in _LINEAR:
                return None
    units = [[int(k == position) for k in range(count)] for position in range(count)]
    origin = map.eval([0] * map.num_dims, [0] * map.num_symbols)
    moved = [map.eval(unit[: map.num_dims], unit[map.num_dims :]) for unit in units]
    return [
        [constant, *(values[row] - constant for values in moved)]
        for row, constant in enumerate(origin)
    ]


_LINEAR = (AffineBinaryOpKind.Add, AffineBinaryOpKind.Mul)


def _between(loads: Mapping[int, affine.VectorLoadOp]) -> dict[Operation, ShiftedLoad]:
    """What lies between loads that are whole vectors apart: those that leave the fewest loads."""
    best: dict[Operation, ShiftedLoad] = {}
    for width in {_width(load) for load in loads.values()}:
        for residue in {offset % width for offset in loads}:
            found: dict[Operation, ShiftedLoad] = {}
            for offset, load in loads.items():
                shift = (offset - residue) % width
                low, high = loads.get(offset - shift), loads.get(offset - shift + width)
                if shift and low is not None and high is not None:
                    found[load] = ShiftedLoad(low, high, shift)
            if len(found) > len(best):
                best = found
    return best


def _width(load: affine.VectorLoadOp) -> int:
    kind = load.result.type
    assert is_vector(kind)
    return kind.get_shape()[0]
