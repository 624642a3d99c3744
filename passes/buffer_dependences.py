"""Dependences through a buffer that stands for an array in the body of a loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

import islpy as isl

from .copied_dependences import pairs_through
from .polyhedral.dependences import Dependence, DependenceKind, Dependences
from .polyhedral.scop import Access, AccessKind, Array, Statement
from .program_edits import outer_values
from .schedule_tree import Loop

Use = tuple[Statement, Access]
"""An access of a statement."""


class BufferDependences:
    """What `pack` adds: of the array's dependences those within an iteration, and the copies'.

    `old` are the dependences of the program before, of which `uses` have come to use `buffer` in
    the body of the last of the loops `outer`: all accesses to the array in there, in an order that
    keeps all of `old`. So an iteration, which is done before the next one begins, has all the
    accesses between any two of its own, and chains of dependences do not leave it.
    """

    def __init__(
        self, old: Dependences, outer: Sequence[Loop], uses: Sequence[Use], buffer: Array
    ) -> None:
        self.outer = outer
        self.uses = uses
        self.buffer = buffer
        self.scop = old.scop
        array, names = uses[0][1].array, {statement.name for statement, _ in uses}
        inside = [d for d in old if d.array == array.name and {d.source, d.target} <= names]
        self.own = [
            Dependence(item.kind, item.source, item.target, buffer.name, relation)
            for item in inside
            if not (relation := item.relation.intersect(self._same_iteration(item))).is_empty()
        ]
        self._as_before = [
            Dependence(item.kind, item.source, item.target, array.name, item.relation)
            for item in self.own
        ]

    def all(
        self, copies_in: Sequence[Statement], copies_out: Sequence[Statement]
    ) -> list[Dependence]:
        """With those of the statements that fill the buffer and write it back."""
        return [
            *self.own,
            *(found for copy in copies_in for found in self._from_copy(copy)),
            *(found for copy in copies_out for found in self._to_copy(copy)),
        ]

    def _from_copy(self, copy: Statement) -> Iterator[Dependence]:
        """From the instances that fill the buffer to what uses that."""
        for kind, access_kind in (
            (DependenceKind.FLOW, AccessKind.READ),
            (DependenceKind.OUTPUT, AccessKind.WRITE),
        ):
            for statement, relations in self._by_statement(access_kind).items():
                exposed = [
                    relation.subtract_domain(self._written_before(statement, relation))
                    if access_kind is AccessKind.READ
                    else relation
                    for relation in relations
                ]
                pairs = [self._copied_by(copy, statement, each).reverse() for each in exposed]
                yield from self._dependence(kind, copy.name, statement, pairs)

    def _to_copy(self, copy: Statement) -> Iterator[Dependence]:
        """From the last writes of an iteration to the instances that write the buffer back."""
        for statement, relations in self._by_statement(AccessKind.WRITE).items():
            last = relations
            if len(relations) == 1:
                last = [relations[0].subtract_domain(self._written_again(statement))]
            pairs = [self._copied_by(copy, statement, each) for each in last]
            yield from self._dependence(DependenceKind.FLOW, statement, copy.name, pairs)

    def _by_statement(self, kind: AccessKind) -> dict[str, list[isl.Map]]:
        found: dict[str, list[isl.Map]] = {}
        for statement, access in self.uses:
            if access.kind is kind:
                found.setdefault(statement.name, []).append(access.relation)
        return found

    def _copied_by(self, copy: Statement, statement: str, elements: isl.Map) -> isl.Map:
        """The instances of `copy` for the elements that instances of a statement touch."""
        instances = outer_values(self.outer, self.scop.statement(statement))
        copied = instances.flat_range_product(elements)
        return copied.set_tuple_id(isl.dim_type.out, copy.domain.get_tuple_id()).intersect_range(
            copy.domain
        )

    def _written_before(self, reader: str, elements: isl.Map) -> isl.Set:
        """Instances of which a read sees what the same iteration has written."""
        pairs = [
            pairs_through(item, self.scop, elements)
            for item in self._as_before
            if item.kind is DependenceKind.FLOW and item.target == reader
        ]
        nothing = isl.Set.empty(self.scop.statement(reader).domain.get_space())
        return reduce(isl.Set.union, (each.range() for each in pairs), nothing)

    def _written_again(self, writer: str) -> isl.Set:
        """Instances whose write the same iteration overwrites."""
        pairs = [
            item.relation
            for item in self.own
            if item.kind is DependenceKind.OUTPUT and item.source == writer
        ]
        nothing = isl.Set.empty(self.scop.statement(writer).domain.get_space())
        return reduce(isl.Set.union, (each.domain() for each in pairs), nothing)

    def _same_iteration(self, item: Dependence) -> isl.Map:
        source, target = self.scop.statement(item.source), self.scop.statement(item.target)
        return outer_values(self.outer, source).apply_range(
            outer_values(self.outer, target).reverse()
        )

    def _dependence(
        self, kind: DependenceKind, source: str, target: str, pairs: Sequence[isl.Map]
    ) -> Iterator[Dependence]:
        relation = reduce(isl.Map.union, pairs).coalesce()
        if not relation.is_empty():
            yield Dependence(kind, source, target, self.buffer.name, relation)
