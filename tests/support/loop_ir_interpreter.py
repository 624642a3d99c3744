"""A reference interpreter of loop IR: that of affine modules, with vectors as lists of lanes.

Additions round once where they are fused with a product, as in compiled code.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, VectorType
from xdsl.ir import Block, Operation
from xdsl.utils.hints import isa

from loopwright.passes.polyhedral.fused_products import fused_operand, fused_product

from . import arithmetic
from .interpreter import Environment, Interpreter


class LoopIRInterpreter(Interpreter):
    """Runs functions with `vector.*` operations, and others lane by lane."""

    def execute(self, op: Operation, environment: Environment) -> None:
        handler = _HANDLERS.get(op.name)
        values = (*op.operands, *op.results)
        if handler is not None:
            handler(self, op, environment)
        elif (position := fused_operand(op)) is not None:
            self._fused(op, position, environment)
        elif not op.regions and any(isa(value.type, VectorType) for value in values):
            self._lanes(op, environment)
        else:
            super().execute(op, environment)

    def _lanes(self, op: Operation, environment: Environment) -> None:
        """A constant, or an elementwise operation."""
        kind = cast(Any, op.results[0].type)
        constant = op.properties.get("value")
        if op.name == "arith.constant" and isinstance(constant, DenseIntOrFPElementsAttr):
            lanes = constant.get_values()
            environment[op.results[0]] = [_scalar(lane, kind) for lane in lanes]
            return
        block = Block(arg_types=[cast(Any, value.type).element_type for value in op.operands])
        scalar = type(op).create(
            operands=block.args,
            result_types=[kind.element_type],
            properties=dict(op.properties),
            attributes=dict(op.attributes),
        )
        result: list[Any] = []
        for lanes in zip(*(environment[value] for value in op.operands), strict=True):
            inside: Environment = dict(zip(block.args, lanes, strict=True))
            super().execute(scalar, inside)
            result.append(inside[scalar.results[0]])
        environment[op.results[0]] = result

    def _fused(self, op: Any, position: int, environment: Environment) -> None:
        """An addition or subtraction, and the product that is one of its operands."""
        product: Any = fused_product(op, position)
        kind = op.result.type
        is_difference = op.name == "arith.subf"
        lanes = _width(kind) if isa(kind, VectorType) else 1
        values = (product.lhs, product.rhs, op.operands[1 - position])
        result: list[Any] = []
        for a, b, c in zip(*(_in_lanes(environment[each], lanes) for each in values), strict=True):
            a = -a if is_difference and position == 1 else a
            c = -c if is_difference and position == 0 else c
            result.append(arithmetic.FLOAT["math.fma"](a, b, c))
        environment[op.result] = result if isa(kind, VectorType) else result[0]

    def elements(
        self, op: Any, memref: Any, first: Sequence[int], offsets: Sequence[int], mask: Any
    ) -> Iterator[tuple[int, Any, tuple[int, ...]]]:
        """The lanes that are accessed, with array and subscripts; each is checked and recorded."""
        is_store = not op.results
        for lane, offset in enumerate(offsets):
            if mask is None or mask[lane]:
                subscripts = (*first[:-1], first[-1] + offset)
                if "index_vec" in dir(op):
                    subscripts = _moved(first, offset, memref.shape)
                self._record(op, memref, subscripts, is_store)
                yield lane, memref, subscripts


def _moved(first: Sequence[int], offset: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The element so many elements behind another one in memory."""
    strides = _strides(shape)
    place = offset + sum(map(operator.mul, first, strides))
    found: list[int] = []
    for stride in strides:
        found.append(place // stride if stride else 0)
        place -= found[-1] * stride
    return tuple(found)


def _strides(shape: Sequence[int]) -> list[int]:
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * extent)
    return strides


def _scalar(lane: Any, kind: Any) -> Any:
    return arithmetic.scalar(lane, kind.element_type)


def _width(kind: Any) -> int:
    return kind.get_shape()[0]


def _create_mask(_: Interpreter, op: Any, environment: Environment) -> None:
    count = environment[op.operands[0]]
    environment[op.results[0]] = [
        arithmetic.scalar(lane < count, op.results[0].type.element_type)
        for lane in range(_width(op.results[0].type))
    ]


def _broadcast(_: Interpreter, op: Any, environment: Environment) -> None:
    environment[op.results[0]] = [environment[op.operands[0]]] * _width(op.results[0].type)


def _shuffle(_: Interpreter, op: Any, environment: Environment) -> None:
    lanes = [*environment[op.v1], *environment[op.v2]]
    environment[op.results[0]] = [lanes[each] for each in op.mask.get_values()]


def _constant_mask(_: Interpreter, op: Any, environment: Environment) -> None:
    (size,) = op.mask_dim_sizes.get_values()
    environment[op.results[0]] = [int(lane < size) for lane in range(_width(op.results[0].type))]


def _in_lanes(value: Any, lanes: int) -> list[Any]:
    return cast(Any, value) if isinstance(value, list) else [value] * lanes


def _nothing(_: Interpreter, __: Any, ___: Environment) -> None:
    pass


def _place(self: Interpreter, op: Any, environment: Environment) -> tuple[Any, list[int], Any, Any]:
    """Array, subscripts, offsets and mask of an access."""
    if op.name.startswith("affine."):
        is_store = not op.results
        kind = (op.operands[0] if is_store else op.results[0]).type
        memref, *operands = op.operands[1:] if is_store else op.operands
        values = [environment[value] for value in operands]
        subscripts = self._evaluate(op.map.data, op.map.data.results, values)  # pyright: ignore
        return environment[memref], list(subscripts), range(_width(kind)), None
    subscripts = [environment[value] for value in op.indices]
    mask = environment[op.mask]
    offsets = environment[op.index_vec] if "index_vec" in dir(op) else range(len(mask))
    return environment[op.base], subscripts, offsets, mask


def _load(self: LoopIRInterpreter, op: Any, environment: Environment) -> None:
    memref, first, offsets, mask = _place(self, op, environment)
    kind = op.results[0].type
    result = [arithmetic.scalar(0, kind.element_type)] * _width(kind)
    for lane, array, subscripts in self.elements(op, memref, first, offsets, mask):
        result[lane] = arithmetic.scalar(array[subscripts], kind.element_type)
    environment[op.results[0]] = result


def _store(self: LoopIRInterpreter, op: Any, environment: Environment) -> None:
    memref, first, offsets, mask = _place(self, op, environment)
    stored = op.operands[0] if op.name.startswith("affine.") else op.value_to_store
    for lane, array, subscripts in self.elements(op, memref, first, offsets, mask):
        array[subscripts] = environment[stored][lane]


_HANDLERS: dict[str, Callable[[Any, Any, Environment], None]] = {
    "affine.prefetch": _nothing,
    "affine.vector_load": _load,
    "affine.vector_store": _store,
    "vector.maskedload": _load,
    "vector.maskedstore": _store,
    "vector.gather": _load,
    "vector.scatter": _store,
    "vector.create_mask": _create_mask,
    "vector.constant_mask": _constant_mask,
    "vector.broadcast": _broadcast,
    "vector.shuffle": _shuffle,
}
