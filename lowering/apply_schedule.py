"""Replaces functions by their scheduled loops (pass `apply-schedule`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..passes.syntax.schedule_passes import (
    find_function,
    find_sequence,
    read_schedule,
    read_sizes,
    scheduled_functions,
)
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
        sizes = read_sizes(self.name, self.sizes, [schedule.scop for schedule in schedules])
        for function, sequence, schedule in zip(functions, sequences, schedules, strict=True):
            # Loops behind a condition on data would be no affine program any more.
            loops = generate(schedule, sizes, ahead=False)
            op.body.block.insert_op_before(loops, function)
            for old in (function, sequence):
                if old is not None:
                    old.detach()
                    old.erase()
