"""Memory cells of values that cross control flow: one element of a memref.

That is a new rank-0 local memref, or directly the element to which the program stores the value in
the end, when nothing else can tell the difference:

    %r = affine.for ... iter_args(%a = %x) { ...; yield %y }      store %x, C[i]
    affine.store %r, %C[%i]                                   ->  affine.for ... { %a = load C[i];
                                                                     ...; store %y, C[i] }
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from xdsl.dialects import arith, memref
from xdsl.dialects.affine import IfOp
from xdsl.dialects.builtin import AffineMapAttr, IndexType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineMap

from ....dialects.affine import LoadOp, StoreOp
from ....dialects.external import touched_memrefs

_NO_SUBSCRIPTS = AffineMapAttr(AffineMap(0, 0, ()))


def insert_before(anchor: Operation, *operations: Operation) -> None:
    """Inserts operations, which count as written where `anchor` is."""
    assert anchor.parent is not None
    for operation in operations:
        operation.location = anchor.location
        anchor.parent.insert_op_before(operation, anchor)


def as_index(value: SSAValue, anchor: Operation) -> SSAValue:
    """The value as an `index`, cast in front of `anchor` where it is another integer."""
    if isinstance(value.type, IndexType):
        return value
    cast = arith.IndexCastOp(value, IndexType())
    insert_before(anchor, cast)
    return cast.result


def insert_after(anchor: Operation, operation: Operation) -> None:
    """Inserts an operation, which counts as written where `anchor` is."""
    assert anchor.parent is not None
    operation.location = anchor.location
    anchor.parent.insert_op_after(operation, anchor)


@dataclass(frozen=True)
class Cell:
    """An element: `attributes` are those of the stores to it."""

    memref: SSAValue
    map: AffineMapAttr = _NO_SUBSCRIPTS
    subscripts: tuple[SSAValue, ...] = ()
    attributes: Mapping[str, Attribute] = field(default_factory=dict[str, Attribute])

    def store(self, value: SSAValue) -> StoreOp:
        """An operation that writes the element."""
        operation = StoreOp(value, self.memref, self.subscripts, self.map)
        operation.attributes |= self.attributes
        return operation

    def load(self, hint: str | None = None) -> LoadOp:
        """An operation that reads the element."""
        operation = LoadOp(self.memref, self.subscripts, self.map)
        operation.result.name_hint = hint
        return operation

    def is_loaded_by(self, operation: object) -> bool:
        """Whether an operation reads the element, written in the same way."""
        return (
            isinstance(operation, LoadOp)
            and operation.memref is self.memref
            and operation.map == self.map
            and tuple(operation.indices) == self.subscripts
        )


def new_cell(element_type: Attribute, hint: str | None, anchor: Operation) -> Cell:
    """An uninitialised `memref<element_type>` before `anchor`, named after what it holds."""
    operation = memref.AllocaOp.get(element_type, shape=[])
    operation.memref.name_hint = hint or "value"
    insert_before(anchor, operation)
    return Cell(operation.memref)


def result_cell(operation: Operation, number: int, hint: str | None) -> Cell:
    """Where a result of a loop or branch is kept; the store that this makes needless is removed."""
    result = operation.results[number]
    store = _final_store(operation, result)
    if store is None:
        return new_cell(result.type, hint, operation)
    cell = Cell(store.memref, store.map, tuple(store.indices), store.attributes)
    store.detach()
    store.erase()
    return cell


def holds(cell: Cell, value: SSAValue, anchor: Operation) -> bool:
    """Whether the element has this value right before `anchor`, as it was loaded from it."""
    owner = value.owner
    if not isinstance(owner, Operation) or owner.parent is not anchor.parent:
        return False
    return cell.is_loaded_by(owner) and not any(
        (isinstance(op, StoreOp) and op.memref is cell.memref) or cell.memref in touched_memrefs(op)
        for op in _between(owner, anchor)
    )


def _final_store(operation: Operation, result: SSAValue) -> StoreOp | None:
    """The store that is the only use of a result, when the element is free for it before.

    The element must not be accessed from `operation` to the store; in a loop nor by the loop.
    """
    uses = list(result.uses)
    store = uses[0].operation if len(uses) == 1 else None
    if (
        not isinstance(store, StoreOp)
        or store.value is not result
        or store.parent is not operation.parent
    ):
        return None
    between = list(_between(operation, store))
    operands = (store.memref, *store.indices)
    if any(_accesses(op, store.memref) for op in between) or any(
        operand.owner in between for operand in operands
    ):
        return None
    is_branch = isinstance(operation, IfOp)
    if not is_branch and any(_accesses(op, store.memref) for op in operation.walk()):
        return None
    return store


def _accesses(operation: Operation, array: SSAValue) -> bool:
    if isinstance(operation, LoadOp | StoreOp):
        return operation.memref is array
    return array in touched_memrefs(operation)


def _between(first: Operation, last: Operation) -> Iterator[Operation]:
    """Operations after `first` and before `last` in one block, and those in their regions."""
    operation = first.next_op
    while operation is not None and operation is not last:
        yield from operation.walk()
        operation = operation.next_op
