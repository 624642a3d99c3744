"""Structured operations: `ins`, `outs`, and what is done with their elements."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IndexType, IntegerAttr, i64
from xdsl.dialects.utils import AbstractYieldOperation
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException


class StructuredOp(IRDLOperation):
    """What structured operations have in common.

    Results, on tensors, are what the `outs` become.
    """

    inputs = var_operand_def()
    outputs = var_operand_def()
    res = var_result_def()
    bodies = var_region_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def verify_(self) -> None:
        if not self.outputs:
            raise VerifyException(f"'{self.name}' has no outs")
        if self.res and len(self.res) != len(self.outputs):
            raise VerifyException(f"'{self.name}' has not as many results as outs")


def parse_operands(parser: Parser, word: str) -> Sequence[SSAValue]:
    """`word(%a, %b : t, t)`, nothing without the word."""
    if parser.parse_optional_keyword(word) is None:
        return ()
    position = parser.pos
    with parser.in_parens():
        if parser.parse_optional_punctuation(":") is not None:
            return ()
        names = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
    return parser.resolve_operands(names, types, position)


def print_operands(printer: Printer, word: str, operands: Sequence[SSAValue]) -> None:
    """Prints ` word(%a, %b : t, t)`, nothing for no operands."""
    if operands:
        printer.print_string(f" {word}(")
        printer.print_list(operands, printer.print_ssa_value)
        printer.print_string(" : ")
        printer.print_list([each.type for each in operands], printer.print_attribute)
        printer.print_string(")")


def parse_results(parser: Parser) -> Sequence[Attribute]:
    """`-> t`, `-> t, t` or `-> (t, t)`; nothing without the arrow."""
    if parser.parse_optional_punctuation("->") is None:
        return ()
    types = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    if types is not None:
        return types
    return parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)


def print_results(printer: Printer, operation: Operation) -> None:
    """Prints ` -> t` or ` -> (t, t)`, nothing without results."""
    types = operation.result_types
    if not types:
        return
    printer.print_string(" -> ")
    if len(types) == 1:
        printer.print_attribute(types[0])
    else:
        with printer.in_parens():
            printer.print_list(types, printer.print_attribute)


def parse_named_properties(parser: Parser, names: Sequence[str]) -> dict[str, Attribute]:
    """`name = value`, for any of the names, with or without commas."""
    found: dict[str, Attribute] = {}
    while True:
        for name in names:
            if parser.parse_optional_keyword(name) is not None:
                parser.parse_punctuation("=")
                found[name] = parser.parse_attribute()
                parser.parse_optional_punctuation(",")
                break
        else:
            return found


def print_named_properties(
    printer: Printer, properties: dict[str, Attribute], names: Sequence[str]
) -> None:
    """Prints ` name = value` for those of the names that there are."""
    for name in names:
        if name in properties:
            printer.print_string(f" {name} = ")
            printer.print_attribute(properties[name])


_IN_FRONT = ("indexing_maps", "kind")
"""The properties of named operations that are written in front of `ins`."""


class NamedOp(StructuredOp):
    """An operation whose name says what it does: `linalg.matmul ins(...) outs(...)`."""

    indexing_maps = opt_prop_def(ArrayAttr)
    kind = opt_prop_def(Attribute)
    cast = opt_prop_def(Attribute)
    strides = opt_prop_def(Attribute)
    dilations = opt_prop_def(Attribute)

    @classmethod
    def parse(cls, parser: Parser) -> NamedOp:
        attributes = parser.parse_optional_attr_dict()
        properties = parse_named_properties(parser, _IN_FRONT)
        inputs = parse_operands(parser, "ins")
        outputs = parse_operands(parser, "outs")
        attributes |= parser.parse_optional_attr_dict()
        results = parse_results(parser)
        for name in ("indexing_maps", "kind", "cast", "strides", "dilations"):
            if name in attributes:
                properties[name] = attributes.pop(name)
        return cls.build(
            operands=[inputs, outputs],
            result_types=[results],
            properties=properties,
            attributes=attributes,
            regions=[[]],
        )

    def print(self, printer: Printer) -> None:
        print_named_properties(printer, self.properties, _IN_FRONT)
        print_operands(printer, "ins", self.inputs)
        print_operands(printer, "outs", self.outputs)
        named = {
            name: self.properties[name]
            for name in ("cast", "dilations", "strides")
            if name in self.properties
        }
        printer.print_op_attributes({**named, **self.attributes})
        print_results(printer, self)


def named_operation(name: str) -> type[NamedOp]:
    """The class of `linalg.name`."""
    body = {"name": f"linalg.{name}", "__doc__": f"`linalg.{name}`.", "__module__": __name__}
    camel = "".join(part.capitalize() for part in name.split("_"))
    return irdl_op_definition(type(f"{camel}Op", (NamedOp,), body))


_GENERIC_PROPERTIES = ("indexing_maps", "iterator_types", "doc", "library_call")


@irdl_op_definition
class GenericOp(StructuredOp):
    """Applies its body to elements at the subscripts that maps of the loops give.

    linalg.generic {indexing_maps = [...], iterator_types = ["parallel", "reduction"]}
        ins(%A : memref<4x8xf32>) outs(%s : memref<4xf32>) {
    ^bb0(%a: f32, %b: f32):
      ...
      linalg.yield %c : f32
    }
    """

    name = "linalg.generic"

    indexing_maps = prop_def(ArrayAttr)
    iterator_types = prop_def(ArrayAttr)
    doc = opt_prop_def(Attribute)
    library_call = opt_prop_def(Attribute)

    @classmethod
    def parse(cls, parser: Parser) -> GenericOp:
        position = parser.pos
        trait = parser.parse_optional_attribute()
        if not isinstance(trait, DictionaryAttr):
            parser.raise_error("expected a dictionary with indexing_maps", position)
        attributes = dict(trait.data)
        for name in ("indexing_maps", "iterator_types"):
            if not isinstance(attributes.get(name), ArrayAttr):
                parser.raise_error(f"expected {name} of 'linalg.generic'", position)
        inputs = parse_operands(parser, "ins")
        outputs = parse_operands(parser, "outs")
        if parser.parse_optional_keyword("attrs") is not None:
            parser.parse_punctuation("=")
            attributes |= parser.parse_optional_attr_dict()
        body = parser.parse_region()
        results = parse_results(parser)
        return cls.build(
            operands=[inputs, outputs],
            result_types=[results],
            properties={
                name: attributes.pop(name) for name in _GENERIC_PROPERTIES if name in attributes
            },
            attributes=attributes,
            regions=[[body]],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(
            DictionaryAttr(
                {
                    name: self.properties[name]
                    for name in _GENERIC_PROPERTIES
                    if name in self.properties
                }
            )
        )
        print_operands(printer, "ins", self.inputs)
        print_operands(printer, "outs", self.outputs)
        if self.attributes:
            printer.print_string(" attrs =")
            printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        printer.print_region(self.bodies[0])
        print_results(printer, self)


@irdl_op_definition
class IndexOp(IRDLOperation):
    """`%i = linalg.index 0 : index`: the induction variable of a loop, in a body."""

    name = "linalg.index"

    dim = prop_def(IntegerAttr.constr(i64))
    result = result_def(IndexType)

    traits = traits_def(Pure())

    assembly_format = "$dim attr-dict `:` type($result)"


@irdl_op_definition
class YieldOp(AbstractYieldOperation[Attribute]):
    """The elements of the `outs` that a body computes."""

    name = "linalg.yield"

    traits = traits_def(IsTerminator())


def body_of(operation: StructuredOp) -> Region | None:
    """The written body of a structured operation; named ones have none."""
    return operation.bodies[0] if operation.bodies else None
