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

from ...passes.polyhedral.scop import Scop
from .correspondence import Copy, Correspondence
from .order import Event
from .reading import CallSite
from .uses import Use, events_of
from .verdict import NotKnownError


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
        uses: Sequence[Use],
        correspondence: Correspondence,
        sites: Mapping[str, Sequence[CallSite]],
        context: isl.Set,
    ) -> None:
        self.context = context
        self.sites = sites
        self.uses = uses
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


def _ends(copy: Copy) -> set[str]:
    return {copy.source.array.name, copy.target.array.name}
