"""Affine expressions as text: parsing with exact error positions, printing as MLIR prints them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext

from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineConstraintExpr,
    AffineConstraintKind,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSet,
    AffineSymExpr,
)
from xdsl.parser import AffineParser, Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRToken, MLIRTokenKind

from ..hinted_errors import HintedParseError

# Longer expressions would exhaust the stack of the recursive algorithms that work on them.
_MAX_OPERATIONS = 200
_MAX_CONSTANT = 2**63 - 1

_Identifier = Callable[[], AffineExpr | None]


class OperandScope:
    """SSA operands of affine expressions, in order: each is one dimension or symbol."""

    def __init__(self) -> None:
        self._dims: dict[tuple[str, int], UnresolvedOperand] = {}
        self._symbols: dict[tuple[str, int], UnresolvedOperand] = {}

    def dim(self, operand: UnresolvedOperand) -> AffineExpr:
        """The dimension that stands for `operand`."""
        return AffineExpr.dimension(self._position(self._dims, operand))

    def symbol(self, operand: UnresolvedOperand) -> AffineExpr:
        """The symbol that stands for `operand`."""
        return AffineExpr.symbol(self._position(self._symbols, operand))

    def map(self, results: Sequence[AffineExpr]) -> AffineMap:
        """The map from all values of the scope to `results`."""
        return AffineMap(len(self._dims), len(self._symbols), tuple(results))

    def resolve(self, parser: Parser) -> list[SSAValue[IndexType]]:
        """The values: dimensions, then symbols."""
        operands = (*self._dims.values(), *self._symbols.values())
        return [parser.resolve_operand(operand, IndexType()) for operand in operands]

    @staticmethod
    def _position(
        table: dict[tuple[str, int], UnresolvedOperand], operand: UnresolvedOperand
    ) -> int:
        key = (operand.operand_name, operand.index)
        table.setdefault(key, operand)
        return list(table).index(key)


class ExpressionParser(AffineParser):
    """xDSL's parser of affine expressions; what is not affine is an error at the operator."""

    _operations = 0

    @classmethod
    def of(cls, parser: Parser) -> ExpressionParser:
        """A parser that reads on where `parser` stands."""
        return cls(parser._parser_state)  # pyright: ignore[reportPrivateUsage]

    def parse_operand_expression(self, scope: OperandScope) -> AffineExpr:
        """Parses `%i + symbol(%n) - 1`."""

        def identifier() -> AffineExpr | None:
            if (operand := self._parse_optional_operand()) is not None:
                return scope.dim(operand)
            if self.parse_optional_characters("symbol") is None:
                return None
            self.parse_characters("(")
            operand = self.expect(self._parse_optional_operand, "operand expected")
            self.parse_characters(")")
            return scope.symbol(operand)

        return self._parse_affine_expr(identifier)

    def parse_operand_expressions(
        self, scope: OperandScope, delimiter: AffineParser.Delimiter
    ) -> list[AffineExpr]:
        """Parses `[%i + symbol(%n), %j]`, or the same in other brackets."""
        return self.parse_comma_separated_list(
            delimiter, lambda: self.parse_operand_expression(scope)
        )

    def _parse_optional_operand(self) -> UnresolvedOperand | None:
        token = self._parse_optional_token(MLIRTokenKind.PERCENT_IDENT)
        if token is None:
            return None
        result = self._parse_optional_token(MLIRTokenKind.HASH_IDENT)
        if result is None:
            return UnresolvedOperand(token.span, 0)
        if not result.text[1:].isdecimal():
            self.raise_error("expected the number of a result", result.span)
        return UnresolvedOperand(token.span, int(result.text[1:]))

    def _parse_affine_expr(self, parse_optional_bare_id: _Identifier) -> AffineExpr:
        position = self.pos
        expression = super()._parse_affine_expr(parse_optional_bare_id)
        for node in expression.dfs():
            if isinstance(node, AffineConstantExpr) and abs(node.value) > _MAX_CONSTANT:
                self.raise_error("integer constant does not fit into 64 bits", position)
        return expression

    def _parse_primary(self, parse_optional_bare_id: _Identifier) -> AffineExpr:
        if self._current_token.kind in (
            MLIRTokenKind.L_PAREN,
            MLIRTokenKind.INTEGER_LIT,
            MLIRTokenKind.MINUS,
        ):
            self._count(self._current_token.span)
            return super()._parse_primary(parse_optional_bare_id)
        return self.expect(parse_optional_bare_id, "expected an affine expression")

    def _get_parse_optional_bare_id(self, dims: list[str], syms: list[str]) -> _Identifier:
        def identifier() -> AffineExpr | None:
            token = self._parse_optional_token(MLIRTokenKind.BARE_IDENT)
            if token is None:
                return None
            if token.text in dims:
                return AffineExpr.dimension(dims.index(token.text))
            if token.text not in syms:
                self.raise_error(f"'{token.text}' is neither a dimension nor a symbol", token.span)
            return AffineExpr.symbol(syms.index(token.text))

        return identifier

    def _parse_affine_space(self) -> tuple[list[str], list[str]]:
        position = self.pos
        dims, symbols = super()._parse_affine_space()
        if len({*dims, *symbols}) < len(dims) + len(symbols):
            self.raise_error("two dimensions or symbols have the same name", position)
        return dims, symbols

    def _parse_affine_constraint(self, parse_optional_bare_id: _Identifier) -> AffineConstraintExpr:
        constraint = super()._parse_affine_constraint(parse_optional_bare_id)
        if constraint.kind is not AffineConstraintKind.le:
            return constraint
        # As in MLIR, only >= and == remain.
        return AffineConstraintExpr(
            AffineConstraintKind.ge, -constraint.lhs, AffineExpr.constant(0)
        )

    def _create_binop_expr(self, lhs: AffineExpr, rhs: AffineExpr, binop: MLIRToken) -> AffineExpr:
        self._count(binop.span)
        constant = isinstance(rhs, AffineConstantExpr)
        if binop.text == "*" and not constant and not isinstance(lhs, AffineConstantExpr):
            raise HintedParseError(
                binop.span,
                "product of two variables is not affine",
                "one factor must be an integer constant; write a size that is known as one",
            )
        if binop.text in ("floordiv", "ceildiv", "mod") and not (constant and rhs.value > 0):
            raise HintedParseError(
                binop.span,
                f"'{binop.text}' by something other than a positive integer is not affine",
                "write the divisor as a positive integer constant",
            )
        return super()._create_binop_expr(lhs, rhs, binop)

    def _count(self, span: Span) -> None:
        self._operations += 1
        if self._operations > _MAX_OPERATIONS:
            self.raise_error("affine expression is too long", span)


def print_expression(
    printer: Printer,
    expression: AffineExpr,
    dim: Callable[[int], object],
    symbol: Callable[[int], object],
    *,
    tight: bool = False,
) -> None:
    """Prints an expression; `dim` and `symbol` print the variable at a position.

    With `tight`, sums and products are put in parentheses.
    """

    def show(part: AffineExpr, tight: bool) -> None:
        print_expression(printer, part, dim, symbol, tight=tight)

    match expression:
        case AffineConstantExpr(value):
            printer.print_string(str(value))
        case AffineDimExpr(position):
            dim(position)
        case AffineSymExpr(position):
            symbol(position)
        case AffineBinaryOpExpr(AffineBinaryOpKind.Add, lhs, rhs):
            with printer.in_parens() if tight else nullcontext():
                show(lhs, False)
                match rhs:
                    case AffineConstantExpr(value) if value < 0:
                        printer.print_string(f" - {-value}")
                    case AffineBinaryOpExpr(AffineBinaryOpKind.Mul, part, AffineConstantExpr(-1)):
                        printer.print_string(" - ")
                        # Products without parentheses bind tighter than the minus.
                        show(part, _is_sum(part))
                    case AffineBinaryOpExpr(
                        AffineBinaryOpKind.Mul, part, AffineConstantExpr(value)
                    ) if value < -1:
                        printer.print_string(" - ")
                        show(part, True)
                        printer.print_string(f" * {-value}")
                    case _:
                        printer.print_string(" + ")
                        show(rhs, _is_sum(rhs))
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mul, lhs, AffineConstantExpr(-1)):
            with printer.in_parens() if tight else nullcontext():
                printer.print_string("-")
                show(lhs, True)
        case AffineBinaryOpExpr(kind, lhs, rhs):
            with printer.in_parens() if tight else nullcontext():
                show(lhs, True)
                printer.print_string(f" {kind.get_token()} ")
                show(rhs, True)
        case _:
            raise TypeError(f"not an affine expression: {expression}")


def _is_sum(expression: AffineExpr) -> bool:
    return isinstance(expression, AffineBinaryOpExpr) and expression.kind is AffineBinaryOpKind.Add


def print_operand_expressions(
    printer: Printer, map: AffineMap, operands: Sequence[SSAValue], results: slice = slice(None)
) -> None:
    """Prints results of a map applied to values: `%i + symbol(%n), %j`."""

    def symbol(position: int) -> None:
        printer.print_string("symbol(")
        printer.print_ssa_value(operands[map.num_dims + position])
        printer.print_string(")")

    printer.print_list(
        map.results[results],
        lambda result: print_expression(
            printer, result, lambda position: printer.print_ssa_value(operands[position]), symbol
        ),
    )


def _print_space(printer: Printer, dims: int, symbols: int) -> None:
    names = ", ".join(f"d{position}" for position in range(dims))
    printer.print_string(f"({names})")
    if symbols:
        names = ", ".join(f"s{position}" for position in range(symbols))
        printer.print_string(f"[{names}]")


def _print_named_expression(printer: Printer, expression: AffineExpr) -> None:
    print_expression(
        printer,
        expression,
        lambda position: printer.print_string(f"d{position}"),
        lambda position: printer.print_string(f"s{position}"),
    )


def print_map(printer: Printer, map: AffineMap) -> None:
    """Prints `affine_map<(d0)[s0] -> (d0 - s0)>`."""
    printer.print_string("affine_map<")
    _print_space(printer, map.num_dims, map.num_symbols)
    printer.print_string(" -> ")
    with printer.in_parens():
        printer.print_list(map.results, lambda e: _print_named_expression(printer, e))
    printer.print_string(">")


def print_set(printer: Printer, set: AffineSet) -> None:
    """Prints `affine_set<(d0)[s0] : (s0 - d0 - 1 >= 0)>`."""

    def constraint(constraint: AffineConstraintExpr) -> None:
        _print_named_expression(printer, constraint.lhs)
        printer.print_string(f" {constraint.kind.value} ")
        _print_named_expression(printer, constraint.rhs)

    printer.print_string("affine_set<")
    _print_space(printer, set.num_dims, set.num_symbols)
    printer.print_string(" : ")
    with printer.in_parens():
        printer.print_list(set.constraints, constraint)
    printer.print_string(">")
