"""Integer SSA values as affine expressions in induction variables and parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from xdsl.dialects import arith, func, memref
from xdsl.dialects.affine import ApplyOp
from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    IntegerType,
)
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

from ....dialects.locations import written_name
from ..affine_text import to_text
from ..identifiers import ArgumentNames
from ..integer_ranges import constant_of
from ..linear_terms import linear_terms
from ..memrefs import as_memref, integer_width, memref_shape, signed_value
from ..scop import Parameter
from .signs import is_never_negative

_CASTS = (arith.IndexCastOp, arith.ExtSIOp)
_READS = ("affine.load", "memref.load")


_HINT = "use sums of induction variables and sizes, with constant factors and divisors"
_CASES_HINT = "give each of its cases an access of its own, chosen by affine.if"


_FEWEST_BITS = 32
_INDEX_BITS = 64
_KEEPING = ("arith.constant", "arith.extsi", "arith.minsi", "arith.maxsi")

_MOST_TERMS = 400
_LARGEST_FACTOR = 1 << 62


class NotAffineError(Exception):
    """A non-affine value: `value` is the culprit, `str()` the reason."""

    def __init__(self, value: SSAValue, reason: str, hint: str = _HINT):
        super().__init__(reason)
        self.value = value
        self.hint = hint


@dataclass(frozen=True)
class Piecewise:
    """A piecewise affine value: `format` makes isl text of that of its `operands`."""

    value: SSAValue
    operands: tuple[AffineExpr, ...]
    format: Callable[[list[str]], str]


class AffineValues:
    """Affine expressions of values: dims are loop depths, symbols are in `symbols`.

    Integer arithmetic on the way to a subscript or bound is taken not to overflow.
    """

    def __init__(self, function: func.FuncOp):
        self.names = ArgumentNames.of(function)
        self.symbols: list[Parameter | Piecewise] = []
        self._block: Block = function.body.block
        self._known: dict[SSAValue, AffineExpr] = {}
        # Of the texts of piecewise symbols, by position.
        self._lengths: dict[int, int] = {}

    @property
    def parameters(self) -> list[Parameter]:
        """The parameters found so far."""
        return [symbol for symbol in self.symbols if isinstance(symbol, Parameter)]

    def bind(self, induction_variable: SSAValue, depth: int) -> None:
        """Makes a value the dim number `depth`."""
        self._known[induction_variable] = AffineExpr.dimension(depth)

    def define(self, value: SSAValue, expression: AffineExpr) -> None:
        """Says what a value is that the function does not compute."""
        self._known[value] = expression

    def text(self, expression: AffineExpr, loops: Sequence[str]) -> str:
        """An expression as isl text; `loops` are the names of the loops around."""
        used = {part.position for part in expression.dfs() if isinstance(part, AffineSymExpr)}
        texts = [
            self._symbol_text(symbol, loops) if position in used else ""
            for position, symbol in enumerate(self.symbols)
        ]
        return to_text(expression, loops, texts)

    def _symbol_text(self, symbol: Parameter | Piecewise, loops: Sequence[str]) -> str:
        if isinstance(symbol, Parameter):
            return symbol.name
        return symbol.format([self.text(operand, loops) for operand in symbol.operands])

    def expression(self, value: SSAValue, *, piecewise: bool = False) -> AffineExpr:
        """The affine expression of a value; raises NotAffineError.

        Piecewise affine values are symbols in it if `piecewise` is set, errors otherwise.
        """
        if (known := self._known.get(value)) is None:
            known = self._known[value] = self._bounded(value, self._compute(value))
        if not piecewise:
            for part in known.dfs():
                symbol = self.symbols[part.position] if isinstance(part, AffineSymExpr) else None
                if isinstance(symbol, Piecewise):
                    reason = f"it is computed by {_name(symbol.value)}"
                    raise NotAffineError(symbol.value, reason, _CASES_HINT)
        return known

    def map(
        self, affine_map: AffineMap, operands: Sequence[SSAValue], *, piecewise: bool = False
    ) -> tuple[AffineExpr, ...]:
        """The results of a map applied to values; like `expression`."""
        forms = [self.expression(operand, piecewise=piecewise) for operand in operands]
        inputs = _Inputs(operands, forms, affine_map.num_dims)
        return tuple(inputs.substitute(result) for result in affine_map.results)

    def subscript(
        self, expression: AffineExpr, dims: int, operands: Sequence[SSAValue]
    ) -> AffineExpr:
        """One expression of a map applied to values, of which only those in it need be affine."""
        used = {part.position for part in expression.dfs() if isinstance(part, AffineDimExpr)} | {
            dims + part.position for part in expression.dfs() if isinstance(part, AffineSymExpr)
        }
        zero = AffineExpr.constant(0)
        forms = [self.expression(o) if k in used else zero for k, o in enumerate(operands)]
        return _Inputs(operands, forms, dims).substitute(expression)

    def extent(self, array: SSAValue, position: int) -> AffineExpr:
        """One entry of the shape of a memref; raises NotAffineError."""
        shape = memref_shape(array)
        if shape[position] >= 0:
            return AffineExpr.constant(shape[position])
        if isinstance(array, BlockArgument) and array.block is self._block:
            return self._parameter(array.index, position)
        if isinstance(array.owner, memref.AllocOp | memref.AllocaOp):
            operand = sum(size < 0 for size in shape[:position])
            return self.expression(array.owner.dynamic_sizes[operand])
        raise NotAffineError(array, "its size is unknown")

    def _parameter(self, argument: int, dimension: int | None = None) -> AffineExpr:
        if dimension is None:
            name = self.names.arguments[argument]
        else:
            name = self.names.dimensions[argument, dimension]
        return self._symbol(Parameter(name, argument, dimension))

    def _symbol(self, symbol: Parameter | Piecewise) -> AffineExpr:
        if symbol not in self.symbols:
            if isinstance(symbol, Piecewise):
                # Texts of divisions have the dividend several times.
                length = 4 * sum(map(self._length, symbol.operands))
                if length > _MOST_TERMS:
                    raise NotAffineError(symbol.value, f"it has more than {_MOST_TERMS} terms")
                self._lengths[len(self.symbols)] = length
            self.symbols.append(symbol)
        return AffineExpr.symbol(self.symbols.index(symbol))

    def _bounded(self, value: SSAValue, expression: AffineExpr) -> AffineExpr:
        """The expression, with equal terms added up where it is long; raises NotAffineError.

        Expressions share parts: a chain of `d0 + d0` has twice as many terms after every step.
        """
        if self._length(expression) > _MOST_TERMS:
            terms, constant = linear_terms(expression)
            expression = AffineExpr.constant(constant)
            for term, factor in terms.items():
                expression = expression + (term if factor == 1 else term * factor)
            if max(map(abs, terms.values()), default=0) >= _LARGEST_FACTOR:
                raise NotAffineError(value, "its factors do not fit into 64 bits")
            if self._length(expression) > _MOST_TERMS:
                raise NotAffineError(value, f"it has more than {_MOST_TERMS} terms")
        return expression

    def _length(self, expression: AffineExpr) -> int:
        """The number of parts, those that piecewise symbols stand for as well, as far as needed."""
        length = 0
        for part in islice(expression.dfs(), _MOST_TERMS + 1):
            length += 1
            if isinstance(part, AffineSymExpr):
                length += self._lengths.get(part.position, 0)
        return length

    def _compute(self, value: SSAValue) -> AffineExpr:
        if isinstance(value, BlockArgument):
            if value.block is not self._block:
                raise NotAffineError(value, "it is carried from one iteration to the next")
            if not isinstance(value.type, IndexType | IntegerType):
                raise NotAffineError(value, f"it has type {value.type}")
            return self._parameter(value.index)
        operation = value.owner
        assert isinstance(operation, Operation)
        if wraps_around(operation):
            raise NotAffineError(
                value, f"it is computed by {written_name(operation)}, which may wrap around"
            )
        if isinstance(operation, _CASTS):
            return self.expression(operation.operands[0], piecewise=True)
        if isinstance(operation, ApplyOp):
            return self.map(operation.map.data, operation.mapOperands, piecewise=True)[0]
        if isinstance(operation, memref.DimOp):
            return self._dimension(operation)
        if isinstance(operation, arith.ConstantOp) and isinstance(operation.value, IntegerAttr):
            return AffineExpr.constant(signed_value(operation.value))
        if operation.name in _EXTREMA:
            return self._extremum(operation)
        if (rule := _RULES.get(operation.name)) is not None:
            left, right = (self.expression(o, piecewise=True) for o in operation.operands)
            return rule(value, left, right)
        if operation.name in _DIVISIONS:
            return self._division(operation)
        if operation.name in _READS:
            raise NotAffineError(value, "it is read from memory")
        raise NotAffineError(value, f"it is computed by {written_name(operation)}")

    def _extremum(self, operation: Operation) -> AffineExpr:
        """arith.minsi, arith.maxsi."""
        results = tuple(self.expression(o, piecewise=True) for o in operation.operands)
        word = _EXTREMA[operation.name]
        return self._symbol(
            Piecewise(operation.results[0], results, lambda texts: f"{word}({', '.join(texts)})")
        )

    def _division(self, operation: Operation) -> AffineExpr:
        """arith.divsi, divui, remsi and remui: signed ones round towards zero."""
        value = operation.results[0]
        left, right = (self.expression(o, piecewise=True) for o in operation.operands)
        _check_divisor(value, right)
        rounding_down, cases = _DIVISIONS[operation.name]
        if is_never_negative(operation.operands[0]):
            return rounding_down(left, right)
        if cases is None:
            raise NotAffineError(value, "it is an unsigned division of what may be negative")
        return self._symbol(Piecewise(value, (left, right), cases))

    def _dimension(self, operation: memref.DimOp) -> AffineExpr:
        position = self.expression(operation.index)
        source, result = operation.source, operation.result
        if not isinstance(position, AffineConstantExpr) or as_memref(source) is None:
            raise NotAffineError(result, "it asks for a dimension that is not known")
        if not 0 <= position.value < len(memref_shape(source)):
            raise NotAffineError(result, f"the memref has no dimension {position.value}")
        return self.extent(source, position.value)


def wraps_around(operation: Operation) -> bool:
    """Whether integers wrap around in practice: short ones, and products of hashes."""
    bits = integer_width(operation.results[0].type) or _INDEX_BITS
    if bits < _FEWEST_BITS:
        return operation.name not in _KEEPING
    factors = map(constant_of, operation.operands) if isinstance(operation, arith.MuliOp) else ()
    return any(factor is not None and abs(factor) >> bits * 5 // 8 > 0 for factor in factors)


def _name(value: SSAValue) -> str:
    return written_name(value.owner) if isinstance(value.owner, Operation) else "a block"


@dataclass(frozen=True)
class _Inputs:
    """Operands of a map: values, and their expressions."""

    values: Sequence[SSAValue]
    expressions: Sequence[AffineExpr]
    dims: int

    def substitute(self, expression: AffineExpr) -> AffineExpr:
        """The expression of the inputs; raises NotAffineError where it is semi-affine."""
        match expression:
            case AffineDimExpr(position):
                return self.expressions[position]
            case AffineSymExpr(position):
                return self.expressions[self.dims + position]
            case AffineBinaryOpExpr(kind, left, right):
                rule = _KINDS[kind]
                return rule(self.values[0], self.substitute(left), self.substitute(right))
            case _:
                return expression


def _check_divisor(value: SSAValue, divisor: AffineExpr) -> None:
    if not isinstance(divisor, AffineConstantExpr) or divisor.value <= 0:
        raise NotAffineError(value, "it is divided by something that is no positive constant")


def _product(value: SSAValue, left: AffineExpr, right: AffineExpr) -> AffineExpr:
    if not isinstance(left, AffineConstantExpr) and not isinstance(right, AffineConstantExpr):
        raise NotAffineError(value, "it is a product of two values that are not constant")
    return left * right


def _floor(value: SSAValue, left: AffineExpr, right: AffineExpr) -> AffineExpr:
    _check_divisor(value, right)
    return left // right


def _ceil(value: SSAValue, left: AffineExpr, right: AffineExpr) -> AffineExpr:
    _check_divisor(value, right)
    return left.ceil_div(right)


def _modulo(value: SSAValue, left: AffineExpr, right: AffineExpr) -> AffineExpr:
    _check_divisor(value, right)
    return left % right


_Rule = Callable[[SSAValue, AffineExpr, AffineExpr], AffineExpr]

_RULES: dict[str, _Rule] = {
    "arith.addi": lambda _, left, right: left + right,
    "arith.subi": lambda _, left, right: left - right,
    "arith.muli": _product,
    "arith.floordivsi": _floor,
    "arith.ceildivsi": _ceil,
}

_KINDS: dict[AffineBinaryOpKind, _Rule] = {
    AffineBinaryOpKind.Add: _RULES["arith.addi"],
    AffineBinaryOpKind.Mul: _product,
    AffineBinaryOpKind.FloorDiv: _floor,
    AffineBinaryOpKind.CeilDiv: _ceil,
    AffineBinaryOpKind.Mod: _modulo,
}

_EXTREMA = {"arith.minsi": "min", "arith.maxsi": "max"}


def _quotient(texts: list[str]) -> str:
    """Division that rounds towards zero, by a positive number."""
    value, divisor = texts
    return f"max(floor(({value}) / {divisor}), min(0, ceil(({value}) / {divisor})))"


def _remainder(texts: list[str]) -> str:
    """The rest of `_quotient`, with the sign of the dividend."""
    return f"({texts[0]} - {texts[1]} * {_quotient(texts)})"


_Rounding = Callable[[AffineExpr, AffineExpr], AffineExpr]

# How divisions of what is not negative round, and the text for others.
_DIVISIONS: dict[str, tuple[_Rounding, Callable[[list[str]], str] | None]] = {
    "arith.divsi": (lambda left, right: left // right, _quotient),
    "arith.divui": (lambda left, right: left // right, None),
    "arith.remsi": (lambda left, right: left % right, _remainder),
    "arith.remui": (lambda left, right: left % right, None),
}
