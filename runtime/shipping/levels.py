"""Microarchitecture levels: the kinds of processors that one library has code for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...passes.machine.target import Target
from ..calling.errors import BuildError

VARIABLE = "LOOPWRIGHT_LEVEL"
"""Environment variable: the highest level whose code may run, read when a library is loaded."""


@dataclass(frozen=True)
class Level:
    """A level of an architecture; processors of a `number` run the code of all below it.

    `name` is that of the x86-64 psABI and of Arm, `target` that of the named target.
    """

    name: str
    number: int
    target: str

    @property
    def suffix(self) -> str:
        """The end of the symbols of its code."""
        return f".{self.name}"


LEVELS = {
    level.name: level
    for level in (
        Level("x86-64", 1, "generic-sse2"),
        Level("x86-64-v2", 2, "generic-sse4"),
        Level("x86-64-v3", 3, "generic-avx2"),
        Level("x86-64-v4", 4, "generic-avx512"),
        Level("armv8-a", 1, "generic-neon"),
    )
}

DEFAULTS = {"x86_64": ("x86-64-v2", "x86-64-v3", "x86-64-v4"), "aarch64": ("armv8-a",)}
"""The levels of an architecture that a library has where nothing is said."""


def levels_named(names: Sequence[str]) -> tuple[Level, ...]:
    """Levels of one architecture, the lowest first; raises BuildError."""
    for name in names:
        if name not in LEVELS:
            raise BuildError(f"there is no level '{name}'; there are {', '.join(LEVELS)}")
    found = sorted({LEVELS[name] for name in names}, key=lambda level: level.number)
    architectures = {Target.named(level.target).architecture for level in found}
    if len(architectures) != 1:
        raise BuildError(
            "a library is for one architecture; build one for each of "
            f"{', '.join(sorted(architectures))}"
        )
    return tuple(found)
