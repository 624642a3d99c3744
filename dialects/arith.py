"""The arith dialect: xDSL's, with vector operands and missing operations."""

from __future__ import annotations

from types import UnionType
from typing import ClassVar, Self

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
    VectorType,
    i1,
)
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from .comparisons import CmpfOp, CmpiOp
from .flags import (
    EXACT,
    FAST_MATH,
    NON_NEGATIVE,
    OVERFLOW,
    ROUNDING,
    parse_flags,
    print_flags,
    verify_flags,
)


class _Conversion(IRDLOperation):
    """`%0 = arith.extsi %1 : i32 to i64`, of scalars or lane by lane."""

    # What an element is before and after.
    source: ClassVar[type[Attribute] | UnionType] = IntegerType
    target: ClassVar[type[Attribute] | UnionType] = IntegerType
    flags: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operand = parser.parse_unresolved_operand()
        attributes = parse_flags(parser, cls.flags) | parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source = parser.parse_type()
        parser.parse_keyword("to")
        return cls.create(
            operands=[parser.resolve_operand(operand, source)],
            result_types=[parser.parse_type()],
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operands[0])
        print_flags(printer, self, self.flags)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)
        printer.print_string(" to ")
        printer.print_attribute(self.results[0].type)

    def verify_(self) -> None:
        if len(self.operands) != 1 or len(self.results) != 1:
            raise VerifyException(f"'{self.name}' has one operand and one result")
        source, target = self.operands[0].type, self.results[0].type
        if _shape(source) != _shape(target) or not self.converts(
            _element(source), _element(target)
        ):
            raise VerifyException(f"cannot convert {source} to {target}")
        verify_flags(self)

    def converts(self, source: Attribute, target: Attribute) -> bool:
        """Whether this is a conversion from one element type to the other."""
        return isinstance(source, self.source) and isinstance(target, self.target)


class _Widening(_Conversion):
    def converts(self, source: Attribute, target: Attribute) -> bool:
        return _width(source) < _width(target)


class ExtSIOp(_Widening, arith.ExtSIOp):
    """Sign extension."""


class ExtUIOp(_Widening, arith.ExtUIOp):
    """Zero extension."""

    flags = (NON_NEGATIVE,)


class TruncIOp(_Conversion, arith.TruncIOp):
    """The low bits."""

    flags = (OVERFLOW,)

    def converts(self, source: Attribute, target: Attribute) -> bool:
        return _width(source) > _width(target) > 0


class SIToFPOp(_Conversion, arith.SIToFPOp):
    """Signed integer to floating point."""

    target = AnyFloat


class UIToFPOp(_Conversion, arith.UIToFPOp):
    """Unsigned integer to floating point."""

    target = AnyFloat
    flags = (NON_NEGATIVE,)


class FPToSIOp(_Conversion, arith.FPToSIOp):
    """Floating point to signed integer, towards zero."""

    source = AnyFloat


class FPToUIOp(_Conversion, arith.FPToUIOp):
    """Floating point to unsigned integer, towards zero."""

    source = AnyFloat


class ExtFOp(_Conversion, arith.ExtFOp):
    """To a wider floating-point type."""

    flags = (FAST_MATH,)

    def converts(self, source: Attribute, target: Attribute) -> bool:
        return _float_width(target) > _float_width(source) > 0


class TruncFOp(_Conversion, arith.TruncFOp):
    """To a narrower floating-point type, rounded to the nearest number."""

    flags = (ROUNDING, FAST_MATH)

    def converts(self, source: Attribute, target: Attribute) -> bool:
        return _float_width(source) > _float_width(target) > 0


class IndexCastOp(_Conversion, arith.IndexCastOp):
    """Between index and signed integers."""

    def converts(self, source: Attribute, target: Attribute) -> bool:
        return _is_index_and_integer(source, target)


@irdl_op_definition
class _IndexCastUIOp(IRDLOperation):
    name = "arith.index_castui"

    input = operand_def()
    result = result_def()

    traits = traits_def(Pure())


class IndexCastUIOp(_Conversion, _IndexCastUIOp):
    """Between index and unsigned integers."""

    flags = (NON_NEGATIVE,)

    def converts(self, source: Attribute, target: Attribute) -> bool:
        return _is_index_and_integer(source, target)


class _Exact(arith.SignlessIntegerBinaryOperation):
    """`%0 = arith.divsi %1, %2 exact : i32`: without a remainder."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        lhs = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        rhs = parser.parse_unresolved_operand()
        attributes = parse_flags(parser, (EXACT,)) | parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        kind = parser.parse_type()
        return cls.create(
            operands=[parser.resolve_operand(lhs, kind), parser.resolve_operand(rhs, kind)],
            result_types=[kind],
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        print_flags(printer, self, (EXACT,))
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)

    def verify_(self) -> None:
        verify_flags(self)


class DivSIOp(_Exact, arith.DivSIOp):
    """Signed division, rounded towards zero."""


class DivUIOp(_Exact, arith.DivUIOp):
    """Unsigned division."""


class ShRSIOp(_Exact, arith.ShRSIOp):
    """A shift to the right that keeps the sign."""


class ShRUIOp(_Exact, arith.ShRUIOp):
    """A shift to the right that fills with zeros."""


class SelectOp(arith.SelectOp):
    """A choice of one of two values, or lane by lane.

    %0 = arith.select %condition, %1, %2 : vector<8xf64>
    %0 = arith.select %conditions, %1, %2 : vector<8xi1>, vector<8xf64>
    """

    @classmethod
    def parse(cls, parser: Parser) -> SelectOp:
        condition = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        lhs = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        rhs = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        if len(types) > 2:
            parser.raise_error("expected one or two types")
        select = SelectOp(
            parser.resolve_operand(condition, types[0] if len(types) == 2 else i1),
            parser.resolve_operand(lhs, types[-1]),
            parser.resolve_operand(rhs, types[-1]),
        )
        select.attributes |= attributes
        return select

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        if self.operands[0].type != i1:
            printer.print_attribute(self.operands[0].type)
            printer.print_string(", ")
        printer.print_attribute(self.results[0].type)

    def verify_(self) -> None:
        if len(self.operands) != 3 or len(self.results) != 1:
            raise VerifyException("'arith.select' has three operands and one result")
        condition, *choices = (operand.type for operand in self.operands)
        type = self.results[0].type
        if any(choice != type for choice in choices):
            raise VerifyException("both choices must have the type of the result")
        if _element(condition) != i1 or _shape(condition) not in (None, _shape(type)):
            raise VerifyException(f"a choice of {type} cannot depend on {condition}")


@irdl_op_definition
class RemFOp(arith.FloatingPointLikeBinaryOperation):
    """The floating-point remainder, with the sign of the dividend."""

    name = "arith.remf"

    traits = traits_def(Pure())


def constant_lanes(value: SSAValue) -> tuple[int, ...] | None:
    """The elements of a vector of integers, if it is a constant."""
    match value.owner:
        case arith.ConstantOp(value=DenseIntOrFPElementsAttr() as elements):
            values = elements.get_values()
            lanes = tuple(value for value in values if isinstance(value, int))
            return lanes if len(lanes) == len(values) else None
        case _:
            return None


def _element(type: Attribute) -> Attribute:
    return type.element_type if isa(type, VectorType) else type


def _shape(type: Attribute) -> tuple[int, ...] | None:
    return type.get_shape() if isa(type, VectorType) else None


def _is_index_and_integer(*pair: Attribute) -> bool:
    return any(isinstance(type, IndexType) for type in pair) and any(
        isinstance(type, IntegerType) for type in pair
    )


def _float_width(type: Attribute) -> int:
    return type.bitwidth if isinstance(type, AnyFloat) else 0


def _width(type: Attribute) -> int:
    return type.width.data if isa(type, IntegerType) else 0


_REPLACEMENTS = {
    operation.name: operation
    for operation in (
        CmpfOp,
        CmpiOp,
        DivSIOp,
        DivUIOp,
        ExtFOp,
        ExtSIOp,
        ExtUIOp,
        FPToSIOp,
        FPToUIOp,
        IndexCastOp,
        SIToFPOp,
        SelectOp,
        ShRSIOp,
        ShRUIOp,
        TruncFOp,
        TruncIOp,
        UIToFPOp,
    )
}

Arith = Dialect(
    "arith",
    [
        *(_REPLACEMENTS.get(operation.name, operation) for operation in arith.Arith.operations),
        IndexCastUIOp,
        RemFOp,
    ],
    list(arith.Arith.attributes),
    [arith.ArithConstantMaterializationInterface()],
)
