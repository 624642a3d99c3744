"""xDSL's parser with source locations, complete error messages, and missing MLIR syntax."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Sequence
from inspect import getattr_static

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyDenseElement,
    AnyFloat,
    ComplexType,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
    LocationAttr,
    ModuleOp,
    RankedStructure,
    UnknownLoc,
)
from xdsl.ir import AttributeInvT, Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineMap, AffineSet
from xdsl.parser import AttrParser, Parser, ParserState, UnresolvedOperand
from xdsl.parser.core import ForwardDeclaredValue
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken, MLIRTokenKind, StringLiteral

from .affine.expressions import ExpressionParser
from .errors import SourceError
from .flags import use_attributes
from .hinted_errors import HintedParseError
from .locations import Source, keep_name, name_of
from .registry import DIALECTS

# Even a constant with one value for all elements is kept element by element.
_MAX_ELEMENTS = 2**24

# Older versions of MLIR print these names.
_RENAMED = {
    "arith.maxf": "arith.maximumf",
    "arith.minf": "arith.minimumf",
    "func": "func.func",
}

# Whose operations may be meant by a name without a dialect.
_USUAL_DIALECTS = ("affine", "arith", "memref", "func", "math", "scf")

# What operations without a syntax of their own inherit: it only fails.
_NO_PARSER = getattr_static(Operation, "parse")


class _Lexer(MLIRLexer):
    """xDSL's lexer; what it takes for names and strings can be printed and read again.

    Without its exponential time on a string that is not closed.
    """

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*"')

    def _lex_bare_identifier(self, start_pos: int) -> MLIRToken:
        if not self.input.content[start_pos].isascii():
            raise ParseError(Span(start_pos, start_pos + 1, self.input), "unexpected character")
        return super()._lex_bare_identifier(start_pos)

    def _lex_string_literal(self, start_pos: int) -> MLIRToken:
        token = super()._lex_string_literal(start_pos)
        if token.kind is MLIRTokenKind.BYTES_LIT:
            try:
                StringLiteral.from_span(token.span).bytes_contents.decode()
            except UnicodeDecodeError:
                return token
            return MLIRToken(MLIRTokenKind.STRING_LIT, token.span)
        return token


class SourceParser(Parser):
    """Parses one text; every operation and block argument gets a location in it."""

    def __init__(self, context: Context, source: Source) -> None:
        super().__init__(context, "", source.name.data)
        self._parser_state = ParserState(_Lexer(Input(source.text.text, source.name.data)))
        self.source = source
        # Where the names of the operations that are being parsed start, outer ones first.
        self._operation_names: list[int] = []
        self._first_uses: dict[str, Span] = {}

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        operations: list[Operation] = []
        while self._current_token.kind != MLIRTokenKind.EOF:
            if self._current_token.kind in (
                MLIRTokenKind.HASH_IDENT,
                MLIRTokenKind.EXCLAMATION_IDENT,
            ):
                self._parse_alias_def()
            elif self._current_token.kind is MLIRTokenKind.FILE_METADATA_BEGIN:
                self._parse_file_metadata_dictionary()
            else:
                operations.append(
                    self.expect(self.parse_optional_operation, "expected an operation")
                )
        if self.forward_ssa_references:
            name = next(iter(self.forward_ssa_references))
            self.raise_error(f"value %{name} is used, but not defined", self._first_uses[name])
        for operation in operations:
            _check_operands(operation)
        if len(operations) == 1 and isinstance(operations[0], ModuleOp):
            return operations[0]
        if not allow_implicit_module:
            self.raise_error("module expected", 0)
        return ModuleOp(operations)

    def parse_operation(self) -> Operation:
        depth = len(self._operation_names)
        operation = super().parse_operation()
        operation.location = self.source.attribute(self._operation_names[depth])
        del self._operation_names[depth:]
        use_attributes(operation)
        return operation

    def parse_affine_map(self) -> AffineMap:
        return ExpressionParser(self._parser_state).parse_affine_map()

    def parse_affine_set(self) -> AffineSet:
        return ExpressionParser(self._parser_state).parse_affine_set()

    def resolve_operand(
        self, operand: UnresolvedOperand, type: AttributeInvT
    ) -> SSAValue[AttributeInvT]:
        self._first_uses.setdefault(operand.operand_name, operand.span)
        value = super().resolve_operand(operand, type)
        if isinstance(value, ForwardDeclaredValue):
            keep_name(value, operand.operand_name)
        return value

    def parse_dimension_list(self) -> list[int]:
        """The dimensions in front of an element type; there may be spaces around each `x`."""
        sizes: list[int] = []
        delimiter = self.pos
        while self._current_token.kind in (MLIRTokenKind.INTEGER_LIT, MLIRTokenKind.QUESTION):
            sizes.append(self.parse_shape_dimension())
            delimiter = self.pos
            if self._parse_optional_shape_delimiter() is None:
                return sizes
        if sizes:
            self._resume_from(delimiter)
        return sizes

    def parse_dense_int_or_fp_elements_attr(
        self, type: RankedStructure[AnyDenseElement] | None
    ) -> DenseIntOrFPElementsAttr:
        if type is not None:
            self._check_size(type, self.pos)
        return super().parse_dense_int_or_fp_elements_attr(type)

    def _parse_dense_literal_type(
        self,
    ) -> RankedStructure[IntegerType | IndexType | AnyFloat | ComplexType]:
        position = self.pos
        type = super()._parse_dense_literal_type()
        self._check_size(type, position)
        return type

    class _Element(Parser._TensorLiteralElement):  # pyright: ignore[reportPrivateUsage]
        """A number in a dense constant; hexadecimal numbers are the bits of floats."""

        def to_type(
            self, parser: AttrParser, type: AnyFloat | IntegerType | IndexType | ComplexType
        ) -> int | float | tuple[float, float] | tuple[int, int]:
            text = self.span.text
            if not isinstance(type, AnyFloat) or text[:2] not in ("0x", "0X"):
                return super().to_type(parser, type)
            bits = int(text, 16)
            if bits >= 1 << 8 * type.compile_time_size:
                parser.raise_error(f"too many bits for type {type}", self.span)
            return type.unpack(bits.to_bytes(type.compile_time_size, "little"), 1)[0]

    def _parse_tensor_literal_element(self) -> _Element:
        element = super()._parse_tensor_literal_element()
        return self._Element(element.is_negative, element.value, element.span)

    def _check_size(self, type: RankedStructure[AnyDenseElement], position: int) -> None:
        if math.prod(type.get_shape()) > _MAX_ELEMENTS:
            self.raise_error("dense constant has too many elements", position)

    def parse_optional_location(self) -> LocationAttr | None:
        """Parses and drops a location: positions in errors refer to the text that was read."""
        if self.parse_optional_keyword("loc") is None:
            return None
        depth = 0
        while True:
            token = self._current_token
            if token.kind is MLIRTokenKind.EOF or (depth == 0 and token.text != "("):
                self.raise_error("expected a location in parentheses")
            depth += (token.text == "(") - (token.text == ")")
            self._consume_token()
            if depth == 0:
                return None

    def _parse_block(self) -> Block:
        if self._current_token.kind is not MLIRTokenKind.CARET_IDENT:
            self.raise_error("expected an operation or '}'")
        return super()._parse_block()

    def _parse_alias_def(self) -> None:
        # Definitions of locations may use each other before they are defined.
        name = self._current_token.text
        if name.startswith("#loc") and self._is_location_definition():
            self.parse_optional_location()
        else:
            super()._parse_alias_def()

    def _is_location_definition(self) -> bool:
        start = self.pos
        self._consume_token()
        if self.parse_optional_characters("=") is not None and self._current_token.text == "loc":
            return True
        self._resume_from(start)
        return False

    def _parse_op_result_list(self) -> list[tuple[Span, int]]:
        results = super()._parse_op_result_list()
        self._operation_names.append(self.pos)
        return results

    def _get_op_by_name(self, name: str) -> type[Operation]:
        operation = self.ctx.get_optional_op(
            _RENAMED.get(name, name), dialect_stack=self._parser_state.dialect_stack
        )
        start = self._operation_names[-1]
        span = Span(start, start, self.lexer.input)
        if operation is None:
            raise HintedParseError(span, f"unknown operation '{name}'", self._hint(name))
        if self.lexer.input.at(start) != '"' and getattr_static(operation, "parse") is _NO_PARSER:
            raise HintedParseError(
                span, f"'{name}' has no short syntax here", f'write it as "{name}"(...) : (...)'
            )
        return operation

    def _hint(self, name: str) -> str:
        if "." not in name:
            for prefix in _USUAL_DIALECTS:
                if self.ctx.get_optional_op(f"{prefix}.{name}") is not None:
                    return f"did you mean '{prefix}.{name}'?"
        dialect = self.ctx.get_optional_dialect(name.partition(".")[0])
        known = [operation.name for operation in dialect.operations] if dialect else []
        close = difflib.get_close_matches(name, known, 1)
        if close:
            return f"did you mean '{close[0]}'?"
        # xDSL has many more, but few that mean something here.
        dialects = sorted(DIALECTS.keys() & set(self.ctx.registered_dialect_names))
        return f"the dialects are {', '.join(dialects)}"

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        super()._register_ssa_definition(name, values, span)
        for value in values:
            if len(values) == 1:
                keep_name(value, name)
            if isinstance(value, BlockArgument) and isinstance(value.location, UnknownLoc):
                value.location = self.source.attribute(span.start)


def _check_operands(parent: Operation) -> None:
    """Raises where a value that an operation defines inside of itself is its own operand."""
    for operation in parent.walk():
        for operand in operation.operands:
            if isinstance(operand, ForwardDeclaredValue):
                message = f"{name_of(operand)} is used before it is defined"
                raise SourceError.at(operation, message, operand=operand)
