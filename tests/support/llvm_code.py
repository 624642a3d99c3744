"""LLVM IR for any target: it need not run here."""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.lowering.generate import generate
from loopwright.lowering.llvm import Options, translate
from loopwright.passes.machine.target import Target
from loopwright.runtime.program import Function


def llvm_ir(
    function: Function,
    schedule: str,
    target: Target,
    sizes: Mapping[str, int] | None = None,
    *,
    fast_math: bool = False,
) -> str:
    scheduled = function.schedule(schedule, target, fast_math=fast_math)
    options = Options(num_threads=1, fast_math=fast_math)
    return str(translate(generate(scheduled, sizes or {}), target=target, options=options))
