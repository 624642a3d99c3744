"""Kernels of one elementary function, and its results with more digits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

import loopwright
from loopwright.passes.machine.target import Target
from loopwright.runtime.kernel import Kernel

Array = np.ndarray[Any, Any]

SCALARS = {"f32": np.dtype(np.float32), "f64": np.dtype(np.float64)}

BINARY = ("atan2", "fdim", "hypot", "powf")

EXTERNAL = ("exp10", "fdim", "hypot")
"""Functions of the C library that MLIR has no operations for."""


def operation(name: str, scalar: str) -> str:
    """The function of `%0`, or of `%0` and `%1`."""
    operands = ["%0", "%1"][: 2 if name in BINARY else 1]
    if name not in EXTERNAL:
        return f"math.{name} {', '.join(operands)} : {scalar}"
    function, kinds = name + ("f" if scalar == "f32" else ""), ", ".join([scalar] * len(operands))
    return f'math.external "{function}"({", ".join(operands)}) : ({kinds}) -> {scalar}'


def text(name: str, scalar: str) -> str:
    """`B[i] = f(A[i])`, or `f(A[i], C[i])`."""
    arrays = ", ".join(f"%{array}: memref<?x{scalar}>" for array in "ACB")
    return f"""
func.func @apply(%n: index, {arrays}) {{
  affine.for %i = 0 to %n {{
    %0 = affine.load %A[%i] : memref<?x{scalar}>
    %1 = affine.load %C[%i] : memref<?x{scalar}>
    %2 = {operation(name, scalar)}
    affine.store %2, %B[%i] : memref<?x{scalar}>
  }}
  return
}}
"""


def kernel(name: str, scalar: str, width: int | None, target: Target | None = None) -> Kernel:
    """The function of every element, as written or in vectors of so many lanes."""
    schedule = None if width is None else f"vectorize{{loops=i width={width}}}"
    return loopwright.load(text(name, scalar))["apply"].compile(
        schedule, threads=1, target=target or Target.host()
    )


def apply(function: Kernel, first: Array, second: Array | None = None) -> Array:
    """The results for arrays of arguments."""
    result = np.zeros_like(first)
    function(len(first), first, first if second is None else second, result)
    return result


def _of_mpmath(function: Callable[[Any], Any], largest: float) -> Callable[[Array], Array]:
    """A function that NumPy does not have, which is constant beyond a magnitude."""

    def apply(values: Array) -> Array:
        with mpmath.workprec(100):
            bounded = (float(np.clip(x, -largest, largest)) for x in values)
            return np.array([_extended(function(x)) for x in bounded])

    return apply


def _extended(value: Any) -> np.longdouble:
    head = float(value)
    return np.longdouble(head) + np.longdouble(float(value - head))


def _fdim(x: Array, y: Array) -> Array:
    return np.where((x < y) | (x == y), 0.0, x - y)


EXACT: dict[str, Callable[..., Array]] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "cos": np.cos,
    "cosh": np.cosh,
    "erf": _of_mpmath(mpmath.erf, 10.0),
    "erfc": _of_mpmath(mpmath.erfc, 40.0),
    "exp": np.exp,
    "exp2": np.exp2,
    "exp10": lambda x: np.power(np.longdouble(10), x),
    "expm1": np.expm1,
    "fdim": _fdim,
    "hypot": np.hypot,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "powf": np.power,
    "sin": np.sin,
    "sinh": np.sinh,
    "tan": np.tan,
    "tanh": np.tanh,
}
"""Of arrays in extended precision."""

SLOW = ("erf", "erfc")
"""Those of mpmath, which knows no negative zero."""


def exact(name: str, *arguments: Array) -> Array:
    """The results in extended precision."""
    with np.errstate(all="ignore"):
        return EXACT[name](*(each.astype(np.longdouble) for each in arguments))


def units(result: Array, wanted: Array) -> Array:
    """Errors in units in the last place; infinite where only one is finite."""
    with np.errstate(all="ignore"):
        rounded = wanted.astype(result.dtype)
        places = np.spacing(np.abs(rounded)).astype(np.longdouble)
        errors = np.abs(result.astype(np.longdouble) - wanted) / places
    same = (result == rounded) | (np.isnan(result) & np.isnan(rounded))
    special = ~(np.isfinite(rounded) & np.isfinite(result))
    return np.where(special, np.where(same, 0.0, math.inf), errors).astype(np.float64)


def bits(values: Array) -> Array:
    """The bits, with one NaN for all: their signs and payloads mean nothing."""
    numbers = np.where(np.isnan(values), np.nan, values).astype(values.dtype)
    return numbers.view(np.dtype(f"u{values.dtype.itemsize}"))
