"""Values that statements in different loops hand each other in registers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from math import ceil, prod

from ..polyhedral.schedule_tree import Loop, leaves
from ..polyhedral.scop import Access, AccessKind
from .program_statistics import StatementStatistics
from .scheduled_program import ScheduledProgram, value_in_iterators


def handed_values(program: ScheduledProgram, nest: Loop) -> frozenset[tuple[str, Access]]:
    """The accesses of statements that are none in the code, as all that is handed on is there.

    Loads of what others have just loaded or stored, and stores to what others store to next:

    for j:                              for j:
      D[j] = 0                            s = 0
      for k: D[j] = D[j] + f(j, k)   ->   for k: s = s + f(j, k)
      E[j] = g(D[j])                      D[j] = s; E[j] = g(s)
    """
    found = list(_places(program, nest))
    handed: set[tuple[str, Access]] = set()
    first: dict[Hashable, str] = {}
    for name, access, place in found:
        if first.setdefault(place, name) != name and access.kind is AccessKind.READ:
            handed.add((name, access))
    last = {place: name for name, access, place in found if access.kind is AccessKind.WRITE}
    for name, access, place in found:
        if access.kind is AccessKind.WRITE and last[place] != name:
            handed.add((name, access))
    return frozenset(handed)


def _places(program: ScheduledProgram, nest: Loop) -> Iterator[tuple[str, Access, Hashable]]:
    """Where accesses stay while inner loops run: an element, or a tile that registers hold.

    Those of arguments that several statements access. Local arrays are often read in another order
    right away, which then waits for the stores.
    """
    members = [
        (statement, loops)
        for leaf, loops in leaves(nest, ())
        if (statement := program.statement(leaf.statement)).instances
    ]
    users = Counter(
        name
        for statement, _ in members
        for name in {a.array.name for a in statement.statement.accesses if not a.array.is_local}
    )
    for statement, loops in members:
        shared = [each for each in statement.statement.accesses if users[each.array.name] > 1]
        if not shared:
            continue
        name = statement.statement.name
        values = [value_in_iterators(loop, name) for loop in loops]
        for access in shared:
            place = _place(program, statement, access, loops, values)
            if place is not None:
                yield name, access, place


def _place(
    program: ScheduledProgram,
    statement: StatementStatistics,
    access: Access,
    loops: tuple[Loop, ...],
    values: list[str],
) -> Hashable | None:
    """What is the same for accesses that stay at the same place as often; None for large tiles."""
    trips = statement.trips(loops)
    moves = [
        count > 1
        and (
            (direction := statement.direction(loops, loop)) is None
            or statement.stride(access, direction, program.statistics) != 0
        )
        for loop, count in zip(loops, trips, strict=True)
    ]
    depth = max((k + 1 for k, loop in enumerate(loops) if moves[k] and loop.unroll != 0), default=0)
    tile = [k for k in range(depth, len(loops)) if moves[k]]
    registers = prod(ceil(trips[k] / (loops[k].vector or 1)) for k in tile)
    if any(loop.unroll != 0 for loop in loops[depth:]):
        # Copies of the loops around are jammed into it: their tiles are in registers together.
        copies = ((loops[k].unroll or 1, trips[k]) for k in range(depth) if moves[k])
        registers *= prod(ceil(min(unroll, count)) for unroll, count in copies)
    if registers > program.machine.vector_registers:
        return None
    known = (*range(depth), *tile)
    return (
        access.array.name,
        tuple(map(str, access.map.results)),
        tuple(map(id, loops[:depth])),
        tuple(values[k] for k in known),
        round(prod(trips[k] for k in known)),
    )
