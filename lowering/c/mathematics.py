"""The `math` dialect in C: functions of math.h."""

from __future__ import annotations

from xdsl.dialects import math

from ...dialects.errors import SourceError
from ...dialects.mathematics import ClassOp, ExternalOp
from .arithmetic import integer_function, library_call, width_of
from .c_expressions import Expression, binary, call, unary
from .helpers import Helper, power_helper
from .printer import Emit, Emitters, Printer

_FUNCTIONS = {
    **{
        name: name
        for name in (
            *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil"),
            *("copysign", "cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1", "floor", "fma"),
            *("log", "log10", "log1p", "log2", "round", "sin", "sinh", "sqrt", "tan", "tanh"),
            "trunc",
        )
    },
    "absf": "fabs",
    "powf": "pow",
    "roundeven": "nearbyint",
}


def emit_rsqrt(printer: Printer, op: math.RsqrtOp) -> None:
    printer.unit.headers.add("math.h")
    single = printer.type(op.result) == "float"
    root = call("sqrtf" if single else "sqrt", printer.value(op.operand))
    printer.define(op.result, binary(Expression("1.0f" if single else "1.0"), "/", root))


def emit_fpowi(printer: Printer, op: math.FPowIOp) -> None:
    """Through `pow` in double precision, which holds the exponent exactly."""
    printer.unit.headers.add("math.h")
    power = call("pow", printer.value(op.lhs), unary("(double)", printer.value(op.rhs)))
    single = printer.type(op.result) == "float"
    printer.define(op.result, unary("(float)", power) if single else power)


def emit_ipowi(printer: Printer, op: math.IPowIOp) -> None:
    if width_of(op.result) == 1:
        raise SourceError.at(op, f"'{op.name}' on i1 cannot be printed as C")
    name = printer.unit.helper(power_helper(width_of(op.result)))
    printer.define(op.result, call(name, printer.value(op.lhs), printer.value(op.rhs)))


def emit_external(printer: Printer, op: ExternalOp) -> None:
    """A function that is declared pure, with its prototype."""
    parameters = ", ".join(printer.type(operand) for operand in op.operands) or "void"
    name = op.callee.data
    prototype = f"extern {printer.type(op.result)} {name}({parameters}) __attribute__((const));"
    printer.unit.helper(Helper(name, prototype))
    printer.define(op.result, call(name, *printer.all_values(op.operands)))


def _class(name: str) -> Emit:
    """A macro of math.h, whose answer may be any number but 0."""

    def emit(printer: Printer, op: ClassOp) -> None:
        printer.unit.headers.add("math.h")
        found = call(name, printer.value(op.operand))
        printer.define(op.result, binary(found, "!=", Expression("0")))

    return emit


def _bits(operation: str) -> Emit:
    def emit(printer: Printer, op: math.AbsIOp | math.CtPopOp | math.CountLeadingZerosOp) -> None:
        name = integer_function(printer, op, operation)
        printer.define(op.results[0], call(name, printer.value(op.operands[0])))

    return emit


EMITTERS: Emitters = {
    **{f"math.{name}": library_call(function) for name, function in _FUNCTIONS.items()},
    "math.rsqrt": emit_rsqrt,
    "math.fpowi": emit_fpowi,
    "math.ipowi": emit_ipowi,
    **{f"math.{name}": _class(name) for name in ("isfinite", "isinf", "isnan", "isnormal")},
    "math.external": emit_external,
    "math.absi": _bits("abs"),
    "math.ctpop": _bits("popcount"),
    "math.ctlz": _bits("clz"),
    "math.cttz": _bits("ctz"),
}
