"""Exact dependences between statement instances."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, reduce
from typing import cast

import islpy as isl

from .conflicts import last_accesses
from .context import TooComplexError, bounded, bounded_for, is_exhausted
from .distance import distances
from .isl_schedule import to_isl
from .reductions import Accumulation, find_accumulation
from .schedule_tree import Sequence, Tree, restrict
from .scop import Access, AccessKind, Array, Scop

# What isl may spend on the last accesses to one array: about half a second, and eight times what
# any kernel of the catalogue needs.
ARRAY_OPERATIONS = 1_000_000


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
    when it only orders the steps of an accumulation (`Dependences.accumulations`).
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
    `accumulations` has the statements that are reductions, by name.
    """

    scop: Scop
    items: tuple[Dependence, ...]
    accumulations: Mapping[str, Accumulation]

    def __iter__(self) -> Iterator[Dependence]:
        return iter(self.items)

    @cached_property
    def relation(self) -> isl.UnionMap:
        """All of them in one relation."""
        return union(self.scop, (dependence.relation for dependence in self.items))

    def readable(self) -> str:
        """All of them as text, two lines each: kind, statements, array, distances; relation.

        flow   S1 -> S1  C  (0, 1, 0) reduction
               [N] -> { S1[i, k, j] -> S1[i' = i, k' = 1 + k, j' = j] : ... }
        """
        lines: list[str] = []
        for item in self.items:
            vector = distances(self.scop, item.source, item.target, item.relation)
            suffix = " reduction" if item.reduction else ""
            lines += [
                f"{item.kind.value:6} {item.source} -> {item.target}  {item.array}"
                f"  ({', '.join(map(str, vector))}){suffix}",
                f"       {item.relation}",
            ]
        return "\n".join(lines)

    @cached_property
    def input(self) -> tuple[Dependence, ...]:
        """From a read to the next reads of the same value, for reuse; they order nothing."""
        with bounded_for(self.scop.func, f"the reads of '@{self.scop.name}'"):
            return tuple(_inputs(self.scop))

    @cached_property
    def relaxed(self) -> tuple[Dependence, ...]:
        """What must be kept when the steps of every accumulation may run in any order.

        No subset of `items`: other accesses to an element must then stay before or after all steps
        of an accumulation in it, not only the first or last one.
        """
        with bounded_for(self.scop.func, f"the dependences of '@{self.scop.name}'"):
            return tuple(_relaxed(self))


def compute_dependences(
    scop: Scop, before: Dependences | None = None, *, reassociate: bool = False
) -> Dependences:
    """All flow, anti and output dependences, exact and symbolic in the parameters.

    `before` are those of a program of which `scop` is an edited version, in a legal order of it:
    they are kept for arrays whose accesses are the same ones. With `reassociate`, that order may
    have been legal only because steps of accumulations may change places. Raises SourceError where
    isl cannot find them in reasonable time.
    """
    with bounded_for(scop.func, f"the dependences of '@{scop.name}'"):
        return _compute(scop, {} if before is None else _kept(scop, before, reassociate))


def note_dependences(scop: Scop, array: Array, items: Iterable[Dependence]) -> None:
    """Says which dependences there are through an array, where they follow from others."""
    scop.memory["noted"] = {**_noted(scop), array.name: tuple(items)}


def _noted(scop: Scop) -> Mapping[str, tuple[Dependence, ...]]:
    return cast("Mapping[str, tuple[Dependence, ...]]", scop.memory.get("noted", {}))


def _kept(scop: Scop, before: Dependences, reassociate: bool) -> dict[str, tuple[Dependence, ...]]:
    """The dependences through arrays that an edit has not touched, by the arrays' names.

    A legal order keeps the order of all accesses to an element of which one is a write.
    """
    moved = {each.store.array.name for each in before.accumulations.values()}
    return {
        array.name: tuple(item for item in before if item.array == array.name)
        for array in scop.arrays
        if not (reassociate and array.name in moved)
        and any(array is other for other in before.scop.arrays)
        and _users(scop, array) == _users(before.scop, array)
    }


def _users(scop: Scop, array: Array) -> list[tuple[str, int, int]]:
    """The accesses to an array, as what tells objects apart, with their statements."""
    return [
        (statement.name, id(statement.domain), id(access))
        for statement in scop.statements
        for access in statement.accesses
        if access.array is array
    ]


def _compute(scop: Scop, kept: Mapping[str, Iterable[Dependence]]) -> Dependences:
    accumulations = {
        statement.name: accumulation
        for statement in scop.statements
        if (accumulation := find_accumulation(statement)) is not None
    }
    known = {**_noted(scop), **kept}
    items: list[Dependence] = []
    for array in scop.arrays:
        through = known.get(array.name)
        items += _conflicts(scop, array, accumulations) if through is None else through
    return Dependences(scop, tuple(items), accumulations)


def _inputs(scop: Scop) -> Iterator[Dependence]:
    for array in scop.arrays:
        reads = _accesses(scop, array, AccessKind.READ)
        writes = _accesses(scop, array, AccessKind.WRITE)
        order = _order_of_users(scop, array)
        relation = _flow(scop, order, sink=reads, may_source=reads, kill=writes)
        yield from _dependences(scop, DependenceKind.INPUT, array, relation)


def _relaxed(dependences: Dependences) -> Iterator[Dependence]:
    scop, accumulations = dependences.scop, dependences.accumulations
    relaxed = {accumulation.store.array.name for accumulation in accumulations.values()}
    for dependence in dependences:
        if dependence.array not in relaxed:
            yield dependence
    for array in scop.arrays:
        if array.name in relaxed:
            conflicts = _of_array(scop, array, last_only=False)
            for part in _split_reductions(conflicts, accumulations):
                if not part.reduction:
                    yield part


def _order_of_users(scop: Scop, array: Array) -> Tree:
    """The original order of the statements that access an array; the others only cost time."""
    users = {
        statement.name
        for statement in scop.statements
        if any(access.array is array for access in statement.accesses)
    }
    return restrict(scop.tree, users) or Sequence(())


def _conflicts(
    scop: Scop, array: Array, accumulations: Mapping[str, Accumulation]
) -> list[Dependence]:
    """Dependences from the last access before; from all of them where those are too complex.

    The two order the same pairs of instances.
    """
    for last_only in (True, False):
        with suppress(TooComplexError), bounded(ARRAY_OPERATIONS):
            found = _of_array(scop, array, last_only=last_only)
            return list(_split_reductions(found, accumulations))
    return list(_split_reductions(_of_array(scop, array, last_only=True), accumulations))


def _of_array(scop: Scop, array: Array, *, last_only: bool) -> Iterator[Dependence]:
    """Dependences through an array: from the last access before, or from all accesses before."""
    writes = _accesses(scop, array, AccessKind.WRITE)
    if writes.is_empty():
        return
    reads = _accesses(scop, array, AccessKind.READ)
    visible_reads = _reads_from_outside(scop, array)
    order = _order_of_users(scop, array)
    flows = (
        (DependenceKind.FLOW, visible_reads, writes),
        (DependenceKind.ANTI, writes, reads),
        (DependenceKind.OUTPUT, writes, writes),
    )
    for kind, sink, source in flows:
        if not last_only:
            relation = last_accesses(order, source, sink, None)
        elif kind is DependenceKind.ANTI:
            relation = _flow(scop, order, sink=sink, may_source=source, kill=writes)
        else:
            relation = _flow(scop, order, sink=sink, must_source=source)
        yield from _dependences(scop, kind, array, relation)


def _flow(
    scop: Scop,
    order: Tree,
    *,
    sink: isl.UnionMap,
    must_source: isl.UnionMap | None = None,
    may_source: isl.UnionMap | None = None,
    kill: isl.UnionMap | None = None,
) -> isl.UnionMap:
    source = must_source if must_source is not None else may_source
    assert source is not None, "a dependence has a source"
    info = isl.UnionAccessInfo.from_sink(sink).set_schedule(to_isl(order, scop))
    if must_source is not None:
        info = info.set_must_source(must_source)
    if may_source is not None:
        info = info.set_may_source(may_source)
    if kill is not None:
        info = info.set_kill(kill)
    try:
        return info.compute_flow().get_may_dependence()
    except isl.Error:
        # It fails on some integer divisions, with plenty of operations left.
        if is_exhausted():
            raise
        return last_accesses(order, source, sink, must_source if kill is None else kill)


def _dependences(
    scop: Scop, kind: DependenceKind, array: Array, relation: isl.UnionMap
) -> list[Dependence]:
    """One dependence per pair of statements, in textual order."""
    found: list[Dependence] = []
    parts = relation.get_map_list()
    for number in range(parts.n_map()):
        part = parts.get_at(number)
        source = part.get_tuple_name(isl.dim_type.in_)
        target = part.get_tuple_name(isl.dim_type.out)
        assert source is not None and target is not None
        found.append(Dependence(kind, source, target, array.name, part.coalesce()))
    order = {statement.name: number for number, statement in enumerate(scop.statements)}
    return sorted(found, key=lambda d: (order[d.source], order[d.target]))


def _split_reductions(
    dependences: Iterable[Dependence], accumulations: Mapping[str, Accumulation]
) -> Iterator[Dependence]:
    """Separates the pairs of instances that accumulate in the same element from the others."""
    for dependence in dependences:
        accumulation = accumulations.get(dependence.source)
        if (
            accumulation is None
            or dependence.source != dependence.target
            or accumulation.store.array.name != dependence.array
        ):
            yield dependence
            continue
        steps = dependence.relation.intersect(accumulation.pairs)
        others = dependence.relation.subtract(steps)
        for relation, reduction in ((steps, True), (others, False)):
            if not relation.is_empty():
                yield Dependence(
                    dependence.kind,
                    dependence.source,
                    dependence.target,
                    dependence.array,
                    relation.coalesce(),
                    reduction,
                )


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


def _reads_from_outside(scop: Scop, array: Array) -> isl.UnionMap:
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
                result.append(reduce(_without, written, access.relation))
    return union(scop, result)


def _without(relation: isl.Map, access: Access) -> isl.Map:
    return relation.subtract(access.relation)


def union(scop: Scop, maps: Iterable[isl.Map]) -> isl.UnionMap:
    """The union of maps, in the Scop's parameter space."""
    result = isl.UnionMap.empty(scop.context.get_space())
    for part in maps:
        result = result.union(isl.UnionMap.from_map(part))
    return result
