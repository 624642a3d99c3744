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
    match unroll:
        case 0:
            hint = module.add_metadata([ir.MetaDataString(module, "llvm.loop.unroll.full")])
        case 1:
            hint = module.add_metadata([ir.MetaDataString(module, "llvm.loop.unroll.disable")])
        case _:
            name = ir.MetaDataString(module, "llvm.loop.unroll.count")
            hint = module.add_metadata([name, ir.Constant(I32, unroll)])
    latch.set_metadata("llvm.loop", hint)
