"""Scops of shipped kernels and of short texts."""

from __future__ import annotations

import functools
from pathlib import Path

from loopwright.dialects.parse import parse_file, parse_module
from loopwright.passes.polyhedral.raising.raise_function import raise_module
from loopwright.passes.polyhedral.scop import Scop
from loopwright.passes.schedules.schedule import Schedule

KERNELS = Path(__file__).parents[2] / "kernels"


@functools.cache
def polybench(name: str) -> Scop:
    """The Scop of a PolyBench kernel."""
    (scop,) = raise_module(parse_file(KERNELS / "polybench" / f"{name}.mlir")).values()
    return scop


def schedule_of(text: str) -> Schedule:
    """The original schedule of the only function in a text."""
    (scop,) = raise_module(parse_module(text)).values()
    return Schedule.original(scop)
