"""The elementary functions that a module defines by itself, one for each type of argument."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from llvmlite import ir

from ..types import scalar_type
from ..vector_functions import offer_variants
from .differences import fdim
from .error_function import erf, erfc
from .exponentials import cosh, exp, exp2, exp10, expm1, sinh, tanh
from .inverse_hyperbolic import acosh, asinh, atanh
from .inverse_trigonometry import acos, asin, atan, atan2
from .lanes import F32, F64, Definition, Format, Place, Real, type_suffix
from .logarithms import log, log1p, log2, log10
from .powers import power
from .roots import cbrt, hypot
from .trigonometry import cos, sin, tan

if TYPE_CHECKING:
    from ....passes.machine.target import Target
    from ..emitter import FunctionEmitter
    from ..module import ModuleEmitter

_DEFINITIONS: Mapping[str, Definition] = {
    "acos": acos,
    "acosh": acosh,
    "asin": asin,
    "asinh": asinh,
    "atan": atan,
    "atan2": atan2,
    "atanh": atanh,
    "cbrt": cbrt,
    "cos": cos,
    "cosh": cosh,
    "erf": erf,
    "erfc": erfc,
    "exp": exp,
    "exp10": exp10,
    "exp2": exp2,
    "expm1": expm1,
    "fdim": fdim,
    "hypot": hypot,
    "log": log,
    "log10": log10,
    "log1p": log1p,
    "log2": log2,
    "pow": power,
    "sin": sin,
    "sinh": sinh,
    "tan": tan,
    "tanh": tanh,
}

BINARY = ("atan2", "fdim", "hypot", "pow")
"""Functions of two arguments; the others have one."""

_BRANCHING = ("cos", "sin", "tan")
"""Not inlined into loops of scalars, which LLVM then makes calls for vectors of."""

NAMES = tuple(_DEFINITIONS)
"""By their names in the C library."""


def has_elementary_function(target: Target, name: str, kinds: Sequence[ir.Type]) -> bool:
    """Whether a function is defined here, for scalars or vectors of such types.

    The definitions need fused multiply-adds; other targets call the C library for each lane.
    """
    kind = kinds[0]
    return (
        name in _DEFINITIONS
        and len(kinds) == 1 + (name in BINARY)
        and all(each == kind for each in kinds)
        and isinstance(scalar_type(kind), ir.FloatType | ir.DoubleType)
        and target.fuses_multiply_adds
    )


def call_elementary_function(
    emitter: FunctionEmitter, name: str, operands: Sequence[ir.Value]
) -> ir.Value:
    """Calls the module's function for scalars or vectors."""
    module, kind = emitter.module, operands[0].type
    call = emitter.builder.call(elementary_function(module, name, kind, len(operands)), operands)
    if name in _BRANCHING and not isinstance(kind, ir.VectorType):
        lanes = module.target.vector_bits // _format(kind).bits
        vectors = elementary_function(module, name, ir.VectorType(kind, lanes), len(operands))
        offer_variants(emitter, call, {lanes: vectors})
    return call


def elementary_function(module: ModuleEmitter, name: str, kind: ir.Type, count: int) -> ir.Function:
    """The module's function of so many arguments of a type, defined when it is met first."""
    form = _format(kind)
    lanes = kind.count if isinstance(kind, ir.VectorType) else 0
    symbol = f"elementary.{name}.{type_suffix(form, lanes)}"
    existing = module.module.globals.get(symbol)
    if isinstance(existing, ir.Function):
        return existing
    function = module.define(symbol, ir.FunctionType(kind, [kind] * count), public=False)
    inlining = "noinline" if name in _BRANCHING and not lanes else "alwaysinline"
    set[str].update(function.attributes, (inlining, "memory(none)", "willreturn"))
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    place = Place(module, builder, lanes)
    arguments = [Real(place, form, argument) for argument in function.args]
    builder.ret(_DEFINITIONS[name](*arguments).value)
    return function


def _format(kind: ir.Type) -> Format:
    return F32 if isinstance(scalar_type(kind), ir.FloatType) else F64
