"""Exact dependences between statement instances."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, reduce

import islpy as isl

from ..isl_schedule import to_isl
from .scop import Access, AccessKind, Array, Scop


class DependenceKind(Enum):
    """What the earlier and the later access do."""

    FLOW = "flow"
    ANTI = "anti"
    OUTPUT = "output"
    INPUT = "input"


@dataclass(frozen=True, eq=False)
class Dependence:
    """Instances of `target` that must stay after instances of `source`, through `array`.

    `relation` is `[params] -> { source[...] -> target[...] }`, in program order. `reduction` is set
    when it only orders the steps of an associative accumulation.
    """

    kind: DependenceKind
    source: str
    target: str
    array: str
    relation: isl.Map
    reduction: bool = False


@dataclass(frozen=True, eq=False)
class Dependences:
    """The dependences of a Scop.

    `items` has flow dependences (from the last write to a read), anti dependences (from a read to
    the next write) and output dependences (from a write to the next one). Chains of them order all
    pairs of instances that access the same element, at least one of which writes.
    """

    scop: Scop
    items: tuple[Dependence, ...]

    def __iter__(self) -> Iterator[Dependence]:
        return iter(self.items)

    @cached_property
    def relation(self) -> isl.UnionMap:
        """All of them in one relation."""
        return union(self.scop, (dependence.relation for dependence in self.items))

    @cached_property
    def input(self) -> tuple[Dependence, ...]:
        """Pairs of instances that read the same element, for reuse; they order nothing."""
        schedule = to_isl(self.scop.tree, self.scop)
        return tuple(
            Dependence(DependenceKind.INPUT, source, target, array.name, relation)
            for array in self.scop.arrays
            for source, target, relation in _parts(
                _flow(
                    schedule,
                    sink=_accesses(self.scop, array, AccessKind.READ),
                    may_source=_accesses(self.scop, array, AccessKind.READ),
                    kill=_accesses(self.scop, array, AccessKind.WRITE),
                )
            )
        )


def compute_dependences(scop: Scop) -> Dependences:
    """All flow, anti and output dependences, exact and symbolic in the parameters."""
    schedule = to_isl(scop.tree, scop)
    return Dependences(
        scop,
        tuple(
            dependence for array in scop.arrays for dependence in _of_array(scop, schedule, array)
        ),
    )


def _of_array(scop: Scop, schedule: isl.Schedule, array: Array) -> Iterator[Dependence]:
    writes = _accesses(scop, array, AccessKind.WRITE)
    if writes.is_empty():
        return
    reads = _accesses(scop, array, AccessKind.READ)
    flows = {
        DependenceKind.FLOW: _flow(schedule, sink=_outside_reads(scop, array), must_source=writes),
        DependenceKind.ANTI: _flow(schedule, sink=writes, may_source=reads, kill=writes),
        DependenceKind.OUTPUT: _flow(schedule, sink=writes, must_source=writes),
    }
    for kind, relation in flows.items():
        for source, target, part in _parts(relation):
            yield Dependence(kind, source, target, array.name, part)


def _flow(
    schedule: isl.Schedule,
    sink: isl.UnionMap,
    must_source: isl.UnionMap | None = None,
    may_source: isl.UnionMap | None = None,
    kill: isl.UnionMap | None = None,
) -> isl.UnionMap:
    info = isl.UnionAccessInfo.from_sink(sink).set_schedule(schedule)
    if must_source is not None:
        info = info.set_must_source(must_source)
    if may_source is not None:
        info = info.set_may_source(may_source)
    if kill is not None:
        info = info.set_kill(kill)
    return info.compute_flow().get_may_dependence()


def _parts(relation: isl.UnionMap) -> list[tuple[str, str, isl.Map]]:
    parts: list[tuple[str, str, isl.Map]] = []

    def add(part: isl.Map) -> None:
        source = part.get_tuple_name(isl.dim_type.in_)
        target = part.get_tuple_name(isl.dim_type.out)
        assert source is not None and target is not None
        parts.append((source, target, part.coalesce()))

    relation.foreach_map(add)
    return sorted(parts, key=lambda part: part[:2])


def _accesses(scop: Scop, array: Array, kind: AccessKind) -> isl.UnionMap:
    return union(
        scop,
        (
            access.relation
            for statement in scop.statements
            for access in statement.accesses
            if access.array is array and access.kind is kind
        ),
    )


def _outside_reads(scop: Scop, array: Array) -> isl.UnionMap:
    """The reads of an array without those that see a write of the same instance."""
    result: list[isl.Map] = []
    for statement in scop.statements:
        written: list[Access] = []
        for access in statement.accesses:
            if access.array is not array:
                continue
            if access.kind is AccessKind.WRITE:
                written.append(access)
            else:
                result.append(
                    reduce(
                        lambda left, write: left.subtract(write.relation), written, access.relation
                    )
                )
    return union(scop, result)


def union(scop: Scop, maps: Iterable[isl.Map]) -> isl.UnionMap:
    """The union of maps, in the Scop's parameter space."""
    result = isl.UnionMap.empty(scop.context.get_space())
    for part in maps:
        result = result.union(isl.UnionMap.from_map(part))
    return result
