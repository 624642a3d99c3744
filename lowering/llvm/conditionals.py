"""Conditional execution: `affine.if` and `scf.if`, with and without results."""

from __future__ import annotations

from llvmlite import ir
from xdsl.dialects import affine, scf
from xdsl.ir import Operation, Region

from .affine_expressions import emit_condition
from .emitter import Emitters, FunctionEmitter


def emit_affine_if(emitter: FunctionEmitter, op: affine.IfOp) -> None:
    condition = emit_condition(emitter, op, op.condition.data, emitter.all_values(op.args))
    _emit_if(emitter, op, condition, op.then_region, op.else_region)


def emit_scf_if(emitter: FunctionEmitter, op: scf.IfOp) -> None:
    _emit_if(emitter, op, emitter.value(op.cond), op.true_region, op.false_region)


def _emit_if(
    emitter: FunctionEmitter,
    op: Operation,
    condition: ir.Value,
    then_region: Region,
    else_region: Region,
) -> None:
    # Without an else block, the then block alone runs and there are no results.
    branches = [
        (emitter.block(name), region.block)
        for name, region in (("then", then_region), ("else", else_region))
        if region.blocks
    ]
    end = emitter.block("endif")
    emitter.builder.cbranch(condition, branches[0][0], branches[1][0] if branches[1:] else end)
    incoming: list[tuple[list[ir.Value], ir.Block]] = []
    for start, block in branches:
        emitter.builder.position_at_end(start)
        results = emitter.emit_block(block)
        incoming.append((results, emitter.builder.block))
        emitter.builder.branch(end)
    emitter.builder.position_at_end(end)
    for position, result in enumerate(op.results):
        phi = emitter.builder.phi(incoming[0][0][position].type)
        for values, block in incoming:
            phi.add_incoming(values[position], block)
        emitter.values[result] = phi


EMITTERS: Emitters = {
    "affine.if": emit_affine_if,
    "scf.if": emit_scf_if,
}
