"""Functions of the C library that kernels may call, and what they are in MLIR."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_ONE = (
    "sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh asin acos atan asinh "
    "acosh atanh cbrt erf erfc floor ceil trunc round"
)
_OTHERS = {
    "fabs": ("math.absf", 1),
    "rint": ("math.roundeven", 1),
    "nearbyint": ("math.roundeven", 1),
    "roundeven": ("math.roundeven", 1),
    "pow": ("math.powf", 2),
    "atan2": ("math.atan2", 2),
    "copysign": ("math.copysign", 2),
    "fmod": ("arith.remf", 2),
    "fmax": ("arith.maxnumf", 2),
    "fmin": ("arith.minnumf", 2),
    "fma": ("math.fma", 3),
}
_CLASSES = {"isnan": "math.isnan", "isinf": "math.isinf", "isfinite": "math.isfinite"}
SIGN = "signbit"
_CONSTANTS = {"huge_val": float("inf"), "inf": float("inf"), "nan": float("nan")}


@dataclass(frozen=True)
class Known:
    """A function: its operation and number of arguments, and whether it gives a truth value."""

    operation: str
    arguments: int
    is_test: bool = False


def _table() -> Mapping[str, Known]:
    table = {name: Known(f"math.{name}", 1) for name in _ONE.split()}
    table |= {name: Known(*each) for name, each in _OTHERS.items()}
    for name in tuple(table):
        table[f"{name}f"] = table[name]
    for name, operation in _CLASSES.items():
        table |= {
            spelled: Known(operation, 1, is_test=True)
            for spelled in (name, f"__{name}", f"__{name}f")
        }
    for spelled in (SIGN, f"__{SIGN}", f"{SIGN}f", f"__{SIGN}f"):
        table[spelled] = Known(SIGN, 1, is_test=True)
    table["__isinf_sign"] = table["isinf"]
    return table


KNOWN = _table()

ABSOLUTE = ("abs", "labs", "llabs")

TO_INTEGER = {
    f"{prefix}{name}{suffix}": operation
    for name, operation in (("rint", "math.roundeven"), ("round", "math.round"))
    for prefix in ("l", "ll")
    for suffix in ("", "f")
}
"""Functions that round to an integer: the operation that gives it as a floating-point number."""


_WIDTHS = (("", 32), ("l", 64), ("ll", 64))
BITS = {
    f"__builtin_{name}{suffix}": (operation, width)
    for name, operation in (
        ("popcount", "math.ctpop"),
        ("clz", "math.ctlz"),
        ("ctz", "math.cttz"),
        ("parity", "parity"),
        ("ffs", "ffs"),
    )
    for suffix, width in _WIDTHS
} | {f"__builtin_bswap{width}": ("bswap", width) for width in (16, 32, 64)}
"""Functions of GCC on the bits of unsigned numbers: the operation, and their width."""

ALIGNED = "__builtin_assume_aligned"
"""What gives its first argument, a pointer."""


PARTS = {"__real__": "re", "__imag__": "im"}
"""Operators of GCC that take a complex number apart, as operations of the complex dialect."""

OF_COMPLEX = {
    f"{name}{suffix}": operation
    for name, operation in (
        ("creal", "re"),
        ("cimag", "im"),
        ("cabs", "abs"),
        ("carg", "angle"),
        ("cexp", "exp"),
        ("conj", "conj"),
    )
    for suffix in ("", "f")
}
"""Functions of complex.h, as operations of the complex dialect."""

COMPLEX_NUMBER = "__builtin_complex"
"""What CMPLX stands for."""


def known(name: str) -> Known | None:
    """What is known about a function."""
    return KNOWN.get(name.removeprefix("__builtin_"))


def constant(name: str) -> float | None:
    """The value of a function that is a constant: what INFINITY and NAN stand for."""
    bare = name.removeprefix("__builtin_")
    return None if bare == name else _CONSTANTS.get(bare) or _CONSTANTS.get(bare.removesuffix("f"))


_PRINTED = "store what is to be printed, and print it behind the region"
_DRAWN = "write the generator's formula, or pass random numbers in an array"
_ALLOCATED = "allocate it before the region, or declare an array: double t[n]"
REMEDIES = {
    **dict.fromkeys(("printf", "fprintf", "puts", "putchar", "fputs", "perror"), _PRINTED),
    **dict.fromkeys(("rand", "random", "drand48", "rand_r", "erand48"), _DRAWN),
    **dict.fromkeys(("malloc", "calloc", "realloc", "aligned_alloc", "free"), _ALLOCATED),
    "memmove": "write the loop, in the order that the overlap asks for",
    "memset": "write a loop; 0 of whole elements can be set",
    "memcpy": "write a loop over the elements",
    **dict.fromkeys(("exit", "abort", "longjmp", "_setjmp", "setjmp"), "end the region before it"),
}
"""What to write in place of other functions."""


def remedy(name: str) -> str:
    """What to write in place of a function that no region may call."""
    if name.startswith(("_mm", "__builtin_ia32", "vld", "vst")):
        return "write the loop over single elements: the schedule makes vectors of it"
    general = (
        "regions may call functions of math.h, functions of declarations and 'return', and those "
        "declared with __attribute__((const))"
    )
    return REMEDIES.get(name, general)
