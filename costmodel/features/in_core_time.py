"""In-core execution time of a feature row: with all data in the first-level cache."""

from __future__ import annotations

from typing import NamedTuple

from ...passes.machine.target_files import reference_machine
from .loop_context import LoopContext
from .sections import Innermost, Vectors
from .statements import Operations

_MACHINE = reference_machine()
_CYCLES = tuple(_MACHINE.cycles[kind] for kind in Operations._fields)
_LOADS, _STORES = _MACHINE.loads_per_cycle, _MACHINE.stores_per_cycle
_GATHER, _SCATTER = _MACHINE.gather_cycles, _MACHINE.scatter_cycles


class InCoreTimes(NamedTuple):
    """In-core cycles per instance, scalar and vectorised.

    In a loop that is marked to have vectors, both are those of vectors. `lanes` are those that
    vectors have, `unrolled` says that the innermost loop is, by request.
    """

    scalar: float
    packed: float
    lanes: float
    unrolled: bool


def in_core_times(place: LoopContext, vectors: Vectors, inner: Innermost) -> InCoreTimes:
    """How long computing takes, whether or not LLVM makes vectors."""
    profile = place.profile
    lanes = max(1.0, vectors.lanes if vectors.marked else min(profile.lanes, vectors.values))
    unrolled = place.innermost is not None and (place.loops[place.innermost].unroll or 1) > 1
    operations = sum([c * n for c, n in zip(_CYCLES, profile.operations, strict=True)])
    scalar = max(operations, inner.loads / _LOADS, inner.stores / _STORES)
    scattered = vectors.load_reversed + vectors.load_short + vectors.load_far + vectors.load_page
    spread = vectors.store_reversed + vectors.store_short + vectors.store_far + vectors.store_page
    registers = max(1.0, vectors.registers)
    packed = scalar * registers / lanes + scattered * _GATHER + spread * _SCATTER
    return InCoreTimes(packed if vectors.marked else scalar, packed, lanes, unrolled)
