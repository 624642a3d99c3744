"""Array dataflow analysis: earlier accesses to an element, and the last one.

isl's own analysis (Feautrier, 1991) is the fastest, but must not meet integer divisions: where two
of them come to be equal in the course of it, isl (to 0.28 at least) counts one twice while it
aligns the divisions of a parametric integer program with those of its context, and writes to memory
outside of its arrays. The process ends, or goes on with other constraints. Lexicographic extrema
over whole domains have no context but the parameters, and find the same accesses.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cached_property, reduce

import islpy as isl

from .adjacent_accesses import ExecutionTimes
from .conflicts import last_accesses
from .isl_context import is_exhausted
from .isl_schedule import to_isl
from .schedule_tree import Sequence, Tree, functions_text, restrict
from .scop import Access, AccessKind, Array, Scop
from .unimodular import UnimodularStatements


class ArrayAccesses:
    """The accesses to an array, `{ S[i] -> A[x] }`, and pairs of them, `{ S[i] -> T[j] }`."""

    def __init__(self, scop: Scop, array: Array, statements: UnimodularStatements) -> None:
        self.scop = scop
        self.array = array
        self._statements = statements

    @cached_property
    def reads(self) -> isl.UnionMap:
        """All reads."""
        return self._of_kind(AccessKind.READ)

    @cached_property
    def writes(self) -> isl.UnionMap:
        """All writes."""
        return self._of_kind(AccessKind.WRITE)

    @cached_property
    def exposed_reads(self) -> isl.UnionMap:
        """The reads without those that see a write of the same instance."""
        result: list[isl.Map] = []
        for statement in self.scop.statements:
            written: list[Access] = []
            for access in statement.accesses:
                if access.array is not self.array:
                    continue
                if access.kind is AccessKind.WRITE:
                    written += [] if access.is_opaque else [access]
                else:
                    result.append(reduce(_without, written, access.relation))
        return union(self.scop, result)

    @cached_property
    def are_exact(self) -> bool:
        """Whether all accesses happen for sure: those of opaque regions need not."""
        return not any(
            access.is_opaque
            for statement in self.scop.statements
            for access in statement.accesses
            if access.array is self.array
        )

    @cached_property
    def count(self) -> int:
        """How many loads and stores of the program there are."""
        return sum(
            access.array is self.array
            for statement in self.scop.statements
            for access in statement.accesses
        )

    @cached_property
    def order(self) -> Tree:
        """The order of the statements that access the array; the others only cost time."""
        users = {
            statement.name
            for statement in self.scop.statements
            if any(access.array is self.array for access in statement.accesses)
        }
        return restrict(self.scop.tree, users) or Sequence(())

    @property
    def key(self) -> str:
        """A digest of what dependences through the array follow from, but for the bodies."""
        parts = [str(self.scop.context), functions_text(self.order)]
        for statement in self.scop.statements:
            used = [access for access in statement.accesses if access.array is self.array]
            if used:
                relations = (f"{access.kind.value} {access.relation}" for access in used)
                parts += [f"{statement.name}: {statement.domain}", *relations]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    @cached_property
    def are_unimodular(self) -> bool:
        """Whether dataflow analysis needs no integer division."""
        return self._statements.have(self.array, self.order)

    def all_before(self, source: isl.UnionMap, sink: isl.UnionMap) -> isl.UnionMap:
        """From each access of `source` to all later ones of `sink` to the element."""
        return last_accesses(self.order, source, sink, None)

    def last_before(self, source: isl.UnionMap, sink: isl.UnionMap) -> isl.UnionMap:
        """To each access of `sink` from the last one of `source` to the element before it."""
        info = isl.UnionAccessInfo.from_sink(sink).set_must_source(source)
        found = self._analysed(info)
        return self._times.last_before(source, sink) if found is None else found

    def next_write(self) -> isl.UnionMap:
        """From each read to the next write of the element by another instance."""
        info = isl.UnionAccessInfo.from_sink(self.writes).set_may_source(self.reads)
        found = self._analysed(info.set_kill(self.writes))
        return self._times.next_behind(self.reads, self.writes) if found is None else found

    def next_reads(self) -> isl.UnionMap:
        """From each read to those of the same value behind it."""
        info = isl.UnionAccessInfo.from_sink(self.reads).set_may_source(self.reads)
        found = self._analysed(info.set_kill(self.writes))
        if found is None:
            return last_accesses(self.order, self.reads, self.reads, self.writes)
        return found

    def _analysed(self, info: isl.UnionAccessInfo) -> isl.UnionMap | None:
        """What isl's dataflow analysis finds, where it can be used."""
        if not self.are_unimodular:
            return None
        try:
            info = info.set_schedule(to_isl(self.order, self.scop))
            return info.compute_flow().get_may_dependence()
        except isl.Error:
            if is_exhausted():
                raise
            return None

    @cached_property
    def _times(self) -> ExecutionTimes:
        return ExecutionTimes(self.scop, self.order)

    def _of_kind(self, kind: AccessKind) -> isl.UnionMap:
        return union(
            self.scop,
            (
                access.relation
                for statement in self.scop.statements
                for access in statement.accesses
                if access.array is self.array and access.kind is kind
            ),
        )


def _without(relation: isl.Map, access: Access) -> isl.Map:
    return relation.subtract(access.relation)


def union(scop: Scop, maps: Iterable[isl.Map]) -> isl.UnionMap:
    """The union of maps, in the Scop's parameter space."""
    result = isl.UnionMap.empty(scop.context.get_space())
    for part in maps:
        result = result.union(isl.UnionMap.from_map(part))
    return result
