"""Program text -> its original schedule (without transformations)."""

from __future__ import annotations

from xdsl.dialects.func import FuncOp

from ..dialects.parse import parse_module
from ..passes.machine.target import Target
from ..passes.polyhedral.raising.raise_function import raise_function
from ..passes.schedules.schedule import Schedule


def original_schedule(
    text: str, *, fast_math: bool = False, target: Target | None = None
) -> Schedule:
    """The only function of a program, without transformations; raises SourceError."""
    module = parse_module(text, "<program>")
    function = next(op for op in module.body.ops if isinstance(op, FuncOp))
    return Schedule.original(raise_function(function), target, reassociate=fast_math)
