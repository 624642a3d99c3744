"""The operation affine.for."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from xdsl.dialects import affine
from xdsl.dialects.builtin import AffineMapAttr, IndexType, IntegerAttr
from xdsl.dialects.utils import print_assignment
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap, AffineSymExpr
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .conditionals import (
    parse_arrow_types,
    parse_body,
    print_body,
    verify_terminators,
)
from .functions import parse_applied, print_applied_map
from .validity import is_valid_symbol, verify_operands


class ForOp(affine.ForOp):
    """Runs its body once per value of the induction variable, in increasing order.

    %0 = affine.for %i = max affine_map<(d0)[s0] -> (d0, s0)>(%j)[%n] to %m step 2
        iter_args(%a = %1) -> (f64) {
      affine.yield %a : f64
    } {attributes}
    """

    @staticmethod
    def from_region(
        lowerBoundOperands: Sequence[Operation | SSAValue],  # noqa: N803
        upperBoundOperands: Sequence[Operation | SSAValue],  # noqa: N803
        inits: Sequence[Operation | SSAValue],
        result_types: Sequence[Attribute],
        lower_bound: int | AffineMapAttr,
        upper_bound: int | AffineMapAttr,
        region: Region,
        step: int | IntegerAttr = 1,
    ) -> ForOp:
        """The loop with the given bounds and body."""
        bounds = [
            AffineMapAttr.constant_map(bound) if isinstance(bound, int) else bound
            for bound in (lower_bound, upper_bound)
        ]
        if isinstance(step, int):
            step = IntegerAttr.from_index_int_value(step)
        return ForOp.build(
            operands=[lowerBoundOperands, upperBoundOperands, inits],
            result_types=[result_types],
            properties={"lowerBoundMap": bounds[0], "upperBoundMap": bounds[1], "step": step},
            regions=[region],
        )

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        variable = parser.parse_argument(expect_type=False).resolve(IndexType())
        parser.parse_characters("=")
        lower, lower_operands = _parse_bound(parser, "max")
        parser.parse_characters("to")
        upper, upper_operands = _parse_bound(parser, "min")
        step = 1
        if parser.parse_optional_keyword("step") is not None:
            position = parser.pos
            step = parser.parse_integer(allow_boolean=False)
            if not 0 < step < 2**63:
                parser.raise_error("expected a positive 64-bit integer as step", position)
        arguments: list[Parser.Argument] = []
        inits: Sequence[SSAValue] = ()
        types: list[Attribute] = []
        if parser.parse_optional_keyword("iter_args") is not None:
            position = parser.pos
            pairs = parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, lambda: _parse_assignment(parser)
            )
            types = parse_arrow_types(parser)
            inits = parser.resolve_operands([init for _, init in pairs], types, position)
            arguments = [name.resolve(type) for (name, _), type in zip(pairs, types, strict=True)]
        body = parse_body(parser, (variable, *arguments))
        attributes = parser.parse_optional_attr_dict()
        loop = ForOp.from_region(
            lower_operands, upper_operands, inits, types, lower, upper, body, step
        )
        loop.attributes |= attributes
        return loop

    def print(self, printer: Printer) -> None:
        variable, *arguments = self.body.block.args
        printer.print_string(" ")
        printer.print_ssa_value(variable)
        printer.print_string(" = ")
        _print_bound(printer, self.lowerBoundMap, self.lowerBoundOperands, "max")
        printer.print_string(" to ")
        _print_bound(printer, self.upperBoundMap, self.upperBoundOperands, "min")
        if self.step.value.data != 1:
            printer.print_string(f" step {self.step.value.data}")
        if self.inits:
            printer.print_string(" iter_args")
            with printer.in_parens():
                printer.print_list(
                    zip(arguments, self.inits, strict=True),
                    lambda pair: print_assignment(printer, *pair),
                )
            printer.print_string(" -> ")
            with printer.in_parens():
                printer.print_list(self.result_types, printer.print_attribute)
        printer.print_string(" ")
        print_body(printer, self.body)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        if len(self.body.blocks) != 1 or not self.body.block.args:
            raise VerifyException("the body of 'affine.for' is one block with an argument")
        super().verify_()
        if self.step.value.data <= 0:
            raise VerifyException("the step must be positive")
        for map, operands in (
            (self.lowerBoundMap, self.lowerBoundOperands),
            (self.upperBoundMap, self.upperBoundOperands),
        ):
            if not map.data.results:
                raise VerifyException("the map of a bound must have at least one result")
            verify_operands(operands, map.data.num_dims)
        verify_terminators(self)

    def use_dims(self) -> None:
        """Turns a bound `%i` that is no symbol into a dimension, `affine_map<(d0) -> (d0)>(%i)`.

        The short form says that the value is a symbol, but people write it for any value.
        """
        dim = AffineMapAttr(AffineMap.identity(1))
        # The generic form may lack anything or have it of another type, which verification reports.
        with suppress(Exception):
            for name, map, operands in (
                ("lowerBoundMap", self.lowerBoundMap, self.lowerBoundOperands),
                ("upperBoundMap", self.upperBoundMap, self.upperBoundOperands),
            ):
                if _is_symbol(map) and not is_valid_symbol(operands[0]):
                    self.properties[name] = dim


def _parse_assignment(parser: Parser) -> tuple[Parser.UnresolvedArgument, UnresolvedOperand]:
    argument = parser.parse_argument(expect_type=False)
    parser.parse_characters("=")
    return argument, parser.parse_unresolved_operand()


def _parse_bound(parser: Parser, keyword: str) -> tuple[AffineMapAttr, Sequence[SSAValue]]:
    """Parses `0`, `%n`, `affine_map<...>(%i)[%n]` or `max affine_map<...>(%i)[%n]`."""
    several = parser.parse_optional_keyword(keyword) is not None
    if not several:
        operand = parser.parse_optional_operand(IndexType())
        if operand is not None:
            return AffineMapAttr(AffineMap(0, 1, (AffineExpr.symbol(0),))), (operand,)
        position = parser.pos
        value = parser.parse_optional_integer(allow_boolean=False)
        if value is not None:
            if abs(value) >= 2**63:
                parser.raise_error("integer constant does not fit into 64 bits", position)
            return AffineMapAttr.constant_map(value), ()
    position = parser.pos
    map, operands = parse_applied(
        parser, AffineMapAttr, "an integer, a value or an affine map as loop bound"
    )
    if not several and len(map.data.results) > 1:
        parser.raise_error(f"a bound with several results needs '{keyword}' before it", position)
    return map, operands


def _print_bound(
    printer: Printer, map: AffineMapAttr, operands: Sequence[SSAValue], keyword: str
) -> None:
    results = map.data.results
    if _is_symbol(map):
        printer.print_ssa_value(operands[0])
    elif not operands and len(results) == 1 and isinstance(results[0], AffineConstantExpr):
        printer.print_string(str(results[0].value))
    else:
        if len(results) > 1:
            printer.print_string(f"{keyword} ")
        print_applied_map(printer, map, operands, space=False)


def _is_symbol(map: AffineMapAttr) -> bool:
    data = map.data
    return (data.num_dims, data.num_symbols, len(data.results)) == (0, 1, 1) and isinstance(
        data.results[0], AffineSymExpr
    )
