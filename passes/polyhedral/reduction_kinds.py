"""Reduction kinds of affine.parallel: operation and neutral element."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.comparisons import CmpfOp
from ...dialects.errors import SourceError
from ...dialects.memref import ATOMIC_KINDS
from .memrefs import integer_width
from .reduction_steps import BY_COMPARISON


def _width(type_: Attribute) -> int | None:
    return _INDEX_WIDTH if isinstance(type_, IndexType) else integer_width(type_)


def _integer(value: int, type_: Attribute) -> IntegerAttr:
    return IntegerAttr(value, cast("IntegerType | IndexType", type_))


@dataclass(frozen=True)
class ReductionKind:
    """An associative operation with its neutral element.

    What combines two values are operations of which the last one has the result.
    """

    combine: Callable[[SSAValue, SSAValue], tuple[Operation, ...]]
    neutral: IntegerAttr | FloatAttr


_FLOATS: dict[str, tuple[Callable[[SSAValue, SSAValue], Operation], float]] = {
    "addf": (arith.AddfOp, -0.0),
    "mulf": (arith.MulfOp, 1.0),
    "maximumf": (arith.MaximumfOp, -math.inf),
    "maxnumf": (arith.MaxnumfOp, math.nan),
    "minimumf": (arith.MinimumfOp, math.inf),
    "minnumf": (arith.MinnumfOp, math.nan),
}

# Neutral elements by width of the integer.
_INTEGERS: dict[str, tuple[Callable[[SSAValue, SSAValue], Operation], Callable[[int], int]]] = {
    "addi": (arith.AddiOp, lambda _: 0),
    "muli": (arith.MuliOp, lambda _: 1),
    "ori": (arith.OrIOp, lambda _: 0),
    "xori": (arith.XOrIOp, lambda _: 0),
    "andi": (arith.AndIOp, lambda _: -1),
    "maxs": (arith.MaxSIOp, lambda width: -(1 << (width - 1))),
    "mins": (arith.MinSIOp, lambda width: (1 << (width - 1)) - 1),
    "maxu": (arith.MaxUIOp, lambda _: 0),
    "minu": (arith.MinUIOp, lambda _: -1),
}

_INDEX_WIDTH = 64

_NAMES: dict[object, str] = {
    combine: name for table in (_FLOATS, _INTEGERS) for name, (combine, _) in table.items()
}


def neutral_element(operation: Operation) -> IntegerAttr | FloatAttr | None:
    """The right operand with which an operation gives its left one, bit by bit; None: none does."""
    if len(operation.results) != 1:
        return None
    type_ = operation.results[0].type
    if isinstance(operation, arith.SubfOp) and isinstance(type_, AnyFloat):
        return FloatAttr(0.0, type_)
    if isinstance(operation, arith.SubiOp):
        return _integer(0, type_)
    name = _NAMES.get(type(operation))
    return None if name is None else reduction_kind(operation, StringAttr(name), type_).neutral


_BY_COMPARISON = dict(zip(BY_COMPARISON, (("ogt", -math.inf), ("olt", math.inf)), strict=True))

# affine.parallel's names of reductions lack the last letter of arith's.
_AFFINE_NAMES = {f"{kind}{sign}i": f"{kind}{sign}" for kind in ("max", "min") for sign in "su"}


def accumulation_kind(operation: Operation, name: str, type_: Attribute) -> ReductionKind:
    """How what an operation stores is accumulated (`reduction_steps.KINDS`)."""
    if name in BY_COMPARISON:
        predicate, neutral = _BY_COMPARISON[name]
        return ReductionKind(
            partial(_selected, predicate), FloatAttr(neutral, cast("AnyFloat", type_))
        )
    return reduction_kind(operation, StringAttr(_AFFINE_NAMES.get(name, name)), type_)


def _selected(predicate: str, whole: SSAValue, part: SSAValue) -> tuple[Operation, ...]:
    """A part, which is no NaN, where it is greater or less than the whole."""
    compared = CmpfOp(part, whole, predicate)
    return compared, arith.SelectOp(compared.result, part, whole)


def _alone(
    combine: Callable[[SSAValue, SSAValue], Operation],
) -> Callable[[SSAValue, SSAValue], tuple[Operation, ...]]:
    return lambda left, right: (combine(left, right),)


def reduction_kind(operation: Operation, name: Attribute, type_: Attribute) -> ReductionKind:
    """The kind called `name` for values of a type; raises SourceError at `operation`."""
    kind = ""
    if isinstance(name, StringAttr):
        kind = name.data
    elif isinstance(name, IntegerAttr) and 0 <= name.value.data < len(ATOMIC_KINDS):
        kind = ATOMIC_KINDS[name.value.data]
    if kind in _FLOATS and isinstance(type_, AnyFloat):
        combine, neutral = _FLOATS[kind]
        return ReductionKind(_alone(combine), FloatAttr(neutral, type_))
    if kind in _INTEGERS and (width := _width(type_)) is not None:
        of_integers, of_width = _INTEGERS[kind]
        return ReductionKind(_alone(of_integers), _integer(of_width(width), type_))
    raise SourceError.at(
        operation,
        f"there is no reduction {name} of {type_}",
        hint=f"use one of {', '.join(sorted([*_FLOATS, *_INTEGERS]))} on a fitting type",
    )
