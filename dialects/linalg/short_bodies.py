"""linalg.map, reduce, transpose and broadcast, with the short form of bodies of one operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, i64
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import irdl_op_definition, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.hints import isa

from ..supported_types import element_type
from .structured import (
    StructuredOp,
    YieldOp,
    parse_operands,
    parse_results,
    print_operands,
)


class _BodyOp(StructuredOp):
    """An operation with a body that may be `{ arith.addf }` in front of the operands."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        short, attributes = None, parser.parse_optional_attr_dict_with_keyword()
        given = dict(attributes.data) if attributes is not None else {}
        position = parser.pos
        if parser.parse_optional_punctuation("{") is not None:
            short = parser.parse_identifier()
            inner = parser.parse_optional_attr_dict()
            parser.parse_punctuation("}")
        else:
            inner = {}
        inputs = parse_operands(parser, "ins")
        outputs = parse_operands(parser, "outs")
        properties = cls._parse_dimensions(parser)
        given |= parser.parse_optional_attr_dict()
        types = [element_type(each.type) for each in (*inputs, *outputs)]
        if short is not None:
            body = cls._short_body(parser, short, inner, types, len(inputs), position)
        else:
            arguments = parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, parser.parse_argument
            )
            body = parser.parse_region(arguments)
        return cls.build(
            operands=[inputs, outputs],
            result_types=[parse_results(parser) or _tensors(outputs)],
            properties=properties,
            attributes=given,
            regions=[[body]],
        )

    @classmethod
    def _parse_dimensions(cls, parser: Parser) -> dict[str, Attribute]:
        return {}

    @classmethod
    def _operands_of_body(cls, block: Block, inputs: int) -> list[SSAValue]:
        return list(block.args[:inputs])

    @classmethod
    def _short_body(
        cls,
        parser: Parser,
        name: str,
        properties: dict[str, Attribute],
        types: list[Attribute],
        inputs: int,
        position: int,
    ) -> Region:
        operation = parser.ctx.get_optional_op(name)
        if operation is None:
            parser.raise_error(f"unknown operation '{name}'", position)
        block = Block(arg_types=types)
        one = operation.create(
            operands=cls._operands_of_body(block, inputs),
            result_types=[types[-1]],
            properties=properties,
        )
        block.add_ops([one, YieldOp(*one.results)])
        return Region(block)

    def print(self, printer: Printer) -> None:
        print_operands(printer, "ins", self.inputs)
        print_operands(printer, "outs", self.outputs)
        self._print_dimensions(printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" (")
        printer.print_list(self.bodies[0].block.args, printer.print_block_argument)
        printer.print_string(") ")
        printer.print_region(self.bodies[0], print_entry_block_args=False)

    def _print_dimensions(self, printer: Printer) -> None:
        pass


@irdl_op_definition
class MapOp(_BodyOp):
    """`linalg.map { arith.addf } ins(%a, %b : t, t) outs(%c : t)`."""

    name = "linalg.map"


@irdl_op_definition
class ReduceOp(_BodyOp):
    """`linalg.reduce { arith.addf } ins(%a : t) outs(%s : u) dimensions = [1]`."""

    name = "linalg.reduce"

    dimensions = prop_def(DenseArrayBase.constr(i64))

    @classmethod
    def _parse_dimensions(cls, parser: Parser) -> dict[str, Attribute]:
        return {"dimensions": _parse_list(parser, "dimensions")}

    @classmethod
    def _operands_of_body(cls, block: Block, inputs: int) -> list[SSAValue]:
        return [block.args[inputs], block.args[0]]

    def _print_dimensions(self, printer: Printer) -> None:
        _print_list(printer, "dimensions", self.dimensions)


_LISTS = {"linalg.transpose": "permutation", "linalg.broadcast": "dimensions"}


class _MovingOp(StructuredOp):
    """An operation that puts elements elsewhere, as a list of dimensions says."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        inputs = parse_operands(parser, "ins")
        outputs = parse_operands(parser, "outs")
        numbers = _parse_list(parser, _LISTS[cls.name])
        attributes = parser.parse_optional_attr_dict()
        return cls.build(
            operands=[inputs, outputs],
            result_types=[parse_results(parser) or _tensors(outputs)],
            properties={_LISTS[cls.name]: numbers},
            attributes=attributes,
            regions=[[]],
        )

    def print(self, printer: Printer) -> None:
        print_operands(printer, "ins", self.inputs)
        print_operands(printer, "outs", self.outputs)
        numbers = self.properties[_LISTS[self.name]]
        assert isa(numbers, DenseArrayBase[IntegerType])
        _print_list(printer, _LISTS[self.name], numbers)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class TransposeOp(_MovingOp):
    """`linalg.transpose ins(%a : t) outs(%b : u) permutation = [1, 0]`."""

    name = "linalg.transpose"

    permutation = prop_def(DenseArrayBase.constr(i64))


@irdl_op_definition
class BroadcastOp(_MovingOp):
    """`linalg.broadcast ins(%a : t) outs(%b : u) dimensions = [0]`."""

    name = "linalg.broadcast"

    dimensions = prop_def(DenseArrayBase.constr(i64))


def _parse_list(parser: Parser, name: str) -> DenseArrayBase:
    parser.parse_keyword(name)
    parser.parse_punctuation("=")
    numbers = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
    return DenseArrayBase.from_list(i64, numbers)


def _print_list(printer: Printer, name: str, numbers: DenseArrayBase[IntegerType]) -> None:
    printer.print_string(f" {name} = [{', '.join(map(str, numbers.get_values()))}]")


def _tensors(outputs: Sequence[SSAValue]) -> list[Attribute]:
    """The types of the results, which these operations do not write."""
    return [each.type for each in outputs if each.type.name == "tensor"]
