"""Buffers of tensor values, and whether an operation may write to one in place.

Tensor values that share a buffer are a group. To write to it is to change what all of them hold:
that is allowed where nothing reads one of them afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import func, memref, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, TensorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.hints import isa

from .....dialects.errors import SourceError
from ..cells import insert_before
from .copies import copy_elements
from .emission import size_of


@dataclass(eq=False)
class _Group:
    """Values with one buffer, which was made in block `home`; None if it is not ours to write."""

    home: Block | None
    is_undefined: bool
    members: list[SSAValue] = field(default_factory=list[SSAValue])


def buffer_type(value: SSAValue) -> MemRefType:
    """The row-major memref of a tensor's shape."""
    kind = value.type
    if not isa(kind, TensorType):
        raise SourceError.at(value, f"a tensor of type {kind} has no known shape")
    return MemRefType(kind.element_type, kind.get_shape())


class Buffers:
    """The buffers of the tensors of a function."""

    def __init__(self, function: func.FuncOp) -> None:
        self._memrefs: dict[SSAValue, SSAValue] = {}
        self._groups: dict[SSAValue, _Group] = {}
        self._order = {operation: n for n, operation in enumerate(function.walk())}

    def __getitem__(self, value: SSAValue) -> SSAValue:
        return self._memrefs[value]

    def __contains__(self, value: SSAValue) -> bool:
        return value in self._memrefs

    def operand(self, value: SSAValue) -> SSAValue:
        """The buffer of a tensor; other values are their own."""
        return self._memrefs.get(value, value)

    def add(
        self, value: SSAValue, buffer: SSAValue, home: Block | None, *, is_undefined: bool = False
    ) -> None:
        """Gives a tensor a buffer that no other one has."""
        self._memrefs[value] = buffer
        self._groups[value] = _Group(home, is_undefined, [value])

    def share(self, value: SSAValue, other: SSAValue, buffer: SSAValue) -> None:
        """Gives a tensor a buffer which is, or is part of, that of another one."""
        group = self._groups[other]
        group.members.append(value)
        self._memrefs[value] = buffer
        self._groups[value] = group

    def destination(
        self,
        operation: Operation,
        position: int,
        result: SSAValue,
        *,
        reads: bool = True,
        besides: SSAValue | None = None,
    ) -> SSAValue:
        """The buffer to which an operation writes what its operand `position` becomes.

        That of the operand if it may be written, else a new one: a copy if the old elements are
        read. That the operation reads `besides` is no obstacle.
        """
        value = operation.operands[position]
        if self._may_write(operation, position, besides):
            self.share(result, value, self[value])
            self._groups[value].is_undefined = False
            return self[value]
        copied = reads and not self._groups[value].is_undefined
        buffer = self.allocate_like(operation, value)
        if copied:
            copy_elements(operation, self[value], buffer)
        self.add(result, buffer, operation.parent)
        return buffer

    def allocate_like(self, anchor: Operation, value: SSAValue) -> SSAValue:
        """A new buffer of the shape of a tensor."""
        kind = buffer_type(value)
        sizes = [
            size
            for n, extent in enumerate(kind.get_shape())
            if extent == DYNAMIC_INDEX
            and isinstance(size := size_of(anchor, self[value], n), SSAValue)
        ]
        return self.allocate(anchor, kind, sizes, value.name_hint)

    def allocate(
        self, anchor: Operation, kind: MemRefType, sizes: list[SSAValue], name: str | None
    ) -> SSAValue:
        """A new buffer; raises SourceError where the sizes are not those of its type."""
        if len(sizes) != kind.get_shape().count(DYNAMIC_INDEX):
            raise SourceError.at(anchor, f"'{anchor.name}' gives not the sizes that {kind} needs")
        allocation = memref.AllocOp.get(
            kind.element_type, shape=kind.get_shape(), dynamic_sizes=sizes
        )
        allocation.memref.name_hint = name
        insert_before(anchor, allocation)
        return allocation.memref

    def same_group(self, one: SSAValue, other: SSAValue) -> bool:
        """Whether two tensors share a buffer."""
        return self._groups[one] is self._groups[other]

    def is_foreign(self, value: SSAValue) -> bool:
        """Whether the buffer belongs to the caller."""
        return self._groups[value].home is None

    def _may_write(
        self, operation: Operation, position: int, besides: SSAValue | None = None
    ) -> bool:
        value = operation.operands[position]
        group = self._groups[value]
        block = operation.parent
        if group.home is None or group.home is not block:
            return False
        return not any(
            self._reads_later(operation, position, use.operation, use.index, member, value)
            for member in group.members
            for use in member.uses
            if not (use.operation is operation and member is besides)
        )

    def _place(self, operation: Operation) -> int:
        """Where an operation was written; new ones are in front of the one that they replace."""
        place: Operation | None = operation
        while place is not None and place not in self._order:
            place = place.next_op
        assert place is not None
        return self._order[place]

    def _reads_later(
        self,
        operation: Operation,
        position: int,
        user: Operation,
        index: int,
        member: SSAValue,
        value: SSAValue,
    ) -> bool:
        """Whether a use of a member of the group comes when, or after, `value` is written."""
        if user is operation:
            return not (index == position and member is value)
        around: Operation | None = user
        while around is not None and around.parent is not operation.parent:
            around = around.parent_op()
        if around is None:
            return True
        if around is operation:
            return True
        if self._place(around) > self._place(operation):
            return not (around is user and _inserts_same_part(user, index, value))
        return False


def _inserts_same_part(user: Operation, index: int, value: SSAValue) -> bool:
    """Whether `user` puts a part back that was taken from the same place, so overwrites it all."""
    taken = value.owner
    return (
        isinstance(user, tensor.InsertSliceOp)
        and index == 1
        and isinstance(taken, tensor.ExtractSliceOp)
        and taken.source is user.dest
        and same_part(taken, user)
    )


def same_part(one: tensor.ExtractSliceOp, other: tensor.InsertSliceOp) -> bool:
    """Whether two operations have the same offsets, sizes and strides."""
    return (
        list(one.offsets) == list(other.offsets)
        and list(one.sizes) == list(other.sizes)
        and list(one.strides) == list(other.strides)
        and one.static_offsets == other.static_offsets
        and one.static_sizes == other.static_sizes
        and one.static_strides == other.static_strides
    )
