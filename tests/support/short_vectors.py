"""Loops as short as those of random programs take the forms of long ones.

Vector loops begin with a vector that aligns the others, and shuffle what they have loaded before.
Threads share out comparisons of few subscripts.
"""

from __future__ import annotations

from loopwright.lowering.loops import alignment, emit_vector_loops, subscript_inspection
from loopwright.lowering.memory import shifted_vectors

LONG, SHARE = emit_vector_loops.LONG, alignment.SHARE
SHORTEST, STRIP = shifted_vectors.SHORTEST, subscript_inspection.STRIP


def treat_short_loops_as_long(always: bool) -> None:
    """Does so also where it does not pay, or only where it does, from now on in this process."""
    emit_vector_loops.LONG = 2 if always else LONG
    alignment.SHARE = 0.0 if always else SHARE
    shifted_vectors.SHORTEST = 1 if always else SHORTEST
    subscript_inspection.STRIP = 8 if always else STRIP
