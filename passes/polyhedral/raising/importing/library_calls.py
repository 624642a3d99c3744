"""Calls of the C library's mathematical functions, and of pure ones -> operations of math.

%1 = func.call @expf(%0) : (f32) -> f32   ->   %1 = math.exp %0 : f32
%1 = func.call @j0(%0) : (f64) -> f64     ->   %1 = math.external "j0"(%0) : (f64) -> f64

A function is pure where its declaration says so: `attributes {llvm.readnone}`. Others may read and
write what they are handed, and keep their order:

call @show(%A) : (memref<?xf64>) -> ()
->  memref.external "show"(%A) : (memref<?xf64>) -> () as (memref<?xf64>) -> () order %order
"""

from __future__ import annotations

from xdsl.dialects import arith, func, math, memref
from xdsl.dialects.builtin import (
    Float32Type,
    Float64Type,
    IndexType,
    MemRefType,
    ModuleOp,
    UnrankedMemRefType,
    f32,
    f64,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from .....dialects.errors import SourceError
from .....dialects.external import ExternalCallOp
from .....dialects.mathematics import ErfcOp, ExternalOp
from .....dialects.opaque import is_opaque
from .....dialects.supported_types import is_scalar
from ..cells import Cell, insert_after, insert_before
from .emission import erase

PURE = "llvm.readnone"
"""The attribute of declarations of functions whose results depend on their arguments alone."""

_SCALARS = (f32, f64, i32, i64, IndexType())

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
    "erfc": ErfcOp,
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


def is_pure(call: func.CallOp, module: ModuleOp | None) -> bool:
    """Whether a call is of a function that is declared pure; raises SourceError at a wrong one."""
    declaration = _declaration(call, module)
    if declaration is None or PURE not in declaration.attributes:
        return False
    if len(call.results) != 1 or not all(
        value.type in _SCALARS for value in (*call.arguments, *call.results)
    ):
        raise SourceError.at(
            call,
            f"'@{declaration.sym_name.data}' is declared pure: it must take numbers and give one",
            hint=f"numbers are of type {', '.join(map(str, _SCALARS))}",
        )
    return True


def is_external(call: func.CallOp, module: ModuleOp | None) -> bool:
    """Whether a call is of a function that the module only declares; raises SourceError."""
    return _is_declared(call, module) and not is_pure(call, module)


def _is_declared(call: func.CallOp, module: ModuleOp | None) -> bool:
    return _declaration(call, module) is not None


def _declaration(call: func.CallOp, module: ModuleOp | None) -> func.FuncOp | None:
    name = call.callee.root_reference.data
    for op in module.ops if module is not None else ():
        if isinstance(op, func.FuncOp) and op.sym_name.data == name and op.is_declaration:
            return op
    return None


def replace_library_calls(function: func.FuncOp, module: ModuleOp | None) -> None:
    """Rewrites a function in place; raises SourceError."""
    order: SSAValue | None = None
    for call in list(function.walk()):
        if not isinstance(call, func.CallOp) or is_opaque(call):
            continue
        new: Operation | None = None
        if (make := library_function(call, module)) is not None:
            new = make.create(operands=call.arguments, result_types=[call.results[0].type])
            new.properties["fastmath"] = arith.FastMathFlagsAttr("none")
        elif is_pure(call, module):
            name = call.callee.root_reference.data
            new = ExternalOp(name, call.arguments, call.results[0].type)
        elif (declaration := _declaration(call, module)) is not None:
            _check_effects(call)
            if order is None:
                order = order_cell(function)
            kind = declaration.function_type
            name = call.callee.root_reference.data
            new = ExternalCallOp(name, call.arguments, call.result_types, kind, order)
        if new is not None:
            new.location = call.location
            insert_before(call, new)
            for old, result in zip(call.results, new.results, strict=True):
                result.name_hint = old.name_hint
                value = _kept(function, result) if isinstance(new, ExternalCallOp) else result
                old.replace_all_uses_with(value)
            erase(call)


def _check_effects(call: func.CallOp) -> None:
    name = call.callee.root_reference.data
    results = call.result_types
    if len(results) > 1 or not all(map(is_scalar, results)):
        raise SourceError.at(
            call,
            f"'@{name}' has no body here and gives more than one number",
            hint="let it write to a memref that it takes",
        )
    for value in call.arguments:
        if not is_scalar(value.type) and not isa(value.type, MemRefType | UnrankedMemRefType):
            raise SourceError.at(
                call,
                f"'@{name}' has no body here and takes a value of type {value.type}",
                hint="it may take numbers and memrefs",
            )


def order_external_calls(function: func.FuncOp) -> None:
    """Gives all calls with effects one cell: those of inlined functions have others."""
    calls = [each for each in function.walk() if isinstance(each, ExternalCallOp)]
    if len({call.order for call in calls}) > 1:
        order = order_cell(function)
        for call in calls:
            call.operands[0] = order


def _kept(function: func.FuncOp, result: SSAValue) -> SSAValue:
    """The result of a call by way of a cell: statements with it are none of the call's."""
    call = result.owner
    assert isinstance(call, ExternalCallOp)
    cell = Cell(_new_cell(function, result.type, result.name_hint or "result"))
    load = cell.load(result.name_hint)
    insert_after(call, load)
    insert_after(call, cell.store(result))
    return load.result


def order_cell(function: func.FuncOp) -> SSAValue:
    """What all calls with effects update."""
    return _new_cell(function, i64, "order")


def _new_cell(function: func.FuncOp, kind: Attribute, name: str) -> SSAValue:
    first = function.body.block.first_op
    assert first is not None
    cell = memref.AllocaOp.get(kind, shape=[])
    cell.memref.name_hint = name
    insert_before(first, cell)
    return cell.memref
