"""Sequential loops: rotated, with a zero-trip guard; iteration arguments are phis."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir
from xdsl.dialects import affine, scf
from xdsl.ir import SSAValue

from . import integers
from .accumulated_extrema import AccumulatedExtremum, Body, accumulated_extrema, emit_extrema
from .affine_expressions import emit_bound
from .emitter import Emitters, FunctionEmitter, constant
from .masked_ends import masks_end
from .metadata import attach_loop_metadata
from .types import I1
from .unrolling import is_long_sum, unroll_hint


def emit_loop(
    emitter: FunctionEmitter,
    lower: ir.Value,
    upper: ir.Value,
    step: ir.Value,
    inits: Sequence[ir.Value],
    body: Body,
    unroll: int | None = None,
    *,
    vectors: bool | None = None,
    is_long: bool = False,
    is_masked: bool = False,
) -> list[ir.Value]:
    """Runs `body` for lower, lower + step, ... below upper; returns the values carried out.

    The step must be positive. `unroll` and what follows are hints for LLVM (`metadata`).
    """
    first, last = integers.known(lower), integers.known(upper)
    if first is not None and last is not None:
        if first >= last:
            return list(inits)
        runs = ir.Constant(I1, 1)
    else:
        runs = emitter.builder.icmp_signed("<", lower, upper)
    start, header, end = (emitter.block(name) for name in ("loop.start", "loop", "loop.end"))
    guard = emitter.builder.block
    emitter.builder.cbranch(runs, start, end)

    emitter.builder.position_at_end(start)
    emitter.builder.branch(header)
    emitter.builder.position_at_end(header)
    index = emitter.builder.phi(lower.type)
    index.add_incoming(lower, start)
    carried: list[ir.PhiInstr] = []
    for init in inits:
        phi = emitter.builder.phi(init.type)
        phi.add_incoming(init, start)
        carried.append(phi)
    results = body(index, list(carried))
    following = emitter.builder.add(index, step, flags=("nsw",))
    again = emitter.builder.icmp_signed("<", following, upper)
    latch = emitter.builder.block
    branch = emitter.builder.cbranch(again, header, end)
    attach_loop_metadata(
        emitter, branch, unroll, vectors=vectors, is_long=is_long, is_masked=is_masked
    )
    index.add_incoming(following, latch)
    for phi, result in zip(carried, results, strict=True):
        phi.add_incoming(result, latch)

    emitter.builder.position_at_end(end)
    outcomes: list[ir.Value] = []
    for init, result in zip(inits, results, strict=True):
        phi = emitter.builder.phi(init.type)
        phi.add_incoming(init, guard)
        phi.add_incoming(result, latch)
        outcomes.append(phi)
    return outcomes


def emit_affine_for(emitter: FunctionEmitter, op: affine.ForOp) -> None:
    lower = emit_bound(emitter, op, op.lowerBoundMap.data, op.lowerBoundOperands, integers.maximum)
    upper = emit_bound(emitter, op, op.upperBoundMap.data, op.upperBoundOperands, integers.minimum)
    _emit_for(emitter, op, lower, upper, constant(op.step.value.data), op.inits)


def emit_scf_for(emitter: FunctionEmitter, op: scf.ForOp) -> None:
    lower, upper, step = (emitter.value(bound) for bound in (op.lb, op.ub, op.step))
    _emit_for(emitter, op, lower, upper, step, op.iter_args)


def _emit_for(
    emitter: FunctionEmitter,
    op: affine.ForOp | scf.ForOp,
    lower: ir.Value,
    upper: ir.Value,
    step: ir.Value,
    inits: Sequence[SSAValue],
) -> None:
    block = op.body.block
    vectors = emitter.module.vector_hints.get(block.args[0])
    is_long = isinstance(op, affine.ForOp) and is_long_sum(op)
    is_masked = isinstance(op, affine.ForOp) and masks_end(op, emitter.module.target)

    def body(index: ir.Value, carried: list[ir.Value]) -> list[ir.Value]:
        emitter.values.update(zip(block.args, [index, *carried], strict=True))
        return emitter.emit_block(block)

    def loop(initial: Sequence[ir.Value], body: Body, *, in_order: bool = False) -> list[ir.Value]:
        return emit_loop(
            emitter,
            lower,
            upper,
            step,
            initial,
            body,
            1 if in_order else unroll_hint(op),
            vectors=False if in_order else vectors,
            is_long=is_long,
            is_masked=is_masked,
        )

    initial = emitter.all_values(inits)
    extrema: dict[int, AccumulatedExtremum] = {}
    if isinstance(op, affine.ForOp) and vectors is not False:
        extrema = accumulated_extrema(emitter, op)
    if extrema:
        results = emit_extrema(emitter, extrema, initial, body, loop)
    else:
        results = loop(initial, body)
    emitter.values.update(zip(op.results, results, strict=True))


EMITTERS: Emitters = {
    "affine.for": emit_affine_for,
    "scf.for": emit_scf_for,
}
