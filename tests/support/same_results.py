"""Two programs of one signature: whether the interpreter computes the same with both."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.func import FuncOp

from loopwright.dialects.parse import parse_module

from .arithmetic import UndefinedBehaviourError
from .interpreter import Interpreter, OutOfBoundsError, UnsupportedError

_TYPES = {
    "f64": "f8",
    "f32": "f4",
    "index": "i8",
    "i64": "i8",
    "i32": "i4",
    "i16": "i2",
    "i8": "i1",
}
SIZES = (0, 1, 2, 5)


def first_difference(one: str, other: str) -> str | None:
    """What differs, with all sizes and extents alike; sizes that leave an array do not count."""
    modules = [parse_module(text) for text in (one, other)]
    functions, others = ([op for op in m.walk() if isinstance(op, FuncOp)] for m in modules)
    for function in functions:
        name = function.sym_name.data
        # As `verify` pairs them: the only functions may have different names.
        names = [name, others[0].sym_name.data if len(functions) == len(others) == 1 else name]
        for size in SIZES:
            results: list[list[Any]] = []
            try:
                for module, called in zip(modules, names, strict=True):
                    values = _arguments(function, size)
                    returned = Interpreter(module).run(called, *values)
                    results.append([*values, *returned])
            except (OutOfBoundsError, UndefinedBehaviourError, UnsupportedError):
                continue
            for k, (first, second) in enumerate(zip(*results, strict=True)):
                if not np.array_equal(first, second, equal_nan=np.asarray(first).dtype.kind == "f"):
                    return f"{name}, size {size}, value {k}: {first} and {second}"
    return None


def _arguments(function: FuncOp, size: int) -> list[Any]:
    random = np.random.default_rng(size)
    values: list[Any] = []
    for kind in function.function_type.inputs:
        if isinstance(kind, MemRefType):
            shape = [size if extent < 0 else extent for extent in kind.get_shape()]
            numbers = random.integers(1, 9, shape)
            values.append(numbers.astype(_TYPES[str(kind.element_type)]))
        else:
            values.append(size if str(kind) == "index" else 3)
    return values
