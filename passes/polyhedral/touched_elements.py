"""Number of array elements that a program touches."""

from __future__ import annotations

from collections.abc import Mapping

from .counting import UncountableError, cardinality, fix_parameters
from .isl_context import TooComplexError, bounded, coalesced
from .scop import Access, Array, Scop

# A number that is only shown is not worth more: about a second.
_OPERATIONS = 5_000_000


def touched_elements(scop: Scop, sizes: Mapping[str, int]) -> dict[int, tuple[int, int]]:
    """How many elements of each array argument are read, and how many are written.

    Each element counts once, however often it is read or written. The key is the position of the
    argument. Raises UncountableError.
    """
    try:
        with bounded(_OPERATIONS):
            return {
                array.argument: (
                    _count(array, [a for s in scop.statements for a in s.reads], sizes),
                    _count(array, [a for s in scop.statements for a in s.writes], sizes),
                )
                for array in scop.arrays
                if array.argument is not None
            }
    except TooComplexError as error:
        raise UncountableError(str(error)) from error


def _count(array: Array, accesses: list[Access], sizes: Mapping[str, int]) -> int:
    elements = [fix_parameters(a.relation.range(), sizes) for a in accesses if a.array is array]
    if not elements:
        return 0
    union, *others = elements
    for other in others:
        union = union.union(other)
    return cardinality(coalesced(union))
