"""What named operations of linalg do with elements, as operations of arith and math."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IndexType, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from .....dialects.errors import SourceError
from .....dialects.linalg import StructuredOp
from .....dialects.linalg.attributes import ElementwiseKindAttr, TypeFunctionAttr
from .....dialects.linalg.definitions import DEFINITIONS
from ..cells import insert_before

# By name: for floats, for integers, and for i1.
_BINARY: dict[str, tuple[type[Operation] | None, type[Operation] | None]] = {
    "add": (arith.AddfOp, arith.AddiOp),
    "sub": (arith.SubfOp, arith.SubiOp),
    "mul": (arith.MulfOp, arith.MuliOp),
    "div": (arith.DivfOp, arith.DivSIOp),
    "div_unsigned": (None, arith.DivUIOp),
    "max": (arith.MaximumfOp, arith.MaxSIOp),
    "max_unsigned": (arith.MaximumfOp, arith.MaxUIOp),
    "min": (arith.MinimumfOp, arith.MinSIOp),
    "min_unsigned": (arith.MinimumfOp, arith.MinUIOp),
    "powf": (math.PowFOp, None),
}

# What linalg.elementwise calls otherwise.
_KINDS = {"max_signed": "max", "min_signed": "min"}

_UNARY: dict[str, type[Operation]] = {
    "abs": math.AbsFOp,
    "ceil": math.CeilOp,
    "erf": math.ErfOp,
    "exp": math.ExpOp,
    "floor": math.FloorOp,
    "log": math.LogOp,
    "negf": arith.NegfOp,
    "round": math.RoundOp,
    "rsqrt": math.RsqrtOp,
    "sqrt": math.SqrtOp,
    "tanh": math.TanhOp,
}

_BOOLEAN = {"add": arith.OrIOp, "mul": arith.AndIOp}


def named_body(
    operation: StructuredOp, anchor: Operation, inputs: Sequence[SSAValue], old: SSAValue
) -> SSAValue:
    """The new element of the output, emitted before `anchor`; raises SourceError."""
    name = _body_name(operation)
    kind = old.type
    unsigned = _is_unsigned(operation)
    name, _, pooling = name.partition(":")
    if pooling:
        return _binary(
            operation,
            anchor,
            pooling,
            old,
            _converted(operation, anchor, inputs[0], kind, unsigned),
        )
    if name == "select":
        one, other = (_converted(operation, anchor, each, kind, unsigned) for each in inputs[1:])
        select = arith.SelectOp(inputs[0], one, other)
        insert_before(anchor, select)
        return select.results[0]
    values = [_converted(operation, anchor, each, kind, unsigned) for each in inputs]
    if name == "copy":
        return values[0]
    if name == "multiply_add":
        product = _binary(operation, anchor, "mul", *values)
        return _binary(operation, anchor, "add", old, product)
    if len(values) == 2:
        return _binary(operation, anchor, name, *values)
    return _unary(operation, anchor, name, values[0])


def _body_name(operation: StructuredOp) -> str:
    name = operation.name.partition(".")[2]
    if name in ("transpose", "broadcast"):
        return "copy"
    if name == "contract":
        return "multiply_add"
    if name == "elementwise":
        kind = operation.properties.get("kind")
        word = kind.word.data if isinstance(kind, ElementwiseKindAttr) else ""
        return _KINDS.get(word, word)
    return DEFINITIONS[name].body


def _is_unsigned(operation: StructuredOp) -> bool:
    cast = operation.properties.get("cast")
    return isinstance(cast, TypeFunctionAttr) and cast.word.data == "cast_unsigned"


def _binary(
    operation: StructuredOp, anchor: Operation, name: str, left: SSAValue, right: SSAValue
) -> SSAValue:
    kind = left.type
    of_floats, of_integers = _BINARY.get(name, (None, None))
    make = of_floats if isinstance(kind, AnyFloat) else of_integers
    if isa(kind, IntegerType) and kind.width.data == 1:
        make = _BOOLEAN.get(name, make)
    if make is None:
        raise SourceError.at(operation, f"'{operation.name}' of {kind} is not supported")
    result = make.create(operands=[left, right], result_types=[kind])
    if "fastmath" not in result.properties and isinstance(kind, AnyFloat):
        result.properties["fastmath"] = arith.FastMathFlagsAttr("none")
    insert_before(anchor, result)
    return result.results[0]


def _unary(operation: StructuredOp, anchor: Operation, name: str, value: SSAValue) -> SSAValue:
    kind = value.type
    if name == "square":
        return _binary(operation, anchor, "mul", value, value)
    if name == "reciprocal" and isa(kind, AnyFloat):
        one = arith.ConstantOp(FloatAttr(1.0, kind))
        insert_before(anchor, one)
        return _binary(operation, anchor, "div", one.result, value)
    make = _UNARY.get(name)
    if make is None or not isinstance(kind, AnyFloat):
        raise SourceError.at(operation, f"'{operation.name}' of {kind} is not supported")
    result = make.create(operands=[value], result_types=[kind])
    result.properties["fastmath"] = arith.FastMathFlagsAttr("none")
    insert_before(anchor, result)
    return result.results[0]


def _converted(
    operation: StructuredOp, anchor: Operation, value: SSAValue, kind: Attribute, unsigned: bool
) -> SSAValue:
    """An input as an element of the output's type."""
    old = value.type
    if old == kind:
        return value
    make = None
    if isa(old, AnyFloat) and isa(kind, AnyFloat):
        make = arith.ExtFOp if old.bitwidth < kind.bitwidth else arith.TruncFOp
    elif isa(old, AnyFloat) and isa(kind, IntegerType):
        make = arith.FPToUIOp if unsigned else arith.FPToSIOp
    elif isa(old, IntegerType) and isa(kind, AnyFloat):
        make = arith.UIToFPOp if unsigned else arith.SIToFPOp
    elif isa(old, IntegerType) and isa(kind, IntegerType):
        wider = arith.ExtUIOp if unsigned or old.width.data == 1 else arith.ExtSIOp
        make = wider if old.width.data < kind.width.data else arith.TruncIOp
    elif isinstance(old, IndexType) or isinstance(kind, IndexType):
        make = arith.IndexCastOp
    if make is None:
        raise SourceError.at(operation, f"'{operation.name}' cannot convert {old} to {kind}")
    result = make.create(operands=[value], result_types=[kind])
    insert_before(anchor, result)
    return result.results[0]
