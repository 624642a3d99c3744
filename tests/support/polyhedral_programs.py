"""Small programs whose polyhedral model is known."""

from __future__ import annotations

from loopwright.dialects.parse import parse_module
from loopwright.passes.polyhedral.raising.raise_function import raise_module
from loopwright.passes.polyhedral.scop import Scop


def scop_of(text: str, name: str | None = None) -> Scop:
    """The model of a function of a module given as text, the last one by default."""
    scops = raise_module(parse_module(text, "test.mlir"))
    return scops[name] if name is not None else list(scops.values())[-1]


def body(text: str, arguments: str) -> Scop:
    """The model of a function with the given body and arguments."""
    return scop_of(f"func.func @f({arguments}) {{\n{text}\n  return\n}}")
