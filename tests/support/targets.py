"""Machines to choose schedules for, whatever machine the tests run on."""

from __future__ import annotations

from loopwright.passes.machine.target import Target, speeds_of

CACHES = {1: 48 << 10, 2: 1 << 20, 3: 32 << 20}
WIDE = Target("x86-64-v4", frozenset(["sse2", "avx512f"]), 512, 32, CACHES, 2)
"""A server CPU with AVX-512. What is chosen for it need not run here."""
NARROW = Target("x86-64-v3", frozenset(["sse2", "avx2", "fma"]), 256, 16, CACHES, 2, speeds_of(256))
"""The same with AVX2."""
