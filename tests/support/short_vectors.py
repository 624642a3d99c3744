"""Vector loops as short as those of random programs begin with a vector that aligns the others."""

from __future__ import annotations

from loopwright.lowering.loops import alignment, emit_vector_loops

LONG, SHARE = emit_vector_loops.LONG, alignment.SHARE


def align_short_loops(always: bool) -> None:
    """Aligns also where it does not pay, or only where it does, from now on in this process."""
    emit_vector_loops.LONG = 2 if always else LONG
    alignment.SHARE = 0.0 if always else SHARE
