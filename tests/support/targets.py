"""Machines to choose schedules for, whatever machine the tests run on."""

from __future__ import annotations

from loopwright.passes.target import Target

CACHES = {1: 48 << 10, 2: 1 << 20, 3: 32 << 20}
WIDE = Target("x86-64-v4", frozenset(["sse2", "avx512f"]), 512, 32, CACHES, 2)
"""A server CPU with AVX-512. What is chosen for it need not run here."""
