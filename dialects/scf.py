"""The scf dialect: xDSL's, with MLIR's syntax for loops, branches and switches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects import scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IndexType, IntegerType, i1, i64
from xdsl.ir import Attribute, Block, Dialect, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, NoTerminator
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from .affine.conditionals import parse_arrow_types, print_arrow_types


def _parse_names(parser: Parser) -> list[UnresolvedOperand]:
    return parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, parser.parse_unresolved_operand
    )


def _parse_indices(parser: Parser) -> list[SSAValue]:
    return [parser.resolve_operand(name, IndexType()) for name in _parse_names(parser)]


def _print_values(printer: Printer, values: Sequence[SSAValue]) -> None:
    with printer.in_parens():
        printer.print_list(values, printer.print_ssa_value)


def _end(region: Region, end: IRDLOperation) -> Region:
    """The region, which ends with `end` if it was written without a terminator."""
    if not region.blocks:
        region.add_block(Block())
    last = region.block.last_op
    if last is None or not last.has_trait(IsTerminator):
        region.block.add_op(end)
    return region


class ForOp(scf.ForOp):
    """A loop; values that it carries may have one type without parentheses.

    %s = scf.for %i = %a to %n step %c1 iter_args(%x = %zero) -> f32 { ... }
    """

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        variable = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        names = [parser.parse_unresolved_operand()]
        for word in ("to", "step"):
            parser.parse_keyword(word)
            names.append(parser.parse_unresolved_operand())
        position = parser.pos
        pairs: Sequence[tuple[Parser.UnresolvedArgument, UnresolvedOperand]] = ()
        types: list[Attribute] = []
        if parser.parse_optional_keyword("iter_args") is not None:
            pairs = parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, lambda: _parse_shared(parser)
            )
            types = parse_arrow_types(parser)
        initial = parser.resolve_operands([value for _, value in pairs], types, position)
        carried = [name.resolve(kind) for (name, _), kind in zip(pairs, types, strict=True)]
        kind = parser.parse_type() if parser.parse_optional_punctuation(":") else IndexType()
        lower, upper, step = (parser.resolve_operand(name, kind) for name in names)
        body = parser.parse_region([variable.resolve(kind), *carried])
        loop = cls(lower, upper, step, initial, body if pairs else _end(body, scf.YieldOp()))
        loop.attributes |= parser.parse_optional_attr_dict()
        return loop


class IfOp(scf.IfOp):
    """A branch; its results may have one type without parentheses.

    %s = scf.if %c -> f32 { ... } else { ... }
    """

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        condition = parser.parse_operand(i1)
        types = parse_arrow_types(parser)
        then = cls.parse_region_with_yield(parser)
        has_else = parser.parse_optional_keyword("else") is not None
        otherwise = cls.parse_region_with_yield(parser) if has_else else Region()
        return cls(condition, types, then, otherwise, parser.parse_optional_attr_dict())


class ParallelOp(scf.ParallelOp):
    """Loops whose iterations may run in any order; values are combined by `scf.reduce`.

    %s = scf.parallel (%i, %j) = (%a, %b) to (%m, %n) step (%c1, %c1) init (%zero) -> f32 {
      scf.reduce(%x : f32) { ... }
    }
    """

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        variables = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False)
        )
        parser.parse_punctuation("=")
        lower = _parse_indices(parser)
        parser.parse_keyword("to")
        upper = _parse_indices(parser)
        parser.parse_keyword("step")
        steps = _parse_indices(parser)
        names = _parse_names(parser) if parser.parse_optional_keyword("init") is not None else []
        position = parser.pos
        types = parse_arrow_types(parser)
        initial = parser.resolve_operands(names, types, position)
        body = parser.parse_region([each.resolve(IndexType()) for each in variables])
        attributes = parser.parse_optional_attr_dict()
        return cls.build(
            operands=[lower, upper, steps, initial],
            result_types=[types],
            regions=[_end(body, scf.ReduceOp())],
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        _print_values(printer, self.body.block.args)
        printer.print_string(" = ")
        _print_values(printer, self.lowerBound)
        printer.print_string(" to ")
        _print_values(printer, self.upperBound)
        printer.print_string(" step ")
        _print_values(printer, self.step)
        if self.initVals:
            printer.print_string(" init ")
            _print_values(printer, self.initVals)
            print_arrow_types(printer, self.result_types)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class InParallelOp(IRDLOperation):
    """The end of `scf.forall`: how parts of the shared outputs are put together."""

    name = "scf.forall.in_parallel"

    region = region_def()

    traits = traits_def(IsTerminator(), NoTerminator())

    @classmethod
    def parse(cls, parser: Parser) -> InParallelOp:
        region = parser.parse_region()
        if not region.blocks:
            region.add_block(Block())
        return cls.build(regions=[region], attributes=parser.parse_optional_attr_dict())

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_region(self.region)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class ForallOp(IRDLOperation):
    """Loops whose iterations may run in any order.

    scf.forall (%i, %j) in (8, %n) shared_outs(%o = %t) -> (tensor<8x?xf32>) { ... }
    scf.forall (%i) = (1) to (%n) step (2) { ... }
    """

    name = "scf.forall"

    lower = var_operand_def(IndexType)
    upper = var_operand_def(IndexType)
    step = var_operand_def(IndexType)
    outputs = var_operand_def()
    static_lower = prop_def(DenseArrayBase.constr(i64), prop_name="staticLowerBound")
    static_upper = prop_def(DenseArrayBase.constr(i64), prop_name="staticUpperBound")
    static_step = prop_def(DenseArrayBase.constr(i64), prop_name="staticStep")
    mapping = opt_prop_def(Attribute)
    res = var_result_def()
    body = region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def parse(cls, parser: Parser) -> ForallOp:
        variables = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False)
        )
        if parser.parse_optional_keyword("in") is not None:
            upper = _parse_sizes(parser)
            lower: list[SSAValue | int] = [0] * len(upper)
            steps: list[SSAValue | int] = [1] * len(upper)
        else:
            parser.parse_punctuation("=")
            lower = _parse_sizes(parser)
            parser.parse_keyword("to")
            upper = _parse_sizes(parser)
            parser.parse_keyword("step")
            steps = _parse_sizes(parser)
        arguments = [each.resolve(IndexType()) for each in variables]
        outputs: Sequence[SSAValue] = ()
        types: list[Attribute] = []
        if parser.parse_optional_keyword("shared_outs") is not None:
            position = parser.pos
            pairs = parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, lambda: _parse_shared(parser)
            )
            types = parse_arrow_types(parser)
            outputs = parser.resolve_operands([each for _, each in pairs], types, position)
            arguments += [name.resolve(kind) for (name, _), kind in zip(pairs, types, strict=True)]
        body = _end(parser.parse_region(arguments), InParallelOp.build(regions=[Region(Block())]))
        attributes = parser.parse_optional_attr_dict()
        return cls.build(
            operands=[*map(_values, (lower, upper, steps)), outputs],
            result_types=[types],
            properties={
                "staticLowerBound": _numbers(lower),
                "staticUpperBound": _numbers(upper),
                "staticStep": _numbers(steps),
                "mapping": attributes.pop("mapping", None),
            },
            regions=[body],
            attributes=attributes,
        )

    def bounds(self) -> list[tuple[SSAValue | int, SSAValue | int, SSAValue | int]]:
        """First value, end and step of each loop."""
        parts = [
            _sizes(self.static_lower, self.lower),
            _sizes(self.static_upper, self.upper),
            _sizes(self.static_step, self.step),
        ]
        return list(zip(*parts, strict=True))

    def print(self, printer: Printer) -> None:
        bounds = self.bounds()
        variables = self.body.block.args[: len(bounds)]
        printer.print_string(" ")
        _print_values(printer, variables)
        for word, part in zip(("=", "to", "step"), zip(*bounds, strict=True), strict=True):
            printer.print_string(f" {word} ")
            with printer.in_parens():
                printer.print_list(part, lambda each: _print_size(printer, each))
        if self.outputs:
            printer.print_string(" shared_outs(")
            pairs = zip(self.body.block.args[len(bounds) :], self.outputs, strict=True)
            printer.print_list(pairs, lambda pair: _print_shared(printer, *pair))
            printer.print_string(") -> (")
            printer.print_list(self.result_types, printer.print_attribute)
            printer.print_string(")")
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)
        mapping = {"mapping": self.mapping} if self.mapping is not None else {}
        printer.print_op_attributes({**mapping, **self.attributes})

    def verify_(self) -> None:
        arguments = len(self.bounds()) + len(self.outputs)
        if len(self.body.block.args) != arguments or len(self.res) != len(self.outputs):
            raise VerifyException("scf.forall has other arguments than variables and outputs")


def _parse_sizes(parser: Parser) -> list[SSAValue | int]:
    def parse_one() -> SSAValue | int:
        number = parser.parse_optional_integer()
        if number is not None:
            return number
        return parser.resolve_operand(parser.parse_unresolved_operand(), IndexType())

    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_one)


def _parse_shared(parser: Parser) -> tuple[Parser.UnresolvedArgument, UnresolvedOperand]:
    name = parser.parse_argument(expect_type=False)
    parser.parse_punctuation("=")
    return name, parser.parse_unresolved_operand()


def _print_shared(printer: Printer, name: SSAValue, value: SSAValue) -> None:
    printer.print_ssa_value(name)
    printer.print_string(" = ")
    printer.print_ssa_value(value)


def _print_size(printer: Printer, size: SSAValue | int) -> None:
    if isinstance(size, int):
        printer.print_string(str(size))
    else:
        printer.print_ssa_value(size)


def _values(sizes: Sequence[SSAValue | int]) -> list[SSAValue]:
    return [each for each in sizes if isinstance(each, SSAValue)]


def _numbers(sizes: Sequence[SSAValue | int]) -> DenseArrayBase[IntegerType]:
    numbers = [each if isinstance(each, int) else DYNAMIC_INDEX for each in sizes]
    return DenseArrayBase.from_list(i64, numbers)


def _sizes(numbers: Attribute, values: Sequence[SSAValue]) -> list[SSAValue | int]:
    assert isa(numbers, DenseArrayBase[IntegerType])
    rest = iter(values)
    return [next(rest) if each == DYNAMIC_INDEX else each for each in numbers.get_values()]


class IndexSwitchOp(scf.IndexSwitchOp):
    """Runs the region of the case that an index is equal to, else the default one."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operation = super().parse(parser)
        for region in operation.regions:
            _end(region, scf.YieldOp())
        return operation


_REPLACED = {each.name: each for each in (ForOp, IfOp, ParallelOp, IndexSwitchOp)}

Scf = Dialect(
    "scf",
    [
        *(_REPLACED.get(operation.name, operation) for operation in scf.Scf.operations),
        ForallOp,
        InParallelOp,
    ],
    list(scf.Scf.attributes),
)
