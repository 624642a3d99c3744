"""A reference interpreter of affine modules: program order, NumPy arrays, no lowering of ours.

    Interpreter(module).run("gemm", alpha, beta, c, a, b)

Arrays are changed in place. Every subscript is checked. With `trace=True` the loads and stores are
recorded in the order in which they happen, for tests of dependences.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSet,
    AffineSymExpr,
)

from . import arithmetic

Environment = dict[SSAValue, Any]
Evaluator = Callable[[Sequence[int]], tuple[int, ...]]

_OPERATORS = {
    AffineBinaryOpKind.Add: "({} + {})",
    AffineBinaryOpKind.Mul: "({} * {})",
    AffineBinaryOpKind.Mod: "({} % {})",
    AffineBinaryOpKind.FloorDiv: "({} // {})",
    AffineBinaryOpKind.CeilDiv: "(-(-{} // {}))",
}

# products of two such numbers, and their sums with a third, are exact
_EXACT_LIMITS: dict[type[Attribute], int] = {
    BFloat16Type: 2**3,
    Float16Type: 2**5,
    Float32Type: 2**11,
    Float64Type: 2**26,
}


class OutOfBoundsError(Exception):
    """A load or store outside of its array."""


class UnsupportedError(Exception):
    """An operation that the interpreter does not know."""


@dataclass(frozen=True)
class TraceEntry:
    """One load or store: `iteration` are the values of the induction variables around it."""

    op: Operation
    iteration: tuple[int, ...]
    array: np.ndarray[Any, Any]
    subscripts: tuple[int, ...]
    is_write: bool


def _source(expr: AffineExpr, dims: int) -> str:
    match expr:
        case AffineConstantExpr(value=value):
            return f"({value})"
        case AffineDimExpr(position=position):
            return f"v[{position}]"
        case AffineSymExpr(position=position):
            return f"v[{dims + position}]"
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            return _OPERATORS[kind].format(_source(lhs, dims), _source(rhs, dims))
        case _:
            raise UnsupportedError(f"affine expression {expr}")


def evaluator(results: Sequence[AffineExpr], dims: int) -> Evaluator:
    """A function from the values of dims and symbols, in one row, to the values of `results`."""
    sources = "".join(_source(result, dims) + "," for result in results)
    return eval(f"lambda v: ({sources})")


@dataclass
class Interpreter:
    """Runs functions of `module`; `steps` bounds the number of executed operations.

    `exact` says afterwards whether all finite results of f32 and f64 were small integers, so that
    no other order or fusion of operations can have rounded otherwise. `any_order` says the same of
    all floats, and that all were finite: operations on f16 and bf16 are never fused, but fast math
    computes in another order.
    With `strict`, loads of what was never written raise.
    """

    module: ModuleOp
    trace: list[TraceEntry] | None = None
    steps: int = 50_000_000
    exact: bool = True
    any_order: bool = True
    strict: bool = True
    iteration: list[int] = field(default_factory=list[int])
    _written: dict[int, tuple[object, np.ndarray[Any, Any]]] = field(
        default_factory=dict[int, tuple[object, np.ndarray[Any, Any]]]
    )
    _maps: dict[int, tuple[object, Evaluator]] = field(
        default_factory=dict[int, tuple[object, Evaluator]]
    )

    def run(self, name: str, *args: Any) -> tuple[Any, ...]:
        """Calls function `name` and returns its results.

        Raises OutOfBoundsError, UndefinedBehaviourError, UnsupportedError.
        """
        with np.errstate(all="ignore"):
            return self._call(name, args)

    def _call(self, name: str, args: Sequence[Any]) -> tuple[Any, ...]:
        function = next(
            op for op in self.module.walk() if isinstance(op, FuncOp) and op.sym_name.data == name
        )
        block = function.body.block
        assert len(args) == len(block.args), f"@{name} takes {len(block.args)} arguments"
        environment: Environment = {}
        for formal, actual in zip(block.args, args, strict=True):
            environment[formal] = _argument(actual, formal.type)
        return self._block(block, environment)

    def _block(self, block: Block, environment: Environment) -> tuple[Any, ...]:
        """Executes a block; returns the operands of its terminator."""
        for op in block.ops:
            self.steps -= 1
            if self.steps < 0:
                raise UnsupportedError("the program runs for too long")
            if op.name in _TERMINATORS:
                return tuple(environment[value] for value in op.operands)
            self.execute(op, environment)
        return ()

    def execute(self, op: Operation, environment: Environment) -> None:
        """Executes one operation that is no terminator; its results go to `environment`."""
        handler = _HANDLERS.get(op.name)
        if handler is not None:
            handler(self, op, environment)
        else:
            _scalar_operation(op, environment)
            self._note(environment[op.results[0]], op.results[0].type)

    def _note(self, value: Any, kind: Attribute) -> None:
        """Looks whether a result, if it is a float, is a small integer, infinite or no number.

        In another order, sums may not meet the infinities that they had before.
        """
        if not isinstance(value, np.floating):
            return
        if not np.isfinite(value):
            self.any_order = False
            return
        if not (abs(value) <= _EXACT_LIMITS[type(kind)] and value == np.rint(value)):
            self.any_order = False
            self.exact &= isinstance(kind, Float16Type | BFloat16Type)

    def _region(self, region: Region, environment: Environment) -> tuple[Any, ...]:
        return self._block(region.block, environment) if region.blocks else ()

    def _evaluate(
        self, key: AffineMap | AffineSet, results: Sequence[AffineExpr], values: Sequence[int]
    ) -> tuple[int, ...]:
        cached = self._maps.get(id(key))
        if cached is None:
            cached = (key, evaluator(results, key.num_dims))
            self._maps[id(key)] = cached
        return cached[1](values)

    def _apply(self, map_: AffineMap, values: Sequence[int]) -> tuple[int, ...]:
        return self._evaluate(map_, map_.results, values)

    def _record(self, op: Operation, array: Any, subscripts: tuple[int, ...], write: bool) -> None:
        shape = array.shape
        if len(subscripts) != len(shape) or not all(
            0 <= index < extent for index, extent in zip(subscripts, shape, strict=True)
        ):
            raise OutOfBoundsError(f"{op.name} at {list(subscripts)} of an array of shape {shape}")
        if self.strict and id(array) in self._written:
            mask = self._written[id(array)][1]
            if not write and not mask[subscripts]:
                raise arithmetic.UndefinedBehaviourError(
                    f"{op.name} at {subscripts} before a store"
                )
            mask[subscripts] = True
        if self.trace is not None:
            self.trace.append(
                TraceEntry(op, tuple(self.iteration), cast(Any, array), subscripts, write)
            )

    def _loop(
        self, op: Operation, values: range, inits: tuple[Any, ...], environment: Environment
    ) -> None:
        block = op.regions[0].block
        carried = inits
        for value in values:
            self.iteration.append(value)
            environment[block.args[0]] = value
            environment.update(zip(block.args[1:], carried, strict=True))
            carried = self._block(block, environment)
            self.iteration.pop()
        environment.update(zip(op.results, carried, strict=True))


def _argument(value: Any, argument_type: Attribute) -> Any:
    if isinstance(argument_type, MemRefType):
        expected = arithmetic.dtype(argument_type.element_type)
        assert isinstance(value, np.ndarray) and value.dtype == expected, (
            f"expected an array of {expected}"
        )
        return cast(Any, value)
    return arithmetic.scalar(value, argument_type)


def _scalar_operation(op: Operation, environment: Environment) -> None:
    """`arith` and `math`: one result, scalar operands."""
    values = [environment[value] for value in op.operands]
    result = op.results[0]
    name = op.name
    if name in arithmetic.INTEGER_BINARY:
        bits = arithmetic.width(result.type)
        a, b = (arithmetic.signed(each, bits) for each in values)
        value = arithmetic.wrap(arithmetic.INTEGER_BINARY[name](a, b, bits), bits)
    elif name in arithmetic.INTEGER_UNARY:
        bits = arithmetic.width(result.type)
        value = arithmetic.wrap(arithmetic.INTEGER_UNARY[name](values[0], bits), bits)
    elif name in arithmetic.FLOAT:
        value = arithmetic.scalar(arithmetic.FLOAT[name](*values), result.type)
    elif name in arithmetic.CONVERSIONS:
        value = arithmetic.convert(name, values[0], op.operands[0].type, result.type)
    elif name == "arith.select":
        value = values[1] if values[0] else values[2]
    elif name == "arith.cmpi":
        bits = arithmetic.width(op.operands[0].type)
        value = arithmetic.compare_integers(_predicate(op), values[0], values[1], bits)
    elif name == "arith.cmpf":
        value = arithmetic.compare_floats(_predicate(op), values[0], values[1])
    else:
        raise UnsupportedError(f"operation {name}")
    environment[result] = value


def _predicate(op: Operation) -> int:
    predicate = op.properties["predicate"]
    assert isinstance(predicate, IntegerAttr)
    return predicate.value.data


def _operands(op: Any, attribute: str) -> list[SSAValue]:
    return list(getattr(op, attribute))


def _values(operands: Sequence[SSAValue], environment: Environment) -> list[Any]:
    return [environment[operand] for operand in operands]


def _constant(_: Interpreter, op: Any, environment: Environment) -> None:
    attribute = op.value
    assert isinstance(attribute, IntegerAttr | FloatAttr), "dense constants are not known"
    environment[op.results[0]] = arithmetic.scalar(
        cast(Any, attribute).value.data, op.results[0].type
    )


def _affine_for(self: Interpreter, op: Any, environment: Environment) -> None:
    lower = self._apply(op.lowerBoundMap.data, _values(op.lowerBoundOperands, environment))
    upper = self._apply(op.upperBoundMap.data, _values(op.upperBoundOperands, environment))
    values = range(max(lower), min(upper), op.step.value.data)
    self._loop(op, values, tuple(_values(op.inits, environment)), environment)


def _scf_for(self: Interpreter, op: Any, environment: Environment) -> None:
    step = environment[op.step]
    if step <= 0:
        raise arithmetic.UndefinedBehaviourError(f"scf.for with step {step}")
    values = range(environment[op.lb], environment[op.ub], step)
    self._loop(op, values, tuple(_values(op.iter_args, environment)), environment)


def _scf_while(self: Interpreter, op: Any, environment: Environment) -> None:
    before, after = (region.block for region in op.regions)
    carried = tuple(_values(op.operands, environment))
    while True:
        environment.update(zip(before.args, carried, strict=True))
        goes_on, *passed = self._block(before, environment)
        if not goes_on:
            break
        environment.update(zip(after.args, passed, strict=True))
        carried = self._block(after, environment)
    environment.update(zip(op.results, passed, strict=True))


def _groups(results: Sequence[int], sizes: Sequence[int]) -> list[Sequence[int]]:
    starts = [sum(sizes[:n]) for n in range(len(sizes))]
    return [results[start : start + size] for start, size in zip(starts, sizes, strict=True)]


def _affine_parallel(self: Interpreter, op: Any, environment: Environment) -> None:
    lower_map, upper_map = op.lowerBoundsMap.data, op.upperBoundsMap.data
    operands = _values(op.map_operands, environment)
    split = lower_map.num_dims + lower_map.num_symbols
    lower = _groups(self._apply(lower_map, operands[:split]), op.lowerBoundsGroups.get_values())
    upper = _groups(self._apply(upper_map, operands[split:]), op.upperBoundsGroups.get_values())
    ranges = [
        range(max(low), min(high), step.value.data)
        for low, high, step in zip(lower, upper, op.steps.data, strict=True)
    ]
    yielded: list[tuple[Any, ...]] = []
    for point in itertools.product(*ranges):
        self.iteration += point
        environment.update(zip(op.body.block.args, point, strict=True))
        yielded.append(self._block(op.body.block, environment))
        del self.iteration[len(self.iteration) - len(point) :]
    for number, (result, reduction) in enumerate(zip(op.results, op.reductions.data, strict=True)):
        operation, neutral = _REDUCTIONS[reduction.data]
        bits = arithmetic.width(result.type)
        total = arithmetic.scalar(neutral(bits), result.type)
        for values in yielded:
            if operation in arithmetic.FLOAT:
                combined = arithmetic.FLOAT[operation](total, values[number])
                total = arithmetic.scalar(combined, result.type)
                self._note(total, result.type)
            else:
                combined = arithmetic.INTEGER_BINARY[operation](total, values[number], bits)
                total = arithmetic.wrap(combined, bits)
        environment[result] = total


# reduction -> (operation, neutral element for a number of bits)
_REDUCTIONS: dict[str, tuple[str, Callable[[int], float]]] = {
    "addf": ("arith.addf", lambda _: -0.0),
    "mulf": ("arith.mulf", lambda _: 1.0),
    "maximumf": ("arith.maximumf", lambda _: -np.inf),
    "minimumf": ("arith.minimumf", lambda _: np.inf),
    "maxnumf": ("arith.maxnumf", lambda _: np.nan),
    "minnumf": ("arith.minnumf", lambda _: np.nan),
    "addi": ("arith.addi", lambda _: 0),
    "muli": ("arith.muli", lambda _: 1),
    "ori": ("arith.ori", lambda _: 0),
    "xori": ("arith.xori", lambda _: 0),
    "andi": ("arith.andi", lambda _: -1),
    "maxs": ("arith.maxsi", lambda bits: -(1 << (bits - 1))),
    "mins": ("arith.minsi", lambda bits: (1 << (bits - 1)) - 1),
    "maxu": ("arith.maxui", lambda _: 0),
    "minu": ("arith.minui", lambda _: -1),
}


def _affine_if(self: Interpreter, op: Any, environment: Environment) -> None:
    condition: AffineSet = op.condition.data
    differences = self._evaluate(
        condition,
        [constraint.lhs - constraint.rhs for constraint in condition.constraints],
        _values(op.args, environment),
    )
    holds = all(
        {">=": value >= 0, "<=": value <= 0, "==": value == 0}[constraint.kind.value]
        for constraint, value in zip(condition.constraints, differences, strict=True)
    )
    results = self._region(op.then_region if holds else op.else_region, environment)
    environment.update(zip(op.results, results, strict=True))


def _scf_if(self: Interpreter, op: Any, environment: Environment) -> None:
    results = self._region(op.true_region if environment[op.cond] else op.false_region, environment)
    environment.update(zip(op.results, results, strict=True))


def _affine_value(combine: Callable[[Sequence[int]], int]) -> Callable[..., None]:
    def execute(self: Interpreter, op: Any, environment: Environment) -> None:
        results = self._apply(op.map.data, _values(op.operands, environment))
        environment[op.results[0]] = combine(results)

    return execute


def _affine_load(self: Interpreter, op: Any, environment: Environment) -> None:
    array = environment[op.memref]
    subscripts = self._apply(op.map.data, _values(op.indices, environment))
    _read(self, op, array, subscripts, environment)


def _affine_store(self: Interpreter, op: Any, environment: Environment) -> None:
    array = environment[op.memref]
    subscripts = self._apply(op.map.data, _values(op.indices, environment))
    self._record(op, array, subscripts, True)
    arithmetic.store(array, subscripts, environment[op.value])


def _memref_load(self: Interpreter, op: Any, environment: Environment) -> None:
    subscripts = tuple(_values(op.indices, environment))
    _read(self, op, environment[op.memref], subscripts, environment)


def _memref_store(self: Interpreter, op: Any, environment: Environment) -> None:
    subscripts = tuple(_values(op.indices, environment))
    self._record(op, environment[op.memref], subscripts, True)
    arithmetic.store(environment[op.memref], subscripts, environment[op.value])


def _read(
    self: Interpreter, op: Any, array: Any, subscripts: tuple[int, ...], environment: Environment
) -> None:
    self._record(op, array, subscripts, False)
    environment[op.results[0]] = arithmetic.scalar(array[subscripts], op.results[0].type)


def _allocate(self: Interpreter, op: Any, environment: Environment) -> None:
    memref_type: Any = op.memref.type
    sizes = iter(_values(op.dynamic_sizes, environment))
    shape = [next(sizes) if extent < 0 else extent for extent in memref_type.get_shape()]
    if any(extent < 0 for extent in shape):
        raise arithmetic.UndefinedBehaviourError(f"allocation of shape {shape}")
    array = np.zeros(shape, arithmetic.dtype(memref_type.element_type))
    self._written[id(array)] = (array, np.zeros(shape, np.bool_))
    environment[op.memref] = array


def _dim(_: Interpreter, op: Any, environment: Environment) -> None:
    environment[op.results[0]] = environment[op.source].shape[environment[op.index]]


def _func_call(self: Interpreter, op: Any, environment: Environment) -> None:
    results = self._call(op.callee.string_value(), _values(op.arguments, environment))
    environment.update(zip(op.results, results, strict=True))


def _forward(_: Interpreter, op: Any, environment: Environment) -> None:
    environment[op.results[0]] = environment[op.operands[0]]


def _nothing(_: Interpreter, __: Any, ___: Environment) -> None:
    pass


_TERMINATORS = frozenset({"affine.yield", "scf.yield", "scf.condition", "func.return"})

_HANDLERS: dict[str, Callable[[Interpreter, Any, Environment], None]] = {
    "arith.constant": _constant,
    "affine.for": _affine_for,
    "affine.parallel": _affine_parallel,
    "affine.if": _affine_if,
    "affine.apply": _affine_value(lambda results: results[0]),
    "affine.min": _affine_value(min),
    "affine.max": _affine_value(max),
    "affine.load": _affine_load,
    "affine.store": _affine_store,
    "scf.for": _scf_for,
    "scf.if": _scf_if,
    "scf.while": _scf_while,
    "memref.load": _memref_load,
    "memref.store": _memref_store,
    "memref.alloc": _allocate,
    "memref.alloca": _allocate,
    "memref.dealloc": _nothing,
    "memref.cast": _forward,
    "memref.dim": _dim,
    "func.call": _func_call,
}
