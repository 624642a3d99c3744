"""TLB misses: how often a schedule returns to pages after leaving them.

A loop whose data lie on more pages than the translation buffer of a core holds asks for all of them
again in every iteration of the loops around it, as it does with lines that a cache cannot hold.
"""

from __future__ import annotations

from ....passes.machine.target_files import reference_machine
from ...features.loop_context import LoopContext

_MACHINE = reference_machine()

PAGES = (_MACHINE.page, _MACHINE.huge_page)
"""Bytes of a page: as usual, and of the huge ones that large arrays get."""


def page_misses(place: LoopContext) -> tuple[float, ...]:
    """Pages of each size that a statement under its loops asks for, all of its instances."""
    return tuple([_misses(place, page) for page in PAGES])


def _misses(place: LoopContext, page: int) -> float:
    inside = [_pages(place, level, page) for level in range(len(place.loops) + 1)]
    times, level = 1.0, 0
    while level < len(place.loops) and inside[level] > _MACHINE.tlb_entries:
        times *= place.trips[level]
        level += 1
    return times * inside[level]


def _pages(place: LoopContext, level: int, page: int) -> float:
    """Pages inside of the first `level` loops."""
    spans = place.spans[level]
    found: dict[tuple[int, tuple[float, ...]], float] = {}
    for access in place.profile.accesses:
        near = far = 1.0
        for span, stride in zip(spans, access.strides, strict=True):
            step = abs(stride) * access.size
            if step >= page:
                far *= span
            else:
                near += (span - 1.0) * step
        found[access.array, access.strides] = far * (1.0 + near / page)
    return sum(found.values())
