"""Integer operations: apply, min, max, delinearize_index, linearize_index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from xdsl.dialects import affine
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    I64,
    AffineMapAttr,
    AffineSetAttr,
    DenseArrayBase,
    IndexType,
    UnitAttr,
    i64,
)
from xdsl.dialects.utils.dynamic_index_list import (
    parse_dynamic_index_list_without_types,
    print_dynamic_index_list,
    verify_dynamic_index_list,
)
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
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
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..errors import SourceError
from .expressions import print_map
from .validity import is_valid_dim, is_valid_symbol, verify_operands

_Space = TypeVar("_Space", AffineMapAttr, AffineSetAttr)
_Function = TypeVar("_Function", bound=Operation)


class ApplyOp(affine.ApplyOp):
    """The value of an affine function.

    %0 = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%n]
    """

    @classmethod
    def parse(cls, parser: Parser) -> ApplyOp:
        return _parse_function(parser, ApplyOp)

    def print(self, printer: Printer) -> None:
        _print_function(printer, self, self.mapOperands)

    def verify_(self) -> None:
        _verify_counts(self.map, self.mapOperands)
        if len(self.map.data.results) != 1:
            raise VerifyException("the map of 'affine.apply' must have one result")
        # Like MLIR, operands that are not affine are fine here, but not dimensions as symbols.
        for operand in self.mapOperands[self.map.data.num_dims :]:
            if is_valid_dim(operand) and not is_valid_symbol(operand):
                verify_operands((operand,), 0)


class MinOp(affine.MinOp):
    """Minimum of several affine functions.

    %0 = affine.min affine_map<(d0) -> (d0, 8)>(%i)
    """

    @classmethod
    def parse(cls, parser: Parser) -> MinOp:
        return _parse_function(parser, MinOp)

    def print(self, printer: Printer) -> None:
        _print_function(printer, self, self.arguments)

    def verify_(self) -> None:
        _verify_extremum(self.map, self.arguments)


@irdl_op_definition
class MaxOp(IRDLOperation):
    """Maximum of several affine functions.

    %0 = affine.max affine_map<(d0) -> (d0, 8)>(%i)
    """

    name = "affine.max"

    arguments = var_operand_def(IndexType())
    result = result_def(IndexType())

    map = prop_def(AffineMapAttr)

    traits = traits_def(Pure())

    def __init__(
        self, map_operands: Sequence[SSAValue | Operation], affine_map: AffineMapAttr
    ) -> None:
        super().__init__(
            operands=[map_operands], properties={"map": affine_map}, result_types=[IndexType()]
        )

    @classmethod
    def parse(cls, parser: Parser) -> MaxOp:
        return _parse_function(parser, MaxOp)

    def print(self, printer: Printer) -> None:
        _print_function(printer, self, self.arguments)

    def verify_(self) -> None:
        _verify_extremum(self.map, self.arguments)


@irdl_op_definition
class DelinearizeIndexOp(IRDLOperation):
    """Splits an index by a basis.

    %0:2 = affine.delinearize_index %i into (4, %n) : index, index
    """

    name = "affine.delinearize_index"

    linear_index = operand_def(IndexType())
    dynamic_basis = var_operand_def(IndexType())
    multi_index = var_result_def(IndexType())

    static_basis = prop_def(DenseArrayBase.constr(i64))

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> DelinearizeIndexOp:
        index = parser.parse_operand(IndexType())
        parser.parse_keyword("into")
        basis, static = _parse_basis(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        return DelinearizeIndexOp.build(
            operands=[index, basis],
            result_types=[types],
            properties={"static_basis": static},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.linear_index)
        printer.print_string(" into ")
        _print_basis(printer, self.dynamic_basis, self.static_basis)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list(self.multi_index.types, printer.print_attribute)

    def verify_(self) -> None:
        _verify_basis(self.dynamic_basis, self.static_basis, len(self.multi_index), "result")

    def maps(self) -> list[AffineMap]:
        """Each result as a function of the index; raises SourceError if the basis varies."""
        rest: AffineExpr = AffineExpr.dimension(0)
        digits: list[AffineExpr] = []
        for size in reversed(_constant_sizes(self, len(self.multi_index))):
            digits.append(rest % size)
            rest = rest // size
        return [AffineMap(1, 0, (digit,)) for digit in (rest, *reversed(digits))]


@irdl_op_definition
class LinearizeIndexOp(IRDLOperation):
    """Joins indices by a basis.

    %0 = affine.linearize_index disjoint [%i, %j] by (4, %n) : index
    """

    name = "affine.linearize_index"

    multi_index = var_operand_def(IndexType())
    dynamic_basis = var_operand_def(IndexType())
    linear_index = result_def(IndexType())

    static_basis = prop_def(DenseArrayBase.constr(i64))
    disjoint = opt_prop_def(UnitAttr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> LinearizeIndexOp:
        disjoint = UnitAttr() if parser.parse_optional_keyword("disjoint") is not None else None
        indices = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parser.parse_operand(IndexType())
        )
        parser.parse_keyword("by")
        basis, static = _parse_basis(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        return LinearizeIndexOp.build(
            operands=[indices, basis],
            result_types=[type],
            properties={"static_basis": static, "disjoint": disjoint},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" disjoint " if self.disjoint is not None else " ")
        with printer.in_square_brackets():
            printer.print_list(self.multi_index, printer.print_ssa_value)
        printer.print_string(" by ")
        _print_basis(printer, self.dynamic_basis, self.static_basis)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.linear_index.type)

    def verify_(self) -> None:
        _verify_basis(self.dynamic_basis, self.static_basis, len(self.multi_index), "operand")

    def map(self) -> AffineMap:
        """The result as a function of the indices; raises SourceError if the basis varies."""
        digits = len(self.multi_index)
        result = AffineExpr.dimension(0) if digits else AffineExpr.constant(0)
        for digit, size in enumerate(_constant_sizes(self, digits), 1):
            result = result * size + AffineExpr.dimension(digit)
        return AffineMap(digits, 0, (result,))


def _parse_function(
    parser: Parser, make: Callable[[list[SSAValue], AffineMapAttr], _Function]
) -> _Function:
    map, operands = parse_applied(parser, AffineMapAttr, "an affine map")
    operation = make(operands, map)
    operation.attributes |= parser.parse_optional_attr_dict()
    return operation


def _print_function(
    printer: Printer, operation: ApplyOp | MinOp | MaxOp, operands: Sequence[SSAValue]
) -> None:
    print_applied_map(printer, operation.map, operands)
    printer.print_op_attributes(operation.attributes)


def parse_applied(
    parser: Parser, kind: type[_Space], expected: str
) -> tuple[_Space, list[SSAValue]]:
    """Parses a map or set and the operands that it is applied to: `#map(%i)[%n]`."""
    position = parser.pos
    space = parser.parse_attribute()
    if not isinstance(space, kind):
        parser.raise_error(f"expected {expected}", position)
    position = parser.pos
    dims = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, lambda: parser.parse_operand(IndexType())
    )
    symbols = parser.parse_optional_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: parser.parse_operand(IndexType())
    )
    symbols = symbols or []
    for name, given, wanted in (
        ("dimensions", len(dims), space.data.num_dims),
        ("symbols", len(symbols), space.data.num_symbols),
    ):
        if given != wanted:
            parser.raise_error(f"expected {wanted} {name}, but got {given}", position)
    return space, [*dims, *symbols]


def print_applied_map(
    printer: Printer, map: AffineMapAttr, operands: Sequence[SSAValue], *, space: bool = True
) -> None:
    """Prints a map and the operands that it is applied to: `affine_map<(d0) -> (d0)>(%i)`."""
    if space:
        printer.print_string(" ")
    print_map(printer, map.data)
    print_dims_and_symbols(printer, operands, map.data.num_dims)


def print_dims_and_symbols(printer: Printer, operands: Sequence[SSAValue], dims: int) -> None:
    """Prints `(%i, %j)[%n]`, the brackets only if there are symbols."""
    with printer.in_parens():
        printer.print_list(operands[:dims], printer.print_ssa_value)
    if len(operands) > dims:
        with printer.in_square_brackets():
            printer.print_list(operands[dims:], printer.print_ssa_value)


def _verify_counts(map: AffineMapAttr, operands: Sequence[SSAValue]) -> None:
    if len(operands) != map.data.num_dims + map.data.num_symbols:
        raise VerifyException("the number of operands must match that of dimensions and symbols")


def _verify_extremum(map: AffineMapAttr, operands: Sequence[SSAValue]) -> None:
    _verify_counts(map, operands)
    if not map.data.results:
        raise VerifyException("the map must have at least one result")
    verify_operands(operands, map.data.num_dims, any_loop=True)


def _parse_basis(parser: Parser) -> tuple[Sequence[SSAValue], DenseArrayBase[I64]]:
    unresolved, integers = parse_dynamic_index_list_without_types(
        parser, DYNAMIC_INDEX, delimiter=parser.Delimiter.PAREN
    )
    dynamic = [parser.resolve_operand(operand, IndexType()) for operand in unresolved]
    return dynamic, DenseArrayBase.from_list(i64, integers)


def _print_basis(
    printer: Printer, dynamic: Sequence[SSAValue], static: DenseArrayBase[I64]
) -> None:
    print_dynamic_index_list(
        printer,
        DYNAMIC_INDEX,
        dynamic,
        static.get_values(),
        delimiter=Parser.Delimiter.PAREN,
    )


def _constant_sizes(
    operation: DelinearizeIndexOp | LinearizeIndexOp, digits: int
) -> tuple[int, ...]:
    """The sizes of all digits but the first, which has no bound."""
    if operation.dynamic_basis:
        raise SourceError.at(
            operation, "the basis is not constant", "write its elements as integers"
        )
    sizes = operation.static_basis.get_values()
    return sizes[len(sizes) - max(digits - 1, 0) :]


def _verify_basis(
    dynamic: Sequence[SSAValue], static: DenseArrayBase[I64], indices: int, noun: str
) -> None:
    basis = static.get_values()
    verify_dynamic_index_list(basis, dynamic, DYNAMIC_INDEX)
    if any(size <= 0 and size != DYNAMIC_INDEX for size in basis):
        raise VerifyException("the basis must be positive")
    if indices not in (len(basis), len(basis) + 1):
        raise VerifyException(f"expected one {noun} per element of the basis, or one more")
