"""Liveness of array elements across the iterations of a loop."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import islpy as isl

from ..polyhedral.copied_dependences import pairs_through
from ..polyhedral.dependences import DependenceKind
from ..polyhedral.isl_context import coalesced
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
        arguments = [each.name for each in self.scop.arrays if not each.is_local]
        self.is_observed = array in (*arguments, *(each.name for each in self.scop.returns))
        self.inside = set(statements(loop.body))
        # Where steps of a reduction have changed places, the dependences do not tell which is last.
        self.has_free_steps = schedule.dependences.has_free_steps(array)
        through = [each for each in schedule.dependences if each.array == array]
        self.flows = [each for each in through if each.kind is DependenceKind.FLOW]
        self.outputs = [each for each in through if each.kind is DependenceKind.OUTPUT]

    def before(self, reads: Sequence[tuple[Statement, isl.Map]]) -> isl.Map:
        """What is read and was not written before by the same iteration."""
        exposed = [
            self._elements(
                statement, relation.subtract_domain(self._written_inside(statement.name, relation))
            )
            for statement, relation in reads
        ]
        return reduce(isl.Map.union, exposed)

    def after(self, writes: Sequence[tuple[Statement, isl.Map]]) -> isl.Map:
        """What is written and read elsewhere, or is the last value of an argument's element."""
        written = reduce(isl.Map.union, (self._elements(*write) for write in writes))
        names = [statement.name for statement, _ in writes]
        writers = {
            statement.name
            for statement in self.scop.statements
            for access in statement.writes
            if access.array.name == self.array
        }
        iterations = written.reverse()
        if self.has_free_steps or len(set(names)) < len(names):
            return written
        if not self.is_observed:
            last = isl.Map.empty(written.get_space())
        elif writers <= self.inside:
            if iterations.is_single_valued():
                return written
            last = iterations.lexmax().reverse()
        else:
            final = [(s, r.subtract_domain(self._overwritten(s.name))) for s, r in writes]
            last = reduce(isl.Map.union, (self._elements(*write) for write in final))
        used = [
            self._elements(statement, relation.intersect_domain(self._read_outside(statement.name)))
            for statement, relation in writes
        ]
        kept = coalesced(reduce(isl.Map.union, used, last))
        return written if written.is_subset(kept) else kept

    def _elements(self, statement: Statement, relation: isl.Map) -> isl.Map:
        return outer_values(self.outer, statement).reverse().apply_range(relation)

    def _written_inside(self, reader: str, read: isl.Map) -> isl.Set:
        """Instances of a statement of which a read sees what the same iteration has written."""
        found = isl.Set.empty(self.scop.statement(reader).domain.get_space())
        for flow in self.flows:
            if flow.target == reader and flow.source in self.inside:
                pairs = pairs_through(flow, self.scop, read)
                inside = same_iteration(self.outer, self.scop, flow)
                found = found.union(pairs.intersect(inside).range())
        return found

    def _overwritten(self, writer: str) -> isl.Set:
        """Instances of a statement after which something writes the same element again.

        An opaque statement only may write it.
        """
        uncertain = self.scop.opaque_statements
        found = isl.Set.empty(self.scop.statement(writer).domain.get_space())
        for output in self.outputs:
            if output.source == writer and output.target not in uncertain:
                found = found.union(output.relation.domain())
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
