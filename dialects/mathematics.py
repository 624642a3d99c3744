"""The math dialect: xDSL's, with classes of numbers, erfc, and functions that are declared pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects import math
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import AnyFloat, Float32Type, StringAttr, VectorType, i1
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure, SameOperandsAndResultType
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa


class ClassOp(IRDLOperation):
    """`%0 = math.isnan %1 : f64`: whether a number, or each lane, is of a class."""

    operand = operand_def()
    result = result_def()
    fastmath = opt_prop_def(FastMathFlagsAttr)

    traits = traits_def(Pure())

    def __init__(self, operand: Operation | SSAValue) -> None:
        value = SSAValue.get(operand)
        super().__init__(operands=[value], result_types=[_truth(value.type)])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operand = parser.parse_unresolved_operand()
        properties: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("fastmath") is not None:
            properties["fastmath"] = FastMathFlagsAttr(FastMathFlagsAttr.parse_parameter(parser))
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        kind = parser.parse_type()
        return cls.create(
            operands=[parser.resolve_operand(operand, kind)],
            result_types=[_truth(kind)],
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operand)
        if self.fastmath is not None:
            printer.print_string(" fastmath")
            self.fastmath.print_parameter(printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.operand.type)

    def verify_(self) -> None:
        kind = self.operand.type
        element = kind.element_type if isa(kind, VectorType) else kind
        if not isinstance(element, AnyFloat):
            raise VerifyException(f"{kind} is no floating-point type")
        if self.result.type != _truth(kind):
            raise VerifyException(f"the class of {kind} is {_truth(kind)}")


def _truth(kind: Attribute) -> Attribute:
    return VectorType(i1, kind.get_shape()) if isa(kind, VectorType) else i1


@irdl_op_definition
class IsNaNOp(ClassOp):
    """No number."""

    name = "math.isnan"


@irdl_op_definition
class IsInfOp(ClassOp):
    """Positive or negative infinity."""

    name = "math.isinf"


@irdl_op_definition
class IsFiniteOp(ClassOp):
    """Neither infinite nor NaN."""

    name = "math.isfinite"


@irdl_op_definition
class IsNormalOp(ClassOp):
    """Neither zero, subnormal, infinite nor NaN."""

    name = "math.isnormal"


@irdl_op_definition
class ErfcOp(math.FloatingPointLikeUnaryMathOperation):
    """The complementary error function, `1 - erf(x)`."""

    name = "math.erfc"

    traits = traits_def(Pure(), SameOperandsAndResultType())


@irdl_op_definition
class ExternalOp(IRDLOperation):
    """`%0 = math.external "j0"(%x) : (f64) -> f64`: a function that is declared pure.

    func.func private @j0(f64) -> f64 attributes {llvm.readnone}
    """

    name = "math.external"

    callee = prop_def(StringAttr)
    operands_ = var_operand_def()
    result = result_def()

    traits = traits_def(Pure())

    assembly_format = (
        "$callee `(` $operands_ `)` attr-dict `:` functional-type($operands_, $result)"
    )

    def __init__(self, callee: str, operands: Sequence[SSAValue], kind: Attribute) -> None:
        super().__init__(
            operands=[operands], result_types=[kind], properties={"callee": StringAttr(callee)}
        )

    @property
    def function(self) -> str:
        """The name, without the suffix of functions of `float` in the C library."""
        name, kind = self.callee.data, self.result.type
        element = kind.element_type if isa(kind, VectorType) else kind
        return name.removesuffix("f") if isinstance(element, Float32Type) else name


Math = Dialect(
    "math",
    [*math.Math.operations, ErfcOp, ExternalOp, IsFiniteOp, IsInfOp, IsNaNOp, IsNormalOp],
    list(math.Math.attributes),
)
