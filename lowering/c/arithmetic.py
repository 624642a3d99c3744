"""The `arith` dialect in C: constants, integer and floating-point arithmetic, conversions."""

from __future__ import annotations

import math
import struct

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.utils.hints import isa

from ...dialects.errors import SourceError
from .c_expressions import ATOM, UNARY, Expression, binary, call, integer, select, unary
from .helpers import bitcast_helper, float_helper, integer_helper
from .printer import Emit, Emitters, Printer
from .types import HEADERS, bits, type_of


def emit_constant(printer: Printer, op: arith.ConstantOp) -> None:
    attribute, kind = op.value, type_of(op.result)
    if isa(attribute, IntegerAttr):
        value = attribute.value.data
        if kind in HEADERS:  # `true` and `false` are macros
            printer.unit.headers.add(HEADERS[kind])
        expression = _integer_constant(value, kind)
    elif isa(attribute, FloatAttr):
        expression = _float_constant(printer, attribute.value.data, kind)
    else:
        raise SourceError.at(op, "a constant must be a number")
    printer.define(op.result, expression, trivial=True)


def _integer_constant(value: int, kind: str) -> Expression:
    if kind == "bool":
        return Expression("true" if value & 1 else "false")
    half = 1 << int(kind.removeprefix("int").removesuffix("_t")) - 1
    return integer((value + half) % (2 * half) - half)


def _float_constant(printer: Printer, value: float, kind: str) -> Expression:
    if not math.isfinite(value):
        printer.unit.headers.add("math.h")
        name = "NAN" if math.isnan(value) else "INFINITY"
        return Expression(name if value != -math.inf else f"-{name}", ATOM if value > 0 else UNARY)
    text = _shortest_float(value) if kind == "float" else repr(value)
    if "." not in text and "e" not in text:
        text += ".0"
    suffix = "f" if kind == "float" else ""
    return Expression(f"{text}{suffix}", UNARY if text.startswith("-") else ATOM)


def _shortest_float(value: float) -> str:
    """The shortest decimal number that is `value` in single precision."""
    wanted = struct.pack("f", value)
    texts = (f"{value:.{digits}g}" for digits in range(1, 10))
    return next(text for text in texts if struct.pack("f", float(text)) == wanted)


def width_of(value: SSAValue) -> int:
    """Bits of an integer value."""
    found = bits(value.type)
    assert found is not None, "the operation has integer operands"
    return found


def integer_function(printer: Printer, op: Operation, operation: str) -> str:
    """The helper for an operation on integers of the type of its result; raises SourceError."""
    width = width_of(op.results[0])
    if width == 1:
        raise SourceError.at(op, f"'{op.name}' on i1 cannot be printed as C")
    return printer.unit.helper(integer_helper(operation, width))


def _operator(operator: str) -> Emit:
    def emit(printer: Printer, op: Operation) -> None:
        left, right = printer.all_values(op.operands)
        printer.define(op.results[0], binary(left, operator, right))

    return emit


def _integer(operation: str, operator: str | None = None, of_bool: str | None = None) -> Emit:
    """A helper function; `operator` when overflow is excluded, `of_bool` for one bit."""

    def emit(printer: Printer, op: Operation) -> None:
        left, right = printer.all_values(op.operands)
        width = width_of(op.results[0])
        promised = op.properties.get("overflowFlags")
        exact = (
            isinstance(promised, arith.IntegerOverflowAttr)
            and arith.IntegerOverflowFlag.NSW in promised.data
        )
        if width == 1 and of_bool is not None:
            result = binary(left, of_bool, right)
        elif operator is not None and exact and width >= 32:
            result = binary(left, operator, right)
        else:
            result = call(integer_function(printer, op, operation), left, right)
        printer.define(op.results[0], result)

    return emit


def _bitwise(operator: str, of_bool: str) -> Emit:
    def emit(printer: Printer, op: Operation) -> None:
        left, right = printer.all_values(op.operands)
        symbol = of_bool if width_of(op.results[0]) == 1 else operator
        printer.define(op.results[0], binary(left, symbol, right))

    return emit


def _float_helper(operation: str) -> Emit:
    def emit(printer: Printer, op: Operation) -> None:
        helper = float_helper(operation, printer.type(op.results[0]))
        printer.define(
            op.results[0], call(printer.unit.helper(helper), *printer.all_values(op.operands))
        )

    return emit


def library_call(name: str) -> Emit:
    """A function of math.h; its name ends in f for float."""

    def emit(printer: Printer, op: Operation) -> None:
        printer.unit.headers.add("math.h")
        suffix = "f" if printer.type(op.results[0]) == "float" else ""
        arguments = printer.all_values(op.operands)
        printer.define(op.results[0], call(f"{name}{suffix}", *arguments))

    return emit


def emit_negf(printer: Printer, op: arith.NegfOp) -> None:
    printer.define(op.result, unary("-", printer.value(op.operand)))


_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
_FIRST_UNSIGNED = 6


def emit_cmpi(printer: Printer, op: arith.CmpiOp) -> None:
    predicate = op.predicate.value.data
    left, right = printer.value(op.lhs), printer.value(op.rhs)
    width = width_of(op.lhs)
    if width == 1 and predicate > 1:
        raise SourceError.at(op, "an ordering of i1 cannot be printed as C")
    if predicate >= _FIRST_UNSIGNED:
        left, right = (unary(f"(uint{width}_t)", side) for side in (left, right))
    printer.define(op.result, binary(left, _COMPARISONS[predicate], right))


# In the order of MLIR's predicates: an operator, and whether its result is negated.
_FLOAT_COMPARISONS = {
    1: ("==", False),
    2: (">", False),
    3: (">=", False),
    4: ("<", False),
    5: ("<=", False),
    9: ("<=", True),
    10: ("<", True),
    11: (">=", True),
    12: (">", True),
    13: ("!=", False),
}
_ALWAYS = {0: "false", 15: "true"}
_FLOAT_PREDICATES = {
    6: ("islessgreater", False),
    7: ("isunordered", True),
    8: ("islessgreater", True),
    14: ("isunordered", False),
}


def emit_cmpf(printer: Printer, op: arith.CmpfOp) -> None:
    predicate = op.predicate.value.data
    if predicate in _ALWAYS:
        printer.unit.headers.add(HEADERS["bool"])
        printer.define(op.result, Expression(_ALWAYS[predicate]), trivial=True)
        return
    left, right = printer.value(op.lhs), printer.value(op.rhs)
    if predicate in _FLOAT_COMPARISONS:
        operator, negated = _FLOAT_COMPARISONS[predicate]
        result = binary(left, operator, right)
    else:
        printer.unit.headers.add("math.h")
        function, negated = _FLOAT_PREDICATES[predicate]
        result = call(function, left, right)
    printer.define(op.result, unary("!", result) if negated else result)


def emit_select(printer: Printer, op: arith.SelectOp) -> None:
    printer.define(op.result, select(*printer.all_values(op.operands)))


def _cast(*, signed: bool = True) -> Emit:
    """A conversion by value; `signed` says how the integer is read on the side that is one."""

    def emit(printer: Printer, op: Operation) -> None:
        (operand,), (result,) = op.operands, op.results
        source, target = printer.type(operand), printer.type(result)
        value = printer.value(operand)
        if source == target:
            printer.define(result, value)
            return
        if target == "bool":
            whole = unary("(int64_t)", value) if source in ("float", "double") else value
            converted = binary(binary(whole, "&", integer(1)), "!=", integer(0))
        elif source == "bool":
            # A signed boolean is 0 or -1.
            converted = unary(f"({target})", unary("-", value) if signed else value)
        else:
            if not signed:
                part = source if source.startswith("int") else target
                value = _as_unsigned(value, part)
            converted = unary(f"({target})", value)
        printer.define(result, converted)

    return emit


def _as_unsigned(value: Expression, kind: str) -> Expression:
    """A number as one of the unsigned type: as it was before where it was one."""
    return unary(f"(u{kind})", value) if value.unsigned is None else value.unsigned


def emit_bitcast(printer: Printer, op: arith.BitcastOp) -> None:
    source, target = printer.type(op.input), printer.type(op.result)
    value = printer.value(op.input)
    if source != target:
        name = f"bits_{target.removesuffix('_t')}_of_{source.removesuffix('_t')}"
        value = call(printer.unit.helper(bitcast_helper(source, target, name)), value)
    printer.define(op.result, value)


EMITTERS: Emitters = {
    "arith.constant": emit_constant,
    "arith.addi": _integer("add", "+", "!="),
    "arith.subi": _integer("sub", "-", "!="),
    "arith.muli": _integer("mul", "*", "&&"),
    "arith.divsi": _integer("div"),
    "arith.divui": _integer("udiv"),
    "arith.remsi": _integer("rem"),
    "arith.remui": _integer("urem"),
    "arith.floordivsi": _integer("floordiv"),
    "arith.ceildivsi": _integer("ceildiv"),
    "arith.ceildivui": _integer("uceildiv"),
    "arith.minsi": _integer("min"),
    "arith.maxsi": _integer("max"),
    "arith.minui": _integer("umin"),
    "arith.maxui": _integer("umax"),
    "arith.shli": _integer("shl"),
    "arith.shrsi": _integer("shr"),
    "arith.shrui": _integer("ushr"),
    "arith.andi": _bitwise("&", "&&"),
    "arith.ori": _bitwise("|", "||"),
    "arith.xori": _bitwise("^", "!="),
    "arith.cmpi": emit_cmpi,
    "arith.select": emit_select,
    "arith.addf": _operator("+"),
    "arith.subf": _operator("-"),
    "arith.mulf": _operator("*"),
    "arith.divf": _operator("/"),
    "arith.remf": library_call("fmod"),
    "arith.negf": emit_negf,
    "arith.maximumf": _float_helper("maximum"),
    "arith.minimumf": _float_helper("minimum"),
    "arith.maxnumf": library_call("fmax"),
    "arith.minnumf": library_call("fmin"),
    "arith.cmpf": emit_cmpf,
    "arith.index_cast": _cast(),
    "arith.index_castui": _cast(signed=False),
    "arith.extsi": _cast(),
    "arith.extui": _cast(signed=False),
    "arith.trunci": _cast(),
    "arith.extf": _cast(),
    "arith.truncf": _cast(),
    "arith.sitofp": _cast(),
    "arith.uitofp": _cast(signed=False),
    "arith.fptosi": _cast(),
    "arith.fptoui": _cast(signed=False),
    "arith.bitcast": emit_bitcast,
}
