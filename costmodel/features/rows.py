"""Row sections that depend on the other statements of the nest."""

from __future__ import annotations

from collections.abc import Sequence

from ...passes.machine.target_files import reference_machine
from .nests import NestedStatement
from .sections import LEVELS, Control, Level, LoopCounts, Memory, Surroundings

_CACHE_LINE = reference_machine().cache_line
_KILOBYTES = Level._fields.index("kilobytes")


def control(item: NestedStatement, counts: LoopCounts, statements: int) -> Control:
    """The section `Control`; `statements` are those of the nest."""
    place = item.place
    in_step = 1.0
    share = 1.0
    siblings = item.siblings
    overwritten = False
    for other, common, is_later in siblings:
        in_step *= place.ranges[:common] == other.ranges[:common]
        share = min(share, (1 + place.profile.instances) / (1 + other.profile.instances))
        directly_after = is_later and len(other.loops) == common
        overwritten |= directly_after and other.overwrites(place)
    return Control(
        counts.loops,
        counts.unrolled,
        counts.iterations,
        counts.entries,
        counts.partial,
        len(siblings),
        in_step,
        share,
        statements,
        counts.skewed,
        counts.ragged,
        overwritten,
    )


def memory(item: NestedStatement, around: Surroundings, streams: float) -> Memory:
    """The section `Memory`."""
    place = item.place
    moved: list[float] = []
    fitting: list[float] = []
    last = len(place.loops)
    instances = max(1.0, place.profile.instances)
    for taken, capacity in zip(item.taken, around.execution.caches, strict=True):
        level, times = 0, 1.0
        if taken[0] > capacity:
            while level < last and taken[level + 1] > capacity:
                times *= place.trips[level]
                level += 1
        moved.append(times * item.totals[level] * item.shares[level] / instances)
        fitting.append(last - level)
    lines = [min(place.jumps, amount / _CACHE_LINE) for amount in moved]
    return Memory._make(
        (
            place.footprint.totals[0][0],
            item.totals[0],
            around.program_bytes,
            *moved,
            *lines,
            *fitting,
            place.jumps,
            streams,
            around.nests,
        )
    )


def with_kilobytes(described: Sequence[float], item: NestedStatement) -> list[float]:
    """The sections `Level` of a statement in its nest."""
    result = [*described]
    loops = len(item.place.loops)
    for back in range(min(LEVELS, loops)):
        result[back * len(Level._fields) + _KILOBYTES] = item.totals[loops - 1 - back] / 1024
    return result
