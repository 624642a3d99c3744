"""Arrays with gaps, as pieces of dense arrays: code for such an array reads it where it lies."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias, cast

import numpy as np

from ...runtime.calling.array_memory import is_tensor
from ..text.affine import Affine
from .views import ZERO, ArrayValue, Subscript, View

Array: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[Any]]"


@dataclass(frozen=True)
class Strided:
    """An array of a `shape` in a dense array, the `memory`.

    Each axis runs along one dimension of that, backwards where it is `flipped`, or along none where
    all its elements are one. A further dimension of the memory is the gap between two elements, of
    which `lead` come before one.
    """

    shape: tuple[int, ...]
    memory: tuple[int, ...]
    axes: tuple[int | None, ...]
    flipped: tuple[bool, ...]
    lead: int = 0

    def view(self, array: ArrayValue) -> View:
        """The array as a view of its memory."""
        subscripts = [Subscript(Affine(constant=self.lead))] * len(self.memory)
        for axis, dimension in enumerate(self.axes):
            if dimension is not None:
                last = Affine(constant=self.shape[axis] - 1)
                flipped = self.flipped[axis]
                subscripts[dimension] = Subscript(
                    last if flipped else ZERO, -1 if flipped else 1, axis
                )
        extents = tuple(Affine(constant=extent) for extent in self.shape)
        return View(array, tuple(subscripts), extents)


def strided(value: Any, *, writes: bool) -> tuple[Strided, Any] | None:
    """How an array lies in memory, and that memory as a dense array; None where it has none."""
    given = _as_numpy(value)
    if given is None or not given.flags.aligned or not given.size:
        return None
    flipped = tuple(
        stride < 0 and extent > 1 for stride, extent in zip(given.strides, given.shape, strict=True)
    )
    axes = tuple(axis for axis, each in enumerate(flipped) if each)
    array = np.flip(given, axes) if axes else given
    strides = array.strides
    moving = [axis for axis, extent in enumerate(array.shape) if extent > 1 and strides[axis]]
    if writes and any(array.shape[a] > 1 and not strides[a] for a in range(array.ndim)):
        return None  # several elements would be one
    order = sorted(moving, key=lambda axis: -strides[axis])
    extents = [array.shape[order[0]]] if order else [1]
    for outer, inner in pairwise(order):
        extent, rest = divmod(strides[outer], strides[inner])
        if rest or extent < array.shape[inner]:
            return None
        extents.append(extent)
    gap, rest = divmod(strides[order[-1]], array.itemsize) if order else (1, 0)
    if rest:
        return None
    lead = 0
    memory = None
    if gap > 1:
        extents.append(gap)
        last = sum((array.shape[axis] - 1) * strides[axis] for axis in order)
        memory = _memory_of(value, array)
        before = 0 if memory is None else array.ctypes.data - memory.ctypes.data
        behind = 0 if memory is None else memory.nbytes - before
        # What may be loaded together with an element must be there.
        lead = max(0, -(-(last + gap * array.itemsize - behind) // array.itemsize))
        if lead >= gap or lead * array.itemsize > before:
            return None
    layout = Strided(
        tuple(array.shape),
        tuple(extents),
        tuple(order.index(axis) if axis in order else None for axis in range(array.ndim)),
        flipped,
        lead,
    )
    return layout, _dense(array, extents, lead, memory)


def _as_numpy(value: Any) -> Array | None:
    if is_tensor(value):
        plain = value.is_cpu and not value.requires_grad and not value.is_neg()
        return cast("Array", value.numpy()) if plain else None
    return cast("Array", value) if isinstance(value, np.ndarray) else None


def _memory_of(value: Any, array: Array) -> Array | None:
    """The bytes of the array that the memory of an array belongs to, as far as that is known."""
    if is_tensor(value):
        nothing = value.new_empty(0).view(sys.modules["torch"].uint8)
        return cast("Array", nothing.set_(value.untyped_storage()).numpy())
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = cast("Array", owner.base)
    if not (owner.flags.c_contiguous or owner.flags.f_contiguous):
        return None
    return cast("Array", owner.reshape(-1, order="A").view(np.uint8))


def _dense(array: Array, shape: Sequence[int], lead: int, memory: Array | None) -> Array:
    """The dense array from `lead` elements before an array on; it may go beyond the memory."""
    strides = [array.itemsize]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * extent)
    first = array
    if lead:
        assert memory is not None
        start = array.ctypes.data - memory.ctypes.data - lead * array.itemsize
        first = memory[start : start + array.itemsize].view(array.dtype)
    return np.lib.stride_tricks.as_strided(first, shape, strides, writeable=array.flags.writeable)
