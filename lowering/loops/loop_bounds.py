"""Loop bounds and loop values as operations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from xdsl.dialects import arith

from ..nest.index_expression import Index
from ..nest.nest import For
from .ir_builder import IRBuilder


def bounds(
    builder: IRBuilder, nest: For, environment: Mapping[int, Index]
) -> tuple[tuple[Index, ...], tuple[Index, ...]]:
    """Lower and upper bounds: of the tiles' numbers where the nest has a size."""
    lower = _without_weaker(max, (index.substitute(environment) for index in nest.lower))
    upper = _without_weaker(min, (index.substitute(environment) for index in nest.upper))
    if nest.size is None:
        return lower, upper
    first, last = tightest(builder, "max", lower), tightest(builder, "min", upper) - 1
    start, end = (
        value if value == Index() else _combined(builder, arith.FloorDivSIOp, value, nest.size)
        for value in (first, last)
    )
    return (start,), (end + 1,)


def value_of(builder: IRBuilder, nest: For, iteration: Index) -> Index:
    """The value of the loop's variable: the first one in a tile of this number."""
    if nest.size is None:
        return iteration
    return _combined(builder, arith.MuliOp, iteration, nest.size)


def loop_value(nest: For, environment: Mapping[int, Index]) -> Index:
    """The value of the schedule's loop where the variables have these values."""
    value = Index.variable(nest.variable) if nest.value is None else nest.value
    return value.substitute(environment)


def tightest(builder: IRBuilder, kind: Literal["min", "max"], values: tuple[Index, ...]) -> Index:
    """The one value that several bounds of a loop come to."""
    if len(values) == 1:
        return values[0]
    return builder.named(builder.extremum(kind, values))


def last_values(lower: tuple[Index, ...], upper: tuple[Index, ...], step: int) -> list[Index]:
    """What the last value of a loop is not larger than."""
    if len(lower) == len(upper) == 1:
        extent = upper[0] - lower[0]
        if all(number % step == 0 for number in (extent.constant, *(c for _, c in extent.terms))):
            return [upper[0] - step]
    return [end - 1 for end in upper]


def _without_weaker(
    tightest_of: Callable[[Iterable[int]], int], values: Iterable[Index]
) -> tuple[Index, ...]:
    """The bounds with one constant at most, so that loops of known length are recognised."""
    each = tuple(dict.fromkeys(values))
    constants = [index.constant for index in each if index.is_constant]
    if len(constants) < 2:
        return each
    best = Index(tightest_of(constants))
    return (*(index for index in each if not index.is_constant), best)


def _combined(
    builder: IRBuilder, kind: type[arith.FloorDivSIOp | arith.MuliOp], one: Index, other: Index
) -> Index:
    operation = kind(builder.value(one), builder.value(other))
    return builder.named(builder.emit(operation).result)
