"""Loops around a statement of which one runs in lanes."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from ..machine.target import Target
from ..polyhedral.schedule_tree import Loop, place_of
from ..polyhedral.scop import Statement
from .program_statistics import StatementStatistics, bytes_of


@dataclass(frozen=True)
class LoopsAround:
    """Surrounding loops, average trip counts, the vector loop, and instances per vector."""

    loops: tuple[Loop, ...]
    trips: tuple[float, ...]
    vector: Loop | None
    lanes: float


def masked_share(around: LoopsAround) -> float:
    """The share of vectors of which only some lanes count: the last one, where it is not full.

    Where whole tiles are whole vectors, that is the last one of the last tile. A power of two is a
    shorter vector; a trip count that is whole on average is taken to be always the same.
    """
    counts = {loop.name: count for loop, count in zip(around.loops, around.trips, strict=True)}
    for loop, count in zip(around.loops, around.trips, strict=True):
        if loop is around.vector and loop.vector is not None:
            if loop.within is not None and loop.within.size % loop.vector == 0:
                count *= counts.get(loop.within.tile, 1.0)
            rest = float(count % loop.vector)
            if rest.is_integer() and int(rest).bit_count() == 1:
                return 0.0
            return (rest > 0) / ceil(count / loop.vector)
    return 0.0


def unlike_masks(around: LoopsAround) -> float:
    """The share of vectors under masks that differ: the last ones, where trip counts differ."""
    for loop, count in zip(around.loops, around.trips, strict=True):
        if loop is around.vector and loop.vector is not None and not float(count).is_integer():
            return 1 / max(1.0, count / loop.vector + 0.5)
    return 0.0


def has_guarded_copies(statement: StatementStatistics, around: LoopsAround) -> bool:
    """Whether LLVM masks copies of an unrolled loop, which it does not load together then.

    It may store them together, where another statement stores to the same places elsewhere.
    """
    vector = around.vector
    assert vector is not None
    inside = around.loops[place_of(vector, around.loops) + 1 :]
    iterators = {k for loop in inside for k, slope in enumerate(statement.slopes(loop)) if slope}
    return vector.vector is None and any(statement.limits.get(k) for k in iterators)


def has_conditions(statement: StatementStatistics, outer: tuple[Loop, ...], vector: Loop) -> bool:
    """Whether lanes run different iterations of the loops inside."""
    place = outer.index(vector)
    own, inside = (
        {k for each in part for k, slope in enumerate(statement.slopes(each)) if slope}
        for part in (outer[place : place + 1], outer[place + 1 :])
    )
    limits = statement.limits
    return any(limits.get(k, frozenset()) & inside for k in own) or any(
        limits.get(k, frozenset()) & own for k in inside
    )


def has_masks(statement: Statement, target: Target) -> bool:
    """Whether a target has masks for all that a statement accesses."""
    return all(
        target.has_masked_loads(bytes_of(access.array.element_type))
        for access in statement.accesses
    )
