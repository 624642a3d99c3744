"""Functions that programs declare: their addresses, by name.

Programs call functions of the C mathematics library, and those that the process has named with
`register_function`: never whatever a library of the process happens to have.
"""

from __future__ import annotations

import ctypes
from _ctypes import CFuncPtr
from collections.abc import Mapping
from functools import cache

from xdsl.dialects.builtin import ModuleOp, f32, f64, i32, i64
from xdsl.ir import Attribute

from ...dialects.errors import SourceError
from ...dialects.external import ExternalCallOp
from ...dialects.mathematics import ExternalOp
from ..calling.api_checks import check_text
from .print_functions import is_print_function, print_function

_SIGNATURES = {
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

_INTEGERS = {"i": i32, "l": i64}

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


def check_external_functions(module: ModuleOp) -> None:
    """Raises SourceError at a call of a function that has no address."""
    for operation in module.walk():
        if (
            isinstance(operation, ExternalOp | ExternalCallOp)
            and _address(operation.callee.data) is None
        ):
            name = operation.callee.data
            raise SourceError.at(
                operation,
                f"the function '@{name}' is neither of the C mathematics library nor registered",
                hint=f'name it: loopwright.register_function("{name}", ...)',
            )
        if isinstance(operation, ExternalOp) and is_library_function(operation.callee.data):
            name = operation.callee.data
            kinds = (*operation.result_types, *operation.operand_types)
            if kinds != _types(name):
                result, *arguments = map(str, _types(name))
                raise SourceError.at(
                    operation,
                    f"the C mathematics library has '@{name}' as "
                    f"({', '.join(arguments)}) -> {result}",
                    hint="declare it so, or call a function of another name",
                )


def external_functions(module: ModuleOp) -> Mapping[str, int]:
    """The addresses of the functions that a module calls."""
    calls = (each for each in module.walk() if isinstance(each, ExternalOp | ExternalCallOp))
    names = dict.fromkeys(call.callee.data for call in calls)
    return {name: address for name in names if (address := _address(name)) is not None}


def is_library_function(name: str) -> bool:
    """Whether a name is that of a function of math.h without effects."""
    return name in _SIGNATURES or (name.endswith("f") and name.removesuffix("f") in _SIGNATURES)


def _types(name: str) -> tuple[Attribute, ...]:
    """The types of the result and the arguments of a library function."""
    is_double = name in _SIGNATURES
    signature = _SIGNATURES[name if is_double else name.removesuffix("f")]
    kind = f64 if is_double else f32
    return tuple(_INTEGERS.get(letter, kind) for letter in signature)


def _address(name: str) -> int | None:
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
