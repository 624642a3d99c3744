"""Loops with a condition computed in each iteration: `scf.while`."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir
from xdsl.dialects import scf
from xdsl.ir import Block, SSAValue

from .emitter import Emitters, FunctionEmitter


def emit_while(emitter: FunctionEmitter, op: scf.WhileOp) -> None:
    before, after = op.before_region.block, op.after_region.block
    inits = emitter.all_values(op.arguments)
    header, body, end = (emitter.block(name) for name in ("while", "while.body", "while.end"))
    start = emitter.builder.block
    emitter.builder.branch(header)
    emitter.builder.position_at_end(header)
    carried = [emitter.builder.phi(init.type) for init in inits]
    for phi, init in zip(carried, inits, strict=True):
        phi.add_incoming(init, start)
    condition, *passed = _run(emitter, before, carried)
    emitter.builder.cbranch(condition, body, end)
    emitter.builder.position_at_end(body)
    following = _run(emitter, after, passed)
    latch = emitter.builder.block
    emitter.builder.branch(header)
    for phi, value in zip(carried, following, strict=True):
        phi.add_incoming(value, latch)
    emitter.builder.position_at_end(end)
    emitter.values.update(zip(op.results, passed, strict=True))


def _run(emitter: FunctionEmitter, block: Block, arguments: Sequence[ir.Value]) -> list[ir.Value]:
    """Emits a region for the values of its arguments; returns what its terminator passes on."""
    named: dict[SSAValue, ir.Value] = dict(zip(block.args, arguments, strict=True))
    emitter.values.update(named)
    return emitter.emit_block(block)


EMITTERS: Emitters = {"scf.while": emit_while}
