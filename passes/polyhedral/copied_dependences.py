"""Dependences after copy insertion, derived from those of the program before."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace

import islpy as isl

from .dependences import Dependence, DependenceKind, Dependences
from .isl_context import coalesced
from .reductions import find_accumulation
from .scop import AccessKind, Array, Scop, Statement

Copied = tuple[Statement, isl.Map, isl.Map]
"""A statement as it was, what a read of it read, and which instances copy that for it."""


def after_copies(
    old: Dependences, scop: Scop, copied: Sequence[Copied], array: Array, buffer: Array
) -> Dependences:
    """The dependences of `scop`, where reads of `array` use what was copied to `buffer` before.

    Nothing may write an element between its copy and its use, so that the copies are in the place
    of these reads: what they depended on, the copies depend on.
    """
    items = _after_copies(old, old.scop, scop, copied, array)
    conflicts = {
        name: tuple(_after_copies(through, old.scop, scop, copied, array))
        for name, through in old.conflicts.items()
    }
    for statement, _, copies in copied:
        target = copies.get_tuple_name(isl.dim_type.out)
        assert target is not None
        flow = copies.reverse()
        items.append(Dependence(DependenceKind.FLOW, target, statement.name, buffer.name, flow))
    accumulations = {
        statement.name: found
        for statement in scop.statements
        if (found := find_accumulation(statement)) is not None
    }
    return Dependences(scop, tuple(items), accumulations, conflicts)


def _after_copies(
    old: Iterable[Dependence], before: Scop, scop: Scop, copied: Sequence[Copied], array: Array
) -> list[Dependence]:
    items = list(_kept(old, scop, array, {statement.name for statement, _, _ in copied}))
    for statement, elements, copies in copied:
        items += _moved(old, before, statement, elements, copies, array)
    return items


def _kept(
    old: Iterable[Dependence], scop: Scop, array: Array, readers: Container[str]
) -> Iterator[Dependence]:
    """The dependences that other accesses of the array still cause."""
    for item in old:
        reader = _reader(item)
        if item.array != array.name or reader is None or reader not in readers:
            yield item
            continue
        reads = [
            access.relation
            for access in scop.statement(reader).reads
            if access.array.name == array.name
        ]
        pairs = [pairs_through(item, scop, elements) for elements in reads]
        for relation in _union(pairs):
            yield replace(item, relation=relation)


def _moved(
    old: Iterable[Dependence],
    before: Scop,
    statement: Statement,
    elements: isl.Map,
    copies: isl.Map,
    array: Array,
) -> Iterator[Dependence]:
    """The dependences of a read, as those of the instances that copy for it."""
    name = copies.get_tuple_name(isl.dim_type.out)
    assert name is not None
    for item in old:
        if item.array != array.name or _reader(item) != statement.name:
            continue
        relation = pairs_through(item, before, elements)
        if relation.is_empty():
            continue
        if item.kind is DependenceKind.FLOW:
            moved = coalesced(relation.apply_range(copies))
            yield replace(item, target=name, relation=moved, reduction=False)
        else:
            moved = coalesced(relation.apply_domain(copies))
            yield replace(item, source=name, relation=moved, reduction=False)


def _reader(item: Dependence) -> str | None:
    """The statement that reads, of a flow or anti dependence."""
    readers = {DependenceKind.FLOW: item.target, DependenceKind.ANTI: item.source}
    return readers.get(item.kind)


def pairs_through(item: Dependence, scop: Scop, elements: isl.Map) -> isl.Map:
    """The pairs of a flow or anti dependence that meet in what a read of the reader touches."""
    is_flow = item.kind is DependenceKind.FLOW
    writer = scop.statement(item.source if is_flow else item.target)
    pairs = [
        access.relation.apply_range(elements.reverse())
        for access in writer.accesses
        if access.kind is AccessKind.WRITE and access.array.name == item.array
    ]
    either = pairs[0]
    for other in pairs[1:]:
        either = either.union(other)
    return item.relation.intersect(either if is_flow else either.reverse())


def _union(relations: Sequence[isl.Map]) -> Iterator[isl.Map]:
    """All the pairs in one relation, if there are any."""
    if relations:
        result = relations[0]
        for other in relations[1:]:
            result = result.union(other)
        if not result.is_empty():
            yield coalesced(result)
