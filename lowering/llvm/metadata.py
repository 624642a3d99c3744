"""Hints for LLVM's loop passes."""

from __future__ import annotations

from llvmlite import ir

from .emitter import FunctionEmitter
from .types import I32


def attach_loop_metadata(
    emitter: FunctionEmitter, latch: ir.Instruction, unroll: int | None
) -> None:
    """Marks the loop that ends with the branch `latch`: unroll by a factor, 0 = fully, 1 = not."""
    if unroll is None:
        return
    module = emitter.module.module
    hints: dict[int, tuple[str | ir.Value, ...]] = {
        0: ("llvm.loop.unroll.full",),
        1: ("llvm.loop.unroll.disable",),
    }
    by_factor = ("llvm.loop.unroll.count", ir.Constant(I32, unroll))
    hint = module.add_metadata(hints.get(unroll, by_factor))
    loop = ir.MDValue(module, [hint], name=str(len(module.metadata)))
    # A node that begins with itself is different from all others, as LLVM wants it of loops.
    loop.operands = (loop, hint)
    latch.set_metadata("llvm.loop", loop)
