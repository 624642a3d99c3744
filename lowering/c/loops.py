"""Loops and conditions in C."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from xdsl.dialects import affine, scf
from xdsl.dialects.builtin import IntegerAttr, UnitAttr
from xdsl.ir import Operation, Region, SSAValue
from xdsl.utils.hints import isa

from .affine_expressions import bound, condition
from .c_expressions import SUM, Expression, assignment
from .names import mentions
from .printer import Emitters, Printer


def emit_affine_for(printer: Printer, op: affine.ForOp) -> None:
    lower = bound(printer, op, op.lowerBoundMap.data, op.lowerBoundOperands, "max")
    upper = bound(printer, op, op.upperBoundMap.data, op.upperBoundOperands, "min")
    step = Expression(str(op.step.value.data))
    _emit_for(printer, op, lower, upper, step, op.inits)


def emit_scf_for(printer: Printer, op: scf.ForOp) -> None:
    lower, upper, step = printer.all_values((op.lb, op.ub, op.step))
    _emit_for(printer, op, lower, upper, step, op.iter_args)


def _emit_for(
    printer: Printer,
    op: affine.ForOp | scf.ForOp,
    lower: Expression,
    upper: Expression,
    step: Expression,
    inits: Sequence[SSAValue],
) -> None:
    block = op.body.block
    index, *arguments = block.args
    initial = printer.all_values(inits)
    printer.before_write()
    hints = [argument.name_hint for argument in arguments]
    carried = declare(printer, op.results, initial, hints)
    for argument, name in zip(arguments, carried, strict=True):
        printer.bind(argument, Expression(name))
    clause = simd(op)
    pragma = None
    if op in printer.unit.parallel and not printer.in_parallel:
        pragma = f"#pragma omp parallel for {clause}".rstrip()
    elif clause:
        printer.line(f"#pragma omp {clause}")
    with parallel_region(printer, pragma), loop(printer, index, lower, upper, step):
        printer.block(block, lambda values: assign(printer, op.results, carried, values))


def simd(op: Operation) -> str:
    """`simd simdlen(8)` for a loop with the attribute `omp.simd`; empty for another one.

    Without a width, the compiler chooses it.
    """
    width = op.attributes.get("omp.simd")
    if isinstance(width, UnitAttr):
        return "simd"
    if not isa(width, IntegerAttr):
        return ""
    lanes = width.value.data
    # Compilers have vectors of such lengths only.
    return f"simd simdlen({lanes})" if lanes & (lanes - 1) == 0 else "simd"


@contextmanager
def loop(
    printer: Printer, index: SSAValue, lower: Expression, upper: Expression, step: Expression
) -> Generator[None]:
    """The head and the braces of a loop."""
    with printer.names.scope():
        name = printer.names.take(index.name_hint, "i")
        printer.bind(index, Expression(name))
        advance = f"{name}++" if step.text == "1" else f"{name} += {step}"
        test = f"{name} < {upper.at_least(SUM)}"
        with printer.braces(f"for (int64_t {name} = {lower}; {test}; {advance})"):
            yield


@contextmanager
def parallel_region(printer: Printer, pragma: str | None) -> Generator[None]:
    """The pragma before a loop, unless the loop is inside a parallel one."""
    if pragma is None or printer.in_parallel:
        yield
        return
    printer.line(pragma)
    printer.in_parallel = True
    yield
    printer.in_parallel = False


def declare(
    printer: Printer,
    results: Sequence[SSAValue],
    initial: Sequence[Expression | None],
    hints: Sequence[str | None],
) -> list[str]:
    """Variables for the results of an operation; returns their names."""
    names: list[str] = []
    for result, value, hint in zip(results, initial, hints, strict=True):
        name = printer.names.take(result.name_hint or hint, "r")
        printer.line(f"{printer.type(result)} {name}{'' if value is None else f' = {value}'};")
        printer.bind(result, Expression(name))
        names.append(name)
    return names


def assign(
    printer: Printer,
    results: Sequence[SSAValue],
    names: Sequence[str],
    values: Sequence[Expression],
) -> None:
    """Assigns to the variables of `results`, all at once."""
    changed = [
        (result, name, value)
        for result, name, value in zip(results, names, values, strict=True)
        if value.text != name
    ]
    for number, (_, name, _) in enumerate(changed):
        if any(mentions(value.text, name) for _, _, value in changed[number + 1 :]):
            changed = [_copied(printer, *each) for each in changed]
            break
    for _, name, value in changed:
        printer.line(assignment(name, value))


def _copied(
    printer: Printer, result: SSAValue, name: str, value: Expression
) -> tuple[SSAValue, str, Expression]:
    copy = printer.names.take(f"next_{name}", "next")
    printer.line(f"const {printer.type(result)} {copy} = {value};")
    return result, name, Expression(copy)


def emit_affine_if(printer: Printer, op: affine.IfOp) -> None:
    test = condition(printer, op, op.condition.data, op.args)
    _emit_if(printer, op, test, op.then_region, op.else_region)


def emit_scf_if(printer: Printer, op: scf.IfOp) -> None:
    _emit_if(printer, op, printer.value(op.cond), op.true_region, op.false_region)


def _emit_if(
    printer: Printer, op: Operation, test: Expression, then: Region, otherwise: Region
) -> None:
    printer.before_write()
    # Compilers warn of a variable that is only assigned.
    results = [result for result in op.results if result in printer.needed]
    names = declare(printer, results, [None] * len(results), [None] * len(results))

    def end(values: list[Expression]) -> None:
        by_result = dict(zip(op.results, values, strict=True))
        assign(printer, results, names, [by_result[result] for result in results])

    with printer.braces(f"if ({test})"):
        printer.block(then.block, end)
    if otherwise.blocks and (op.results or len(otherwise.block.ops) > 1):
        with printer.else_braces():
            printer.block(otherwise.block, end)


EMITTERS: Emitters = {
    "affine.for": emit_affine_for,
    "affine.if": emit_affine_if,
    "scf.for": emit_scf_for,
    "scf.if": emit_scf_if,
}
