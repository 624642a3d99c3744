"""Dependences through a packing buffer in a loop body."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import product

import islpy as isl

from ..polyhedral.copied_dependences import pairs_through
from ..polyhedral.dependences import Dependence, DependenceKind, Dependences
from ..polyhedral.isl_context import coalesced
from ..polyhedral.schedule_tree import Loop
from ..polyhedral.scop import Access, AccessKind, Array, Statement
from .program_edits import instances_for, same_iteration

Use = tuple[Statement, Access]
"""An access of a statement."""

_OUT = isl.dim_type.out

_ENDS = {
    DependenceKind.FLOW: (AccessKind.WRITE, AccessKind.READ),
    DependenceKind.ANTI: (AccessKind.READ, AccessKind.WRITE),
    DependenceKind.OUTPUT: (AccessKind.WRITE, AccessKind.WRITE),
}
"""What source and target of a dependence do to the element."""


class BufferDependences:
    """Dependences that `pack` adds: the array's within an iteration, and the copies'.

    `old` are the dependences of the program before, of which `uses` have come to use `buffer` in
    the body of the last of the loops `outer`: all accesses to the array in there, in an order that
    keeps all of `old`. So an iteration, which is done before the next one begins, has all the
    accesses between any two of its own, and chains of dependences do not leave it. Where a
    statement has several writes, what it does to an element in one instance is not told apart: more
    pairs then depend on the copies than need to, all of which meet in an element.
    """

    def __init__(
        self, old: Dependences, outer: Sequence[Loop], uses: Sequence[Use], buffer: Array
    ) -> None:
        self.scop = old.scop
        self.outer = outer
        self.buffer = buffer
        self.accesses: dict[tuple[str, AccessKind], list[isl.Map]] = {}
        for statement, access in uses:
            key = statement.name, access.kind
            self.accesses.setdefault(key, []).append(access.relation)
        self.array = uses[0][1].array.name
        self.names = {statement.name for statement, _ in uses}
        self.inside = [
            replace(item, relation=relation)
            for item in old
            if item.array == self.array and {item.source, item.target} <= self.names
            if not (relation := self._in_one_iteration(item)).is_empty()
        ]

    def items(
        self, copies_in: Sequence[Statement], copies_out: Sequence[Statement]
    ) -> Iterator[Dependence]:
        """With those of the statements that fill the buffer and write it back."""
        for item in self.inside:
            yield replace(item, array=self.buffer.name)
        for (name, kind), elements in self.accesses.items():
            for copy in copies_in:
                yield from self._from_copy(copy, name, kind, elements)
            for copy in copies_out if kind is AccessKind.WRITE else ():
                yield from self._to_copy(copy, name, elements)

    def conflicts(
        self,
        through: Iterable[Dependence],
        copies_in: Sequence[Statement],
        copies_out: Sequence[Statement],
    ) -> Iterator[Dependence]:
        """Memory-based dependences through the array, of which copies now have these accesses.

        `through` are those of before: all pairs of accesses that conflict.
        """
        found: dict[tuple[DependenceKind, str, str], isl.Map] = {}
        copies = {AccessKind.READ: tuple(copies_in), AccessKind.WRITE: tuple(copies_out)}
        for item in through:
            relation = item.relation
            if {item.source, item.target} <= self.names:
                relation = relation.subtract(same_iteration(self.outer, self.scop, item))
            sources, targets = (
                self._performers(name, kind, copies)
                for name, kind in zip((item.source, item.target), _ENDS[item.kind], strict=True)
            )
            for (source, moved, elements), (target, to, others) in product(sources, targets):
                pairs = relation if moved is None else relation.apply_domain(moved)
                pairs = pairs if to is None else pairs.apply_range(to)
                if moved is not None or to is not None:
                    pairs = pairs.intersect(elements.apply_range(others.reverse()))
                key = item.kind, source, target
                found[key] = found[key].union(pairs) if key in found else pairs
        for one, other in product(copies_in, copies_out):
            # Of one element, in one iteration: both have the same induction variables.
            same = one.domain.identity().set_tuple_id(_OUT, other.domain.get_tuple_id())
            key = DependenceKind.ANTI, one.name, other.name
            own = same.intersect_range(other.domain)
            found[key] = found[key].union(own) if key in found else own
        for (kind, source, target), pairs in found.items():
            if not pairs.is_empty():
                array = self.array
                yield Dependence(kind, source, target, array, coalesced(pairs), memory_based=True)

    def _performers(
        self, name: str, kind: AccessKind, copies: Mapping[AccessKind, Sequence[Statement]]
    ) -> list[tuple[str, isl.Map | None, isl.Map]]:
        """What accesses the array for a statement: itself, or copies, for its instances."""
        if name not in self.names:
            own = [
                access.relation
                for access in self.scop.statement(name).accesses
                if access.array.name == self.array and access.kind is kind
            ]
            return [(name, None, reduce(isl.Map.union, own))]
        result: list[tuple[str, isl.Map | None, isl.Map]] = []
        for copy in copies[kind]:
            used = self.accesses[name, kind]
            moved = reduce(isl.Map.union, (self._copied(copy, name, each) for each in used))
            touched = copy.reads[0] if kind is AccessKind.READ else copy.writes[0]
            result.append((copy.name, moved, touched.relation))
        return result

    def _from_copy(
        self, copy: Statement, user: str, kind: AccessKind, elements: Sequence[isl.Map]
    ) -> Iterator[Dependence]:
        """From the instances that fill the buffer to what reads or overwrites that."""
        if kind is AccessKind.READ:
            first = [each.subtract_domain(self._written_before(user, each)) for each in elements]
            found = DependenceKind.FLOW
        else:
            first = _without(elements, self._overwriting(user))
            found = DependenceKind.OUTPUT
        pairs = [self._copied(copy, user, each).reverse() for each in first]
        yield from self._dependence(found, copy.name, user, pairs)

    def _to_copy(
        self, copy: Statement, writer: str, elements: Sequence[isl.Map]
    ) -> Iterator[Dependence]:
        """From the last writes of an iteration to the instances that write the buffer back."""
        last = _without(elements, self._overwritten(writer))
        pairs = [self._copied(copy, writer, each) for each in last]
        yield from self._dependence(DependenceKind.FLOW, writer, copy.name, pairs)

    def _copied(self, copy: Statement, statement: str, elements: isl.Map) -> isl.Map:
        return instances_for(self.outer, self.scop.statement(statement), elements, copy)

    def _written_before(self, reader: str, elements: isl.Map) -> isl.Set:
        """Instances of which a read sees what the same iteration has written."""
        flows = (d for d in self.inside if d.kind is DependenceKind.FLOW and d.target == reader)
        return self._any(reader, (pairs_through(d, self.scop, elements).range() for d in flows))

    def _overwriting(self, writer: str) -> isl.Set:
        """Instances that write what the same iteration has written."""
        return self._any(writer, (d.relation.range() for d in self._outputs if d.target == writer))

    def _overwritten(self, writer: str) -> isl.Set:
        """Instances whose write the same iteration overwrites."""
        return self._any(writer, (d.relation.domain() for d in self._outputs if d.source == writer))

    @property
    def _outputs(self) -> list[Dependence]:
        return [item for item in self.inside if item.kind is DependenceKind.OUTPUT]

    def _any(self, statement: str, instances: Iterable[isl.Set]) -> isl.Set:
        nothing = isl.Set.empty(self.scop.statement(statement).domain.get_space())
        return reduce(isl.Set.union, instances, nothing)

    def _in_one_iteration(self, item: Dependence) -> isl.Map:
        return item.relation.intersect(same_iteration(self.outer, self.scop, item))

    def _dependence(
        self, kind: DependenceKind, source: str, target: str, pairs: Sequence[isl.Map]
    ) -> Iterator[Dependence]:
        relation = coalesced(reduce(isl.Map.union, pairs))
        if not relation.is_empty():
            yield Dependence(kind, source, target, self.buffer.name, relation)


def _without(elements: Sequence[isl.Map], instances: isl.Set) -> list[isl.Map]:
    """What other instances write; all where there are several writes, which might be any."""
    return [each.subtract_domain(instances) if len(elements) == 1 else each for each in elements]
