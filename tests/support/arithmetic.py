"""Scalar semantics of `arith` and `math` on Python integers and NumPy floats.

Integers are Python ints in the signed range of their type (`i1`: 0 or 1), floats are NumPy scalars,
so that every result is rounded to its own type. What MLIR leaves undefined raises.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, IndexType, IntegerType
from xdsl.ir import Attribute

Scalar = Any  # int or numpy floating

BFLOAT16 = np.dtype([("bfloat16", "<u2")])
"""Elements of bf16, for which NumPy has no type: the upper halves of float32, which scalars are."""


class UndefinedBehaviourError(Exception):
    """The program did what MLIR gives no meaning to."""


def width(element_type: Attribute) -> int:
    """Bits of an integer type; `index` has 64."""
    return element_type.width.data if isinstance(element_type, IntegerType) else 64


def is_integer(element_type: Attribute) -> bool:
    """Whether values of the type are integers."""
    return isinstance(element_type, IntegerType | IndexType)


def dtype(element_type: Attribute) -> np.dtype[Any]:
    """The NumPy type of an array with this element type."""
    if is_integer(element_type):
        return np.dtype(f"int{max(8, width(element_type))}")
    if isinstance(element_type, Float32Type):
        return np.dtype(np.float32)
    if isinstance(element_type, Float16Type):
        return np.dtype(np.float16)
    if isinstance(element_type, BFloat16Type):
        return BFLOAT16
    return np.dtype(np.float64)


def scalar(value: Any, element_type: Attribute) -> Scalar:
    """`value` as a scalar of the type: wrapped round or rounded."""
    if is_integer(element_type):
        return wrap(int(value), width(element_type))
    if isinstance(element_type, BFloat16Type):
        return bfloat16(value)
    return dtype(element_type).type(value)


def bfloat16(value: Any) -> np.float32:
    """The nearest number of bf16, ties to even; `value` is a number or an element."""
    if isinstance(value, np.void):
        return np.uint32(int(value["bfloat16"]) << 16).view(np.float32)
    number = float(value)
    if not math.isfinite(number) or number == 0:
        return np.float32(number)
    # Eight digits, fewer below the smallest normal number.
    unit = max(math.frexp(number)[1] - 8, -133)
    with np.errstate(over="ignore"):
        return np.float32(math.ldexp(round(math.ldexp(number, -unit)), unit))


def numbers(value: Any) -> Any:
    """An array of bf16 as float32; anything else as it is."""
    if getattr(value, "dtype", None) != BFLOAT16:
        return value
    return (value.view(np.uint16).astype(np.uint32) << 16).view(np.float32)


def store(array: Any, subscripts: tuple[int, ...], value: Scalar) -> None:
    """Puts a scalar into an array."""
    if array.dtype == BFLOAT16:
        array["bfloat16"][subscripts] = np.float32(value).view(np.uint32) >> 16
    else:
        array[subscripts] = value


def wrap(value: int, bits: int) -> int:
    """Two's complement."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if bits > 1 and value >> (bits - 1) else value


def unsigned(value: int, bits: int) -> int:
    """The same bits read without a sign."""
    return value & ((1 << bits) - 1)


def signed(value: int, bits: int) -> int:
    """The same bits read with a sign: a true i1 is -1."""
    return -value if bits == 1 else value


def divide(a: int, b: int) -> int:
    """Quotient rounded toward zero."""
    if b == 0:
        raise UndefinedBehaviourError("integer division by zero")
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _nonzero(b: int) -> int:
    if b == 0:
        raise UndefinedBehaviourError("integer division by zero")
    return b


def _shift(amount: int, bits: int) -> int:
    if not 0 <= amount < bits:
        raise UndefinedBehaviourError(f"shift of an i{bits} by {amount}")
    return amount


def _fuse(a: Scalar, b: Scalar, c: Scalar) -> Scalar:
    if not all(np.isfinite(x) for x in (a, b, c)):
        return a * b + c
    return type(a)(float(Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))))


def _extremum(a: Scalar, b: Scalar, is_greater: bool) -> Scalar:
    """IEEE 754's maximum or minimum: NaN is handed on, and -0 is below 0."""
    if np.isnan(a) or np.isnan(b):
        return a if np.isnan(a) else b
    if a == b:
        return a if np.signbit(a) != is_greater else b
    return a if (a > b) == is_greater else b


def _round(a: Scalar) -> Scalar:
    """To the nearest integer, ties away from zero."""
    whole = np.trunc(a)
    return whole + np.copysign(type(a)(1), a) if abs(a - whole) >= 0.5 else whole


# (a, bits) -> result before wrapping
INTEGER_UNARY: dict[str, Callable[[int, int], int]] = {
    "math.absi": lambda a, _: abs(a),
    "math.ctpop": lambda a, n: unsigned(a, n).bit_count(),
    "math.ctlz": lambda a, n: n - unsigned(a, n).bit_length(),
    "math.cttz": lambda a, n: (a & -a).bit_length() - 1 if a else n,
}

# (a, b, bits) -> result before wrapping
INTEGER_BINARY: dict[str, Callable[[int, int, int], int]] = {
    "arith.addi": lambda a, b, _: a + b,
    "arith.subi": lambda a, b, _: a - b,
    "arith.muli": lambda a, b, _: a * b,
    "arith.divsi": lambda a, b, _: divide(a, b),
    "arith.remsi": lambda a, b, _: a - b * divide(a, b),
    "arith.floordivsi": lambda a, b, _: a // _nonzero(b),
    "arith.ceildivsi": lambda a, b, _: -(-a // _nonzero(b)),
    "arith.divui": lambda a, b, n: unsigned(a, n) // _nonzero(unsigned(b, n)),
    "arith.ceildivui": lambda a, b, n: -(-unsigned(a, n) // _nonzero(unsigned(b, n))),
    "arith.remui": lambda a, b, n: unsigned(a, n) % _nonzero(unsigned(b, n)),
    "arith.minsi": lambda a, b, _: min(a, b),
    "arith.maxsi": lambda a, b, _: max(a, b),
    "arith.minui": lambda a, b, n: min(unsigned(a, n), unsigned(b, n)),
    "arith.maxui": lambda a, b, n: max(unsigned(a, n), unsigned(b, n)),
    "arith.andi": lambda a, b, _: a & b,
    "arith.ori": lambda a, b, _: a | b,
    "arith.xori": lambda a, b, _: a ^ b,
    "arith.shli": lambda a, b, n: a << _shift(b, n),
    "arith.shrsi": lambda a, b, n: a >> _shift(b, n),
    "arith.shrui": lambda a, b, n: unsigned(a, n) >> _shift(b, n),
    "math.ipowi": lambda a, b, _: a**b if b >= 0 else divide(1, a ** (-b)),
}

FLOAT: dict[str, Callable[..., Scalar]] = {
    "arith.addf": operator.add,
    "arith.subf": operator.sub,
    "arith.mulf": operator.mul,
    "arith.divf": operator.truediv,
    "arith.remf": np.fmod,
    "arith.negf": operator.neg,
    "arith.maximumf": lambda a, b: _extremum(a, b, True),
    "arith.minimumf": lambda a, b: _extremum(a, b, False),
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
    "math.absf": np.abs,
    "math.sqrt": np.sqrt,
    "math.rsqrt": lambda a: type(a)(1) / np.sqrt(a),
    "math.cbrt": np.cbrt,
    "math.exp": np.exp,
    "math.exp2": np.exp2,
    "math.expm1": np.expm1,
    "math.log": np.log,
    "math.log2": np.log2,
    "math.log10": np.log10,
    "math.log1p": np.log1p,
    "math.sin": np.sin,
    "math.cos": np.cos,
    "math.tan": np.tan,
    "math.asin": np.arcsin,
    "math.acos": np.arccos,
    "math.atan": np.arctan,
    "math.atan2": np.arctan2,
    "math.sinh": np.sinh,
    "math.cosh": np.cosh,
    "math.tanh": np.tanh,
    "math.erf": lambda a: type(a)(math.erf(float(a))),
    "math.erfc": lambda a: type(a)(math.erfc(float(a))),
    "math.powf": np.power,
    "math.copysign": np.copysign,
    "math.ceil": np.ceil,
    "math.floor": np.floor,
    "math.trunc": np.trunc,
    "math.round": _round,
    "math.roundeven": np.rint,
    "math.fma": _fuse,
}

INTEGER_PREDICATES: tuple[Callable[[int, int, int], bool], ...] = (
    lambda a, b, _: a == b,
    lambda a, b, _: a != b,
    lambda a, b, _: a < b,
    lambda a, b, _: a <= b,
    lambda a, b, _: a > b,
    lambda a, b, _: a >= b,
    lambda a, b, n: unsigned(a, n) < unsigned(b, n),
    lambda a, b, n: unsigned(a, n) <= unsigned(b, n),
    lambda a, b, n: unsigned(a, n) > unsigned(b, n),
    lambda a, b, n: unsigned(a, n) >= unsigned(b, n),
)

# in the order of arith's predicates between `false` and `true`: (relation, result when unordered)
FLOAT_PREDICATES: tuple[tuple[Callable[[Scalar, Scalar], Any], bool], ...] = (
    (lambda _a, _b: False, False),
    (operator.eq, False),
    (operator.gt, False),
    (operator.ge, False),
    (operator.lt, False),
    (operator.le, False),
    (operator.ne, False),
    (lambda _a, _b: True, False),
    (operator.eq, True),
    (operator.gt, True),
    (operator.ge, True),
    (operator.lt, True),
    (operator.le, True),
    (operator.ne, True),
    (lambda _a, _b: False, True),
    (lambda _a, _b: True, True),
)


def compare_integers(predicate: int, a: int, b: int, bits: int) -> int:
    """`arith.cmpi`."""
    return int(INTEGER_PREDICATES[predicate](signed(a, bits), signed(b, bits), bits))


def compare_floats(predicate: int, a: Scalar, b: Scalar) -> int:
    """`arith.cmpf`."""
    relation, unordered = FLOAT_PREDICATES[predicate]
    return int(unordered if np.isnan(a) or np.isnan(b) else bool(relation(a, b)))


def _to_integer(value: Scalar, low: int, high: int) -> int:
    if not np.isfinite(value) or not low <= int(value) < high:
        raise UndefinedBehaviourError(f"{value} does not fit the integer type")
    return int(value)


def convert(name: str, value: Scalar, source: Attribute, target: Attribute) -> Scalar:
    """The conversions of `arith`, by operation name; raises KeyError on another operation."""
    bits = width(target)
    table: dict[str, Callable[[], Any]] = {
        "arith.index_cast": lambda: signed(value, width(source)),
        "arith.index_castui": lambda: unsigned(value, width(source)),
        "arith.extsi": lambda: signed(value, width(source)),
        "arith.extui": lambda: unsigned(value, width(source)),
        "arith.trunci": lambda: value,
        "arith.sitofp": lambda: np.int64(signed(value, width(source))),
        "arith.uitofp": lambda: np.uint64(unsigned(value, width(source))),
        "arith.fptosi": lambda: _to_integer(value, -(1 << (bits - 1)), 1 << (bits - 1)),
        "arith.fptoui": lambda: _to_integer(value, 0, 1 << bits),
        "arith.extf": lambda: value,
        "arith.truncf": lambda: value,
    }
    return scalar(table[name](), target)


CONVERSIONS = frozenset(
    [
        "arith.index_cast",
        "arith.index_castui",
        "arith.extsi",
        "arith.extui",
        "arith.trunci",
        "arith.sitofp",
        "arith.uitofp",
        "arith.fptosi",
        "arith.fptoui",
        "arith.extf",
        "arith.truncf",
    ]
)
