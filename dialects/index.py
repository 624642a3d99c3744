"""The index dialect: arithmetic on indices. Importing a program rewrites it to arith."""

from __future__ import annotations

from typing import Self

from xdsl.dialects.builtin import BoolAttr, IndexType, IntegerAttr, IntegerType, StringAttr, i1
from xdsl.ir import Dialect, Operation
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure

BINARY = {
    **{name: f"{name}i" for name in ("add", "and", "mul", "or", "sub", "xor")},
    "ceildivs": "ceildivsi",
    "ceildivu": "ceildivui",
    "divs": "divsi",
    "divu": "divui",
    "floordivs": "floordivsi",
    "maxs": "maxsi",
    "maxu": "maxui",
    "mins": "minsi",
    "minu": "minui",
    "rems": "remsi",
    "remu": "remui",
    "shl": "shli",
    "shrs": "shrsi",
    "shru": "shrui",
}
"""Operations on two indices, and those of arith that they are."""

PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


class BinaryOp(IRDLOperation):
    """`%0 = index.add %a, %b`."""

    lhs = operand_def(IndexType)
    rhs = operand_def(IndexType)
    result = result_def(IndexType)

    traits = traits_def(Pure())

    assembly_format = "$lhs `,` $rhs attr-dict"


class CastOp(IRDLOperation):
    """`%0 = index.casts %a : i32 to index`."""

    operand = operand_def(IndexType | IntegerType)
    result = result_def(IndexType | IntegerType)

    traits = traits_def(Pure())

    assembly_format = "$operand attr-dict `:` type($operand) `to` type($result)"


@irdl_op_definition
class CastSOp(CastOp):
    """Extends signs."""

    name = "index.casts"


@irdl_op_definition
class CastUOp(CastOp):
    """Extends by zeros."""

    name = "index.castu"


@irdl_op_definition
class CmpOp(IRDLOperation):
    """`%0 = index.cmp slt(%a, %b)`."""

    name = "index.cmp"

    predicate = prop_def(StringAttr)
    lhs = operand_def(IndexType)
    rhs = operand_def(IndexType)
    result = result_def(i1)

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        predicate = parser.expect(parser.parse_optional_identifier, "expected a predicate")
        if predicate not in PREDICATES:
            parser.raise_error(f"'{predicate}' is no predicate: use one of {', '.join(PREDICATES)}")
        parser.parse_punctuation("(")
        lhs = parser.parse_operand(IndexType())
        parser.parse_punctuation(",")
        rhs = parser.parse_operand(IndexType())
        parser.parse_punctuation(")")
        attributes = parser.parse_optional_attr_dict()
        return cls.create(
            operands=[lhs, rhs],
            result_types=[i1],
            properties={"predicate": StringAttr(predicate)},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.predicate.data}(")
        printer.print_ssa_value(self.lhs)
        printer.print_string(", ")
        printer.print_ssa_value(self.rhs)
        printer.print_string(")")
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """`%0 = index.constant 4`."""

    name = "index.constant"

    value = prop_def(IntegerAttr)
    result = result_def(IndexType)

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        attributes = parser.parse_optional_attr_dict()
        value = IntegerAttr(parser.parse_integer(allow_boolean=False), IndexType())
        return cls.create(
            result_types=[IndexType()], properties={"value": value}, attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(f" {self.value.value.data}")


@irdl_op_definition
class BoolConstantOp(IRDLOperation):
    """`%0 = index.bool.constant true`."""

    name = "index.bool.constant"

    value = prop_def(BoolAttr)
    result = result_def(i1)

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        attributes = parser.parse_optional_attr_dict()
        value = BoolAttr.from_bool(parser.parse_boolean())
        return cls.create(result_types=[i1], properties={"value": value}, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(" true" if self.value.value.data else " false")


def _binary(name: str) -> type[Operation]:
    made = type(f"{name.capitalize()}Op", (BinaryOp,), {"name": f"index.{name}"})
    return irdl_op_definition(made)


Index = Dialect(
    "index", [*map(_binary, BINARY), BoolConstantOp, CastSOp, CastUOp, CmpOp, ConstantOp]
)
