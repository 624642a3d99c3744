"""Operations of vectors with several dimensions, and printing: what xDSL's dialect lacks."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    StringAttr,
    VectorType,
    i64,
)
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    param_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

_ADD = CombiningKindAttr(CombiningKindFlag.ADD)


def shape_of(kind: Attribute) -> tuple[int, ...]:
    """The shape of a vector; that of a number is empty."""
    return kind.get_shape() if isa(kind, VectorType) else ()


@irdl_attr_definition
class IteratorTypeAttr(ParametrizedAttribute):
    """Whether a loop of a contraction adds up: `#vector.iterator_type<reduction>`."""

    name = "vector.iterator_type"

    word: StringAttr = param_def()

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return [StringAttr(parser.parse_identifier())]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.word.data)


@irdl_op_definition
class ContractOp(IRDLOperation):
    """A sum of products, such as that of matrices, added to `acc`.

    %0 = vector.contract {indexing_maps = [...], iterator_types = ["parallel", "reduction"],
        kind = #vector.kind<add>} %a, %b, %acc : vector<2x8xf32>, vector<8xf32> into vector<2xf32>
    """

    name = "vector.contract"

    lhs = operand_def(VectorType)
    rhs = operand_def(VectorType)
    acc = operand_def()
    indexing_maps = prop_def(ArrayAttr[AffineMapAttr])
    iterator_types = prop_def(ArrayAttr)
    kind = prop_def(CombiningKindAttr)
    result = result_def()

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        given = parser.parse_attribute()
        if not isinstance(given, DictionaryAttr):
            parser.raise_error("expected a dictionary with indexing maps")
        names = [parser.parse_unresolved_operand()]
        for _ in range(2):
            parser.parse_punctuation(",")
            names.append(parser.parse_unresolved_operand())
        more = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        kinds = [parser.parse_type()]
        parser.parse_punctuation(",")
        kinds.append(parser.parse_type())
        parser.parse_keyword("into")
        result = parser.parse_type()
        operands = [
            parser.resolve_operand(name, kind)
            for name, kind in zip(names, [*kinds, result], strict=True)
        ]
        properties = {"kind": _ADD, **given.data, **more}
        return cls.build(operands=operands, properties=properties, result_types=[result])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(DictionaryAttr(self.properties))
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_string(" : ")
        printer.print_list((self.lhs.type, self.rhs.type), printer.print_attribute)
        printer.print_string(" into ")
        printer.print_attribute(self.result.type)

    @property
    def maps(self) -> list[AffineMapAttr]:
        """The subscripts of both factors and of the result."""
        return list(self.indexing_maps.data)

    def extents(self) -> dict[int, int]:
        """The extent of each loop, by its number."""
        found: dict[int, int] = {}
        for value, function in zip(self.operands, self.maps, strict=True):
            for extent, result in zip(shape_of(value.type), function.data.results, strict=True):
                (dimension,) = result.used_dims()
                found[dimension] = extent
        return found

    def verify_(self) -> None:
        if len(self.maps) != 3:
            raise VerifyException("'vector.contract' has three indexing maps")
        for value, function in zip(self.operands, self.maps, strict=True):
            if len(shape_of(value.type)) != len(function.data.results):
                raise VerifyException("an indexing map has a subscript for each dimension")
            if any(len(each.used_dims()) != 1 for each in function.data.results):
                raise VerifyException("an indexing map of 'vector.contract' picks loops")
        if self.acc.type != self.result.type:
            raise VerifyException("what is added to has the type of the result")


@irdl_op_definition
class OuterProductOp(IRDLOperation):
    """Products of all pairs: `%0 = vector.outerproduct %a, %b, %acc : vector<4xf32>, ...`."""

    name = "vector.outerproduct"

    lhs = operand_def(VectorType)
    rhs = operand_def()
    acc = opt_operand_def(VectorType)
    kind = prop_def(CombiningKindAttr)
    result = result_def(VectorType)

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        names = [parser.parse_unresolved_operand()]
        while parser.parse_optional_punctuation(",") is not None:
            names.append(parser.parse_unresolved_operand())
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        kinds = [parser.parse_type()]
        parser.parse_punctuation(",")
        kinds.append(parser.parse_type())
        lhs, rhs = kinds
        if not isa(lhs, VectorType):
            parser.raise_error("the first factor must be a vector")
        result = VectorType(lhs.element_type, [*shape_of(lhs), *shape_of(rhs)])
        kinds.append(result)
        position = parser.pos
        operands = parser.resolve_operands(names, kinds[: len(names)], position)
        return cls.build(
            operands=[operands[0], operands[1], operands[2:]],
            properties={"kind": _ADD, **attributes},
            result_types=[result],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.properties)
        printer.print_string(" : ")
        printer.print_list((self.lhs.type, self.rhs.type), printer.print_attribute)


@irdl_op_definition
class MultiReductionOp(IRDLOperation):
    """Combines along dimensions, beginning with `acc`.

    %0 = vector.multi_reduction <add>, %v, %acc [1] : vector<4x8xf32> to vector<4xf32>
    """

    name = "vector.multi_reduction"

    _T: ClassVar = VarConstraint("T", AnyAttr())

    kind = prop_def(CombiningKindAttr)
    source = operand_def(VectorType)
    acc = operand_def(_T)
    reduction_dims = prop_def(DenseArrayBase.constr(i64))
    dest = result_def(_T)

    traits = traits_def(Pure())
    assembly_format = (
        "$kind `,` $source `,` $acc attr-dict $reduction_dims `:` type($source) `to` type($dest)"
    )

    def verify_(self) -> None:
        reduced = self.reduction_dims.get_values()
        shape = shape_of(self.source.type)
        if any(not 0 <= dimension < len(shape) for dimension in reduced):
            raise VerifyException("a dimension that the vector does not have")
        kept = [extent for n, extent in enumerate(shape) if n not in reduced]
        if list(shape_of(self.dest.type)) != kept or self.acc.type != self.dest.type:
            raise VerifyException("the result has the dimensions that are left")


@irdl_op_definition
class TransposeOp(IRDLOperation):
    """`%0 = vector.transpose %v, [1, 0] : vector<4x8xf32> to vector<8x4xf32>`."""

    name = "vector.transpose"

    vector = operand_def(VectorType)
    permutation = prop_def(DenseArrayBase.constr(i64))
    result = result_def(VectorType)

    traits = traits_def(Pure())
    assembly_format = "$vector `,` $permutation attr-dict `:` type($vector) `to` type($result)"

    def verify_(self) -> None:
        order, shape = self.permutation.get_values(), shape_of(self.vector.type)
        if sorted(order) != list(range(len(shape))):
            raise VerifyException("the transposition is no permutation of the dimensions")
        if [shape[n] for n in order] != list(shape_of(self.result.type)):
            raise VerifyException("the result has the permuted dimensions")


@irdl_op_definition
class ShapeCastOp(IRDLOperation):
    """The same elements, in order.

    %0 = vector.shape_cast %v : vector<2x4xf32> to vector<8xf32>
    """

    name = "vector.shape_cast"

    source = operand_def(VectorType)
    result = result_def(VectorType)

    traits = traits_def(Pure())
    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"

    def verify_(self) -> None:
        if prod(shape_of(self.source.type)) != prod(shape_of(self.result.type)):
            raise VerifyException("both vectors have as many elements")


_PUNCTUATION = ("no_punctuation", "newline", "comma", "open", "close")


@irdl_op_definition
class PrintOp(IRDLOperation):
    """Prints a number, a vector, a text or punctuation.

    vector.print %x : f32
    vector.print %v : vector<4xf32> punctuation <comma>
    vector.print str "sum = "
    """

    name = "vector.print"

    source = opt_operand_def()
    punctuation = opt_prop_def(StringAttr)
    text = opt_prop_def(StringAttr)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands: list[SSAValue] = []
        properties: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("str") is not None:
            properties["text"] = StringAttr(parser.parse_str_literal())
        elif (name := parser.parse_optional_unresolved_operand()) is not None:
            parser.parse_optional_attr_dict()
            parser.parse_punctuation(":")
            operands.append(parser.resolve_operand(name, parser.parse_type()))
        position = parser.pos
        if parser.parse_optional_keyword("punctuation") is not None:
            with parser.in_angle_brackets():
                word = parser.parse_identifier()
            if word not in _PUNCTUATION:
                parser.raise_error(f"expected one of {', '.join(_PUNCTUATION)}", position)
            properties["punctuation"] = StringAttr(word)
        return cls.build(operands=[operands], properties=properties)

    def print(self, printer: Printer) -> None:
        if self.text is not None:
            printer.print_string(" str ")
            printer.print_string_literal(self.text.data)
        if self.source is not None:
            printer.print_string(" ")
            printer.print_ssa_value(self.source)
            printer.print_string(" : ")
            printer.print_attribute(self.source.type)
        if self.punctuation is not None:
            printer.print_string(f" punctuation <{self.punctuation.data}>")

    @property
    def end(self) -> str:
        """The punctuation behind it: a new line, where nothing else is said."""
        if self.punctuation is not None:
            return self.punctuation.data
        return "no_punctuation" if self.text is not None else "newline"


SHAPES = (ContractOp, MultiReductionOp, OuterProductOp, PrintOp, ShapeCastOp, TransposeOp)
"""The operations of this file."""
