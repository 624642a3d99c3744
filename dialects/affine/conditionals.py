"""The operations affine.if and affine.yield."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import affine
from xdsl.dialects.builtin import AffineSetAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .expressions import print_set
from .functions import parse_applied, print_dims_and_symbols
from .validity import verify_operands


class YieldOp(affine.YieldOp):
    """Ends a region of an affine operation: `affine.yield %0, %1 : f64, f64`"""

    @staticmethod
    def get(*operands: SSAValue | Operation) -> YieldOp:
        """A yield of the given values."""
        return YieldOp.create(operands=[SSAValue.get(operand) for operand in operands])

    def verify_(self) -> None:
        parent = self.parent_op()
        if parent is None:
            return
        if not isinstance(parent, affine.ForOp | affine.IfOp | affine.ParallelOp):
            raise VerifyException("'affine.yield' ends regions of affine operations only")
        if tuple(self.arguments.types) != tuple(parent.result_types):
            raise VerifyException(
                f"'{parent.name}' has results of types ({_list(parent.result_types)}), "
                f"but ({_list(self.arguments.types)}) is yielded"
            )


class IfOp(affine.IfOp):
    """Executes a region if integers lie in a set.

    %0 = affine.if affine_set<(d0)[s0] : (s0 - d0 - 1 >= 0)>(%i)[%n] -> f64 {
      affine.yield %1 : f64
    } else {
      affine.yield %2 : f64
    }
    """

    def __init__(
        self,
        condition: AffineSetAttr,
        operands: Sequence[SSAValue],
        then_region: Region,
        else_region: Region | None = None,
        result_types: Sequence[Attribute] = (),
    ) -> None:
        super().__init__(
            operands=[operands],
            result_types=[result_types],
            properties={"condition": condition},
            regions=[then_region, else_region or Region()],
        )

    @classmethod
    def parse(cls, parser: Parser) -> IfOp:
        condition, operands = parse_applied(parser, AffineSetAttr, "an affine set")
        types = parse_arrow_types(parser)
        then_region = parse_body(parser)
        else_region = None
        if parser.parse_optional_keyword("else") is not None:
            else_region = parse_body(parser)
        attributes = parser.parse_optional_attr_dict()
        conditional = IfOp(condition, operands, then_region, else_region, types)
        conditional.attributes |= attributes
        return conditional

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_set(printer, self.condition.data)
        print_dims_and_symbols(printer, self.args, self.condition.data.num_dims)
        print_arrow_types(printer, self.result_types)
        printer.print_string(" ")
        print_body(printer, self.then_region)
        if self.else_region.blocks:
            printer.print_string(" else ")
            print_body(printer, self.else_region)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        condition = self.condition.data
        if len(self.args) != condition.num_dims + condition.num_symbols:
            raise VerifyException(
                "the number of operands must match that of dimensions and symbols"
            )
        verify_operands(self.args, condition.num_dims)
        for region in self.regions:
            if len(region.blocks) > 1 or any(block.args for block in region.blocks):
                raise VerifyException("regions of 'affine.if' are one block without arguments")
        if self.results and not self.else_region.blocks:
            raise VerifyException("'affine.if' with results needs an 'else'")
        verify_terminators(self)


def parse_arrow_types(parser: Parser) -> list[Attribute]:
    """Parses `-> f64`, `-> (f64, i32)` or nothing."""
    if parser.parse_optional_punctuation("->") is None:
        return []
    types = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    return [parser.parse_type()] if types is None else list(types)


def print_arrow_types(printer: Printer, types: Sequence[Attribute]) -> None:
    """Prints ` -> f64`, ` -> (f64, i32)` or nothing."""
    if not types:
        return
    printer.print_string(" -> ")
    if len(types) == 1:
        printer.print_attribute(types[0])
        return
    with printer.in_parens():
        printer.print_list(types, printer.print_attribute)


def parse_body(parser: Parser, arguments: Sequence[Parser.Argument] = ()) -> Region:
    """Parses a region of an affine operation; adds the yield that may be left out."""
    region = parser.parse_region(arguments)
    if not region.blocks:
        region.add_block(Block())
    block = region.blocks[-1]
    if not isinstance(block.last_op, affine.YieldOp):
        block.add_op(YieldOp.get())
    return region


def print_body(printer: Printer, region: Region) -> None:
    """Prints a region of an affine operation, without the yield where nothing is lost."""
    terminator = region.blocks[-1].last_op
    printer.print_region(
        region,
        print_entry_block_args=False,
        print_empty_block=False,
        print_block_terminators=terminator is not None
        and bool(terminator.operands or terminator.attributes),
    )


def verify_terminators(operation: affine.ForOp | affine.IfOp | affine.ParallelOp) -> None:
    """Raises when a region with blocks does not end with 'affine.yield'."""
    for region in operation.regions:
        for block in region.blocks:
            if not isinstance(block.last_op, affine.YieldOp):
                raise VerifyException(f"regions of '{operation.name}' end with 'affine.yield'")


def _list(types: Sequence[Attribute]) -> str:
    return ", ".join(map(str, types))
