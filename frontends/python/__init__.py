"""Python functions as kernels: `loopwright.kernel` and the element types of its annotations."""

from __future__ import annotations

from .decorator import kernel
from .element_types import f32, f64, i8, i16, i32, i64, u8, u16, u32, u64
from .promises import prange
from .python_kernel import PythonKernel

__all__ = [
    "PythonKernel",
    "f32",
    "f64",
    "i8",
    "i16",
    "i32",
    "i64",
    "kernel",
    "prange",
    "u8",
    "u16",
    "u32",
    "u64",
]
