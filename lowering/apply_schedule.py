"""Replace a function by its scheduled loops."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..passes.polyhedral.scop import Scop
from ..passes.schedule_passes import (
    find_function,
    find_sequence,
    read_schedule,
    scheduled_functions,
)
from ..passes.transformation import MalformedTransformation
from .generate import generate


@dataclass(frozen=True)
class ApplySchedule(ModulePass):
    """Replaces functions by loops in the order of their schedules.

    Without `func`, all functions that have a schedule, or the only function. Code for known sizes
    is simpler: `sizes=M:100,N:200`. Those that are not named stay symbolic.

        func.func @f { for i: S }               func.func @f {
        schedule.sequence @f {            ->      for it:
          ... schedule.tile %i by [32] }            for i in [32 * it, 32 * it + 32): S }
    """

    name: ClassVar[str] = "apply-schedule"

    sizes: tuple[str, ...] = ()
    func: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        names = (self.func,) if self.func is not None else scheduled_functions(op) or (None,)
        functions = [find_function(op, name) for name in names]
        sequences = [find_sequence(op, function) for function in functions]
        schedules = [read_schedule(*pair) for pair in zip(functions, sequences, strict=True)]
        sizes = read_sizes(self.sizes, [schedule.scop for schedule in schedules])
        for function, sequence, schedule in zip(functions, sequences, schedules, strict=True):
            op.body.block.insert_op_before(generate(schedule, sizes), function)
            for old in (function, sequence):
                if old is not None:
                    old.detach()
                    old.erase()


def read_sizes(texts: tuple[str, ...], scops: Sequence[Scop]) -> dict[str, int]:
    """Symbolic sizes of Scops from `NAME:VALUE`; raises MalformedTransformation."""
    sizes: dict[str, int] = {}
    names = list(dict.fromkeys(name for scop in scops for name in size_names(scop)))
    for text in texts:
        name, _, value = text.partition(":")
        if not re.fullmatch(r"\d{1,18}", value, re.ASCII):
            raise MalformedTransformation(f"apply-schedule: write sizes as N:100, not {text!r}")
        if name not in names or name in sizes:
            problem = "is given twice" if name in sizes else "does not exist"
            known = ", ".join(names) or "none"
            raise MalformedTransformation(
                f"apply-schedule: the size {name} {problem}; the sizes are {known}"
            )
        sizes[name] = int(value)
    return sizes


def size_names(scop: Scop) -> list[str]:
    """The names of all symbolic sizes: the parameters, then extents that no loop depends on."""
    names = [parameter.name for parameter in scop.parameters]
    extents = (extent for array in scop.arrays for extent in array.shape)
    return list(dict.fromkeys([*names, *(name for name in extents if isinstance(name, str))]))
