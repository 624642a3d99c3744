"""Where generated statements access the arrays of the program: in place, or in buffers.

A buffer stands for a part of an array, or of another buffer: copies in and out connect their
elements. So the arrays form trees; an array that no copies connect with the program's is a tree of
its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import islpy as isl

from ...passes.polyhedral.scop import Access, AccessKind, Scop
from .correspondence import Copy, Correspondence
from .order import Event
from .reading import CallSite
from .verdict import NotKnownError

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True, eq=False)
class Use:
    """An access of the program, as a generated statement makes it.

    It is access number `position` of `statement`, a part of statement `origin` of the program.
    `elements` is what the program accesses, `{ S0[i, j] -> A[x] }`, and `place` where the generated
    statement does, in `array`: `{ S0[i, j] -> A_packed[p] }`.
    """

    statement: str
    origin: str
    position: int
    is_write: bool
    array: str
    elements: isl.Map
    place: isl.Map
    is_moved: bool
    events: tuple[Event, ...]

    @property
    def element_array(self) -> str:
        """The array of the program."""
        return self.elements.get_tuple_name(_OUT) or ""


@dataclass(frozen=True, eq=False)
class Transfer:
    """The instances of a copy between a buffer and what that stands for.

    `inside` is the element of the buffer, `outside` the other one, as functions of the instances.
    """

    statement: str
    inside: isl.Map
    outside: isl.Map
    events: tuple[Event, ...]


@dataclass(frozen=True, eq=False)
class Buffer:
    """A buffer, what it stands for, and the copies into and out of it."""

    name: str
    parent: str
    copies_in: tuple[Transfer, ...]
    copies_out: tuple[Transfer, ...]

    @cached_property
    def upwards(self) -> isl.Map:
        """The element that an element of the buffer stands for, where any is copied."""
        parts = [
            transfer.inside.reverse().apply_range(transfer.outside)
            for transfer in (*self.copies_in, *self.copies_out)
        ]
        result = reduce(isl.Map.union, parts).coalesce()
        if not result.is_single_valued():
            raise NotKnownError(f"an element of {self.name} stands for several of {self.parent}")
        return result

    def copies(self, *, out: bool) -> tuple[Transfer, ...]:
        """The copies out, or those in."""
        return self.copies_out if out else self.copies_in


class Places:
    """All uses of the program's arrays, and the buffers that they are made in; NotKnownError."""

    def __init__(
        self,
        program: Scop,
        scop: Scop,
        correspondence: Correspondence,
        sites: Mapping[str, Sequence[CallSite]],
        context: isl.Set,
    ) -> None:
        self.context = context
        self.sites = sites
        self.uses = [
            self._use(statement.name, correspondence, position, own)
            for statement in scop.statements
            if statement.name in correspondence.origins
            for position, own in enumerate(statement.accesses)
        ]
        self.buffers = self._buffers(program, correspondence)

    def line(self, array: str) -> tuple[str, ...]:
        """The array, what it stands for, what that stands for, and so on."""
        result = [array]
        while result[-1] in self.buffers:
            result.append(self.buffers[result[-1]].parent)
        return tuple(result)

    def place_in(self, use: Use, array: str) -> isl.Map:
        """The element of `array`, in the line of its own, that the use's place stands for."""
        result = use.place
        for name in self.line(use.array):
            if name == array:
                break
            result = result.apply_range(self.buffers[name].upwards)
        return result

    def events_in(self, use: Use, array: str) -> tuple[Event, ...]:
        """What makes the access in `array`: the use itself, or copies."""
        if use.array == array:
            return use.events
        line = self.line(use.array)
        buffer = self.buffers[line[line.index(array) - 1]]
        users = self.place_in(use, buffer.name).reverse()
        return tuple(
            Event(event.site, event.instances.apply_range(transfer.inside).apply_range(users))
            for transfer in buffer.copies(out=use.is_write)
            for event in transfer.events
        )

    def reaching(self, use: Use, array: str) -> isl.Set:
        """The instances whose values are copied all the way between their place and `array`."""
        result = use.place.domain()
        for name in self.line(use.array):
            if name == array:
                break
            copies = self.buffers[name].copies(out=use.is_write)
            nothing = isl.Set.empty(self.place_in(use, name).range().get_space())
            copied = reduce(isl.Set.union, (t.inside.range() for t in copies), nothing)
            result = result.intersect(self.place_in(use, name).intersect_range(copied).domain())
        return result

    def _use(
        self, statement: str, correspondence: Correspondence, position: int, own: Access
    ) -> Use:
        origin = correspondence.origins[statement]
        other = origin.accesses[position]
        place = own.relation.intersect_params(self.context).set_tuple_name(_IN, origin.name)
        return Use(
            statement,
            origin.name,
            position,
            own.kind is AccessKind.WRITE,
            own.array.name,
            other.relation.intersect_domain(place.domain()),
            place,
            own.array.name != other.array.name or own.map.results != other.map.results,
            events_of(self.sites[statement], origin.name),
        )

    def _buffers(self, program: Scop, correspondence: Correspondence) -> dict[str, Buffer]:
        originals = {array.name for array in program.arrays}
        known = set(originals)
        pending = list(correspondence.copies.values())
        parents: dict[str, str] = {}
        into: dict[str, list[Transfer]] = {}
        out: dict[str, list[Transfer]] = {}
        while pending:
            copy = next((c for c in pending if not _ends(c).isdisjoint(known)), None)
            if copy is None:
                raise NotKnownError(f"{pending[0].statement.name} copies between unknown arrays")
            pending.remove(copy)
            source, target = copy.source.array.name, copy.target.array.name
            is_in = parents.get(target) == source or target not in known
            buffer, parent = (target, source) if is_in else (source, target)
            if parents.setdefault(buffer, parent) != parent or buffer in originals:
                raise NotKnownError(f"{copy.statement.name} copies between {source} and {target}")
            (into if is_in else out).setdefault(buffer, []).append(self._transfer(copy, is_in))
            known.add(buffer)
        return {
            name: Buffer(name, parent, tuple(into.get(name, ())), tuple(out.get(name, ())))
            for name, parent in parents.items()
        }

    def _transfer(self, copy: Copy, is_in: bool) -> Transfer:
        name = copy.statement.name
        ends = [
            access.relation.intersect_params(self.context) for access in (copy.target, copy.source)
        ]
        inside, outside = ends if is_in else reversed(ends)
        return Transfer(name, inside, outside, events_of(self.sites[name], name))


def events_of(sites: Sequence[CallSite], name: str) -> tuple[Event, ...]:
    """What call sites do for the instances of a statement of the program, which they run."""
    return tuple(Event(site, site.instances.set_tuple_name(_OUT, name)) for site in sites)


def _ends(copy: Copy) -> set[str]:
    return {copy.source.array.name, copy.target.array.name}
