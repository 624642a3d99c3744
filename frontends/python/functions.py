"""The functions of Python, `math` and NumPy that kernels may call, and what they are in MLIR."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

_ELEMENTARY = [
    "sqrt",
    "exp",
    "exp2",
    "log",
    "log2",
    "log10",
    "log1p",
    "expm1",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "tanh",
    "cbrt",
    "erf",
    "erfc",
    "acos",
    "asin",
    "atan",
    "acosh",
    "asinh",
    "atanh",
]
_NAMES_IN_NUMPY = {
    f"a{name}": f"arc{name}" for name in ["cos", "sin", "tan", "cosh", "sinh", "tanh"]
}


PARTS = {"real": "re", "imag": "im"}
"""Parts of complex numbers, functions of NumPy and attributes, as operations of complex."""

OF_COMPLEX = frozenset(
    {"absolute", "complex", "conjugate", "negative", "operator", "part", "square"}
)
"""Kinds of functions that take complex numbers."""

_OPERATORS = {
    "add": "Add",
    "subtract": "Sub",
    "multiply": "Mult",
    "divide": "Div",
    "floor_divide": "FloorDiv",
    "remainder": "Mod",
}
"""Functions of NumPy, and the operators in Python's syntax tree that they are."""


@dataclass(frozen=True)
class Known:
    """A function: what it does (`kind`), the operation, the number of arguments.

    One of `math` computes in f64 and returns a number of Python; one of NumPy keeps the type.
    """

    kind: str
    operation: str
    arguments: int
    of_math: bool

    @property
    def elementwise(self) -> bool:
        """Whether it takes arrays as well."""
        return not self.of_math and self.kind not in (
            "first",
            "cast",
            "complex",
            "length",
            "integer",
        )


def _table() -> dict[Callable[..., Any], Known]:
    table: dict[Callable[..., Any], Known] = {}

    def add(module: Any, name: str, kind: str, operation: str, arguments: int) -> None:
        function = getattr(module, name, None)  # math.exp2 and math.cbrt come with Python 3.11
        if function is not None:
            table[function] = Known(kind, operation, arguments, module is math)

    for name in _ELEMENTARY:
        add(math, name, "float", f"math.{name}", 1)
        add(np, _NAMES_IN_NUMPY.get(name, name), "float", f"math.{name}", 1)
    for module, power, arctangent in ((math, "pow", "atan2"), (np, "power", "arctan2")):
        add(module, power, "float", "math.powf", 2)
        add(module, arctangent, "float", "math.atan2", 2)
        add(module, "copysign", "float", "math.copysign", 2)
        add(module, "fmod", "float", "arith.remf", 2)
        add(module, "hypot", "external", "hypot", 2)
        add(module, "fabs", "float", "math.absf", 1)
        for name in ("isnan", "isinf", "isfinite"):
            add(module, name, "class", f"math.{name}", 1)
    for name in ("floor", "ceil", "trunc"):
        add(math, name, "integer", f"math.{name}", 1)
        add(np, name, "float", f"math.{name}", 1)
    for name, other in (("degrees", "rad2deg"), ("radians", "deg2rad")):
        add(math, name, "scaled", name, 1)
        add(np, name, "scaled", name, 1)
        add(np, other, "scaled", name, 1)
    add(np, "reciprocal", "reciprocal", "", 1)
    add(np, "round", "decimals", "", 2)
    add(np, "nan_to_num", "finite", "", 0)
    add(builtins, "round", "integer", "math.roundeven", 1)
    add(np, "rint", "float", "math.roundeven", 1)
    add(builtins, "abs", "absolute", "", 1)
    add(np, "absolute", "absolute", "", 1)
    add(np, "square", "square", "", 1)
    for name, operation in PARTS.items():
        add(np, name, "part", operation, 1)
    add(np, "angle", "part", "angle", 1)
    add(np, "conjugate", "conjugate", "", 1)
    add(builtins, "complex", "complex", "", 2)
    add(np, "maximum", "extremum", "maximum", 2)
    add(np, "minimum", "extremum", "minimum", 2)
    add(np, "fmax", "extremum", "maxnum", 2)
    add(np, "fmin", "extremum", "minnum", 2)
    add(builtins, "min", "first", "min", 0)
    add(builtins, "max", "first", "max", 0)
    add(builtins, "float", "cast", "float", 1)
    add(builtins, "int", "cast", "int", 1)
    add(builtins, "len", "length", "", 1)
    add(np, "where", "where", "", 3)
    add(np, "outer", "outer", "", 2)
    add(np, "clip", "clip", "", 3)
    add(np, "negative", "negative", "", 1)
    for operation, count in (("and", 2), ("or", 2), ("not", 1)):
        add(np, f"logical_{operation}", "logical", operation, count)
    for name, operator in _OPERATORS.items():
        add(np, name, "operator", operator, 2)
    return table


KNOWN = _table()


LIKE = (np.empty_like, np.zeros_like, np.ones_like, np.full_like)
"""What creates an array with the shape of another one."""

ALLOCATING = (np.empty, np.zeros, np.ones, np.full, *LIKE)
"""What creates an array."""


def known(function: object) -> Known | None:
    """What is known about a function."""
    try:
        return KNOWN.get(function)  # pyright: ignore[reportArgumentType, reportCallIssue]
    except TypeError:  # an object without a hash
        return None
