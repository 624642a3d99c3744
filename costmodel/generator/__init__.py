"""Random programs to learn from: `random_program(seed)`; see `docs/reference/data.md`."""

from __future__ import annotations

from .distribution import (
    CONTRACTION,
    GENERAL,
    GENERATOR_VERSION,
    INTERCHANGE,
    RECTANGULAR,
    Mix,
)
from .program import RandomProgram, random_program

__all__ = [
    "CONTRACTION",
    "GENERAL",
    "GENERATOR_VERSION",
    "INTERCHANGE",
    "RECTANGULAR",
    "Mix",
    "RandomProgram",
    "random_program",
]
