"""Integer SSA values as affine expressions in induction variables and parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, func, memref
from xdsl.dialects.affine import ApplyOp
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, MemRefType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineExpr,
    AffineMap,
)

from .names import identifier
from .scop import Parameter

_CASTS = (arith.IndexCastOp, arith.ExtSIOp)
_READS = ("affine.load", "memref.load")


class NotAffineError(Exception):
    """A value that is no affine expression: `value` is the culprit, `str()` the reason."""

    def __init__(self, value: SSAValue, reason: str):
        super().__init__(reason)
        self.value = value


@dataclass(frozen=True)
class Names:
    """Names of the function's arguments and of the dynamic dimensions of its memref arguments."""

    arguments: tuple[str, ...]
    dimensions: dict[tuple[int, int], str]

    @staticmethod
    def of(function: func.FuncOp) -> Names:
        """`%N: index, %A: memref<?x8xf64>` -> `N`, `A`, `A_dim0`."""
        taken: set[str] = set()

        def take(hint: str | None, default: str) -> str:
            name = identifier(hint, default, taken)
            taken.add(name)
            return name

        arguments = function.body.block.args
        names = tuple(take(a.name_hint, f"arg{n}") for n, a in enumerate(arguments))
        dimensions = {
            (number, position): take(f"{names[number]}_dim{position}", "dim")
            for number, argument in enumerate(arguments)
            if isinstance(argument.type, MemRefType)
            for position, size in enumerate(argument.type.get_shape())
            if size < 0
        }
        return Names(names, dimensions)


class AffineValues:
    """Finds affine expressions of values; dims are loop depths, symbols are parameters found.

    Integer arithmetic on the way to a subscript or bound is taken not to overflow.
    """

    def __init__(self, function: func.FuncOp):
        self.names = Names.of(function)
        self.block: Block = function.body.block
        self.parameters: list[Parameter] = []
        self._known: dict[SSAValue, AffineExpr] = {}

    @property
    def symbols(self) -> list[str]:
        """Names of the parameters found so far; the position is that of the affine symbol."""
        return [parameter.name for parameter in self.parameters]

    def bind(self, induction_variable: SSAValue, depth: int) -> None:
        """Makes a value the dim number `depth`."""
        self._known[induction_variable] = AffineExpr.dimension(depth)

    def expression(self, value: SSAValue) -> AffineExpr:
        """The affine expression of a value; raises NotAffineError."""
        if (known := self._known.get(value)) is None:
            known = self._known[value] = self._compute(value)
        return known

    def map(self, affine_map: AffineMap, operands: Sequence[SSAValue]) -> list[AffineExpr]:
        """The results of a map applied to values; raises NotAffineError."""
        for result in affine_map.results:
            check_divisors(result, operands)
        forms = [self.expression(operand) for operand in operands]
        dims, symbols = forms[: affine_map.num_dims], forms[affine_map.num_dims :]
        return [result.replace_dims_and_symbols(dims, symbols) for result in affine_map.results]

    def _symbol(self, argument: int, dimension: int | None) -> AffineExpr:
        name = (
            self.names.arguments[argument]
            if dimension is None
            else self.names.dimensions[argument, dimension]
        )
        parameter = Parameter(name, argument, dimension)
        if parameter not in self.parameters:
            self.parameters.append(parameter)
        return AffineExpr.symbol(self.parameters.index(parameter))

    def _compute(self, value: SSAValue) -> AffineExpr:
        if isinstance(value, BlockArgument):
            if value.block is not self.block:
                raise NotAffineError(value, "it is carried from one iteration to the next")
            if not isinstance(value.type, IndexType | IntegerType):
                raise NotAffineError(value, f"it has type {value.type}")
            return self._symbol(value.index, None)
        operation = value.owner
        assert isinstance(operation, Operation)
        if isinstance(operation, _CASTS):
            return self.expression(operation.operands[0])
        if isinstance(operation, ApplyOp):
            return self.map(operation.map.data, operation.mapOperands)[0]
        if isinstance(operation, memref.DimOp):
            return self._dimension(operation)
        if isinstance(operation, arith.ConstantOp) and isinstance(operation.value, IntegerAttr):
            return AffineExpr.constant(_signed(operation.value))
        if (rule := _RULES.get(operation.name)) is not None:
            left, right = (self.expression(operand) for operand in operation.operands)
            return rule(operation.results[0], left, right)
        if operation.name in _READS:
            raise NotAffineError(value, "it is read from memory")
        raise NotAffineError(value, f"it is computed by {operation.name}")

    def _dimension(self, operation: memref.DimOp) -> AffineExpr:
        position = self.expression(operation.index)
        source, result = operation.source, operation.result
        if not isinstance(position, AffineConstantExpr):
            raise NotAffineError(result, "it asks for a dimension that is not constant")
        assert isinstance(source.type, MemRefType)
        shape = source.type.get_shape()
        if not 0 <= position.value < len(shape):
            raise NotAffineError(result, f"the memref has no dimension {position.value}")
        return self.extent(source, position.value)

    def extent(self, array: SSAValue, position: int) -> AffineExpr:
        """One entry of the shape of a memref; raises NotAffineError."""
        assert isinstance(array.type, MemRefType)
        shape = array.type.get_shape()
        if shape[position] >= 0:
            return AffineExpr.constant(shape[position])
        if isinstance(array, BlockArgument) and array.block is self.block:
            return self._symbol(array.index, position)
        if isinstance(array.owner, memref.AllocOp | memref.AllocaOp):
            operand = sum(size < 0 for size in shape[:position])
            return self.expression(array.owner.dynamic_sizes[operand])
        raise NotAffineError(array, "its size is unknown")


def _signed(attribute: IntegerAttr) -> int:
    value = attribute.value.data
    if isinstance(attribute.type, IntegerType):
        half = 1 << (attribute.type.width.data - 1)
        value = (value + half) % (2 * half) - half
    return value


def check_divisors(expression: AffineExpr, operands: Sequence[SSAValue]) -> None:
    """Raises NotAffineError where `expression` divides by anything but a positive constant."""
    if not isinstance(expression, AffineBinaryOpExpr):
        return
    divides = expression.kind not in (AffineBinaryOpKind.Add, AffineBinaryOpKind.Mul)
    if divides:
        divisor = expression.rhs
        if not isinstance(divisor, AffineConstantExpr) or divisor.value <= 0:
            raise NotAffineError(operands[0], f"its map divides by {divisor}")
    check_divisors(expression.lhs, operands)
    check_divisors(expression.rhs, operands)


def _product(value: SSAValue, left: AffineExpr, right: AffineExpr) -> AffineExpr:
    if not isinstance(left, AffineConstantExpr) and not isinstance(right, AffineConstantExpr):
        raise NotAffineError(value, "it is a product of two values that are not constant")
    return left * right


def _division(
    divide: Callable[[AffineExpr, AffineExpr], AffineExpr],
) -> Callable[[SSAValue, AffineExpr, AffineExpr], AffineExpr]:
    def rule(value: SSAValue, left: AffineExpr, right: AffineExpr) -> AffineExpr:
        if not isinstance(right, AffineConstantExpr) or right.value <= 0:
            raise NotAffineError(value, "it divides by something that is no positive constant")
        return divide(left, right)

    return rule


_RULES: dict[str, Callable[[SSAValue, AffineExpr, AffineExpr], AffineExpr]] = {
    "arith.addi": lambda _, left, right: left + right,
    "arith.subi": lambda _, left, right: left - right,
    "arith.muli": _product,
    "arith.floordivsi": _division(lambda left, right: left // right),
    "arith.ceildivsi": _division(lambda left, right: left.ceil_div(right)),
}
