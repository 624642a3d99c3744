"""Store-to-load forwarding and dead-store elimination.

A statement often ends where the next one begins: a bias is stored, a sum is added to it, the result
is rectified. In straight-line code the value stays in a register, and only the last store counts:

    store %bias, C[i, j]                  %1 = for k iter_args(%c = %bias): ...
    %0 = load C[i, j]                     %2 = max %1, 0
    %1 = for k iter_args(%c = %0): ...    store %1, C[i, j]
    store %1, C[i, j]               ->    store %2, D[i, j]
    %r = load C[i, j]
    %2 = max %r, 0
    store %2, D[i, j]

LLVM does so too, but not across loops, and a store that misses the caches makes what loads it wait.
Local scalars of C are handed over before, where they would be statements
(`frontends/c/store_forwarding.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from xdsl.dialects import func, memref
from xdsl.ir import Block, Operation, SSAValue

from ..loops.alias_analysis import Numbering, Place, touched_memrefs
from ..loops.operations import operations
from ..loops.place_access import stored_value


def remove_redundant_accesses(function: func.FuncOp) -> None:
    """Removes loads of what was just stored and stores that nothing reads, in place."""
    inside = operations(function)
    if any(isinstance(op, memref.CastOp) for op in inside):
        return  # One array under two names.
    numbering = Numbering()
    regions = [region for op in inside for region in op.regions]
    for block in [block for region in regions for block in region.blocks]:
        if not _has_repeated_memref(block):
            continue
        accesses = [(op, numbering.place(op)) for op in block.ops]
        repeated = _repeated(accesses)
        if repeated:
            _Memory(numbering, repeated).run(block, accesses)


def _has_repeated_memref(block: Block) -> bool:
    """Whether anything in a block comes after a store of the block to the same memref."""
    stored = set[SSAValue]()
    for operation in block.ops:
        touched = touched_memrefs(operation)
        if not stored.isdisjoint(touched):
            return True
        if not operation.results:
            stored.update(touched)
    return False


def _repeated(accesses: list[tuple[Operation, Place | None]]) -> set[SSAValue]:
    """The memrefs of which a place is accessed again after it was stored to."""
    stored = set[Place]()
    result = set[SSAValue]()
    for operation, place in accesses:
        if place is not None:
            if place in stored:
                result.add(place.memref)
            if not operation.results:
                stored.add(place)
    return result


class _Memory:
    """Known contents of memory while the operations of a block are visited in order.

    `values` are the contents of places, `unread` the last stores to places that nothing has read.
    """

    def __init__(self, numbering: Numbering, memrefs: set[SSAValue]) -> None:
        self.numbering = numbering
        self.memrefs = memrefs
        self.values: defaultdict[SSAValue, dict[Place, SSAValue]] = defaultdict(dict)
        self.unread: defaultdict[SSAValue, dict[Place, Operation]] = defaultdict(dict)

    def run(self, block: Block, accesses: list[tuple[Operation, Place | None]]) -> None:
        first = block.first_op
        assert first is not None
        self.numbering.go_to(first)
        for operation, place in accesses:
            if place is None:
                self._pass(operation)
            elif place.memref in self.memrefs:
                if operation.results:
                    self._load(operation, place)
                else:
                    self._store(operation, place)

    def _load(self, operation: Operation, place: Place) -> None:
        # Under the same mask: what is in the other lanes never reaches memory.
        value = self.values[place.memref].get(place)
        if value is not None:
            operation.results[0].replace_all_uses_with(value)
            operation.detach()
            operation.erase()
            return
        for other in self._overlapping(self.unread[place.memref], place):
            del self.unread[place.memref][other]

    def _store(self, operation: Operation, place: Place) -> None:
        values, unread = self.values[place.memref], self.unread[place.memref]
        overwritten = unread.pop(place, None)
        if overwritten is not None:
            overwritten.detach()
            overwritten.erase()
        for other in self._overlapping(values, place):
            del values[other]
        for other in self._overlapping(unread, place):
            del unread[other]
        values[place] = stored_value(operation)
        unread[place] = operation

    def _overlapping(self, places: Mapping[Place, object], place: Place) -> list[Place]:
        return [p for p in places if p == place or not self.numbering.is_disjoint(p, place)]

    def _pass(self, operation: Operation) -> None:
        """Takes note of what an operation that is no plain load or store may do to memory."""
        for inner in operation.walk():
            writes = not inner.results or self.numbering.place(inner) is None
            for touched in touched_memrefs(inner):
                self.unread[touched].clear()
                if writes:
                    self.values[touched].clear()
