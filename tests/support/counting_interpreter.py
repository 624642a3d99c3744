"""An interpreter that counts what it executes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from xdsl.ir import Operation

from .interpreter import Environment, Interpreter


@dataclass
class CountingInterpreter(Interpreter):
    """Counts executed operations by name."""

    counts: Counter[str] = field(default_factory=Counter[str])

    def execute(self, op: Operation, environment: Environment) -> None:
        self.counts[op.name] += 1
        super().execute(op, environment)
