"""Memory of array arguments: NumPy arrays, torch tensors, and what exports its memory.

The latter by `__array_interface__`, DLPack or the buffer protocol.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from .elements import BFLOAT16, COMPLEX_ELEMENTS, ELEMENTS, dtype_name

if TYPE_CHECKING:
    import torch


class Memory(NamedTuple):
    """The memory block of an array.

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


READ_ONLY = "is read-only"
NO_MEMORY = "has no memory of its own"

_LARGEST = 2**63 - 1

PlainTensors = tuple[type | None, object, object]
"""The class of torch's ordinary tensors, its type of elements, and its dense layout."""

NO_TENSORS: PlainTensors = (None, None, None)


def is_tensor(value: object) -> bool:
    """Whether the value is a tensor of torch."""
    library = sys.modules.get("torch")  # a tensor cannot exist before torch is imported
    return library is not None and isinstance(value, library.Tensor)


def plain_tensors(dtype: np.dtype[np.generic]) -> PlainTensors:
    """How to know tensors of this type at a glance, once torch is imported."""
    library = sys.modules["torch"]
    return library.Tensor, getattr(library, dtype_name(dtype)), library.strided


def memory_of(value: object) -> Memory | None:
    """The memory behind `value`, without a copy; None when it is not an array."""
    if is_tensor(value):
        return _memory_of_tensor(cast("torch.Tensor", value), sys.modules["torch"].strided)
    if isinstance(value, np.generic):
        return None  # a NumPy scalar hands out the address of a copy
    interface: object = getattr(value, "__array_interface__", None)
    if not isinstance(interface, dict):
        return _memory_of_exporter(value)
    memory = _memory_of_interface(cast(Mapping[str, object], interface))
    dtype = cast(object, getattr(value, "dtype", None))
    if memory is not None and "bfloat16" in (dtype_name(dtype), getattr(dtype, "name", "")):
        # Of such a type, the interface tells the size alone; ml_dtypes has one of its own.
        memory = memory._replace(dtype=BFLOAT16)
    if memory is not None and isinstance(value, np.ma.MaskedArray):
        return memory._replace(obstacle="is a masked array")
    return memory


def exported_array(value: object) -> NDArray[Any] | None:
    """An array in the memory of what exports it; None for what is no array in this memory."""
    try:
        if hasattr(value, "__array_interface__"):
            return np.asarray(value)
        if hasattr(value, "__dlpack__"):
            return np.from_dlpack(cast(Any, value))
        return np.asarray(memoryview(cast(Any, value)))
    except (TypeError, ValueError, BufferError, RuntimeError):  # not in this memory, or no numbers
        return None


def _memory_of_exporter(value: object) -> Memory | None:
    """The memory of what exports it by DLPack or the buffer protocol; None for all else."""
    array = exported_array(value)
    if array is None:
        return None
    return Memory(
        array.ctypes.data,
        array.shape,
        array.dtype,
        array.flags.c_contiguous,
        locked=None if array.flags.writeable else READ_ONLY,
    )


def _memory_of_interface(interface: Mapping[str, object]) -> Memory | None:
    match interface:
        case {"data": (int(address), bool(read_only)), "shape": tuple(), "typestr": str(typestr)}:
            shape = cast(tuple[int, ...], interface["shape"])
        case _:
            return None
    try:
        dtype = np.dtype(typestr)
    except TypeError:
        return Memory(address, shape, typestr, True)
    strides = cast(tuple[int, ...] | None, interface.get("strides"))
    obstacle = "has a mask" if interface.get("mask") is not None else None
    if not address and 0 not in shape:
        obstacle = NO_MEMORY
    elif math.prod(shape) * dtype.itemsize > _LARGEST:
        obstacle = "is larger than any memory"
    return Memory(
        address,
        shape,
        dtype,
        strides is None or _is_row_major(shape, strides, dtype.itemsize),
        obstacle,
        READ_ONLY if read_only else None,
    )


def _is_row_major(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> bool:
    """Whether `strides` (in bytes) leave no gaps; those of extents 0 and 1 do not matter."""
    step = itemsize
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent > 1 and stride != step:
            return 0 in shape
        step *= extent
    return True


def _memory_of_tensor(tensor: torch.Tensor, dense: torch.layout) -> Memory:
    shape = tuple(tensor.shape)
    dtype = _torch_dtype(tensor.dtype)
    if tensor.is_cpu and tensor.layout is dense and not tensor.is_neg() and not tensor.is_conj():
        address = tensor.data_ptr()
        obstacle = None if address or 0 in shape else NO_MEMORY
        if tensor.is_contiguous() and not has_its_memory(tensor):
            obstacle = "has a storage that is smaller than its shape"
        return Memory(
            address,
            shape,
            dtype,
            tensor.is_contiguous(),
            obstacle,
            "requires grad (pass a detached tensor)" if tensor.requires_grad else None,
        )
    if not tensor.is_cpu:
        obstacle = f"lies on the device '{tensor.device}' (pass a CPU tensor)"
    elif tensor.layout is not dense:
        obstacle = f"has the layout {tensor.layout} (pass a dense tensor)"
    elif tensor.is_conj():
        obstacle = "is a lazily conjugated view (pass tensor.resolve_conj())"
    else:
        obstacle = "is a lazily negated view (pass tensor.resolve_neg())"
    return Memory(0, shape, dtype, True, obstacle)


_NUMPY_TYPES = {
    dtype_name(dtype): dtype
    for element in (*ELEMENTS.values(), *COMPLEX_ELEMENTS.values())
    for dtype in element.dtypes
}


def has_its_memory(tensor: torch.Tensor) -> bool:
    """Whether the storage of a dense tensor holds all elements: it may have been resized."""
    needed = (tensor.storage_offset() + tensor.numel()) * tensor.element_size()
    return tensor.untyped_storage().nbytes() >= needed


@cache
def _torch_dtype(dtype: torch.dtype) -> np.dtype[np.generic] | str:
    name = str(dtype).removeprefix("torch.")
    return _NUMPY_TYPES.get(name, f"torch.{name}")
