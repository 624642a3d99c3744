"""Parallel loops in C: `affine.parallel` as OpenMP pragmas.

One with results runs in order, as everywhere in loopwright, so that the result does not depend on
the number of threads.
"""

from __future__ import annotations

from contextlib import ExitStack

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue

from ...dialects import affine
from ...dialects.affine.parallel import grouped
from ...dialects.errors import SourceError
from .affine_expressions import apply_map, extremum
from .c_expressions import Expression, binary, call
from .helpers import float_helper, integer_helper
from .loops import assign, declare, loop, parallel_region, simd
from .printer import Emitters, Printer
from .types import bits

# The neutral element, and the operator or helper that combines two values.
_REDUCTIONS = {
    "addf": ("-0.0", "+"),
    "mulf": ("1.0", "*"),
    "maximumf": ("-INFINITY", "maximum"),
    "minimumf": ("INFINITY", "minimum"),
    "addi": ("0", "add"),
    "muli": ("1", "mul"),
    "andi": ("-1", "&"),
    "ori": ("0", "|"),
    "xori": ("0", "^"),
    "maxs": ("INT{bits}_MIN", "max"),
    "mins": ("INT{bits}_MAX", "min"),
    "maxu": ("0", "umax"),
    "minu": ("-1", "umin"),
}


def emit_parallel(printer: Printer, op: affine.ParallelOp) -> None:
    lower = apply_map(printer, op, op.lowerBoundsMap.data, op.lower_operands)
    upper = apply_map(printer, op, op.upperBoundsMap.data, op.upper_operands)
    lowers = [extremum(printer, "max", b) for b in grouped(lower, op.lowerBoundsGroups)]
    uppers = [extremum(printer, "min", b) for b in grouped(upper, op.upperBoundsGroups)]
    steps = [Expression(str(step.value.data)) for step in op.steps]
    reductions = [attribute.data for attribute in op.reductions]
    for reduction, result in zip(reductions, op.results, strict=True):
        if reduction not in _REDUCTIONS or bits(result.type) == 1:
            raise SourceError.at(op, f"the reduction '{reduction}' cannot be printed as C")
    printer.before_write()
    initial = [
        Expression(_REDUCTIONS[reduction][0].format(bits=bits(result.type)))
        for reduction, result in zip(reductions, op.results, strict=True)
    ]
    names = declare(printer, op.results, initial, [None] * len(initial))

    def end(values: list[Expression]) -> None:
        combined = [
            _combine(printer, reduction, result, Expression(name), value)
            for reduction, result, name, value in zip(
                reductions, op.results, names, values, strict=True
            )
        ]
        assign(printer, op.results, names, combined)

    block = op.body.block
    with ExitStack() as nest:
        nest.enter_context(parallel_region(printer, None if names else _pragma(op)))
        for parts in zip(block.args, lowers, uppers, steps, strict=True):
            nest.enter_context(loop(printer, *parts))
        printer.block(block, end)


def _pragma(op: affine.ParallelOp) -> str:
    is_dynamic = op.attributes.get("schedule") == StringAttr("dynamic")
    # A thread that fetches iterations one by one has none to put into a vector.
    words = ["#pragma omp parallel for", "" if is_dynamic else simd(op)]
    if len(op.body.block.args) > 1:
        words.append(f"collapse({len(op.body.block.args)})")
    if is_dynamic:
        words.append("schedule(dynamic)")
    return " ".join(word for word in words if word)


def _combine(
    printer: Printer, reduction: str, result: SSAValue, before: Expression, value: Expression
) -> Expression:
    operation = _REDUCTIONS[reduction][1]
    if not operation.isalpha():
        return binary(before, operation, value)
    width = bits(result.type)
    if width is None:
        helper = float_helper(operation, printer.type(result))
    else:
        helper = integer_helper(operation, width)
    return call(printer.unit.helper(helper), before, value)


EMITTERS: Emitters = {"affine.parallel": emit_parallel}
