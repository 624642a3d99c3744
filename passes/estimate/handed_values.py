"""Values that statements in different loops hand each other in registers."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from math import ceil, prod

from ..polyhedral.schedule_tree import Loop, leaves
from ..polyhedral.scop import Access, AccessKind
from .program_statistics import StatementStatistics
from .scheduled_program import ScheduledProgram


@dataclass(frozen=True)
class _Place:
    """The element, or register tile, that an access stays at while inner loops run."""

    statement: str
    access: Access
    key: Hashable
    times: float


def handed_values(program: ScheduledProgram, nest: Loop) -> frozenset[tuple[str, Access]]:
    """The accesses of statements that are none in the code, as all that is handed on is there.

    Loads of what others have just loaded or stored, and stores to what others store to next:

    for j:                              for j:
      D[j] = 0                            s = 0
      for k: D[j] = D[j] + f(j, k)   ->   for k: s = s + f(j, k)
      E[j] = g(D[j])                      D[j] = s; E[j] = g(s)
    """
    found = [place for place in _places(program, nest) if place.times]
    handed: set[tuple[str, Access]] = set()
    for kind, order in ((AccessKind.READ, found), (AccessKind.WRITE, found[::-1])):
        others: dict[Hashable, str] = {}
        for place in order:
            name = others.get(place.key)
            if place.access.kind is kind and name not in (None, place.statement):
                handed.add((place.statement, place.access))
            if place.access.kind is AccessKind.WRITE or kind is AccessKind.READ:
                others.setdefault(place.key, place.statement)
    return frozenset(handed)


def _places(program: ScheduledProgram, nest: Loop) -> Iterator[_Place]:
    """Those of arguments that several statements access, loads of a statement before its stores.

    Local arrays are often read in another order right away, which then waits for the stores.
    """
    members = [
        (program.statement(leaf.statement), loops)
        for leaf, loops in leaves(nest, ())
        if program.statement(leaf.statement).instances
    ]
    users: dict[str, int] = {}
    for statement, _ in members:
        for name in {access.array.name for access in statement.statement.accesses}:
            users[name] = users.get(name, 0) + 1
    for statement, loops in members:
        trips = statement.trips(loops)
        for access in sorted(statement.statement.accesses, key=_is_write):
            if users[access.array.name] > 1 and not access.array.is_local:
                yield _place(program, statement, access, loops, trips)


def _is_write(access: Access) -> bool:
    return access.kind is AccessKind.WRITE


def _place(
    program: ScheduledProgram,
    statement: StatementStatistics,
    access: Access,
    loops: tuple[Loop, ...],
    trips: tuple[float, ...],
) -> _Place:
    """Where an access is outside of the inner loops in which it does not move."""
    statistics = program.statistics
    moves = [
        count > 1
        and (
            (direction := statement.direction(loops, loop)) is None
            or statement.stride(access, direction, statistics) != 0
        )
        for loop, count in zip(loops, trips, strict=True)
    ]
    depth = max((k + 1 for k, loop in enumerate(loops) if moves[k] and loop.unroll != 0), default=0)
    tile = [k for k in range(depth, len(loops)) if moves[k]]
    registers = prod(ceil(trips[k] / (loops[k].vector or 1)) for k in tile)
    fits = registers <= program.machine.vector_registers
    name = statement.statement.name
    offsets = tuple(
        str(loops[k].schedule[name]).rpartition("->")[2] for k in (*range(depth), *tile)
    )
    subscripts = tuple(map(str, access.map.results))
    key = (tuple(map(id, loops[:depth])), offsets, access.array.name, subscripts)
    times = prod(trips[k] for k in (*range(depth), *tile))
    return _Place(name, access, (*key, round(times)), times if fits else 0.0)
