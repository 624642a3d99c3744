"""Memory versions (as in memory SSA) along a block of loop IR."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping

from xdsl.ir import Operation, SSAValue

from ...dialects.memref import behind_casts

_STORES: Mapping[str, int] = {
    "affine.store": 1,
    "affine.vector_store": 1,
    "memref.store": 1,
    "vector.store": 1,
    "vector.maskedstore": 0,
    "vector.scatter": 0,
}
"""Which operand of an operation is the one memref that it writes."""

_UNKNOWN_WRITES = frozenset(
    ("func.call", "memref.copy", "memref.alloc", "memref.alloca", "memref.dealloc")
)


class MemoryVersions:
    """Versions of memrefs: equal versions mean equal contents.

    `noalias` says that no two memrefs share memory.
    """

    def __init__(self, *, noalias: bool) -> None:
        self._noalias = noalias
        self._writes: defaultdict[SSAValue, int] = defaultdict(int)
        self._barriers = 0

    def now(self, value: SSAValue) -> Hashable:
        """The version of a memref after the operations so far."""
        memory = behind_casts(value)
        return memory, self._writes[memory], self._barriers

    def store(self, value: SSAValue) -> None:
        """Goes on to behind a store to a memref."""
        self._writes[behind_casts(value)] += 1

    def after(self, operation: Operation) -> None:
        """Goes on to behind an operation."""
        stored = _STORES.get(operation.name)
        if stored is not None and self._noalias:
            self.store(operation.operands[stored])
        elif stored is not None or operation.regions or operation.name in _UNKNOWN_WRITES:
            self._barriers += 1
