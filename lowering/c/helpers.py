"""Helper functions of the printed C, emitted on demand.

What MLIR defines and C does not (overflow, division by zero, shifts by the width or more) is as in
`lowering/llvm/integer_arithmetic.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# For an integer type T of N bits: U is its unsigned type, W an unsigned type that is not promoted.
_INTEGER = {
    "add": "(T)((W)a + (W)b)",
    "sub": "(T)((W)a - (W)b)",
    "mul": "(T)((W)a * (W)b)",
    "div": "b == 0 ? 0 : b == -1 ? (T)(0 - (W)a) : (T)(a / b)",
    "rem": "b == 0 || b == -1 ? 0 : (T)(a % b)",
    "udiv": "b == 0 ? 0 : (T)((U)a / (U)b)",
    "urem": "b == 0 ? 0 : (T)((U)a % (U)b)",
    "floordiv": "b == 0 ? 0 : b == -1 ? (T)(0 - (W)a)"
    " : (T)(a / b - (a % b != 0 && (a % b < 0) != (b < 0)))",
    "ceildiv": "b == 0 ? 0 : b == -1 ? (T)(0 - (W)a)"
    " : (T)(a / b + (a % b != 0 && (a % b < 0) == (b < 0)))",
    "uceildiv": "b == 0 ? 0 : (T)((U)a / (U)b + ((U)a % (U)b != 0))",
    "min": "a < b ? a : b",
    "max": "a > b ? a : b",
    "umin": "(U)a < (U)b ? a : b",
    "umax": "(U)a > (U)b ? a : b",
    "shl": "(U)b >= N ? 0 : (T)((W)a << b)",
    "shr": "(T)(a >> ((U)b >= N ? N - 1 : b))",
    "ushr": "(U)b >= N ? 0 : (T)((U)a >> b)",
}

# The larger or smaller number; NaN if one is NaN, and -0 is less than 0.
_FLOAT = {
    "maximum": "a > b ? a : b > a ? b : a == b ? (signbit(a) ? b : a) : a + b",
    "minimum": "a < b ? a : b < a ? b : a == b ? (signbit(a) ? a : b) : a + b",
}

_INDEX = {
    "floord": ("n, int64_t d", "n / d - (n % d < 0)"),
    "ceild": ("n, int64_t d", "n / d + (n % d > 0)"),
    "mod": ("n, int64_t d", "n % d + (n % d < 0 ? d : 0)"),
    "min": ("a, int64_t b", "a < b ? a : b"),
    "max": ("a, int64_t b", "a > b ? a : b"),
}

_COUNT = {
    "popcount": "__builtin_popcountll((U)a)",
    "clz": "a == 0 ? N : __builtin_clzll((U)a) - (64 - N)",
    "ctz": "a == 0 ? N : __builtin_ctzll((U)a)",
    "abs": "a < 0 ? (T)(0 - (W)a) : a",
}


@dataclass(frozen=True)
class Helper:
    """A function: its name, its text and the header that it needs."""

    name: str
    text: str
    header: str | None = None


def integer_helper(operation: str, bits: int) -> Helper:
    """`add` on 32 bits -> `add_i32(a, b)`."""
    unary = operation in _COUNT
    arguments = "T a" if unary else "T a, T b"
    body = (_COUNT if unary else _INTEGER)[operation]
    name = f"{operation}_i{bits}"
    text = f"static inline T {name}({arguments}) {{\n    return {body};\n}}"
    wide = 64 if bits == 64 else 32
    for letter, type in (("T", f"int{bits}_t"), ("U", f"uint{bits}_t"), ("W", f"uint{wide}_t")):
        text = _replace(text, letter, type)
    return Helper(name, _replace(text, "N", str(bits)))


def power_helper(bits: int) -> Helper:
    """The integer power, which wraps around; 1 / base^n rounded towards zero for negative n."""
    kind, wide = f"int{bits}_t", f"uint{64 if bits == 64 else 32}_t"
    text = f"""\
static inline {kind} pow_i{bits}({kind} base, {kind} exponent) {{
    if (exponent < 0)
        return base == 1 ? 1 : base == -1 ? (exponent % 2 != 0 ? -1 : 1) : 0;
    {wide} result = 1;
    {wide} square = ({wide})base;
    for (; exponent > 0; exponent /= 2) {{
        if (exponent % 2 != 0)
            result *= square;
        square *= square;
    }}
    return ({kind})result;
}}"""
    return Helper(f"pow_i{bits}", text)


def float_helper(operation: str, type: str) -> Helper:
    """`maximum` on double -> `maximum_f64(a, b)`."""
    name = f"{operation}_f{32 if type == 'float' else 64}"
    body = _FLOAT[operation]
    text = f"static inline {type} {name}({type} a, {type} b) {{\n    return {body};\n}}"
    return Helper(name, text, "math.h")


def index_helper(name: str) -> Helper:
    """`floord`, `ceild`, `mod` (for positive divisors), `min`, `max` of 64-bit integers."""
    arguments, body = _INDEX[name]
    text = f"static inline int64_t {name}(int64_t {arguments}) {{\n    return {body};\n}}"
    return Helper(name, text)


def bitcast_helper(source: str, target: str, name: str) -> Helper:
    """The same bits as another type."""
    text = f"""\
static inline {target} {name}({source} a) {{
    {target} result;
    memcpy(&result, &a, sizeof result);
    return result;
}}"""
    return Helper(name, text, "string.h")


ALLOCATE = Helper(
    "allocate",
    """\
static inline void *allocate(size_t bytes) {
    void *memory = malloc(bytes > 0 ? bytes : 1);
    if (memory == NULL)
        abort();
    return memory;
}""",
    "stdlib.h",
)


def _replace(text: str, letter: str, replacement: str) -> str:
    return re.sub(rf"\b{letter}\b", replacement, text)
