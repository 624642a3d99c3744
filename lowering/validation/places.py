"""Locations of the program's accesses in generated code: in place, or in buffers.

A buffer stands for a part of an array, or of another buffer: copies in and out connect their
elements. So the arrays form trees; an array that no copies connect with the program's is a tree of
its own.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import islpy as isl

from ...passes.polyhedral.isl_context import coalesced
from ...passes.polyhedral.scop import Scop
from .correspondence import Copy, Correspondence
from .order import Event
from .reading import CallSite
from .uses import Use, events_of
from .verdict import NotKnownError


@dataclass(frozen=True, eq=False)
class Transfer:
    """The instances of a copy between a buffer and the array that it copies.

    `inside` is the element of the buffer, `outside` the other one, as functions of the instances.
    """

    statement: str
    inside: isl.Map
    outside: isl.Map
    events: tuple[Event, ...]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A copy of elements of a buffer into a relay: what is copied on from there is in the buffer.

    `relayed` has the pairs of its instances and those of `reader`, the copy that reads them.
    """

    statement: str
    outside: isl.Map
    events: tuple[Event, ...]
    reader: Transfer
    relayed: isl.Map


@dataclass(frozen=True, eq=False)
class Copies:
    """The copies into or out of a buffer, all of them between it and `parent`."""

    parent: str
    transfers: tuple[Transfer, ...]

    @cached_property
    def upwards(self) -> isl.Map:
        """The element of the parent that each element of the buffer is copied from or to."""
        parts = (t.inside.reverse().apply_range(t.outside) for t in self.transfers)
        result = coalesced(reduce(isl.Map.union, parts))
        if not result.is_single_valued():
            raise NotKnownError(f"an element of a buffer stands for several of {self.parent}")
        return result


@dataclass
class Buffer:
    """A buffer, and its copy-in and copy-out statements, if any."""

    name: str
    into: Copies | None = None
    out: Copies | None = None

    def copies(self, *, out: bool) -> Copies | None:
        """The copies out, or those in."""
        return self.out if out else self.into

    def transfers(self, *, out: bool) -> tuple[Transfer, ...]:
        """The copies out, or those in, one by one."""
        copies = self.copies(out=out)
        return () if copies is None else copies.transfers


class Places:
    """All uses of the program's arrays, and their buffers; raises NotKnownError."""

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
        self.originals = {array.name for array in program.arrays}
        self.buffers: dict[str, Buffer] = {}
        self.snapshots: dict[str, list[Snapshot]] = {}
        self._find_buffers(correspondence)

    def line(self, array: str, *, out: bool) -> tuple[str, ...]:
        """The array, what it is copied out to or in from, what that is, and so on."""
        result = [array]
        while (buffer := self.buffers.get(result[-1])) is not None:
            copies = buffer.copies(out=out)
            if copies is None:
                break
            result.append(copies.parent)
        return tuple(result)

    def line_of(self, use: Use) -> tuple[str, ...]:
        """The arrays between which what a use reads or writes is copied, from its own on."""
        return self.line(use.array, out=use.is_write)

    def place_in(self, use: Use, array: str) -> isl.Map:
        """The element of `array`, in the line of the use, that the use's place stands for."""
        result = use.place
        for name in self.line_of(use):
            if name == array:
                break
            copies = self.buffers[name].copies(out=use.is_write)
            assert copies is not None, "the line goes on"
            result = result.apply_range(copies.upwards)
        return result

    def events_in(self, use: Use, array: str) -> tuple[Event, ...]:
        """What makes the access in `array`: the use itself, or copies."""
        if use.array == array:
            return use.events
        line = self.line_of(use)
        buffer = self.buffers[line[line.index(array) - 1]]
        users = self.place_in(use, buffer.name).reverse()
        return tuple(
            Event(event.site, event.instances.apply_range(transfer.inside).apply_range(users))
            for transfer in buffer.transfers(out=use.is_write)
            for event in transfer.events
        )

    def reaching(self, use: Use, array: str) -> isl.Set:
        """The instances whose values are copied all the way between their place and `array`."""
        result = use.place.domain()
        for name in self.line_of(use):
            if name == array:
                break
            transfers = self.buffers[name].transfers(out=use.is_write)
            copied = reduce(isl.Set.union, (transfer.inside.range() for transfer in transfers))
            result = result.intersect(self.place_in(use, name).intersect_range(copied).domain())
        return result

    def _find_buffers(self, correspondence: Correspondence) -> None:
        pending = [
            self._past_relay(each, correspondence) for each in correspondence.copies.values()
        ]
        while pending:
            known = self.originals | self.buffers.keys()
            copy = min(pending, key=lambda each: _distance(each, known))
            if _distance(copy, known) == _UNKNOWN:
                raise NotKnownError(f"{copy.statement} copies between unknown arrays")
            pending.remove(copy)
            source, target = copy.source, copy.target
            is_in = self._is_in(source, target, known)
            name, parent = (target, source) if is_in else (source, target)
            buffer = self.buffers.setdefault(name, Buffer(name))
            copies = buffer.copies(out=not is_in) or Copies(parent, ())
            if copies.parent != parent or name in self.line(parent, out=not is_in):
                raise NotKnownError(f"{copy.statement} copies between {source} and {target}")
            copies = Copies(parent, (*copies.transfers, copy.transfer(is_in)))
            if is_in:
                buffer.into = copies
            else:
                buffer.out = copies
        if not self.originals.isdisjoint(self.buffers):
            raise NotKnownError("an array of the program stands for another one")

    def _is_in(self, source: str, target: str, known: Container[str]) -> bool:
        """Whether a copy is one into the buffer `target`, and not out of the buffer `source`."""
        if source not in known or target not in known:
            return source in known
        for out in (False, True):
            if target in self.line(source, out=out):
                return False
        return source in self.line(target, out=True) or target not in self.originals

    def _ends(self, copy: Copy) -> _Ends:
        name = copy.statement.name
        read, written = (
            access.relation.intersect_params(self.context) for access in (copy.source, copy.target)
        )
        return _Ends(name, read, written, events_of(self.sites[name], name))

    def _past_relay(self, copy: Copy, correspondence: Correspondence) -> _Ends:
        """A copy to the program's arrays out of the buffer itself where a relay is in between.

        That is a packed copy of a buffer which no statement of the program writes.
        """
        own = self._ends(copy)
        feeding = [
            each
            for each in correspondence.copies.values()
            if each.target.array is copy.source.array
        ]
        sources = {each.source.array.name for each in feeding}
        is_written = any(use.is_write and use.array == own.source for use in self.uses)
        if (
            own.target not in self.originals
            or is_written
            or len(sources) != 1
            or not sources.isdisjoint(self.originals)
            or any(each.factors for each in (copy, *feeding))
        ):
            return own
        ends = [self._ends(each) for each in feeding]
        upwards = reduce(
            isl.Map.union, (each.written.reverse().apply_range(each.read) for each in ends)
        )
        if not upwards.is_single_valued() or not own.read.range().is_subset(upwards.domain()):
            return own
        reader = own.transfer(is_in=False)
        self.snapshots.setdefault(sources.pop(), []).extend(
            Snapshot(
                each.statement,
                each.read,
                each.events,
                reader,
                each.written.apply_range(own.read.reverse()),
            )
            for each in ends
        )
        return _Ends(own.statement, own.read.apply_range(upwards), own.written, own.events)


@dataclass(frozen=True, eq=False)
class _Ends:
    """A copy: the elements that its instances read and write."""

    statement: str
    read: isl.Map
    written: isl.Map
    events: tuple[Event, ...]

    @property
    def source(self) -> str:
        return self.read.get_tuple_name(isl.dim_type.out) or ""

    @property
    def target(self) -> str:
        return self.written.get_tuple_name(isl.dim_type.out) or ""

    def transfer(self, is_in: bool) -> Transfer:
        """The copy as one into a buffer, or out of one."""
        inside, outside = (self.written, self.read) if is_in else (self.read, self.written)
        return Transfer(self.statement, inside, outside, self.events)


_UNKNOWN = 3


def _distance(copy: _Ends, known: Container[str]) -> int:
    """In which turn a copy shows what its buffer stands for: first, copies into new ones."""
    ends = copy.source in known, copy.target in known
    return {(True, False): 0, (True, True): 1, (False, True): 2}.get(ends, _UNKNOWN)
