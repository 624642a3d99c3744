"""Backward slicing: each store with its loads and arithmetic is a statement.

A statement computes its operands anew, also those that the program computes once further out. So
each load must still find the value that it had where the program executes it. Where a store in
between may overwrite that, all stores from there on become one statement, which keeps their order;
where a loop or branch lies in between, the loaded value is kept in a rank-0 local memref.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import islpy as isl
from xdsl.dialects import func
from xdsl.dialects.affine import LoadOp, StoreOp
from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ..scop import AccessKind
from .access_contexts import Nests, OpaqueCall, Place, Root, analyse
from .affine_values import AffineValues, NotAffineError
from .scalar_demotion import demote_value

# Too slow to be computed anew in each iteration of a loop around the use.
_SLOW = ("arith.div", "arith.rem", "arith.floordiv", "arith.ceildiv", "math.")


_Root = Place | OpaqueCall


@dataclass(frozen=True, eq=False)
class Slice:
    """The operations of one statement in program order; `indices` are affine operands of them."""

    stores: tuple[Root, ...]
    body: tuple[Operation, ...]
    indices: tuple[SSAValue, ...]


def slices(function: func.FuncOp) -> tuple[Nests, list[Slice]]:
    """The statements of a normalised function, whose values it demotes where needed, in order."""
    while True:
        nests = analyse(function)
        clobbering = _Clobbering(nests)
        groups = _Groups()
        demoted: dict[SSAValue, None] = {}
        for store in nests.roots:
            part = _slice(nests, (store.op,))
            demoted |= dict.fromkeys(_slow_outer_values(nests, part))
            for op in part.body:
                if not isinstance(op, LoadOp):
                    continue
                between = clobbering.between(nests.places[op], store)
                if not between:
                    continue
                if _in_one_run(nests.places[op], between, store):
                    groups.join(between[0].op, store.op)
                else:
                    demoted[op.result] = None
        if not demoted:
            return nests, [_slice(nests, group) for group in groups.of(nests)]
        for value in demoted:
            demote_value(value)


def _slice(nests: Nests, stores: tuple[Operation, ...]) -> Slice:
    body: dict[Operation, None] = dict.fromkeys(stores)
    indices: dict[SSAValue, None] = {}
    pending = [value for store in stores for value in _computed(store)]
    while pending:
        value = pending.pop()
        if is_affine_index(nests.values, value):
            indices[value] = None
        elif not isinstance(value, BlockArgument):
            op = value.owner
            assert isinstance(op, Operation)
            if op not in body:
                body[op] = None
                pending.extend(() if isinstance(op, LoadOp) else op.operands)
    ordered = sorted(body, key=nests.orders.__getitem__)
    return Slice(
        tuple(op for op in ordered if isinstance(op, StoreOp | func.CallOp)),
        tuple(ordered),
        tuple(indices),
    )


def _computed(root: Operation) -> Iterable[SSAValue]:
    """The scalars that a store or call takes."""
    if isinstance(root, StoreOp):
        return (root.value,)
    return (value for value in root.operands if not isinstance(value.type, MemRefType))


def is_affine_index(values: AffineValues, value: SSAValue) -> bool:
    """Whether a value of type index is affine, so that no statement needs to compute it."""
    if not isinstance(value.type, IndexType):
        return False
    try:
        values.expression(value)
    except NotAffineError:
        return False
    return True


def _slow_outer_values(nests: Nests, part: Slice) -> Iterable[SSAValue]:
    """Values of the slice that are slow to compute and used in a loop that does not change them.

    Only those that depend on memory: for others a code generator sees that they do not change.
    """
    slow: set[Operation | Block] = set()
    reading: set[Operation | Block] = set()
    depths = {op: _depth(nests, op) for op in part.body}
    for op in part.body:
        owners = {operand.owner for operand in op.operands}
        if isinstance(op, LoadOp) or owners & reading:
            reading.add(op)
        around = any(depths[op] == _depth(nests, owner) for owner in owners & slow)
        if op.name.startswith(_SLOW) or around:
            slow.add(op)
        for operand in op.operands:
            owner = operand.owner
            if owner in slow and owner in reading and _depth(nests, owner) < depths[op]:
                yield operand


def _depth(nests: Nests, op: Operation | Block) -> int:
    block = op.parent if isinstance(op, Operation) else op
    assert block is not None
    return len(nests.around[block].loops)


def _in_one_run(load: Place, stores: Sequence[_Root], last: _Root) -> bool:
    """Whether a load and stores are in the block of `last`, with no loop or branch between them."""
    block = last.op.parent
    if any(place.op.parent is not block for place in (load, *stores)):
        return False
    op: Operation | None = stores[0].op
    while op is not None and op is not last.op:
        if op.regions:
            return False
        op = op.next_op
    return op is not None


class _Groups:
    """Groups of stores that form one statement."""

    def __init__(self) -> None:
        self._last_of_first: dict[Operation, Operation] = {}

    def join(self, first: Operation, last: Operation) -> None:
        """All stores from `first` to `last`, which are in one block."""
        self._last_of_first[first] = last

    def of(self, nests: Nests) -> list[tuple[Operation, ...]]:
        """All stores of a function by statement, in textual order."""
        groups: list[list[Operation]] = []
        until = -1
        for store in nests.roots:
            if store.order <= until:
                groups[-1].append(store.op)
            else:
                groups.append([store.op])
            if (last := self._last_of_first.get(store.op)) is not None:
                until = max(until, nests.orders[last])
        return [tuple(group) for group in groups]


class _Clobbering:
    """Stores that may overwrite what a load has read."""

    def __init__(self, nests: Nests):
        self.nests = nests
        self.stores: dict[SSAValue, list[_Root]] = defaultdict(list)
        for root in nests.roots:
            for array in _written(root):
                self.stores[array].append(root)

    def between(self, load: Place, user: _Root) -> list[_Root]:
        """Stores to the place of a load that may run after it and before `user`, which uses it."""
        depth = len(load.surroundings.loops)
        return [
            store
            for store in self.stores[load.memref]
            if load.order < store.order
            and (store.order < user.order or _common_loops(store, user) > depth)
            and self._may_coincide(load, store)
        ]

    def _may_coincide(self, load: Place, store: _Root) -> bool:
        if isinstance(store, OpaqueCall):
            return True
        if load.subscripts == store.subscripts:
            return True
        names, values = store.surroundings.names, self.nests.values
        equal = [
            f"{values.text(left, names)} = {values.text(right, names)}"
            for left, right in zip(load.subscripts, store.subscripts, strict=True)
        ]
        conditions = " and ".join([*store.surroundings.constraints, *equal])
        parameters = ", ".join(parameter.name for parameter in values.parameters)
        pairs = isl.Set(f"[{parameters}] -> {{ [{', '.join(names)}] : {conditions} }}")
        return not pairs.is_empty()


def _written(root: _Root) -> Iterable[SSAValue]:
    """The arrays that a store or call may write."""
    if isinstance(root, Place):
        return (root.memref,)
    return {each.memref: None for each in root.accesses if each.kind is AccessKind.WRITE}


def _common_loops(left: _Root, right: _Root) -> int:
    pairs = zip(left.surroundings.loops, right.surroundings.loops, strict=False)
    return sum(a is b for a, b in pairs)
