"""Faults of register promotion, put into loop IR one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from xdsl.dialects import affine
from xdsl.dialects.builtin import AffineMapAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineMap

from loopwright.lowering.loops.place_access import stored_value
from loopwright.lowering.validation.registers.addresses import Addresses, Numbers
from loopwright.lowering.validation.registers.rewriting import Rewriting

Change = Callable[[], None]


def mutants(rewriting: Rewriting, most: int) -> Iterator[tuple[str, Rewriting]]:
    """The rewriting with one fault after the other, and what was done; about so many of all."""
    kinds = [what for what, _ in faults(rewriting.after)]
    for number in range(0, len(kinds), -(-len(kinds) // most) or 1):
        what, mutant = kinds[number], _copy(rewriting)
        change = next(islice(faults(mutant.after), number, None))[1]
        change()
        yield what, mutant


def _copy(rewriting: Rewriting) -> Rewriting:
    after = rewriting.after.clone()
    operations, blocks = dict(rewriting.operations), dict(rewriting.blocks)
    for operation, copy in zip(list(rewriting.after.walk()), list(after.walk()), strict=True):
        if operation in operations:
            operations[copy] = operations[operation]
        for region, other in zip(operation.regions, copy.regions, strict=True):
            for block, twin in zip(region.blocks, other.blocks, strict=True):
                if block in blocks:
                    blocks[twin] = blocks[block]
    return Rewriting(rewriting.before, after, operations, blocks, rewriting.name)


def faults(function: FuncOp) -> Iterator[tuple[str, Change]]:
    """What can be done to loop IR, and how: the same in every copy of it, to be done in one."""
    for op in list(function.walk()):
        if _is_access(op):
            yield from _accesses(op)
        if isinstance(op, affine.ForOp) and op.inits:
            first = len(op.operands) - len(op.inits)
            yield from _operands(op, range(first, len(op.operands)))
        if isinstance(op, affine.YieldOp) and op.operands:
            yield from _operands(op, range(len(op.operands)))
        if isinstance(op, affine.IfOp) and not op.else_region.blocks:
            yield "a guard is dropped", lambda op=op: _unguard(op)
        if op.name.startswith(("arith.", "vector.")) and len(op.operands) > 1:
            yield from _operands(op, range(len(op.operands)))


def _is_access(op: Operation) -> bool:
    return Addresses(Numbers(), lambda value: value).address(op) is not None


def _accesses(op: Operation) -> Iterator[tuple[str, Change]]:
    kind = "load" if op.results else "store"
    if not op.results:
        yield "a store is left out", lambda: _erase(op)
        yield from _operands(op, range(list(op.operands).index(stored_value(op)) + 1))
    if isinstance(attribute := op.properties.get("map"), AffineMapAttr) and attribute.data.results:
        for position in range(len(attribute.data.results)):
            yield f"another subscript of a {kind}", lambda p=position: _shift(op, p)
    if (first := _first_place(op)) is not op:
        yield f"a {kind} too early", lambda: _move_before(op, first)
    if (last := _last_place(op)) is not op:
        yield f"a {kind} too late", lambda: _move_behind(op, last)
    around = op.parent_op()
    if isinstance(around, affine.ForOp):
        inner = {*around.body.block.args, *(r for o in around.body.block.ops for r in o.results)}
        if not inner & set(op.operands):
            yield f"a {kind} hoisted", lambda: _move_before(op, around)
            if not op.results:
                yield "a store sunk", lambda: _move_behind(op, around)


def _first_place(op: Operation) -> Operation:
    """The first operation of the block that this one can come before."""
    place = op
    while (previous := place.prev_op) and not set(previous.results) & set(op.operands):
        place = previous
    return place


def _last_place(op: Operation) -> Operation:
    """The last operation of the block that this one can come behind."""
    place = op
    while (following := place.next_op) and following.next_op and not _uses(following, op):
        place = following
    return place


def _uses(op: Operation, other: Operation) -> bool:
    return any(set(other.results) & set(inner.operands) for inner in op.walk())


def _operands(op: Operation, positions: range) -> Iterator[tuple[str, Change]]:
    """Another value of the same type, made before in the same block, for each operand."""
    block = op.parent
    assert block is not None
    before: list[SSAValue] = [*block.args]
    for other in block.ops:
        if other is op:
            break
        before += other.results
    for position in positions:
        own = op.operands[position]
        others = [value for value in before if value.type == own.type and value is not own]
        if others:
            yield f"another operand of {op.name}", lambda p=position, o=others: _replace(op, p, o)


def _replace(op: Operation, position: int, others: list[SSAValue]) -> None:
    op.operands[position] = others[-1]


def _erase(op: Operation) -> None:
    op.detach()
    op.erase()


def _shift(op: Operation, position: int) -> None:
    attribute = op.properties["map"]
    assert isinstance(attribute, AffineMapAttr)
    map_ = attribute.data
    results = list(map_.results)
    results[position] = results[position] + 1
    op.properties["map"] = AffineMapAttr(AffineMap(map_.num_dims, map_.num_symbols, tuple(results)))


def _move_before(op: Operation, other: Operation) -> None:
    op.detach()
    assert other.parent is not None
    other.parent.insert_op_before(op, other)


def _move_behind(op: Operation, other: Operation) -> None:
    op.detach()
    assert other.parent is not None
    other.parent.insert_op_after(op, other)


def _unguard(branch: affine.IfOp) -> None:
    assert branch.parent is not None
    for op in list(branch.then_region.block.ops):
        op.detach()
        if not isinstance(op, affine.YieldOp):
            branch.parent.insert_op_before(op, branch)
        else:
            op.erase()
    _erase(branch)
