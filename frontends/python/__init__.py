"""Python functions as kernels: `loopwright.kernel` and the element types of its annotations."""

from __future__ import annotations

from ...runtime.calling.elements import BFLOAT16
from .decorator import kernel
from .element_types import b1, bf16, c64, c128, f16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64
from .promises import prange
from .python_kernel import PythonKernel

bfloat16 = BFLOAT16
"""The type of arrays of bf16 in NumPy, which has none."""

__all__ = [
    "PythonKernel",
    "b1",
    "bf16",
    "bfloat16",
    "c64",
    "c128",
    "f16",
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
