"""Liveness of array elements across the iterations of a loop."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import islpy as isl

from ..polyhedral.dependences import DependenceKind
from ..polyhedral.schedule_tree import Loop, statements
from ..polyhedral.scop import Statement
from .program_edits import outer_values, same_iteration
from .schedule import Schedule


class LiveElements:
    """Live-in and live-out elements of an array in a loop's iteration.

    Relations go from the values of the loops around the body to elements.
    """

    def __init__(self, schedule: Schedule, loop: Loop, array: str) -> None:
        self.scop = schedule.scop
        self.outer = (*schedule.outer(loop), loop)
        self.array = array
        self.inside = set(statements(loop.body))
        # Where steps of a reduction have changed places, the dependences do not tell which is last.
        self.has_free_steps = schedule.dependences.has_free_steps(array)
        self.flows = [
            dependence
            for dependence in schedule.dependences
            if dependence.kind is DependenceKind.FLOW and dependence.array == array
        ]

    def before(self, reads: Sequence[tuple[Statement, isl.Map]]) -> isl.Map:
        """What is read and was not written before by the same iteration."""
        names = [statement.name for statement, _ in reads]
        exposed = [
            self._elements(
                statement,
                relation.subtract_domain(self._written_inside(statement.name))
                if names.count(statement.name) == 1
                else relation,
            )
            for statement, relation in reads
        ]
        return reduce(isl.Map.union, exposed)

    def after(self, writes: Sequence[tuple[Statement, isl.Map]]) -> isl.Map:
        """What is written and read elsewhere, or written by no later iteration."""
        written = reduce(isl.Map.union, (self._elements(*write) for write in writes))
        names = [statement.name for statement, _ in writes]
        writers = {
            statement.name
            for statement in self.scop.statements
            for access in statement.writes
            if access.array.name == self.array
        }
        iterations = written.reverse()
        if self.has_free_steps or not writers <= self.inside or len(set(names)) < len(names):
            return written
        if iterations.is_single_valued():
            return written
        last = iterations.lexmax().reverse()
        used = [
            self._elements(statement, relation.intersect_domain(self._read_outside(statement.name)))
            for statement, relation in writes
        ]
        kept = reduce(isl.Map.union, used, last).coalesce()
        return written if written.is_subset(kept) else kept

    def _elements(self, statement: Statement, relation: isl.Map) -> isl.Map:
        return outer_values(self.outer, statement).reverse().apply_range(relation)

    def _written_inside(self, reader: str) -> isl.Set:
        """Instances of a statement that read what the same iteration of the loop has written."""
        found = isl.Set.empty(self.scop.statement(reader).domain.get_space())
        for flow in self.flows:
            if flow.target == reader and flow.source in self.inside:
                found = found.union(
                    flow.relation.intersect(same_iteration(self.outer, self.scop, flow)).range()
                )
        return found

    def _read_outside(self, writer: str) -> isl.Set:
        """Instances of a statement that write what is read after the iteration of the loop."""
        found = isl.Set.empty(self.scop.statement(writer).domain.get_space())
        for flow in self.flows:
            if flow.source == writer:
                outside = flow.relation
                if flow.target in self.inside:
                    outside = outside.subtract(same_iteration(self.outer, self.scop, flow))
                found = found.union(outside.domain())
        return found
