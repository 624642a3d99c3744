"""Scalar replacement of loop-invariant array elements (register promotion).

What makes this possible is seen in the subscripts and in the bounds of the loops: no other access
in the loop touches these elements. LLVM finds that out only for arrays that are not read elsewhere.

    for k:                                  %0 = load C[i, j]
      %0 = load C[i, j]                     %1 = for k iter_args(%c = %0):
      %1 = %0 + load A[i, k] * ...    ->      %2 = %c + load A[i, k] * ...
      store %1, C[i, j]                       yield %2
                                            store %1, C[i, j]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects import func
from xdsl.ir import Block, Operation, SSAValue

from ...dialects import affine
from ..loops.alias_analysis import Numbering, Place, PlacedAccess, is_inside, touched_memrefs
from ..loops.ir_builder import IRBuilder
from ..loops.operations import operations
from ..loops.place_access import load, store, stored_value
from ..nest.index_bounds import is_never_negative
from ..nest.index_expression import Comparison, Connective
from .carried_values import carrying, replace_loop
from .predictive_commoning import Forward, forwards


def replace_scalars(function: func.FuncOp) -> None:
    """Promotes what can be in all loops of the function, innermost first, in place."""
    numbering = Numbering()
    inner_first = [op for op in operations(function) if isinstance(op, affine.ForOp)][::-1]
    for loop in inner_first:
        if not loop.inits:
            _promote(loop, function.body.block, numbering)


def _promote(loop: affine.ForOp, entry: Block, numbering: Numbering) -> None:
    block = loop.body.block
    deeper = [op for op in block.ops if op.regions]
    below = {memref for op in deeper for memref in _touched_within(op)}
    numbering.go_to(loop)
    accesses = {
        memref: group
        for memref, group in numbering.accesses(block).items()
        if memref not in below
        and not is_inside(memref, block)
        and any(access.is_store for access in group)
    }
    groups = _promotable(block, accesses, numbering)
    forwarded = () if deeper else forwards(loop, accesses.values(), numbering)
    if not groups and not forwarded:
        return
    lowers = numbering.results(loop.lowerBoundMap, loop.lowerBoundOperands)
    uppers = numbering.results(loop.upperBoundMap, loop.upperBoundOperands)
    lengths = (upper - lower for upper in uppers for lower in lowers)
    ranges = numbering.ranges(loop)
    unknown = (each - 1 for each in lengths if not is_never_negative(each - 1, ranges))
    runs = Connective("all", tuple(Comparison(">=", each) for each in unknown))

    def place(builder: IRBuilder) -> None:
        _carry(builder, loop, groups, forwarded)

    replace_loop(loop, entry, numbering, runs, place)
    if not deeper:
        _merge_loads(block, numbering)


def _touched_within(operation: Operation) -> Iterator[SSAValue]:
    """The memrefs that an operation or those inside it may access."""
    for inner in operations(operation):
        yield from touched_memrefs(inner)


def _promotable(
    block: Block, accesses: Mapping[SSAValue, Sequence[PlacedAccess]], numbering: Numbering
) -> dict[Place, list[PlacedAccess]]:
    """Accesses by place, for places that stay the same and that no other access touches."""
    result: dict[Place, list[PlacedAccess]] = {}
    for group in accesses.values():
        places: dict[Place, list[PlacedAccess]] = {}
        for access in group:
            places.setdefault(access.place, []).append(access)
        stored = [place for place, own in places.items() if any(a.is_store for a in own)]
        for place, own in places.items():
            others = places if place in stored else stored
            if _is_invariant(place, block, numbering) and all(
                other == place or numbering.is_disjoint(place, other) for other in others
            ):
                result[place] = own
    return result


def _is_invariant(place: Place, block: Block, numbering: Numbering) -> bool:
    used = [numbering.values[n] for subscript in place.subscripts for n in subscript.variables()]
    if place.mask is not None:
        used.append(place.mask)
    return not any(is_inside(value, block) for value in used)


def _carry(
    builder: IRBuilder,
    loop: affine.ForOp,
    groups: dict[Place, list[PlacedAccess]],
    forwarded: Sequence[Forward],
) -> None:
    """Appends the loop, with values that it stores carried from iteration to iteration."""
    block = loop.body.block
    stored = [place for place, own in groups.items() if any(a.is_store for a in own)]
    before = {place: load(builder, place) for place in groups}
    initial = [before[place] for place in stored]
    initial += [load(builder, forward.first) for forward in forwarded]
    now = dict(before)
    for place in stored:
        now[place] = block.insert_arg(place.type, len(block.args))
    for forward in forwarded:
        value = block.insert_arg(forward.place.type, len(block.args))
        for operation in forward.loads:
            operation.results[0].replace_all_uses_with(value)
            _erase(operation)
    for operation, place in _in_order(block, groups):
        if operation.results:
            operation.results[0].replace_all_uses_with(now[place])
        else:
            now[place] = stored_value(operation)
        _erase(operation)
    values = [now[place] for place in stored]
    values += [stored_value(forward.store) for forward in forwarded]
    result = carrying(loop, initial, values)
    builder.emit(result)
    for place, value in zip(stored, result.results, strict=False):
        store(builder, place, value)
    loop.erase()


def _merge_loads(block: Block, numbering: Numbering) -> None:
    """Loads each place once, of memrefs that are not written in the block."""
    operations = [(op, numbering.place(op)) for op in block.ops if touched_memrefs(op)]
    written = {memref for op, _ in operations if not op.results for memref in touched_memrefs(op)}
    first: dict[Place, SSAValue] = {}
    for operation, place in operations:
        if place is None or place.memref in written:
            continue
        value = first.setdefault(place, operation.results[0])
        if value is not operation.results[0]:
            operation.results[0].replace_all_uses_with(value)
            _erase(operation)


def _erase(operation: Operation) -> None:
    operation.detach()
    operation.erase()


def _in_order(
    block: Block, groups: dict[Place, list[PlacedAccess]]
) -> list[tuple[Operation, Place]]:
    places = {a.operation: place for place, own in groups.items() for a in own}
    return [(operation, places[operation]) for operation in block.ops if operation in places]
