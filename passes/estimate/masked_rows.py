"""Loads of elements right behind a row of vectors of which the last one was stored under a mask.

What was stored under a mask is loaded late, when it is in the cache:

    for i: (for j <= i, vector: S[i][j] = ...); s[i] = sqrt(S[i][i])
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import islpy as isl

from ..polyhedral.counting import fix_parameters
from ..polyhedral.schedule_tree import Loop, leaves
from ..polyhedral.scop import Access, AccessKind
from .loops_around import LoopsAround, masked_share
from .program_statistics import StatementStatistics
from .scheduled_program import ScheduledProgram


def behind_masked_rows(program: ScheduledProgram, nest: Loop) -> frozenset[tuple[str, Access]]:
    """The loads of a nest's statements that wait for a masked vector, stored just before."""
    members = [
        (statement, loops)
        for leaf, loops in leaves(nest, ())
        if (statement := program.statement(leaf.statement)).instances
    ]
    found: set[tuple[str, Access]] = set()
    for number, (reader, around) in enumerate(members):
        for writer, loops in members[:number]:
            if [*map(id, loops[:-1])] == [*map(id, around)] and _ends_masked(writer, loops):
                found |= {
                    (reader.statement.name, read)
                    for write in writer.statement.writes
                    for read in reader.statement.accesses
                    if read.kind is AccessKind.READ and read.array == write.array
                    if _is_of_last_vector(program, (write, writer), (read, reader), loops)
                }
    return frozenset(found)


def _ends_masked(writer: StatementStatistics, loops: tuple[Loop, ...]) -> bool:
    """Whether the last vector of the innermost loop is masked."""
    vector = loops[-1]
    if vector.vector is None:
        return False
    around = LoopsAround(loops, writer.trips(loops), vector, float(vector.vector))
    return masked_share(around) > 0


def _is_of_last_vector(
    program: ScheduledProgram,
    stored: tuple[Access, StatementStatistics],
    loaded: tuple[Access, StatementStatistics],
    loops: tuple[Loop, ...],
) -> bool:
    """Whether a load, in the loops around the vector loop, is of an element that it stores last."""
    *around, vector = loops
    write, writer = stored
    read, reader = loaded
    domain, name = write.relation.domain(), writer.statement.name
    lanes = isl.Map.from_aff(vector.schedule[name]).intersect_domain(domain)
    rows = _values(around, name).intersect_domain(domain)
    cells = rows.flat_range_product(write.relation)
    wanted = _values(around, reader.statement.name).flat_range_product(read.relation).range()
    places = cells.intersect_range(wanted).reverse().apply_range(lanes)
    places = places.project_out(isl.dim_type.in_, len(around), len(write.array.shape))
    sizes = program.context.sizes
    last = fix_parameters(rows.reverse().apply_range(lanes), sizes).lexmax()
    behind = isl.Map(f"{{ [v] -> [w] : v - {vector.vector} < w <= v }}")
    return not fix_parameters(places, sizes).is_disjoint(last.apply_range(behind))


def _values(loops: Sequence[Loop], name: str) -> isl.Map:
    functions = [isl.Map.from_aff(loop.schedule[name]) for loop in loops]
    return reduce(isl.Map.flat_range_product, functions)
