"""Arrays as they lie in memory: other orders of dimensions, and copies of what has gaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from ...runtime.calling.arguments import ArrayArgument, overlap_of
from ...runtime.calling.array_memory import exported_array, is_tensor
from ...runtime.calling.errors import ArgumentValueError, OverlappingArguments
from ...runtime.kernel import Kernel

_MOST_WORK = 10_000
"""What NumPy may try until arrays are taken to share memory."""

Order = tuple[int, ...]
"""The dimensions of an array from the one with the largest stride to the one with the smallest."""


def order_of(value: Any) -> Order | None:
    """The order in which an array is dense; None for one with gaps, and for all else."""
    strides = _strides(value)
    if strides is None:
        return None
    order = tuple(sorted(range(len(strides)), key=lambda d: (-strides[d], -value.shape[d])))
    return order if _is_dense(value, order) else None


def permuted(value: Any, order: Order) -> Any:
    """The array with its dimensions in another order, in the same memory."""
    return value.permute(order) if is_tensor(value) else np.asarray(value).transpose(order)


def _strides(value: Any) -> tuple[int, ...] | None:
    if is_tensor(value):
        return tuple(value.stride())
    return value.strides if isinstance(value, np.ndarray) else None


def _is_dense(value: Any, order: Order) -> bool:
    there = permuted(value, order)
    return there.is_contiguous() if is_tensor(value) else bool(there.flags.c_contiguous)


def orders_of(names: Sequence[str], args: Sequence[Any]) -> dict[str, Order] | None:
    """The orders of the arrays that are not row-major; None where one of them is not dense."""
    found: dict[str, Order] = {}
    for name, value in zip(names, args, strict=True):
        if not fits(value):
            order = order_of(value)
            if order is None or order == tuple(range(len(order))):
                return None
            found[name] = order
    return found or None


def call_on_copies(kernel: Kernel, args: Sequence[Any], refusal: ArgumentValueError) -> Any:
    """Calls a kernel on copies of the arrays that it does not take, and copies results back.

    Raises the refusal where no copy helps, OverlappingArguments where copies would hide that two
    arrays share memory.
    """
    passed = list(args)
    copied: list[int] = []
    arguments = kernel.signature.arguments
    for position, (argument, value) in enumerate(zip(arguments, args, strict=False)):
        if isinstance(argument, ArrayArgument) and not fits(value):
            if argument.writes and not _is_writable(value):
                raise ArgumentValueError(
                    f"{argument.place}: the kernel writes to this array, which is read-only"
                )
            passed[position] = row_major(value)
            copied.append(position)
    if not copied:
        raise refusal
    if (shared := shared_elements(kernel, args)) is not None:
        raise shared
    result = kernel(*passed)
    for position in copied:
        if _writes(kernel, position):
            args[position][...] = passed[position]
    return as_given(result, passed, args)


def shared_elements(kernel: Kernel, args: Sequence[Any]) -> OverlappingArguments | None:
    """The error of two arrays that have an element in common, and of which one is written."""
    arguments = kernel.signature.arguments
    for first, second in kernel.signature.pairs:
        if second < len(args) and _share(args[first], args[second]):
            one, other = arguments[first], arguments[second]
            assert isinstance(one, ArrayArgument) and isinstance(other, ArrayArgument)
            return overlap_of(one, other)
    return None


def as_given(result: Any, passed: Sequence[Any], given: Sequence[Any]) -> Any:
    """A result with the arrays of the call in place of those that were passed on."""
    if isinstance(result, tuple):
        return tuple(as_given(each, passed, given) for each in cast("tuple[Any, ...]", result))
    return next((g for p, g in zip(passed, given, strict=True) if p is result), result)


def _writes(kernel: Kernel, position: int) -> bool:
    argument = kernel.signature.arguments[position]
    return isinstance(argument, ArrayArgument) and argument.writes


def fits(value: Any) -> bool:
    """Whether a kernel takes an array as it lies in memory."""
    if is_tensor(value):
        return bool(value.is_contiguous())
    return not isinstance(value, np.ndarray) or bool(
        value.flags.c_contiguous and value.flags.aligned
    )


def in_memory(value: Any) -> Any:
    """The array that a call takes: as NumPy's, where it is neither NumPy's nor torch's."""
    is_known = isinstance(value, int | float | np.ndarray | np.generic) or is_tensor(value)
    array = None if is_known else exported_array(cast(object, value))
    return cast(Any, value) if array is None else array


def _is_writable(value: Any) -> bool:
    return is_tensor(value) or bool(value.flags.writeable)


def row_major(value: Any) -> Any:
    """A copy of an array, in row-major order."""
    return value.contiguous() if is_tensor(value) else np.array(value, order="C", copy=True)


def _share(one: Any, other: Any) -> bool:
    if is_tensor(one) or is_tensor(other):
        one, other = (each.numpy() if is_tensor(each) else each for each in (one, other))
    try:
        return bool(cast(Any, np).shares_memory(one, other, max_work=_MOST_WORK))
    except np.exceptions.TooHardError:
        return True
