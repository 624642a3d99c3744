"""Uses of partial results, rewritten as uses of the array that they are combined into."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from ...passes.polyhedral.reductions import find_accumulation
from ...passes.polyhedral.scop import Scop
from .correspondence import Correspondence
from .order import Event
from .partial_results import Accessor, Combination, PartialResults
from .reading import CallSite
from .uses import Use, events_of
from .verdict import NotKnownError, Property, ViolatedError, Witness

_OUT = isl.dim_type.out


class PartialUses:
    """The buffers of partial results, and the uses of the program without them.

    `reduced` has the statements of the program, by name, whose steps the generated code does not
    make in the array itself. Raises NotKnownError, ViolatedError.
    """

    def __init__(
        self,
        program: Scop,
        uses: Sequence[Use],
        correspondence: Correspondence,
        sites: Mapping[str, Sequence[CallSite]],
        context: isl.Set,
    ) -> None:
        self.program = program
        self.found = correspondence
        self.sites = sites
        self.context = context
        self.names = {c.part.array.name for c in correspondence.combinations.values()}
        self.names |= {i.target.array.name for i in correspondence.initialisations.values()}
        self._check_alone()
        moved = [use for use in uses if use.array in self.names]
        self.reduced = {use.origin for use in moved}
        self.buffers = [self._buffer(name, moved) for name in sorted(self.names)]
        self.uses: list[Use] = []
        for use in uses:
            self.uses += self._combined(use, use.place) if use in moved else (use,)

    def _check_alone(self) -> None:
        """No copies of partial results, and none in arrays of the program."""
        copies = self.found.copies.values()
        copied = {a.array.name for copy in copies for a in (copy.source, copy.target)}
        known = {array.name for array in self.program.arrays}
        for name in self.names & (copied | known):
            raise NotKnownError(f"{name} is more than a buffer of partial results")

    def _buffer(self, name: str, moved: Sequence[Use]) -> PartialResults:
        first = [i for i in self.found.initialisations.values() if i.target.array.name == name]
        last = [c for c in self.found.combinations.values() if c.part.array.name == name]
        inner = [c for c in self.found.combinations.values() if c.whole.array.name == name]
        operations = {combination.operation for combination in (*last, *inner)}
        updates = [
            Accessor(c.statement.name, self._place(c.whole.relation), self._events(c))
            for c in inner
        ]
        for statement in {use.statement: use for use in moved if use.array == name}.values():
            own = [use for use in moved if use.statement == statement.statement]
            operations.add(self._operation(statement.origin, own))
            updates.append(Accessor(statement.statement, statement.place, statement.events))
        return PartialResults(
            name,
            frozenset(operations),
            tuple(each.value for each in first),
            tuple(
                Accessor(
                    i.statement.name,
                    self._place(i.target.relation),
                    events_of(self.sites[i.statement.name], i.statement.name),
                )
                for i in first
            ),
            tuple(updates),
            tuple(
                Accessor(c.statement.name, self._place(c.part.relation), self._events(c))
                for c in last
            ),
        )

    def _operation(self, origin: str, uses: Sequence[Use]) -> str:
        """What a statement accumulates, if it uses partial results just for that."""
        statement = self.program.statement(origin)
        accumulation = find_accumulation(statement)
        if accumulation is not None:
            load, store = (
                statement.accesses.index(each) for each in (accumulation.load, accumulation.store)
            )
            places = [use.place for use in uses]
            if [use.position for use in uses] == [load, store] and places[0].is_equal(places[1]):
                return accumulation.operation
        raise NotKnownError(f"{origin} uses partial results for something else than a reduction")

    def _combined(self, use: Use, place: isl.Map) -> Iterator[Use]:
        """The use as uses of arrays: at combinations of the partial result at `place`."""
        buffer = place.get_tuple_name(_OUT)
        for combination in self.found.combinations.values():
            if combination.part.array.name != buffer:
                continue
            combinations = place.apply_range(self._place(combination.part.relation).reverse())
            whole = combinations.apply_range(self._place(combination.whole.relation))
            if combination.whole.array.name in self.names:
                yield from self._combined(use, whole)
                continue
            elements = use.elements.intersect_domain(whole.domain())
            is_moved = combination.whole.array.name != use.element_array
            if not is_moved and not whole.is_subset(elements):
                message = f"{combination.statement.name} combines {buffer} with another element"
                wrong = whole.subtract(elements).domain()
                raise ViolatedError(Property.DATAFLOW, message, Witness.among(wrong))
            steps = combinations.reverse()
            yield replace(
                use,
                array=combination.whole.array.name,
                elements=elements,
                place=whole,
                is_moved=is_moved,
                events=tuple(
                    Event(event.site, event.instances.apply_range(steps))
                    for event in self._events(combination)
                ),
            )

    def _events(self, combination: Combination) -> tuple[Event, ...]:
        name = combination.statement.name
        return events_of(self.sites[name], name)

    def _place(self, relation: isl.Map) -> isl.Map:
        return relation.intersect_params(self.context)
