"""Replace a function by its scheduled loops."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..passes.polyhedral.scop import Scop
from ..passes.schedule_passes import find_function, find_sequence, read_schedule
from ..passes.transformation import MalformedTransformation
from .generate import generate


@dataclass(frozen=True)
class ApplySchedule(ModulePass):
    """Replaces a function by loops in the order of its schedule, for given sizes.

    `sizes` gives a value for every symbolic size, as in `sizes=M:100,N:200`.

        func.func @f { for i: S }               func.func @f {
        schedule.sequence @f {            ->      for it:
          ... schedule.tile %i by [32] }            for i in [32 * it, 32 * it + 32): S }
    """

    name: ClassVar[str] = "apply-schedule"

    sizes: tuple[str, ...] = ()
    func: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        function = find_function(op, self.func)
        sequence = find_sequence(op, function)
        schedule = read_schedule(function, sequence)
        new = generate(schedule, read_sizes(self.sizes, schedule.scop))
        op.body.block.insert_op_before(new, function)
        function.detach()
        function.erase()
        if sequence is not None:
            sequence.detach()
            sequence.erase()


def read_sizes(texts: tuple[str, ...], scop: Scop) -> dict[str, int]:
    """The symbolic sizes of a Scop from `NAME:VALUE`; raises MalformedTransformation."""
    sizes: dict[str, int] = {}
    names = size_names(scop)
    for text in texts:
        name, _, value = text.partition(":")
        if not re.fullmatch(r"\d{1,18}", value, re.ASCII):
            raise MalformedTransformation(f"apply-schedule: write sizes as N:100, not {text!r}")
        if name not in names or name in sizes:
            problem = "is given twice" if name in sizes else "does not exist"
            known = ", ".join(names) or "none"
            raise MalformedTransformation(
                f"apply-schedule: the size {name} {problem}; {scop.name} has {known}"
            )
        sizes[name] = int(value)
    if missing := [name for name in names if name not in sizes]:
        example = ",".join(f"{name}:100" for name in missing)
        raise MalformedTransformation(f"apply-schedule: give sizes, for example sizes={example}")
    return sizes


def size_names(scop: Scop) -> list[str]:
    """The names of all symbolic sizes: the parameters, then extents that no loop depends on."""
    names = [parameter.name for parameter in scop.parameters]
    extents = (extent for array in scop.arrays for extent in array.shape)
    return list(dict.fromkeys([*names, *(name for name in extents if isinstance(name, str))]))
