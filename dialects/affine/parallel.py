"""The operation affine.parallel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from xdsl.dialects import affine
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseIntElementsAttr,
    IndexType,
    IntegerAttr,
    StringAttr,
    TensorType,
    i32,
    i64,
)
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .conditionals import (
    parse_arrow_types,
    parse_body,
    print_body,
    verify_terminators,
)
from .expressions import ExpressionParser, OperandScope, print_operand_expressions
from .validity import verify_operands

Bound = TypeVar("Bound")

# How partial results are combined: MLIR's AtomicRMWKind.
REDUCTIONS = frozenset(
    (
        "addf",
        "addi",
        "andi",
        "assign",
        "maximumf",
        "maxnumf",
        "maxs",
        "maxu",
        "minimumf",
        "minnumf",
        "mins",
        "minu",
        "mulf",
        "muli",
        "ori",
        "xori",
    )
)


class ParallelOp(affine.ParallelOp):
    """Runs its body once per point of a box, in any order.

    %0 = affine.parallel (%i, %j) = (0, max(%a, %b)) to (symbol(%n), min(%i + 8, %b)) step (1, 2)
        reduce ("addf") -> (f64) {
      affine.yield %1 : f64
    } {attributes}

    The operands are those of the lower bounds, then those of the upper bounds, each dimensions
    first. `lowerBoundsGroups` and `upperBoundsGroups` count the expressions that make up each
    bound.
    """

    def __init__(
        self,
        lower: tuple[AffineMap, Sequence[int], Sequence[SSAValue]],
        upper: tuple[AffineMap, Sequence[int], Sequence[SSAValue]],
        steps: Sequence[int],
        body: Region,
        reductions: Sequence[str] = (),
        result_types: Sequence[Attribute] = (),
    ) -> None:
        """`lower` and `upper`: expressions, how many of them per loop, and their operands."""
        super().__init__(
            operands=[(*lower[2], *upper[2])],
            result_types=[result_types],
            properties={
                "reductions": ArrayAttr([StringAttr(name) for name in reductions]),
                "lowerBoundsMap": AffineMapAttr(lower[0]),
                "lowerBoundsGroups": _groups(lower[1]),
                "upperBoundsMap": AffineMapAttr(upper[0]),
                "upperBoundsGroups": _groups(upper[1]),
                "steps": ArrayAttr([IntegerAttr(step, i64) for step in steps]),
            },
            regions=[body],
        )

    @property
    def lower_operands(self) -> Sequence[SSAValue]:
        """Operands of the lower bounds, dimensions first."""
        return self.map_operands[: _inputs(self.lowerBoundsMap)]

    @property
    def upper_operands(self) -> Sequence[SSAValue]:
        """Operands of the upper bounds, dimensions first."""
        return self.map_operands[_inputs(self.lowerBoundsMap) :]

    @classmethod
    def parse(cls, parser: Parser) -> ParallelOp:
        position = parser.pos
        variables = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False)
        )
        parser.parse_punctuation("=")
        lower = _parse_bounds(parser, "max")
        parser.parse_keyword("to")
        upper = _parse_bounds(parser, "min")
        steps = [1] * len(variables)
        if parser.parse_optional_keyword("step") is not None:
            steps = parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, lambda: _parse_step(parser)
            )
        if not len(variables) == len(lower[1]) == len(upper[1]) == len(steps):
            parser.raise_error(
                "expected as many lower bounds, upper bounds and steps as induction variables",
                position,
            )
        reductions: list[str] = []
        if parser.parse_optional_keyword("reduce") is not None:
            reductions = parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, lambda: _parse_reduction(parser)
            )
        types = parse_arrow_types(parser)
        body = parse_body(parser, [variable.resolve(IndexType()) for variable in variables])
        attributes = parser.parse_optional_attr_dict()
        loop = ParallelOp(lower, upper, steps, body, reductions, types)
        loop.attributes |= attributes
        return loop

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        with printer.in_parens():
            printer.print_list(self.body.block.args, printer.print_ssa_value)
        printer.print_string(" = ")
        _print_bounds(
            printer, self.lowerBoundsMap, self.lowerBoundsGroups, self.lower_operands, "max"
        )
        printer.print_string(" to ")
        _print_bounds(
            printer, self.upperBoundsMap, self.upperBoundsGroups, self.upper_operands, "min"
        )
        steps = [step.value.data for step in self.steps]
        if any(step != 1 for step in steps):
            printer.print_string(f" step ({', '.join(map(str, steps))})")
        if self.reductions.data:
            printer.print_string(" reduce ")
            with printer.in_parens():
                printer.print_list(self.reductions, printer.print_attribute)
        if self.results:
            printer.print_string(" -> ")
            with printer.in_parens():
                printer.print_list(self.result_types, printer.print_attribute)
        printer.print_string(" ")
        print_body(printer, self.body)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        lower, upper = self.lowerBoundsMap, self.upperBoundsMap
        if len(self.map_operands) != _inputs(lower) + _inputs(upper):
            raise VerifyException("the number of operands must match that of the bounds' inputs")
        if len(self.body.blocks) != 1:
            raise VerifyException("the body of 'affine.parallel' is one block")
        arguments = self.body.block.args
        if any(not isinstance(argument.type, IndexType) for argument in arguments):
            raise VerifyException("induction variables must have type 'index'")
        for map, groups in ((lower, self.lowerBoundsGroups), (upper, self.upperBoundsGroups)):
            sizes = groups.get_values()
            if len(sizes) != len(arguments) or any(size < 1 for size in sizes):
                raise VerifyException("every induction variable needs a lower and an upper bound")
            if sum(sizes) != len(map.data.results):
                raise VerifyException("the groups must cover all expressions of the bounds")
        if len(self.steps.data) != len(arguments):
            raise VerifyException("every induction variable needs a step")
        if any(step.value.data <= 0 for step in self.steps):
            raise VerifyException("steps must be positive")
        if len(self.reductions.data) != len(self.results):
            raise VerifyException("every result needs a reduction")
        for reduction in self.reductions:
            if reduction.data not in REDUCTIONS:
                raise VerifyException(f"unknown reduction '{reduction.data}'")
        verify_operands(self.lower_operands, lower.data.num_dims)
        verify_operands(self.upper_operands, upper.data.num_dims)
        verify_terminators(self)


def _groups(sizes: Sequence[int]) -> DenseIntElementsAttr:
    return DenseIntElementsAttr.from_list(TensorType(i32, [len(sizes)]), list(sizes))


def grouped(bounds: list[Bound], sizes: DenseIntElementsAttr) -> Iterator[list[Bound]]:
    """What `lowerBoundsGroups` or `upperBoundsGroups` put together: the bounds of each loop."""
    start = 0
    for size in sizes.get_values():
        yield bounds[start : start + int(size)]
        start += int(size)


def _inputs(map: AffineMapAttr) -> int:
    return map.data.num_dims + map.data.num_symbols


def _parse_bounds(parser: Parser, keyword: str) -> tuple[AffineMap, list[int], Sequence[SSAValue]]:
    """Parses `(0, max(%a, symbol(%n)), %i)`: expressions, their number per loop, operands."""
    scope = OperandScope()
    expressions = ExpressionParser.of(parser)

    def group() -> list[AffineExpr]:
        if parser.parse_optional_keyword(keyword) is None:
            return [expressions.parse_operand_expression(scope)]
        position = parser.pos
        group = expressions.parse_operand_expressions(scope, parser.Delimiter.PAREN)
        if not group:
            parser.raise_error(f"'{keyword}' needs at least one expression", position)
        return group

    groups = parser.parse_comma_separated_list(parser.Delimiter.PAREN, group)
    results = [result for group in groups for result in group]
    return scope.map(results), [len(group) for group in groups], scope.resolve(parser)


def _print_bounds(
    printer: Printer,
    map: AffineMapAttr,
    groups: DenseIntElementsAttr,
    operands: Sequence[SSAValue],
    keyword: str,
) -> None:
    ends = [sum(groups.get_values()[: number + 1]) for number in range(len(groups.get_values()))]

    def group(bounds: tuple[int, int]) -> None:
        start, end = bounds
        if end - start > 1:
            printer.print_string(f"{keyword}(")
        print_operand_expressions(printer, map.data, operands, slice(start, end))
        if end - start > 1:
            printer.print_string(")")

    with printer.in_parens():
        printer.print_list(list(zip([0, *ends], ends, strict=False)), group)


def _parse_step(parser: Parser) -> int:
    position = parser.pos
    step = parser.parse_integer(allow_boolean=False)
    if not 0 < step < 2**63:
        parser.raise_error("expected a positive 64-bit integer as step", position)
    return step


def _parse_reduction(parser: Parser) -> str:
    position = parser.pos
    name = parser.parse_str_literal()
    if name not in REDUCTIONS:
        parser.raise_error(f"unknown reduction '{name}'", position)
    return name
