"""Random programs to learn from: `random_program(seed)`; `docs/data.md` has the distribution."""

from __future__ import annotations

from .distribution import GENERATOR_VERSION
from .program import RandomProgram, random_program

__all__ = ["GENERATOR_VERSION", "RandomProgram", "random_program"]
