"""Functions that print, under the names of MLIR's runtime library: they write to sys.stdout.

They take what calls of declared functions hand over: memory of any rank is a pointer, the rank and
a pointer to the extents.
"""

from __future__ import annotations

import ctypes
import sys
from _ctypes import CFuncPtr
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_F32, _F64, _I64, _U64 = ctypes.c_float, ctypes.c_double, ctypes.c_int64, ctypes.c_uint64
_POINTER = ctypes.c_void_p


def _write(text: str) -> None:
    sys.stdout.write(text)


def _write_bytes(text: bytes) -> None:
    _write(text.decode(errors="replace"))


def _float(value: float) -> str:
    return f"{value:g}"


_TEXTS = {"printNewline": "\n", "printComma": ", ", "printOpen": "( ", "printClose": " )"}
_NUMBERS: Mapping[str, tuple[type[Any], Callable[[Any], str]]] = {
    "printF32": (_F32, _float),
    "printF64": (_F64, _float),
    "printI64": (_I64, str),
    "printU64": (_U64, str),
}
_ARRAYS: Mapping[str, tuple[DTypeLike, Callable[[Any], str]]] = {
    "printMemrefF32": (np.float32, _float),
    "printMemrefF64": (np.float64, _float),
    "printMemrefI8": (np.int8, str),
    "printMemrefI16": (np.int16, str),
    "printMemrefI32": (np.int32, str),
    "printMemrefI64": (np.int64, str),
    "printMemrefInd": (np.int64, str),
}


def is_print_function(name: str) -> bool:
    """Whether a name is that of a function that prints."""
    return name in _TEXTS or name in _NUMBERS or name in _ARRAYS or name == "printString"


@cache
def print_function(name: str) -> CFuncPtr:
    """The function with a name, kept as long as the process."""
    if name in _TEXTS:
        text = _TEXTS[name]
        return ctypes.CFUNCTYPE(None)(lambda: _write(text))
    if name in _NUMBERS:
        kind, number = _NUMBERS[name]

        def write_number(value: Any) -> None:
            _write(number(value))

        return ctypes.CFUNCTYPE(None, kind)(write_number)
    if name == "printString":
        return ctypes.CFUNCTYPE(None, ctypes.c_char_p)(_write_bytes)
    dtype, element = _ARRAYS[name]

    def show(data: int | None, rank: int, extents: int) -> None:
        shape = list((ctypes.c_int64 * rank).from_address(extents)) if rank else []
        _write(_described(_array(data, shape, np.dtype(dtype)), element))

    return ctypes.CFUNCTYPE(None, _POINTER, _I64, _POINTER)(show)


def _array(data: int | None, shape: Sequence[int], dtype: np.dtype[Any]) -> NDArray[Any]:
    count = int(np.prod(shape))
    if not data or not count:
        return np.empty(shape, dtype)
    memory = memoryview((ctypes.c_byte * (count * dtype.itemsize)).from_address(data)).cast("B")
    return np.frombuffer(memory, dtype).reshape(shape)


def _described(array: NDArray[Any], element: Callable[[Any], str]) -> str:
    """An array as MLIR's library prints it."""
    strides = [stride // array.itemsize for stride in array.strides]
    return (
        f"Unranked Memref base@ = {array.ctypes.data:#x} rank = {array.ndim} offset = 0 "
        f"sizes = {list(array.shape)} strides = {strides} data = \n{_rows(array, element, '')}\n"
    )


def _rows(array: NDArray[Any], element: Callable[[Any], str], indent: str) -> str:
    if array.ndim == 0:
        return f"[{element(array.item())}]" if not indent else element(array.item())
    inner = indent + " "
    separator = ",  " if array.ndim == 1 else f", \n{inner}"
    return f"[{separator.join(_rows(each, element, inner) for each in array)}]"
