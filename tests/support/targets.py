"""Machines to choose schedules for, whatever machine the tests run on."""

from __future__ import annotations

from loopwright.passes.machine.target import Target
from loopwright.passes.machine.target_files import target_file

CACHES = {1: 48 << 10, 2: 1 << 20, 3: 32 << 20}
WIDE = Target.of(
    target_file("generic-avx512"),
    features=frozenset(["sse2", "avx512f"]),
    caches=CACHES,
    cores=2,
)
"""A server CPU with AVX-512. What is chosen for it need not run here."""
NARROW = Target.of(
    target_file("generic-avx2"),
    features=frozenset(["sse2", "avx2", "fma"]),
    caches=CACHES,
    cores=2,
)
"""The same with AVX2."""


def runs_here(target: Target) -> bool:
    return target.features <= Target.host().features
