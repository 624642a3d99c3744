"""Calls of the C library's mathematical functions -> operations of math.

%1 = func.call @expf(%0) : (f32) -> f32   ->   %1 = math.exp %0 : f32
"""

from __future__ import annotations

from xdsl.dialects import arith, func, math
from xdsl.dialects.builtin import Float32Type, Float64Type, ModuleOp
from xdsl.ir import Operation

from ..cells import insert_before
from .emission import erase

_UNARY: dict[str, type[Operation]] = {
    "acos": math.AcosOp,
    "acosh": math.AcoshOp,
    "asin": math.AsinOp,
    "asinh": math.AsinhOp,
    "atan": math.AtanOp,
    "atanh": math.AtanhOp,
    "cbrt": math.CbrtOp,
    "ceil": math.CeilOp,
    "cos": math.CosOp,
    "cosh": math.CoshOp,
    "erf": math.ErfOp,
    "exp": math.ExpOp,
    "exp2": math.Exp2Op,
    "expm1": math.ExpM1Op,
    "fabs": math.AbsFOp,
    "floor": math.FloorOp,
    "log": math.LogOp,
    "log10": math.Log10Op,
    "log1p": math.Log1pOp,
    "log2": math.Log2Op,
    "round": math.RoundOp,
    "sin": math.SinOp,
    "sinh": math.SinhOp,
    "sqrt": math.SqrtOp,
    "tan": math.TanOp,
    "tanh": math.TanhOp,
    "trunc": math.TruncOp,
}

_BINARY: dict[str, type[Operation]] = {
    "atan2": math.Atan2Op,
    "copysign": math.CopySignOp,
    "fmax": arith.MaxnumfOp,
    "fmin": arith.MinnumfOp,
    "pow": math.PowFOp,
}

_ARITIES = {
    **dict.fromkeys(_UNARY, 1),
    **dict.fromkeys(_BINARY, 2),
    "fma": 3,
}
_FUNCTIONS: dict[str, type[Operation]] = {**_UNARY, **_BINARY, "fma": math.FmaOp}


def library_function(call: func.CallOp, module: ModuleOp | None) -> type[Operation] | None:
    """What a call of the C library is; None for calls of other functions."""
    name = call.callee.root_reference.data
    types = {value.type for value in (*call.arguments, *call.results)}
    if len(types) != 1 or len(call.results) != 1:
        return None
    (kind,) = types
    if isinstance(kind, Float32Type) and name.endswith("f") and name != "erf":
        name = name.removesuffix("f")
    elif not isinstance(kind, Float64Type):
        return None
    if _ARITIES.get(name) != len(call.arguments) or not _is_declared(call, module):
        return None
    return _FUNCTIONS[name]


def _is_declared(call: func.CallOp, module: ModuleOp | None) -> bool:
    name = call.callee.root_reference.data
    return module is not None and any(
        isinstance(op, func.FuncOp) and op.sym_name.data == name and op.is_declaration
        for op in module.ops
    )


def replace_library_calls(function: func.FuncOp, module: ModuleOp | None) -> None:
    """Rewrites a function in place."""
    for call in list(function.walk()):
        if isinstance(call, func.CallOp) and (make := library_function(call, module)) is not None:
            new = make.create(operands=call.arguments, result_types=[call.results[0].type])
            new.properties["fastmath"] = arith.FastMathFlagsAttr("none")
            new.results[0].name_hint = call.results[0].name_hint
            insert_before(call, new)
            call.results[0].replace_all_uses_with(new.results[0])
            erase(call)
