"""Dataflow through buffers: values arrive where the program stores them.

For arrays of which accesses are made elsewhere: in buffers, or in an expanded array. A value goes
from its write to its read within one buffer, or out of one buffer and into another by copies. So
two accesses to an element meet in the innermost buffer that both are made in, in the same element
of it, or else further out, where copies stand for them. Then all reads see the values of the
program when

- the write that a read sees in the program, or its copy out, runs before the read, or its copy in;
- of two accesses in one place, one of them a write, the copies included, neither overtakes the
  other one;
- a copy into a buffer runs before all accesses to the element, and a copy out after all writes;
- what an argument holds at the beginning is copied in where it is read, and what the program leaves
  in it is copied out.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property, reduce
from itertools import combinations, combinations_with_replacement, product

import islpy as isl

from ...passes.polyhedral.conflicts import last_accesses
from ...passes.polyhedral.dependences import Dependence, DependenceKind, union
from ...passes.polyhedral.schedule_tree import restrict
from ...passes.polyhedral.scop import AccessKind, Array, Scop
from .kept_dependences import KeptDependences
from .order import Event, backward
from .places import Buffer, Places, Transfer
from .uses import Use
from .verdict import NotKnownError, Property, ViolatedError, Witness

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out


def check_buffer(buffer: Buffer, places: Places) -> None:
    """Copies into a buffer come before all accesses, copies out after all writes; one each.

    Raises ViolatedError, NotKnownError.
    """
    copies_in, copies_out = buffer.transfers(out=False), buffer.transfers(out=True)
    for copies in (copies_in, copies_out):
        for number, transfer in enumerate(copies):
            others = (other.inside.range() for other in copies[:number])
            apart = all(transfer.inside.range().is_disjoint(other) for other in others)
            if not apart or not transfer.inside.is_injective():
                raise NotKnownError(f"elements of {buffer.name} are copied more than once")
    writers = list(_accessors(buffer, places, is_write=True))
    accessors = [*writers, *_accessors(buffer, places, is_write=False)]
    copied = {transfer.statement for transfer in _copies_with(buffer, places, out=True)}
    for copy, (place, events, name) in product(copies_in, accessors):
        pairs = copy.inside.apply_range(place.reverse())
        message = f"{copy.statement} does not run before {name}"
        if name in copied and backward(pairs, copy.events, events) is not None:
            raise NotKnownError(message)  # what is copied there may be what nobody has written
        _in_order(pairs, copy.events, events, message)
    for copy, (place, events, name) in product(copies_out, writers):
        pairs = place.apply_range(copy.inside.reverse())
        _in_order(pairs, events, copy.events, f"{copy.statement} does not run after {name}")
    for copy, last in product(copies_in, copies_out):
        pairs = copy.inside.apply_range(last.inside.reverse())
        message = f"{copy.statement} does not run before {last.statement}"
        _in_order(pairs, copy.events, last.events, message)
    _check_snapshots(buffer, places, writers)
    written = [
        use.place.range() for use in places.uses if use.array == buffer.name and use.is_write
    ]
    written += [t.outside.range() for t in _copies_with(buffer, places, out=True)]
    for copy in copies_out:
        if not reduce(isl.Set.subtract, written, copy.inside.range()).is_empty():
            raise NotKnownError(f"{copy.statement} copies what nothing has written")


def _check_snapshots(
    buffer: Buffer, places: Places, writers: Iterable[tuple[isl.Map, Sequence[Event], str]]
) -> None:
    """What is copied on from a relay is what the buffer holds: nothing writes it in between."""
    inner = ((copy.inside, copy.events, copy.statement) for copy in buffer.transfers(out=False))
    sources = [*writers, *inner]
    for snapshot in places.snapshots.get(buffer.name, ()):
        later = snapshot.relayed, snapshot.events, snapshot.reader.events
        earlier = (
            (place.apply_range(snapshot.outside.reverse()), events, snapshot.events)
            for place, events, _ in sources
        )
        if any(backward(*each) is not None for each in (later, *earlier)):
            raise NotKnownError(f"{snapshot.statement} copies what is written later")


def _copies_with(buffer: Buffer, places: Places, *, out: bool) -> Iterator[Transfer]:
    """The copies between a buffer and those that stand for parts of it."""
    for other in places.buffers.values():
        copies = other.copies(out=out)
        if copies is not None and copies.parent == buffer.name:
            yield from copies.transfers


def _accessors(
    buffer: Buffer, places: Places, *, is_write: bool
) -> Iterator[tuple[isl.Map, Sequence[Event], str]]:
    """What writes or reads a buffer, apart from its own copies: elements, events, name."""
    for use in places.uses:
        if use.array == buffer.name and use.is_write == is_write:
            yield use.place, use.events, use.statement
    for transfer in _copies_with(buffer, places, out=is_write):
        yield transfer.outside, transfer.events, transfer.statement


def _in_order(
    pairs: isl.Map, sources: Sequence[Event], targets: Sequence[Event], message: str
) -> None:
    wrong = backward(pairs, sources, targets)
    if wrong is not None:
        raise ViolatedError(Property.DATAFLOW, message, Witness.between(wrong))


class ArrayFlow:
    """Dataflow of one array of the program, some of whose accesses are redirected to buffers."""

    def __init__(
        self,
        program: Scop,
        array: Array,
        kept: KeptDependences,
        places: Places,
        reduced: Container[str],
    ) -> None:
        self.program = program
        self.array = array
        self.kept = kept
        self.places = places
        uses = [use for use in places.uses if use.element_array == array.name]
        self.reads = [use for use in uses if not use.is_write]
        self.writes = [use for use in uses if use.is_write]
        self.arguments = {each.name for each in program.arrays if not each.is_local}
        self.items = kept.strict(array.name)
        self.is_relaxed = False
        for write in self.writes:
            if write.origin in reduced:
                self._relax(write.origin)

    def check(self) -> None:
        """Raises ViolatedError, NotKnownError."""
        self._check_elements()
        in_place = self._keeps_order()
        self._check_relaxed()
        for write, read in product(self.writes, self.reads):
            if not in_place or write.is_moved or read.is_moved:
                pairs = self._flow(write, read)
                self._check_pairs(pairs, write, read, is_flow=True)
        if any(write.is_moved for write in self.writes) or not in_place:
            self._check_conflicts(self.writes, in_place=in_place)
        if not in_place:
            self._check_conflicts(self.reads, in_place=False)
        if not self.array.is_local:
            for read in self.reads:
                self._check_initial(read)
        if not self.array.is_local or any(self.array is each for each in self.program.returns):
            for write in self.writes:
                self._check_final(write)

    def _relax(self, statement: str) -> None:
        """Lets the steps of reductions run in any order; raises ViolatedError, NotKnownError."""
        if not self.kept.may_reorder(statement):
            message = f"{statement} accumulates in another order, which changes the result"
            raise ViolatedError(Property.ORDER, message)
        self.is_relaxed = True
        self.items = self.kept.relaxed(self.array.name)

    def _keeps_order(self) -> bool:
        """Whether the accesses keep the program's order, as if all were made in the array."""
        for item in self.items:
            ends = [
                [event for use in self._first_uses(name) for event in use.events]
                for name in (item.source, item.target)
            ]
            relation = item.relation.intersect_params(self.places.context)
            wrong = backward(relation, *ends)
            if wrong is None:
                continue
            if not self.is_relaxed and self._has_free_steps(item):
                self._relax(item.source)
                return self._keeps_order()
            if item.kind is DependenceKind.FLOW:
                message = f"{item.target} reads {item.array} before {item.source} writes it"
                raise ViolatedError(Property.ORDER, message, Witness.between(wrong))
            return False
        return True

    def _has_free_steps(self, item: Dependence) -> bool:
        """Whether some pairs of a dependence may change places."""
        steps = self.kept.free_steps(item.source, item.target)
        return steps is not None and not item.relation.is_disjoint(steps)

    def _first_uses(self, origin: str) -> list[Use]:
        """The uses in one position, by every generated statement that is a part of a statement."""
        uses = [use for use in (*self.writes, *self.reads) if use.origin == origin]
        return [use for use in uses if use.position == uses[0].position]

    def _check_elements(self) -> None:
        """Uses in one place are uses of one element, and a place stands for its element."""
        for use in (*self.reads, *self.writes):
            root = self.places.line_of(use)[-1]
            # A local array may have other subscripts: then what shares a place is one element.
            is_known = use.array != root or not self.array.is_local
            if use.is_moved and root == self.array.name and is_known:
                stands_for = self.places.place_in(use, root)
                if not stands_for.is_subset(use.elements):
                    self._wrong_element(use, stands_for.subtract(use.elements))
            if use.is_write and use.array != self.array.name and use.array in self.arguments:
                raise NotKnownError(f"{use.statement} writes {self.array.name} to {use.array}")
        moved = {use.array for use in (*self.reads, *self.writes) if use.is_moved}
        for array in moved:
            users = [use for use in self.places.uses if use.array == array]
            for one, other in combinations([*users, *users], 2):
                if one.is_write or other.is_write:
                    self._check_same_elements(one, other)
        self._check_instances()

    def _check_relaxed(self) -> None:
        """All steps of a reduction that run in another order do so in one place."""
        if not self.is_relaxed:
            return
        for write, read in product(self.writes, self.reads):
            if write.array != read.array and self._is_step(write, read):
                raise NotKnownError(f"{write.origin} accumulates a copy, in another order")
        for one, other in combinations_with_replacement(self.writes, 2):
            is_moved = one.is_moved or other.is_moved
            if is_moved and self.kept.free_steps(one.origin, other.origin) is not None:
                steps = one.elements.apply_range(other.elements.reverse())
                if one.array == other.array:
                    steps = steps.subtract(one.place.apply_range(other.place.reverse()))
                if not steps.is_empty():
                    raise NotKnownError(
                        f"{one.origin} accumulates in another order, and in several places"
                    )

    def _is_step(self, write: Use, read: Use) -> bool:
        """Whether a statement stores and loads there what it accumulates."""
        found = self.kept.dependences.accumulations.get(write.origin)
        if found is None or write.statement != read.statement:
            return False
        accesses = self.program.statement(write.origin).accesses
        return (read.position, write.position) == tuple(
            accesses.index(each) for each in (found.load, found.store)
        )

    def _wrong_element(self, use: Use, wrong: isl.Map) -> None:
        message = (
            f"{use.statement} uses {use.array} for another element of {self.array.name} "
            "than the program does"
        )
        raise ViolatedError(Property.DATAFLOW, message, Witness.among(wrong.domain()))

    def _check_same_elements(self, one: Use, other: Use) -> None:
        same_place = one.place.apply_range(other.place.reverse())
        if one.element_array == other.element_array:
            same_place = same_place.subtract(one.elements.apply_range(other.elements.reverse()))
        if not same_place.is_empty():
            raise NotKnownError(f"elements of {self.array.name} share a place in {one.array}")

    def _check_instances(self) -> None:
        """What an instance reads after having written it itself is in one place."""
        for write, other in product(self.writes, (*self.reads, *self.writes)):
            if write.statement == other.statement and write.position < other.position:
                same = _same_instances(write.elements, other.elements)
                both = write.place.get_space() == other.place.get_space()
                if both:
                    same = same.subtract(_same_instances(write.place, other.place))
                if not same.is_empty():
                    raise NotKnownError(f"{write.statement} uses an element in two places")

    def _flow(self, write: Use, read: Use) -> isl.Map:
        """Writes and reads of the program, the writes being what the reads see."""
        exposed = read.elements
        for other in self.writes:
            if other.statement == read.statement and other.position < read.position:
                exposed = exposed.subtract(other.elements)
        same = write.elements.apply_range(exposed.reverse())
        flows = self._items(DependenceKind.FLOW, write.origin, read.origin)
        return _any(same, (same.intersect(item.relation) for item in flows))

    def _items(self, kind: DependenceKind, source: str, target: str) -> list[Dependence]:
        return [
            item
            for item in self.items
            if (item.kind, item.source, item.target) == (kind, source, target)
        ]

    def _check_conflicts(self, sources: Sequence[Use], *, in_place: bool) -> None:
        """No write overtakes what accesses the element before: one of `sources`."""
        for source, write in product(sources, self.writes):
            if in_place and not source.is_moved and not write.is_moved:
                continue
            same = source.elements.apply_range(write.elements.reverse())
            relation = self._before_writes[source.is_write]
            pairs = _any(same, (same.intersect(part) for part in _between(relation, same)))
            if self.is_relaxed:
                pairs = self.kept.without_free_steps(pairs, source.origin, write.origin)
            self._check_pairs(pairs, source, write, is_flow=False)

    @cached_property
    def _before_writes(self) -> dict[bool, isl.UnionMap]:
        """All accesses to an element with all writes after them: of reads, and of writes."""
        users = {use.origin for use in (*self.reads, *self.writes)}
        order = restrict(self.program.tree, users)
        assert order is not None, "the array has uses"
        accesses = {
            kind: union(
                self.program,
                (
                    access.relation.intersect_params(self.places.context)
                    for statement in self.program.statements
                    for access in statement.accesses
                    if access.array is self.array and access.kind is kind
                ),
            )
            for kind in AccessKind
        }
        writes = accesses[AccessKind.WRITE]
        return {
            kind is AccessKind.WRITE: last_accesses(order, source, writes, None)
            for kind, source in accesses.items()
        }

    def _check_pairs(self, pairs: isl.Map, source: Use, target: Use, *, is_flow: bool) -> None:
        """Checks pairs of accesses where they meet; a flow must be copied all the way."""
        line = self.places.line_of(target)
        for array in self.places.line_of(source):
            if pairs.is_empty():
                return
            if array not in line:
                continue
            place, other = self.places.place_in(source, array), self.places.place_in(target, array)
            here = pairs.intersect(place.apply_range(other.reverse()))
            pairs = pairs.subtract(here)
            if is_flow:
                lost = here.intersect_domain(self.places.reaching(source, array))
                lost = here.subtract(lost.intersect_range(self.places.reaching(target, array)))
                self._check_lost(lost, source, target)
            events = self.places.events_in(source, array), self.places.events_in(target, array)
            verb = "sees" if is_flow else "does not overtake"
            message = f"it is not so that {target.statement} {verb} what {source.statement} does"
            _in_order(here, *events, f"{message} to {self.array.name}")
        if is_flow:
            self._check_lost(pairs, source, target)

    def _check_lost(self, lost: isl.Map, source: Use, target: Use) -> None:
        if not lost.is_empty():
            flows = self._items(DependenceKind.FLOW, source.origin, target.origin)
            if any(item.memory_based for item in flows):
                # Something may be written in between, which none of these reads.
                raise NotKnownError(f"which writes to {self.array.name} are the last is not known")
            message = (
                f"what {source.statement} writes to {self.array.name} does not get to where "
                f"{target.statement} reads it"
            )
            raise ViolatedError(Property.DATAFLOW, message, Witness.between(lost))

    def _check_initial(self, read: Use) -> None:
        """What is in an argument at the beginning gets to where it is read."""
        if not read.is_moved:
            return
        initial = read.elements.domain()
        for write in self.writes:
            initial = initial.subtract(self._flow(write, read).range())
            if write.statement == read.statement and write.position < read.position:
                initial = initial.subtract(_same_instances(write.elements, read.elements))
        if self.places.line_of(read)[-1] == self.array.name:
            initial = initial.subtract(self.places.reaching(read, self.array.name))
        if not initial.is_empty():
            message = f"{read.statement} reads {read.array}, where {self.array.name} is not copied"
            raise ViolatedError(Property.DATAFLOW, message, Witness.among(initial))

    def _check_final(self, write: Use) -> None:
        """What the program writes last to an element gets to the array."""
        if not write.is_moved:
            return
        last = write.elements.domain()
        for later in self.writes:
            same = write.elements.apply_range(later.elements.reverse())
            for item in self._items(DependenceKind.OUTPUT, write.origin, later.origin):
                last = last.subtract(same.intersect(item.relation).domain())
            if write.statement == later.statement and write.position < later.position:
                last = last.subtract(_same_instances(write.elements, later.elements))
        if self.places.line_of(write)[-1] == self.array.name:
            last = last.subtract(self.places.reaching(write, self.array.name))
        if not last.is_empty():
            message = f"what {write.statement} writes last to {self.array.name} is not copied there"
            raise ViolatedError(Property.DATAFLOW, message, Witness.among(last))


def _same_instances(one: isl.Map, other: isl.Map) -> isl.Set:
    """The instances at which two accesses, of one array, are to the same element."""
    return one.intersect(other).domain()


def _any(space: isl.Map, parts: Iterable[isl.Map]) -> isl.Map:
    return reduce(isl.Map.union, parts, isl.Map.empty(space.get_space()))


def _between(relation: isl.UnionMap, pairs: isl.Map) -> list[isl.Map]:
    """The part of a relation between the statements of `pairs`."""
    names = pairs.get_tuple_name(_IN), pairs.get_tuple_name(_OUT)
    maps = relation.get_map_list()
    parts = (maps.get_at(k) for k in range(maps.n_map()))
    return [p for p in parts if (p.get_tuple_name(_IN), p.get_tuple_name(_OUT)) == names]
