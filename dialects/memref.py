"""The memref dialect: xDSL's, with MLIR's syntax for casts and globals."""

from __future__ import annotations

from typing import Self, TypeGuard

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    AnyDenseElement,
    BoolAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    SymbolNameConstraint,
    TensorType,
    UnitAttr,
    UnrankedMemRefType,
    i32,
    i64,
)
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, NoMemoryEffect, Pure, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from .affine.accesses import parse_prefetch_hints
from .external import ExternalCallOp

INSPECTED = "inspected"
"""Attribute of loads whose subscripts have been compared with the extents. No text gives it."""


def is_memref(kind: Attribute) -> TypeGuard[MemRefType[Attribute]]:
    """Whether a type is a memref; xDSL's `isa` takes a hundred times longer to say so."""
    return isinstance(kind, MemRefType)


def behind_casts(value: SSAValue) -> SSAValue:
    """The memref that casts were made of."""
    while isinstance(value.owner, memref.CastOp):
        value = value.owner.source
    return value


def behind_views(value: SSAValue) -> SSAValue:
    """The memref that casts and subviews were made of."""
    while isinstance(value.owner, memref.CastOp | memref.SubviewOp):
        value = value.owner.source
    return value


class CastOp(memref.CastOp):
    """Forgets or asserts sizes: `%0 = memref.cast %A : memref<4xf64> to memref<?xf64>`."""

    @classmethod
    def parse(cls, parser: Parser) -> CastOp:
        source = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        operand = parser.resolve_operand(source, parser.parse_type())
        parser.parse_keyword("to")
        return CastOp.build(
            operands=[operand], result_types=[parser.parse_type()], attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" to ")
        printer.print_attribute(self.dest.type)

    def verify_(self) -> None:
        if not _may_match(self.source.type, self.dest.type):
            raise VerifyException(f"cannot cast {self.source.type} to {self.dest.type}")


class CopyOp(memref.CopyOp):
    """Copies all elements: `memref.copy %A, %B : memref<4xf64> to memref<4xf64>`."""

    @classmethod
    def parse(cls, parser: Parser) -> CopyOp:
        source = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        destination = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source_type = parser.parse_type()
        parser.parse_keyword("to")
        destination_type = parser.parse_type()
        copy = CopyOp(
            parser.resolve_operand(source, source_type),
            parser.resolve_operand(destination, destination_type),
        )
        copy.attributes |= attributes
        return copy

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        printer.print_string(", ")
        printer.print_ssa_value(self.destination)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" to ")
        printer.print_attribute(self.destination.type)

    def verify_(self) -> None:
        if not _may_match(self.source.type, self.destination.type):
            raise VerifyException(f"cannot copy {self.source.type} to {self.destination.type}")


@irdl_op_definition
class ReinterpretCastOp(IRDLOperation):
    """Other sizes and strides for the same memory, also of an unranked memref.

    %0 = memref.reinterpret_cast %A to offset: [%o], sizes: [4, %n], strides: [%n, 1] : ... to ...
    """

    name = "memref.reinterpret_cast"

    source = operand_def(MemRefType | UnrankedMemRefType)
    offsets = var_operand_def(IndexType)
    sizes = var_operand_def(IndexType)
    strides = var_operand_def(IndexType)
    static_offsets = prop_def(DenseArrayBase.constr(i64))
    static_sizes = prop_def(DenseArrayBase.constr(i64))
    static_strides = prop_def(DenseArrayBase.constr(i64))
    result = result_def(MemRefType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(NoMemoryEffect())
    assembly_format = memref.ReinterpretCastOp.assembly_format
    custom_directives = memref.ReinterpretCastOp.custom_directives

    def verify_(self) -> None:
        ranks = {
            len(self.static_sizes.get_values()),
            len(self.static_strides.get_values()),
            self.result.type.get_num_dims(),
        }
        if len(ranks) > 1 or len(self.static_offsets.get_values()) != 1:
            raise VerifyException("there is not one size and stride for each dimension")


@irdl_op_definition
class TransposeOp(IRDLOperation):
    """A view with permuted dimensions.

    %0 = memref.transpose %A (i, j) -> (j, i) : memref<4x6xf32> to memref<6x4xf32, ...>
    """

    name = "memref.transpose"

    source = operand_def(MemRefType)
    permutation = prop_def(AffineMapAttr)
    result = result_def(MemRefType)

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> TransposeOp:
        source = parser.parse_unresolved_operand()
        permutation = AffineMapAttr(parser.parse_affine_map())
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        operand = parser.resolve_operand(source, parser.parse_type())
        parser.parse_keyword("to")
        return cls.build(
            operands=[operand],
            result_types=[parser.parse_type()],
            properties={"permutation": permutation},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        printer.print_string(f" {self.permutation.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)


ATOMIC_KINDS = (
    "addf",
    "addi",
    "assign",
    "maximumf",
    "maxs",
    "maxu",
    "minimumf",
    "mins",
    "minu",
    "mulf",
    "muli",
    "ori",
    "andi",
    "maxnumf",
    "minnumf",
    "xori",
)
"""MLIR's kinds of reductions, in the order of the numbers as which it also prints them."""


class AtomicRMWOp(memref.AtomicRMWOp):
    """Combines an element with a value: `%0 = memref.atomic_rmw addf %x, %A[%i] : ... -> f32`."""

    @classmethod
    def parse(cls, parser: Parser) -> AtomicRMWOp:
        position = parser.pos
        kind = parser.parse_identifier()
        if kind not in ATOMIC_KINDS:
            parser.raise_error(f"expected one of {', '.join(ATOMIC_KINDS)}", position)
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        array = parser.parse_unresolved_operand()
        indices = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        with parser.in_parens():
            value_type = parser.parse_type()
            parser.parse_punctuation(",")
            array_type = parser.parse_type()
        parser.parse_punctuation("->")
        result = parser.parse_type()
        return cls.build(
            operands=[
                parser.resolve_operand(value, value_type),
                parser.resolve_operand(array, array_type),
                [parser.resolve_operand(each, IndexType()) for each in indices],
            ],
            result_types=[result],
            properties={"kind": IntegerAttr(ATOMIC_KINDS.index(kind), i64)},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {ATOMIC_KINDS[self.kind.value.data]} ")
        printer.print_ssa_value(self.value)
        printer.print_string(", ")
        printer.print_ssa_value(self.memref)
        with printer.in_square_brackets():
            printer.print_list(self.indices, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : (")
        printer.print_attribute(self.value.type)
        printer.print_string(", ")
        printer.print_attribute(self.memref.type)
        printer.print_string(") -> ")
        printer.print_attribute(self.result.type)


class AllocaScopeOp(memref.AllocaScopeOp):
    """A scope at whose end what `memref.alloca` has made is freed."""

    @classmethod
    def parse(cls, parser: Parser) -> AllocaScopeOp:
        types: list[Attribute] = []
        if parser.parse_optional_punctuation("->") is not None:
            types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        scope = parser.parse_region()
        if scope.blocks and (
            scope.block.last_op is None or not scope.block.last_op.has_trait(IsTerminator)
        ):
            scope.block.add_op(memref.AllocaScopeReturnOp.build(operands=[[]]))
        attributes = parser.parse_optional_attr_dict()
        return cls.build(result_types=[types], regions=[scope], attributes=attributes)

    def print(self, printer: Printer) -> None:
        if self.res:
            printer.print_string(" -> ")
            with printer.in_parens():
                printer.print_list(self.result_types, printer.print_attribute)
        printer.print_string(" ")
        printer.print_region(self.scope)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class GlobalOp(IRDLOperation):
    """A variable outside of functions.

    memref.global "private" constant @c : memref<2xf64> = dense<[1.0, 2.0]> {alignment = 64 : i64}
    """

    name = "memref.global"

    sym_name = prop_def(SymbolNameConstraint())
    sym_visibility = opt_prop_def(StringAttr)
    type = prop_def(MemRefType)
    initial_value = opt_prop_def(UnitAttr | DenseIntOrFPElementsAttr)
    constant = opt_prop_def(UnitAttr)
    alignment = opt_prop_def(IntegerAttr.constr(i64))

    traits = traits_def(SymbolOpInterface())

    @classmethod
    def parse(cls, parser: Parser) -> GlobalOp:
        visibility = parser.parse_optional_str_literal()
        constant = parser.parse_optional_keyword("constant") is not None
        name = parser.parse_symbol_name()
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_type()
        if not isa(type, MemRefType) or DYNAMIC_INDEX in type.get_shape():
            parser.raise_error("expected a memref type of static shape", position)
        value = None
        if parser.parse_optional_punctuation("=") is not None:
            if parser.parse_optional_keyword("uninitialized") is not None:
                value = UnitAttr()
            else:
                parser.parse_keyword("dense")
                tensor = TensorType(type.element_type, type.get_shape())
                if not isa(tensor, TensorType[AnyDenseElement]):
                    parser.raise_error("expected a memref of numbers", position)
                value = parser.parse_dense_int_or_fp_elements_attr(tensor)
        attributes = parser.parse_optional_attr_dict()
        return GlobalOp.build(
            properties={
                "sym_name": name,
                "sym_visibility": StringAttr(visibility) if visibility is not None else None,
                "type": type,
                "initial_value": value,
                "constant": UnitAttr() if constant else None,
                "alignment": attributes.pop("alignment", None),
            },
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        if self.sym_visibility is not None:
            printer.print_string(" ")
            printer.print_attribute(self.sym_visibility)
        printer.print_string(" constant " if self.constant is not None else " ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" : ")
        printer.print_attribute(self.type)
        if isinstance(self.initial_value, UnitAttr):
            printer.print_string(" = uninitialized")
        elif self.initial_value is not None:
            printer.print_string(" = ")
            self.initial_value.print_without_type(printer)
        alignment = {"alignment": self.alignment} if self.alignment is not None else {}
        printer.print_op_attributes({**alignment, **self.attributes})


@irdl_op_definition
class PrefetchOp(IRDLOperation):
    """Hints that an element will be used soon.

    memref.prefetch %A[%i, %j], read, locality<3>, data : memref<?x?xf64>
    """

    name = "memref.prefetch"

    memref = operand_def(MemRefType)
    indices = var_operand_def(IndexType)
    is_write = prop_def(BoolAttr, prop_name="isWrite")
    locality_hint = prop_def(IntegerAttr, prop_name="localityHint")
    is_data_cache = prop_def(BoolAttr, prop_name="isDataCache")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_unresolved_operand()
        indices = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parser.parse_operand(IndexType())
        )
        parser.parse_punctuation(",")
        is_write, locality, is_data = parse_prefetch_hints(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return cls.build(
            operands=[parser.resolve_operand(name, parser.parse_type()), indices],
            properties={
                "isWrite": BoolAttr.from_bool(is_write),
                "localityHint": IntegerAttr(locality, i32),
                "isDataCache": BoolAttr.from_bool(is_data),
            },
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.memref)
        with printer.in_square_brackets():
            printer.print_list(self.indices, printer.print_ssa_value)
        printer.print_string(", write" if self.is_write.value.data else ", read")
        printer.print_string(f", locality<{self.locality_hint.value.data}>, ")
        printer.print_string("data" if self.is_data_cache.value.data else "instr")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.memref.type)


def _may_match(source: Attribute, destination: Attribute) -> bool:
    """Whether two memrefs may have the same elements and sizes."""
    if not (isa(source, MemRefType) and isa(destination, MemRefType)):
        return True
    return (
        source.element_type == destination.element_type
        and source.get_num_dims() == destination.get_num_dims()
        and all(
            a == b or DYNAMIC_INDEX in (a, b)
            for a, b in zip(source.get_shape(), destination.get_shape(), strict=True)
        )
    )


_OWN = (AllocaScopeOp, AtomicRMWOp, CastOp, CopyOp, GlobalOp, ReinterpretCastOp)

_REPLACED = {each.name: each for each in _OWN}

MemRef = Dialect(
    "memref",
    [
        *(_REPLACED.get(operation.name, operation) for operation in memref.MemRef.operations),
        TransposeOp,
        ExternalCallOp,
        PrefetchOp,
    ],
    list(memref.MemRef.attributes),
)
