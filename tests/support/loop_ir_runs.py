"""Loop IR before and after the passes that rewrite it, interpreted."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from loopwright.lowering.validation.registers.rewriting import Rewriting
from loopwright.passes.schedules.schedule import Schedule

from .arithmetic import UndefinedBehaviourError, numbers
from .interpreter import OutOfBoundsError
from .loop_ir_interpreter import LoopIRInterpreter
from .validation import generated


@dataclass
class Case:
    """A schedule, the sizes that loop IR is for, and arguments of some calls."""

    schedule: Schedule
    sizes: Mapping[str, int]
    calls: list[list[object]]

    def rewritings(self) -> list[Rewriting]:
        """New loop IR, before and after each pass."""
        return list(generated(self.schedule, self.sizes).rewritings)

    def outcome(self, function: func.FuncOp) -> list[list[object] | None]:
        """Arguments after each call of loop IR, and results; None where it goes wrong.

        A value that is not used in the end may be loaded from where nothing has been stored.
        """
        own = self.schedule.scop.func
        others = [] if own.parent is None else [op for op in own.parent.ops if op is not own]
        module = ModuleOp([function.clone(), *(op.clone() for op in others)])
        return [_call(module, arguments) for arguments in self.calls]


def _call(module: ModuleOp, values: list[object]) -> list[object] | None:
    arguments = deepcopy(values)
    interpreter = LoopIRInterpreter(module, strict=False)
    try:
        return [*arguments, *interpreter.run("f", *arguments)]
    except (OutOfBoundsError, UndefinedBehaviourError):
        return None


def is_same(one: list[list[object] | None], other: list[list[object] | None]) -> bool:
    """Whether all calls of two functions have the same outcome, and none goes wrong."""
    return all(map(_is_equal, one, other))


def _is_equal(one: list[object] | None, other: list[object] | None) -> bool:
    if one is None or other is None:
        return False
    pairs = zip(map(numbers, one), map(numbers, other), strict=True)
    return all(np.array_equal(*map(np.asarray, pair), equal_nan=True) for pair in pairs)
