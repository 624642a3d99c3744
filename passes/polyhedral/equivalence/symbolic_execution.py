"""Symbolic execution of a normalised function for given sizes: which term every element holds.

Two programs that leave equal terms compute the same whatever the inputs are and the operations do;
where terms differ, values may.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects import arith, func, memref
from xdsl.dialects.affine import ApplyOp, ForOp, IfOp, LoadOp, StoreOp
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr
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

from ....dialects.affine import MaxOp, MinOp
from ..memrefs import as_memref, memref_shape
from .symbolic_values import SymbolicValues
from .terms import kind_of

Subscripts = tuple[int, ...]

STEPS = 4_000_000
"""Operations that an execution may take: some ten seconds."""


class UnsupportedError(Exception):
    """A program that cannot be executed symbolically, or not in so many steps."""


@dataclass(frozen=True)
class Write:
    """What an element holds: the number of the term, and the store with its iteration."""

    value: int
    store: StoreOp
    iteration: Subscripts


@dataclass
class Memory:
    """The elements of a memref that have been written; `argument` where the others are inputs."""

    shape: Sequence[int]
    argument: int | None = None
    written: dict[Subscripts, Write] = field(default_factory=dict[Subscripts, Write])


_INDEX_OPERATIONS: Mapping[str, Callable[[int, int], int]] = {
    "arith.addi": lambda a, b: a + b,
    "arith.subi": lambda a, b: a - b,
    "arith.muli": lambda a, b: a * b,
    "arith.floordivsi": lambda a, b: a // b,
    "arith.ceildivsi": lambda a, b: -(-a // b),
    "arith.minsi": min,
    "arith.maxsi": max,
    "arith.remsi": lambda a, b: a - b * _truncated(a, b),
    "arith.divsi": lambda a, b: _truncated(a, b),
}


def _truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


@dataclass
class Execution:
    """Executes a function; `sizes` gives its parameters by argument and dimension."""

    function: func.FuncOp
    sizes: Mapping[tuple[int, int | None], int]
    values: SymbolicValues
    steps: int = STEPS
    arguments: dict[int, Memory] = field(default_factory=dict[int, Memory], init=False)
    results: tuple[int, ...] = field(default=(), init=False)
    _memories: dict[SSAValue, Memory] = field(default_factory=dict[SSAValue, Memory], init=False)
    _environment: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int], init=False)
    _iteration: list[int] = field(default_factory=list[int], init=False)

    def run(self) -> None:
        """Raises UnsupportedError."""
        block = self.function.body.block
        for number, argument in enumerate(block.args):
            if as_memref(argument) is not None:
                shape = [
                    self._size(number, n) if extent < 0 else extent
                    for n, extent in enumerate(memref_shape(argument))
                ]
                self._memories[argument] = self.arguments[number] = Memory(shape, number)
            elif isinstance(argument.type, IndexType):
                size = self.sizes.get((number, None))
                if size is not None:
                    self._environment[argument] = size
            else:
                self._environment[argument] = self.values.number("scalar", number)
        self._block(block)

    def _size(self, argument: int, dimension: int | None) -> int:
        size = self.sizes.get((argument, dimension))
        if size is None:
            raise UnsupportedError("a size is not known")
        return size

    def _block(self, block: Block) -> None:
        for operation in block.ops:
            self.steps -= 1
            if self.steps < 0:
                raise UnsupportedError("the program runs for too long")
            self._execute(operation)

    def _execute(self, operation: Operation) -> None:
        environment = self._environment
        match operation:
            case LoadOp():
                memory = self._memories[operation.memref]
                subscripts = self._subscripts(operation)
                environment[operation.result] = self._load(memory, subscripts)
            case StoreOp():
                memory = self._memories[operation.memref]
                value, place = self._data(operation.value), tuple(self._iteration)
                memory.written[self._subscripts(operation)] = Write(value, operation, place)
            case ForOp():
                self._loop(operation)
            case IfOp():
                self._branch(operation)
            case ApplyOp() | MinOp() | MaxOp():
                results = self._affine(operation.map.data, operation.operands)
                combine = max if isinstance(operation, MaxOp) else min
                environment[operation.results[0]] = combine(results)
            case memref.AllocOp() | memref.AllocaOp():
                dynamic = [self._index(value) for value in operation.dynamic_sizes]
                self._allocate(operation.memref, dynamic)
            case memref.DimOp():
                shape = self._memories[operation.source].shape
                environment[operation.result] = shape[self._index(operation.index)]
            case func.ReturnOp():
                self.results = tuple(self._data(value) for value in operation.operands)
            case _:
                self._arithmetic(operation)

    def _load(self, memory: Memory, subscripts: Subscripts) -> int:
        write = memory.written.get(subscripts)
        if write is not None:
            return write.value
        if memory.argument is None:
            return self.values.number("undefined")
        return self.values.number("input", memory.argument, subscripts)

    def _allocate(self, value: SSAValue, dynamic: Sequence[int]) -> None:
        sizes = iter(dynamic)
        shape = [next(sizes) if extent < 0 else extent for extent in memref_shape(value)]
        self._memories[value] = Memory(shape)

    def _loop(self, loop: ForOp) -> None:
        lower = max(self._affine(loop.lowerBoundMap.data, loop.lowerBoundOperands))
        upper = min(self._affine(loop.upperBoundMap.data, loop.upperBoundOperands))
        block = loop.body.block
        for value in range(lower, upper, loop.step.value.data):
            self.steps -= 1
            self._iteration.append(value)
            self._environment[block.args[0]] = value
            self._block(block)
            self._iteration.pop()

    def _branch(self, branch: IfOp) -> None:
        condition = branch.condition.data
        inputs = [self._index(value) for value in branch.args]
        dims, symbols = inputs[: condition.num_dims], inputs[condition.num_dims :]
        differences = [
            _evaluate(constraint.lhs, dims, symbols) - _evaluate(constraint.rhs, dims, symbols)
            for constraint in condition.constraints
        ]
        holds = all(
            {">=": value >= 0, "<=": value <= 0, "==": value == 0}[constraint.kind.value]
            for constraint, value in zip(condition.constraints, differences, strict=True)
        )
        region = branch.then_region if holds else branch.else_region
        if region.blocks:
            self._block(region.block)

    def _affine(self, map_: AffineMap, operands: Sequence[SSAValue]) -> list[int]:
        inputs = [self._index(value) for value in operands]
        dims, symbols = inputs[: map_.num_dims], inputs[map_.num_dims :]
        return [_evaluate(result, dims, symbols) for result in map_.results]

    def _subscripts(self, operation: LoadOp | StoreOp) -> Subscripts:
        map_ = operation.map
        return tuple(self._affine(map_.data, operation.indices))

    def _index(self, value: SSAValue) -> int:
        found = self._environment.get(value)
        if found is None:
            raise UnsupportedError("a size is not known")
        if isinstance(value.type, IndexType):
            return found
        key = self.values.keys[found]
        if key[0] == "scalar":
            return self._size(cast(int, key[1]), None)
        raise UnsupportedError("a subscript or bound depends on data")

    def _data(self, value: SSAValue) -> int:
        """The number of the term of a value."""
        found = self._environment.get(value)
        if found is None:  # no size, but a number to compute with
            assert isinstance(value, BlockArgument)
            return self.values.number("scalar", value.index)
        return self.values.number("index", found) if isinstance(value.type, IndexType) else found

    def _arithmetic(self, operation: Operation) -> None:
        if not operation.results:
            return
        result = operation.results[0]
        if isinstance(result.type, IndexType):
            self._environment[result] = self._index_arithmetic(operation)
            return
        match operation:
            case arith.ConstantOp(value=IntegerAttr() | FloatAttr() as attribute):
                number = self.values.number("constant", attribute.value.data, str(attribute))
                self._environment[result] = number
            case _:
                operands = tuple(self._data(value) for value in operation.operands)
                rules = self.values.rules
                name = rules.name(operation.name, frozenset(operation.properties.items()))
                if name is not None and len(operands) == 2:
                    minus = operation.name.startswith("arith.sub")
                    number = self.values.combine(name, result.type, operands, minus=minus)
                    self._environment[result] = number
                    return
                kind = kind_of(operation)
                for each in operation.results:
                    number = self.values.apply(operation.name, (kind, each.index), operands)
                    self._environment[each] = number

    def _index_arithmetic(self, operation: Operation) -> int:
        if isinstance(operation, arith.ConstantOp):
            assert isinstance(operation.value, IntegerAttr)
            return operation.value.value.data
        operands = [self._index(value) for value in operation.operands]
        if operation.name == "arith.index_cast":
            return operands[0]
        compute = _INDEX_OPERATIONS.get(operation.name)
        if compute is None:
            raise UnsupportedError(f"'{operation.name}' of indices")
        return compute(*operands)


def _evaluate(expression: AffineExpr, dims: Sequence[int], symbols: Sequence[int]) -> int:
    match expression:
        case AffineDimExpr(position):
            return dims[position]
        case AffineConstantExpr(value):
            return value
        case AffineSymExpr(position):
            return symbols[position]
        case AffineBinaryOpExpr(kind, lhs, rhs):
            left, right = _evaluate(lhs, dims, symbols), _evaluate(rhs, dims, symbols)
            return _BINARY[kind](left, right)
        case _:
            raise UnsupportedError(f"the affine expression {expression}")


_BINARY: Mapping[AffineBinaryOpKind, Callable[[int, int], int]] = {
    AffineBinaryOpKind.Add: lambda a, b: a + b,
    AffineBinaryOpKind.Mul: lambda a, b: a * b,
    AffineBinaryOpKind.Mod: lambda a, b: a % b,
    AffineBinaryOpKind.FloorDiv: lambda a, b: a // b,
    AffineBinaryOpKind.CeilDiv: lambda a, b: -(-a // b),
}
