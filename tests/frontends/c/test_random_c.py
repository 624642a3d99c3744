"""Random functions of C: the text computes what gcc or clang compute."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from support.arithmetic import UndefinedBehaviourError
from support.c_code import compilers
from support.interpreter import Interpreter

from loopwright.dialects.errors import SourceError
from loopwright.dialects.parse import parse_module
from loopwright.frontends.c.c_file import read_regions, read_source
from loopwright.frontends.c.translate import Translation

from .random_c import RandomFunction, random_function

SEEDS = (0, 1, 3, 5, 7, 8, 11)

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
    with np.errstate(all="ignore"):
        Interpreter(parse_module(translation.text)).run("f", *passed)
    return values


def check(seeds: Sequence[int], folder: Path) -> None:
    """Compares the functions of these seeds; those whose C is undefined are left out."""
    functions = {f"f{seed}": random_function(seed) for seed in seeds}
    library = built({name: each.text for name, each in functions.items()}, folder)
    for name, function in functions.items():
        path = folder / f"{name}.c"
        path.write_text(function.text)
        try:
            (translation,) = read_regions(read_source(path)).translations
            results = interpreted(translation, function)
        except SourceError as error:
            assert "may wrap around" in str(error), error
            continue
        except UndefinedBehaviourError:  # a number that does not fit its type
            continue
        expected = call(library, name, function)
        for key, found in results.items():
            if isinstance(found, np.ndarray):
                equal_nan = found.dtype.kind == "f"
                same = np.array_equal(found, expected[key], equal_nan=equal_nan)
                assert same, f"{function.text}\n{key}: {found}\n{expected[key]}"


def test_random_functions_compute_what_the_compiler_says(tmp_path: Path) -> None:
    check(SEEDS, tmp_path)


@pytest.mark.campaign
@pytest.mark.parametrize("first", range(10_000, 12_000, 100))
def test_campaign(tmp_path: Path, first: int) -> None:
    check(range(first, first + 100), tmp_path)
