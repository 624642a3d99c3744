"""Random functions of C: what a compiler makes of them, and what their text does."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np

from loopwright.dialects.parse import parse_module
from loopwright.frontends.c.translate import Translation

from .arithmetic import UndefinedBehaviourError
from .c_code import compilers
from .interpreter import Interpreter
from .random_c import RandomFunction

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


def interpreted(translation: Translation, function: RandomFunction) -> dict[str, object]:
    values = copies(function)
    passed: list[object] = []
    for parameter in translation.parameters:
        symbol = parameter.symbol
        # An element that the region takes as a size: `B[0]`.
        value = eval(symbol.spelling, {}, dict(values)) if symbol.through else values[symbol.name]
        if isinstance(value, np.ndarray):  # integers of the text have no sign
            kind = np.dtype(f"i{value.itemsize}") if value.dtype.kind == "u" else value.dtype
            passed.append(value.view(kind))
        elif isinstance(value, np.floating):
            passed.append(float(value))
        elif parameter.mlir == "index":
            passed.append(int(value))
        else:
            passed.append(int(np.array(value).astype(f"i{int(parameter.mlir[1:]) // 8}")))
    sizes = {
        parameter.name: int(str(value))
        for parameter, value in zip(translation.parameters, passed, strict=True)
        if parameter.mlir == "index"
    }
    for each in translation.assumptions:
        text = each.render({name: name.text for name in each.names()})
        if eval(text.replace("floordiv", "//").replace("mod", "%"), {}, sizes) < 0:
            raise UndefinedBehaviourError(f"the region assumes {text} >= 0")
    with np.errstate(all="ignore"):
        Interpreter(parse_module(translation.text)).run("f", *passed)
    return values
