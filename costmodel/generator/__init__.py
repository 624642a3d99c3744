"""Random programs as training data: `random_program(seed)`; see `docs/reference/data.md`."""

from __future__ import annotations

from .distribution import CONTRACTION, DEPTHS, GENERAL, GENERATOR_VERSION, Mix
from .random_program import RandomProgram, random_program

__all__ = [
    "CONTRACTION",
    "DEPTHS",
    "GENERAL",
    "GENERATOR_VERSION",
    "Mix",
    "RandomProgram",
    "random_program",
]
