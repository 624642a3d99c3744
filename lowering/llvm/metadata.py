"""Loop metadata: hints for LLVM's loop passes."""

from __future__ import annotations

from llvmlite import ir

from .emitter import FunctionEmitter
from .types import I1, I32


def attach_loop_metadata(
    emitter: FunctionEmitter,
    latch: ir.Instruction,
    unroll: int | None,
    *,
    vectors: bool | None = None,
    is_long: bool = False,
    is_masked: bool = False,
) -> None:
    """Marks the loop that ends with the branch `latch`.

    `unroll`: by a factor, 0 = fully, 1 = not, None = as LLVM likes. `vectors`: False = none along
    this loop; True = before it is unrolled, which is then done to the loop over vectors as LLVM
    likes; None = as LLVM likes. `is_long`: the loop over vectors that LLVM makes is not unrolled.
    `is_masked`: what is left over of vectors is one more, under a mask.
    """
    module = emitter.module.module
    hints: list[ir.MDValue] = []
    if unroll is not None:
        by_factor = ("llvm.loop.unroll.count", ir.Constant(I32, unroll))
        hints.append(module.add_metadata(_UNROLLING.get(unroll, by_factor)))
    if vectors:
        made = module.add_metadata(("llvm.loop.isvectorized", ir.Constant(I32, 1)))
        hints.append(module.add_metadata(_UNROLLING[1]))
        hints.append(module.add_metadata(("llvm.loop.vectorize.followup_all", made)))
    elif vectors is None and is_long:
        made = module.add_metadata(("llvm.loop.isvectorized", ir.Constant(I32, 1)))
        kept = module.add_metadata(_UNROLLING[1])
        hints.append(module.add_metadata(("llvm.loop.vectorize.followup_all", made, kept)))
    elif vectors is not None:
        hints.append(module.add_metadata(("llvm.loop.vectorize.enable", ir.Constant(I1, 0))))
    if is_masked and vectors is not False:
        predicated = ("llvm.loop.vectorize.predicate.enable", ir.Constant(I1, 1))
        hints.append(module.add_metadata(predicated))
    if not hints:
        return
    loop = ir.MDValue(module, hints, name=str(len(module.metadata)))
    # A node that begins with itself is different from all others, as LLVM wants it of loops.
    loop.operands = (loop, *hints)
    latch.set_metadata("llvm.loop", loop)


_UNROLLING: dict[int, tuple[str | ir.Value, ...]] = {
    0: ("llvm.loop.unroll.full",),
    1: ("llvm.loop.unroll.disable",),
}
