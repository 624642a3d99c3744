"""Operations with affine subscripts: loads, stores, prefetches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeVar

from xdsl.dialects import affine
from xdsl.dialects.builtin import (
    AffineMapAttr,
    BoolAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    VectorType,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, var_operand_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from .expressions import ExpressionParser, OperandScope, print_operand_expressions
from .validity import verify_operands

_OperationT = TypeVar("_OperationT", bound=Operation)


class LoadOp(affine.LoadOp):
    """Reads an element.

    %0 = affine.load %A[%i + 1, symbol(%n) - %j] {attributes} : memref<?x?xf64>
    """

    @classmethod
    def parse(cls, parser: Parser) -> LoadOp:
        access = _Access(parser)
        attributes = parser.parse_optional_attr_dict()
        memref, type = access.parse_type()
        load = LoadOp(memref, access.operands, access.map, type.get_element_type())
        return _with_attributes(load, attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        _print_access(printer, self)
        _print_end(printer, self, self.memref.type)

    def verify_(self) -> None:
        _verify_access(self.memref.type, self.map.data, self.indices)


class StoreOp(affine.StoreOp):
    """Writes an element.

    affine.store %0, %A[%i + 1, symbol(%n) - %j] {attributes} : memref<?x?xf64>
    """

    @classmethod
    def parse(cls, parser: Parser) -> StoreOp:
        value = _parse_stored(parser)
        access = _Access(parser)
        attributes = parser.parse_optional_attr_dict()
        memref, type = access.parse_type()
        stored = parser.resolve_operand(value, type.get_element_type())
        store = StoreOp(stored, memref, access.operands, access.map)
        return _with_attributes(store, attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(", ")
        _print_access(printer, self)
        _print_end(printer, self, self.memref.type)

    def verify_(self) -> None:
        _verify_access(self.memref.type, self.map.data, self.indices)


class VectorLoadOp(affine.VectorLoadOp):
    """Reads adjacent elements.

    %0 = affine.vector_load %A[%i, %j] {attributes} : memref<?x?xf64>, vector<8xf64>
    """

    @classmethod
    def parse(cls, parser: Parser) -> VectorLoadOp:
        access = _Access(parser)
        attributes = parser.parse_optional_attr_dict()
        memref, _ = access.parse_type()
        load = VectorLoadOp(memref, access.operands, access.map, _parse_vector_type(parser))
        return _with_attributes(load, attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        _print_access(printer, self)
        _print_end(printer, self, self.memref.type, self.result.type)

    def verify_(self) -> None:
        _verify_access(self.memref.type, self.map.data, self.indices)


class VectorStoreOp(affine.VectorStoreOp):
    """Writes adjacent elements.

    affine.vector_store %0, %A[%i, %j] {attributes} : memref<?x?xf64>, vector<8xf64>
    """

    @classmethod
    def parse(cls, parser: Parser) -> VectorStoreOp:
        value = _parse_stored(parser)
        access = _Access(parser)
        attributes = parser.parse_optional_attr_dict()
        memref, _ = access.parse_type()
        stored = parser.resolve_operand(value, _parse_vector_type(parser))
        return _with_attributes(
            VectorStoreOp(stored, memref, access.operands, access.map), attributes
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(", ")
        _print_access(printer, self)
        _print_end(printer, self, self.memref.type, self.value.type)

    def verify_(self) -> None:
        _verify_access(self.memref.type, self.map.data, self.indices)


@irdl_op_definition
class PrefetchOp(IRDLOperation):
    """Hints that an element will be used soon.

    affine.prefetch %A[%i, %j + 5], read, locality<3>, data : memref<?x?xf64>
    """

    name = "affine.prefetch"

    memref = operand_def(MemRefType)
    indices = var_operand_def(IndexType)

    map = prop_def(AffineMapAttr)
    is_write = prop_def(BoolAttr, prop_name="isWrite")
    locality_hint = prop_def(IntegerAttr, prop_name="localityHint")
    is_data_cache = prop_def(BoolAttr, prop_name="isDataCache")

    def __init__(
        self,
        memref: SSAValue,
        indices: Sequence[SSAValue],
        map: AffineMapAttr,
        *,
        is_write: bool,
        locality: int,
        is_data_cache: bool,
    ) -> None:
        super().__init__(
            operands=(memref, indices),
            properties={
                "map": map,
                "isWrite": BoolAttr.from_bool(is_write),
                "localityHint": IntegerAttr(locality, i32),
                "isDataCache": BoolAttr.from_bool(is_data_cache),
            },
        )

    @classmethod
    def parse(cls, parser: Parser) -> PrefetchOp:
        access = _Access(parser)
        parser.parse_punctuation(",")
        is_write, locality, is_data_cache = parse_prefetch_hints(parser)
        attributes = parser.parse_optional_attr_dict()
        memref, _ = access.parse_type()
        prefetch = PrefetchOp(
            memref,
            access.operands,
            access.map,
            is_write=is_write,
            locality=locality,
            is_data_cache=is_data_cache,
        )
        return _with_attributes(prefetch, attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        _print_access(printer, self)
        printer.print_string(", write" if self.is_write.value.data else ", read")
        printer.print_string(f", locality<{self.locality_hint.value.data}>, ")
        printer.print_string("data" if self.is_data_cache.value.data else "instr")
        _print_end(printer, self, self.memref.type)

    def verify_(self) -> None:
        if not 0 <= self.locality_hint.value.data <= 3:
            raise VerifyException("locality must be 0, 1, 2 or 3")
        _verify_access(self.memref.type, self.map.data, self.indices)


class _Access:
    """Parses `%A[%i + 1, symbol(%n)]`, and the type that follows later."""

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self._memref: UnresolvedOperand = parser.parse_unresolved_operand()
        scope = OperandScope()
        results = ExpressionParser.of(parser).parse_operand_expressions(
            scope, parser.Delimiter.SQUARE
        )
        self.map = AffineMapAttr(scope.map(results))
        self.operands = scope.resolve(parser)

    def parse_type(self) -> tuple[SSAValue[MemRefType], MemRefType]:
        """Parses `: memref<...>` and looks up the memref."""
        self._parser.parse_punctuation(":")
        position = self._parser.pos
        type = self._parser.parse_type()
        if not isa(type, MemRefType):
            self._parser.raise_error("expected a memref type", position)
        return self._parser.resolve_operand(self._memref, type), type


def _parse_stored(parser: Parser) -> UnresolvedOperand:
    value = parser.parse_unresolved_operand()
    parser.parse_punctuation(",")
    return value


def _with_attributes(operation: _OperationT, attributes: Mapping[str, Attribute]) -> _OperationT:
    operation.attributes |= attributes
    return operation


def _parse_vector_type(parser: Parser) -> VectorType:
    parser.parse_punctuation(",")
    position = parser.pos
    type = parser.parse_type()
    if not isa(type, VectorType):
        parser.raise_error("expected a vector type", position)
    return type


def parse_prefetch_hints(parser: Parser) -> tuple[bool, int, bool]:
    """Parses `read, locality<3>, data`: whether it writes, the locality, whether it is of data."""
    is_write = _parse_choice(parser, "read", "write")
    parser.parse_punctuation(",")
    parser.parse_keyword("locality")
    with parser.in_angle_brackets():
        locality = parser.parse_integer(allow_boolean=False)
    parser.parse_punctuation(",")
    return is_write, locality, _parse_choice(parser, "instr", "data")


def _parse_choice(parser: Parser, no: str, yes: str) -> bool:
    if parser.parse_optional_keyword(yes) is not None:
        return True
    if parser.parse_optional_keyword(no) is None:
        parser.raise_error(f"expected '{no}' or '{yes}'")
    return False


_AccessOp: TypeAlias = "LoadOp | StoreOp | VectorLoadOp | VectorStoreOp | PrefetchOp"


def _print_access(printer: Printer, access: _AccessOp) -> None:
    printer.print_ssa_value(access.memref)
    with printer.in_square_brackets():
        print_operand_expressions(printer, access.map.data, access.indices)


def _print_end(printer: Printer, access: _AccessOp, *types: Attribute) -> None:
    printer.print_op_attributes(access.attributes)
    printer.print_string(" : ")
    printer.print_list(types, printer.print_attribute)


def _verify_access(type: Attribute, map: AffineMap, operands: Sequence[SSAValue]) -> None:
    if not isa(type, MemRefType):
        raise VerifyException("expected a memref")
    rank = type.get_num_dims()
    if len(map.results) != rank:
        raise VerifyException(
            f"a memref of rank {rank} needs {rank} subscripts, not {len(map.results)}"
        )
    if len(operands) != map.num_dims + map.num_symbols:
        raise VerifyException("the number of operands must match that of dimensions and symbols")
    verify_operands(operands, map.num_dims)
