"""Calls of functions of ctypes that the user has registered as pure."""

from __future__ import annotations

import ast
import ctypes
from typing import Any, cast

from ...runtime.jit.registered_functions import registered_name
from .element_types import ElementType, f32, f64, i32, i64
from .evaluator import Evaluator
from .values import Scalar, is_float

_TYPES: dict[object, ElementType] = {
    ctypes.c_float: f32,
    ctypes.c_double: f64,
    ctypes.c_int32: i32,
    ctypes.c_int64: i64,
}


def is_registered(function: object) -> bool:
    """Whether it was given to `loopwright.register_function`."""
    return registered_name(function) is not None


def call_external(expressions: Evaluator, function: object, node: ast.Call) -> Scalar:
    """The value of a call, as Python gives it: a `float` or an `int`; raises SourceError."""
    spelled = ast.unparse(node.func)
    source, arithmetic = expressions.source, expressions.arithmetic
    declared = cast("list[object] | None", getattr(function, "argtypes", None))
    kinds = [_TYPES.get(each) for each in declared or ()]
    result = _TYPES.get(getattr(function, "restype", None))
    if declared is None or result is None or None in kinds:
        raise source.error(
            node.func,
            f"the types of '{spelled}' are not numbers",
            "set its argtypes and restype to c_double, c_float, c_int32 or c_int64",
        )
    if node.keywords or len(node.args) != len(kinds):
        count = len(node.args) + len(node.keywords)
        raise source.error(node, f"'{spelled}' takes {len(kinds)} arguments, not {count}")
    expressions.emitter.require_operations(node, f"'{spelled}' is not")
    names: list[str] = []
    for argument, kind in zip(node.args, kinds, strict=True):
        assert kind is not None
        value = expressions.value(argument)
        if is_float(value) and not kind.is_float:
            raise source.error(argument, f"'{spelled}' takes an integer here", "write int(...)")
        names.append(arithmetic.convert(value, kind, node).name)
    types = ", ".join(kind.mlir for kind in kinds if kind is not None)
    called = f'math.external "{registered_name(function)}"({", ".join(names)})'
    text = f"{called} : ({types}) -> {result.mlir}"
    value = Scalar(expressions.emitter.operation(text, node), result)
    wide = f64 if result.is_float else i64
    converted: Any = arithmetic.convert(value, wide, node)
    return Scalar(converted.name, wide, weak=True)
