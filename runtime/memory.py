"""Where an array argument lies in memory: NumPy arrays, torch tensors, `__array_interface__`."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from .elements import ELEMENTS

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Memory:
    """A block of memory that holds an array.

    `dtype` is NumPy's name of the element type, or the library's own when NumPy has none.
    `contiguous` means row-major without gaps. `obstacle` says why the kernel cannot use this memory
    at all, `locked` why it cannot write to it.
    """

    address: int
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic] | str
    contiguous: bool
    obstacle: str | None = None
    locked: str | None = None


def memory_of(value: object) -> Memory | None:
    """The memory behind `value`, without a copy; None when it is not an array."""
    torch_module = sys.modules.get("torch")  # a tensor cannot exist before torch is imported
    if torch_module is not None and isinstance(value, torch_module.Tensor):
        return _memory_of_tensor(cast("torch.Tensor", value))
    if isinstance(value, np.generic):
        return None  # a NumPy scalar hands out the address of a copy
    interface: object = getattr(value, "__array_interface__", None)
    if not isinstance(interface, dict):
        return None
    memory = _memory_of_interface(cast(Mapping[str, object], interface))
    if memory is not None and isinstance(value, np.ma.MaskedArray):
        return Memory(memory.address, memory.shape, memory.dtype, False, "is a masked array")
    return memory


def _memory_of_interface(interface: Mapping[str, object]) -> Memory | None:
    match interface:
        case {"data": (int(address), read_only), "shape": tuple(extents), "typestr": str(typestr)}:
            pass
        case _:
            return None
    shape = cast(tuple[int, ...], extents)
    try:
        dtype = np.dtype(typestr)
    except TypeError:
        return Memory(address, shape, typestr, True)
    strides = cast(tuple[int, ...] | None, interface.get("strides"))
    return Memory(
        address,
        shape,
        dtype,
        strides is None or _is_row_major(shape, strides, dtype.itemsize),
        "has a mask" if interface.get("mask") is not None else None,
        "is read-only" if read_only else None,
    )


def _memory_of_tensor(tensor: torch.Tensor) -> Memory:
    shape = tuple(tensor.shape)
    name = str(tensor.dtype).removeprefix("torch.")
    dtype = np.dtype(name) if name in _TORCH_DTYPES else f"torch.{name}"
    obstacle = _tensor_obstacle(tensor)
    if obstacle is not None:
        return Memory(0, shape, dtype, True, obstacle)
    address = tensor.data_ptr()
    if address == 0 and math.prod(shape) > 0:
        return Memory(0, shape, dtype, True, "has no memory of its own")
    locked = "requires grad (pass a detached tensor)" if tensor.requires_grad else None
    return Memory(address, shape, dtype, tensor.is_contiguous(), None, locked)


_TORCH_DTYPES = frozenset(str(dtype) for element in ELEMENTS.values() for dtype in element.dtypes)


def _tensor_obstacle(tensor: torch.Tensor) -> str | None:
    if tensor.device.type != "cpu":
        return f"lies on the device '{tensor.device}' (pass a CPU tensor)"
    if str(tensor.layout) != "torch.strided":
        return f"has the layout {tensor.layout} (pass a dense tensor)"
    if tensor.is_neg():
        return "is a lazily negated view (pass tensor.resolve_neg())"
    return None


def _is_row_major(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> bool:
    """Whether `strides` (in bytes) leave no gaps; those of extents 0 and 1 do not matter."""
    step = itemsize
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent > 1 and stride != step:
            return 0 in shape
        step *= extent
    return True
