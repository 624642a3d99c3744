"""Comparisons of the arith dialect: xDSL's, also element-wise and with attributes."""

from __future__ import annotations

from typing import Self

from xdsl.dialects import arith
from xdsl.dialects.arith import (
    CMPF_COMPARISON_OPERATIONS,
    CMPI_COMPARISON_OPERATIONS,
    FastMathFlagsAttr,
)
from xdsl.dialects.builtin import (
    AnyFloat,
    IndexType,
    IntegerAttr,
    IntegerType,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa


class _Comparison(IRDLOperation):
    """`%0 = arith.cmpi slt, %1, %2 {attributes} : vector<8xi32>`."""

    @classmethod
    def predicates(cls) -> list[str]:
        """The names of the comparisons, by number."""
        raise NotImplementedError

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        # Older versions of MLIR print it in quotes, and newer ones read that.
        predicate = parser.parse_optional_str_literal() or parser.parse_identifier()
        if predicate not in cls.predicates():
            parser.raise_error(f"unknown comparison '{predicate}'", position)
        parser.parse_punctuation(",")
        lhs = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        rhs = parser.parse_unresolved_operand()
        properties = cls.parse_flags(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        return cls.create(
            operands=[parser.resolve_operand(lhs, type), parser.resolve_operand(rhs, type)],
            result_types=[_truth_of(type)],
            properties={
                "predicate": IntegerAttr(cls.predicates().index(predicate), i64),
                **properties,
            },
            attributes=attributes,
        )

    @classmethod
    def parse_flags(cls, parser: Parser) -> dict[str, Attribute]:
        """Parses what may follow the operands, as properties."""
        return {}

    def print_flags(self, printer: Printer) -> None:
        """Prints what `parse_flags` parses."""

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.predicates()[self.number()]}, ")
        printer.print_list(self.operands, printer.print_ssa_value)
        self.print_flags(printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)

    def number(self) -> int:
        """The number of the comparison."""
        predicate = self.properties.get("predicate")
        return predicate.value.data if isa(predicate, IntegerAttr) else -1

    def verify_(self) -> None:
        if len(self.operands) != 2 or len(self.results) != 1:
            raise VerifyException(f"'{self.name}' has two operands and one result")
        type = self.operands[0].type
        if self.operands[1].type != type or not self.compares(_element(type)):
            raise VerifyException(f"cannot compare {type} with {self.operands[1].type}")
        if self.results[0].type != _truth_of(type):
            raise VerifyException(f"a comparison of {type} gives {_truth_of(type)}")
        if not 0 <= self.number() < len(self.predicates()):
            raise VerifyException("unknown comparison")

    def compares(self, element: Attribute) -> bool:
        """Whether values of a type can be compared."""
        raise NotImplementedError


class CmpiOp(_Comparison, arith.CmpiOp):
    """Compares integers or indices."""

    @classmethod
    def predicates(cls) -> list[str]:
        return CMPI_COMPARISON_OPERATIONS

    def compares(self, element: Attribute) -> bool:
        return isinstance(element, IntegerType | IndexType)


class CmpfOp(_Comparison, arith.CmpfOp):
    """Compares floating-point numbers: `%0 = arith.cmpf ogt, %1, %2 fastmath<nnan> : f64`."""

    @classmethod
    def predicates(cls) -> list[str]:
        return CMPF_COMPARISON_OPERATIONS

    @classmethod
    def parse_flags(cls, parser: Parser) -> dict[str, Attribute]:
        if parser.parse_optional_keyword("fastmath") is None:
            return {"fastmath": FastMathFlagsAttr("none")}
        return {"fastmath": FastMathFlagsAttr(FastMathFlagsAttr.parse_parameter(parser))}

    def print_flags(self, printer: Printer) -> None:
        flags = self.properties.get("fastmath")
        if isinstance(flags, FastMathFlagsAttr) and flags != FastMathFlagsAttr("none"):
            printer.print_string(" fastmath")
            flags.print_parameter(printer)

    def compares(self, element: Attribute) -> bool:
        return isinstance(element, AnyFloat)


def _element(type: Attribute) -> Attribute:
    return type.element_type if isa(type, VectorType) else type


def _truth_of(type: Attribute) -> Attribute:
    """The type of a comparison of values of a type."""
    return VectorType(i1, type.get_shape()) if isa(type, VectorType) else i1
