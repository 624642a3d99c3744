"""Vectors of extrema that a loop accumulates by comparison, with the bits of the loop as it is.

    for k carrying m: m = x[k] > m ? x[k] : m

LLVM keeps the order of such selections, since which zero and which NaN they give depends on it.
So the loop accumulates from -inf on what is not NaN, in any order, and is run once more, as it is,
where the order matters: where the extremum is zero, or where a selection takes NaN and meets one.

    p = -inf
    for k carrying p: p = max(p, x[k] is NaN ? -inf : x[k])
    r = p > m ? p : m
    if r is a zero of the loop: for k carrying m: ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Protocol

from llvmlite import ir
from xdsl.dialects import affine
from xdsl.dialects.builtin import Float32Type, Float64Type
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from ...passes.polyhedral.selected_extrema import (
    LEAST_VECTORS,
    SelectedExtremum,
    selected_extremum,
)
from .emitter import FunctionEmitter
from .types import I1
from .unrolling import most_iterations

_ANY_ORDER = ("nnan", "nsz")

_USES = 2
"""Of what a step compares, and may select."""


@dataclass(frozen=True)
class AccumulatedExtremum:
    """The selections, last one first, by which a loop accumulates what it carries."""

    steps: Mapping[Operation, SelectedExtremum]

    @property
    def first(self) -> SelectedExtremum:
        """One of the steps, which are of one kind."""
        return next(iter(self.steps.values()))


def accumulated_extrema(
    emitter: FunctionEmitter, loop: affine.ForOp
) -> dict[int, AccumulatedExtremum]:
    """What a loop carries, by position, and may accumulate in any order first."""
    if emitter.module.options.check_bounds or not loop.inits:
        return {}
    block = loop.body.block
    last = block.last_op
    assert last is not None
    inside = [op for op in block.ops if op is not last]
    if any(op.regions for op in inside):
        return {}
    runs_again = all(isinstance(op, affine.LoadOp) or is_side_effect_free(op) for op in inside)
    longest = most_iterations(loop)
    found: dict[int, AccumulatedExtremum] = {}
    for position, (argument, result) in enumerate(zip(block.args[1:], last.operands, strict=True)):
        if not isinstance(argument.type, Float32Type | Float64Type) or not result.has_one_use():
            continue
        if longest < LEAST_VECTORS * emitter.module.target.lanes(argument.type):
            continue
        steps = _steps(result, argument, block)
        if not steps:
            continue
        extremum = AccumulatedExtremum(steps)
        if runs_again or not (extremum.first.takes_nan or _orders_zeros(emitter)):
            found[position] = extremum
    return found


def _orders_zeros(emitter: FunctionEmitter) -> bool:
    """Whether the sign of a zero counts."""
    return "nsz" not in emitter.module.options.fast_math_flags


def _steps(
    value: SSAValue, accumulated: SSAValue, block: Block
) -> dict[Operation, SelectedExtremum] | None:
    """Selections of one kind from `value` back to `accumulated`, last one first."""
    if value is accumulated:
        return {}
    operation = value.owner
    if not isinstance(operation, Operation) or operation.parent is not block:
        return None
    for operand in operation.operands[1:]:
        step = selected_extremum(operation, operand)
        if step is None or operand.uses.get_length() != _USES:
            continue
        before = _steps(operand, accumulated, block)
        if before is not None and all(map(step.is_like, before.values())):
            return {operation: step, **before}
    return None


# Emits the body for an induction variable and carried values; returns what the next
# iteration gets.
Body = Callable[[ir.Value, list[ir.Value]], Sequence[ir.Value]]


class EmitLoop(Protocol):
    """Emits a loop that carries values from these on; returns those carried out."""

    def __call__(
        self, initial: Sequence[ir.Value], body: Body, *, in_order: bool
    ) -> list[ir.Value]: ...


def emit_extrema(
    emitter: FunctionEmitter,
    extrema: Mapping[int, AccumulatedExtremum],
    initial: Sequence[ir.Value],
    body: Body,
    emit_loop: EmitLoop,
) -> list[ir.Value]:
    """Emits a loop that accumulates extrema; returns what it carries out."""
    builder = emitter.builder
    steps = {op: step for extremum in extrema.values() for op, step in extremum.steps.items()}
    taking_nan = [step.term for step in steps.values() if step.takes_nan]

    def in_any_order(index: ir.Value, carried: list[ir.Value]) -> list[ir.Value]:
        emitter.in_any_order = steps
        results = [*body(index, carried[: len(initial)])]
        emitter.in_any_order = {}
        found = carried[len(initial) :]
        for term in emitter.all_values(taking_nan):
            found = [builder.or_(each, builder.fcmp_unordered("uno", term, term)) for each in found]
        return [*results, *found]

    neutral = [
        ir.Constant(init.type, extrema[k].first.neutral) if k in extrema else init
        for k, init in enumerate(initial)
    ]
    flags = [ir.Constant(I1, 0)] if taking_nan else []
    results = emit_loop([*neutral, *flags], in_any_order, in_order=False)
    results, doubts = results[: len(initial)], results[len(initial) :]
    for k, extremum in extrema.items():
        results[k], more = _joined(emitter, extremum.first, initial[k], results[k])
        doubts += more
    if not doubts:
        return results
    before, again, end = builder.block, emitter.block("in.order"), emitter.block("in.order.end")
    builder.cbranch(reduce(builder.or_, doubts), again, end)
    builder.position_at_end(again)
    exact = emit_loop(initial, body, in_order=True)
    after = builder.block
    builder.branch(end)
    builder.position_at_end(end)
    for k in extrema:
        phi = builder.phi(results[k].type)
        phi.add_incoming(results[k], before)
        phi.add_incoming(exact[k], after)
        results[k] = phi
    return results


def emit_in_any_order(emitter: FunctionEmitter, op: Operation, extremum: SelectedExtremum) -> None:
    """Emits a step without an order: the extremum of what was before and a term that is no NaN."""
    term, other = emitter.value(extremum.term), emitter.value(extremum.other)
    intrinsic = "llvm.maxnum" if extremum.is_maximum else "llvm.minnum"
    kind = term.type
    # That leaves out NaN, by one instruction on x86.
    number = emitter.call_intrinsic(intrinsic, [term, ir.Constant(kind, extremum.neutral)], kind)
    emitter.values[op.results[0]] = emitter.call_intrinsic(
        intrinsic, [other, number], kind, flags=_ANY_ORDER
    )


def _joined(
    emitter: FunctionEmitter, step: SelectedExtremum, init: ir.Value, terms: ir.Value
) -> tuple[ir.Value, list[ir.Value]]:
    """The extremum of what was before a loop and of its terms, and when it may be another one."""
    builder = emitter.builder
    is_taken = builder.fcmp_ordered(step.symbol, terms, init)
    doubts: list[ir.Value] = []
    if _orders_zeros(emitter):
        is_zero = builder.fcmp_ordered("==", terms, ir.Constant(terms.type, 0.0))
        doubts.append(builder.and_(is_taken, is_zero))
    if step.takes_nan:
        doubts.append(builder.fcmp_unordered("uno", init, init))
    return builder.select(is_taken, terms, init), doubts
