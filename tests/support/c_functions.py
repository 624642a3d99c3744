"""Random functions of C: what a compiler makes of them, and what their text does."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir.affine import AffineConstraintKind

from loopwright.dialects.parse import parse_module
from loopwright.frontends.c.translate import Parameter, Translation
from loopwright.passes.polyhedral.size_assumptions import assumptions, integer_arguments

from .arithmetic import UndefinedBehaviourError
from .c_code import compilers
from .interpreter import Interpreter
from .random_c import RandomFunction

_HOLDS: dict[AffineConstraintKind, Callable[[int], bool]] = {
    AffineConstraintKind.ge: lambda value: value >= 0,
    AffineConstraintKind.eq: lambda value: value == 0,
}
C_TYPES = {
    "signed char": ctypes.c_int8,
    "unsigned char": ctypes.c_uint8,
    "short": ctypes.c_int16,
    "unsigned short": ctypes.c_uint16,
    "int": ctypes.c_int32,
    "unsigned": ctypes.c_uint32,
    "long": ctypes.c_int64,
    "unsigned long": ctypes.c_uint64,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}


def copies(function: RandomFunction) -> dict[str, object]:
    return {
        name: value.copy() if isinstance(value, np.ndarray) else value
        for name, value in function.arguments
    }


def built(texts: dict[str, str], folder: Path) -> ctypes.CDLL:
    """The functions as the compiler has them without any optimisation."""
    path = folder / "all.c"
    path.write_text("".join(t.replace("void f(", f"void {n}(") for n, t in texts.items()))
    library = folder / "all.so"
    flags = ("-std=gnu17", "-O0", "-w", "-fwrapv", "-ffp-contract=off", "-fPIC", "-shared")
    command = [compilers()[0], *flags, str(path), "-lm", "-o", str(library)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


def call(library: ctypes.CDLL, name: str, function: RandomFunction) -> dict[str, object]:
    values = copies(function)
    passed = list(values.values())
    numbers = [
        C_TYPES[kind](getattr(value, "item", lambda v=value: v)())
        for kind, value in zip(function.kinds, passed, strict=False)
    ]
    arrays = [
        value.ctypes.data_as(ctypes.c_void_p) for value in passed if isinstance(value, np.ndarray)
    ]
    library[name].restype = None
    library[name](*numbers, *arrays)
    return values


@dataclass(frozen=True)
class Translated:
    """A region as a module, with the `values` of its function and what of them is `passed`.

    Arrays that are passed are views of those in `values`.
    """

    module: ModuleOp
    values: dict[str, object]
    passed: list[object]

    @classmethod
    def of(cls, translation: Translation, function: RandomFunction) -> Translated:
        """Raises UndefinedBehaviourError for sizes that it is not for."""
        values = copies(function)
        passed = [_passed(parameter, values) for parameter in translation.parameters]
        module = parse_module(translation.text)
        _check_sizes(module, passed)
        return cls(module, values, passed)

    def interpret(self) -> None:
        """Runs the module; raises UndefinedBehaviourError."""
        with np.errstate(all="ignore"):
            Interpreter(self.module).run("f", *self.passed)


def interpreted(translation: Translation, function: RandomFunction) -> dict[str, object]:
    """The arguments after a call; raises UndefinedBehaviourError for sizes that it is not for."""
    translated = Translated.of(translation, function)
    translated.interpret()
    return translated.values


def _passed(parameter: Parameter, values: dict[str, object]) -> object:
    symbol = parameter.symbol
    # An element that the region takes as a size: `B[0]`.
    value = eval(symbol.spelling, {}, dict(values)) if symbol.through else values[symbol.name]
    if isinstance(value, np.ndarray):  # integers of the text have no sign
        kind = np.dtype(f"i{value.itemsize}") if value.dtype.kind == "u" else value.dtype
        return value.view(kind)
    if isinstance(value, np.floating):
        return float(value)
    if parameter.mlir == "index":
        return int(value)
    return int(np.array(value).astype(f"i{int(parameter.mlir[1:]) // 8}"))


def _check_sizes(module: ModuleOp, passed: Sequence[object]) -> None:
    """A scalar in a bound or condition is a size: the function may not be for its value."""
    (function,) = (op for op in module.walk() if isinstance(op, FuncOp))
    sizes = [passed[position] for position in integer_arguments(function)]
    pairs = zip(passed, function.function_type.inputs, strict=True)
    extents = [
        length
        for value, kind in pairs
        if isinstance(value, np.ndarray) and isinstance(kind, MemRefType)
        for length, extent in zip(value.shape, kind.get_shape(), strict=True)
        if extent == DYNAMIC_INDEX
    ]
    for is_refused, one in assumptions(function):
        assert not is_refused
        if not all(_HOLDS[each.kind](each.lhs.eval(sizes, extents)) for each in one.constraints):
            raise UndefinedBehaviourError("sizes that the function is not for")
