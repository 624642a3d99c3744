"""Functions that programs may call: those of the C mathematics library, and registered ones.

Never whatever a library of the process happens to have.
"""

from __future__ import annotations

import ctypes
from _ctypes import CFuncPtr
from functools import cache

from ..calling.api_checks import check_text
from .print_functions import is_print_function, print_function

SIGNATURES = {
    name: signature
    for signature, names in {
        "ff": (
            *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh"),
            *("erf", "erfc", "exp", "exp10", "exp2", "expm1", "fabs", "floor", "j0", "j1", "log"),
            *("log10", "log1p", "log2", "logb", "nearbyint", "rint", "round", "sin", "sinh"),
            *("sqrt", "tan", "tanh", "tgamma", "trunc", "y0", "y1"),
        ),
        "fff": (
            *("atan2", "copysign", "fdim", "fmax", "fmin", "fmod", "hypot", "nextafter", "pow"),
            "remainder",
        ),
        "ffff": ("fma",),
        "fif": ("jn", "yn"),
        "ffi": ("ldexp", "scalbn"),
        "ffl": ("scalbln",),
        "if": ("ilogb",),
        "lf": ("llrint", "llround", "lrint", "lround"),
    }.items()
    for name in names
}
"""Functions of math.h without effects: result and arguments, an `int` (i), a `long` (l) or a float.

Those of `float` have an `f` behind the name.
"""

_OWN = frozenset(
    ("aligned_alloc", "calloc", "free", "malloc", "memcpy", "memmove", "memset", "realloc")
)
_OWN_PREFIXES = ("loopwright_", "GOMP_", "omp_", "llvm")
"""Names of what generated code calls and defines."""

_registered: dict[str, int] = {}
_kept: dict[str, object] = {}


def register_function(name: str, function: object) -> None:
    """Lets programs call a function that they declare, by this name.

    `function` is a function of ctypes, an object with an `address` (a callback of Numba's `cfunc`),
    or an address. Raises ValueError for names of the C mathematics library, and TypeError.
    """
    check_text("register_function", "name", name)
    if not name.isidentifier():
        raise ValueError(f"{name!r} is no name of a function")
    if is_library_function(name):
        raise ValueError(f"{name} is a function of the C mathematics library")
    if name in _OWN or name.startswith(_OWN_PREFIXES):
        raise ValueError(f"{name} is a function that generated code has for itself")
    address: object = getattr(function, "address", function)
    if isinstance(address, CFuncPtr):
        address = ctypes.cast(address, ctypes.c_void_p).value
    if not isinstance(address, int) or isinstance(address, bool) or address <= 0:
        raise TypeError(f"a function of ctypes or an address is needed, got {function!r}")
    _registered[name] = address
    _kept[name] = function


def registered_name(function: object) -> str | None:
    """The name that a function was registered by."""
    return next((name for name, each in _kept.items() if each is function), None)


def is_library_function(name: str) -> bool:
    """Whether a name is that of a function of math.h without effects."""
    return name in SIGNATURES or (name.endswith("f") and name.removesuffix("f") in SIGNATURES)


def function_address(name: str) -> int | None:
    """Where the function with this name is; None where there is none."""
    if is_library_function(name):
        return _library_address(name)
    if name not in _registered and is_print_function(name):
        return ctypes.cast(print_function(name), ctypes.c_void_p).value
    return _registered.get(name)


@cache
def _library_address(name: str) -> int | None:
    try:
        function = getattr(ctypes.CDLL("libm.so.6"), name)
    except (OSError, AttributeError):
        return None
    return ctypes.cast(function, ctypes.c_void_p).value
