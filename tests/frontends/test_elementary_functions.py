"""Functions of `math.h`, `math` and NumPy are the same, whoever calls them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.elementary import BINARY, SCALARS, Array, apply, bits, kernel, text
from support.random_python import load_source

import loopwright
from loopwright.dialects.parse import parse_module
from loopwright.frontends.c.printing import print_c
from loopwright.frontends.python.printing import print_file
from loopwright.runtime.kernel import Kernel

PYTHON: dict[str, str | None] = {
    "acos": "np.arccos",
    "acosh": "np.arccosh",
    "asin": "np.arcsin",
    "asinh": "np.arcsinh",
    "atan": "np.arctan",
    "atan2": "np.arctan2",
    "atanh": "np.arctanh",
    "cbrt": "np.cbrt",
    "erf": "math.erf",
    "erfc": "math.erfc",
    "exp2": "np.exp2",
    "exp10": None,
    "expm1": "np.expm1",
    "log10": "np.log10",
    "log1p": "np.log1p",
    "sinh": "np.sinh",
    "fdim": None,
    "hypot": "np.hypot",
    "tan": "np.tan",
    "tanh": "np.tanh",
}
"""The functions, by their names in C, and what they are in Python, if any."""

IN_PYTHON = [
    (name, scalar)
    for name, function in PYTHON.items()
    for scalar in SCALARS
    if function is not None and (scalar == "f64" or function.startswith("np."))
]
"""Functions of `math` are of double precision."""

C_TYPES = {"f32": "float", "f64": "double"}


def arguments(scalar: str) -> tuple[Array, Array]:
    random = np.random.default_rng(0)
    special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, 0.5, 3.0, -26.0]
    values = [np.concatenate([random.uniform(-2, 2, 50), special]) for _ in "AC"]
    first, second = (random.permutation(each).astype(SCALARS[scalar]) for each in values)
    return first, second


def check(function: Kernel, name: str, scalar: str) -> None:
    """Compares with what the dialect's operation gives."""
    first, second = arguments(scalar)
    wanted = apply(kernel(name, scalar, None), first, second)
    assert np.array_equal(bits(apply(function, first, second)), bits(wanted))


def call(function: str, name: str) -> str:
    return f"{function}(A[i], C[i])" if name in BINARY else f"{function}(A[i])"


@pytest.mark.parametrize("scalar", SCALARS)
@pytest.mark.parametrize("name", PYTHON)
def test_of_c(name: str, scalar: str, tmp_path: Path) -> None:
    kind, function = C_TYPES[scalar], name + ("f" if scalar == "f32" else "")
    path = tmp_path / "file.c"
    path.write_text(
        "#define _GNU_SOURCE\n#include <math.h>\n"
        f"void apply(long n, const {kind} A[n], const {kind} C[n], {kind} B[n]) {{\n"
        "#pragma scop\n"
        f"  for (long i = 0; i < n; i++) B[i] = {call(function, name)};\n"
        "#pragma endscop\n}\n"
    )
    check(loopwright.load(path)["apply"].compile(None, threads=1), name, scalar)


@pytest.mark.parametrize(("name", "scalar"), IN_PYTHON)
def test_of_python(name: str, scalar: str, tmp_path: Path) -> None:
    function = PYTHON[name]
    assert function is not None
    kind = f"{scalar}['n']"
    source = (
        "import math\nimport numpy as np\nimport loopwright\nfrom loopwright import f32, f64\n\n\n"
        f"@loopwright.kernel\ndef apply(n: int, A: {kind}, C: {kind}, B: {kind}):\n"
        f"    for i in range(n):\n        B[i] = {call(function, name)}\n"
    )
    module = load_source(source, tmp_path, f"of_python_{name}_{scalar}")
    check(module.apply.function.compile(None, threads=1), name, scalar)


@pytest.mark.parametrize("scalar", SCALARS)
@pytest.mark.parametrize("name", PYTHON)
def test_of_calls_in_mlir(name: str, scalar: str) -> None:
    function, count = name + ("f" if scalar == "f32" else ""), 2 if name in BINARY else 1
    kinds = ", ".join([scalar] * count)
    values = ", ".join(["%0", "%1"][:count])
    source = text("cos", scalar).replace(
        f"math.cos %0 : {scalar}", f"func.call @{function}({values}) : ({kinds}) -> {scalar}"
    )
    declared = f"func.func private @{function}({kinds}) -> {scalar}"
    source = f"{declared} attributes {{llvm.readnone}}\n{source}"
    check(loopwright.load(source)["apply"].compile(None, threads=1), name, scalar)


@pytest.mark.parametrize("scalar", SCALARS)
@pytest.mark.parametrize("name", PYTHON)
def test_printed_and_read_again(name: str, scalar: str, tmp_path: Path) -> None:
    source = text(name, scalar).replace("memref<?", f"memref<{len(arguments(scalar)[0])}")
    path = tmp_path / "file.c"
    path.write_text(print_c(parse_module(source)))
    check(loopwright.load(path)["apply"].compile(None, threads=1), name, scalar)
    if (name, scalar) not in IN_PYTHON:
        return
    python = print_file([loopwright.load(source)["apply"].function])
    module = load_source(python, tmp_path, f"printed_{name}_{scalar}")
    check(module.apply.function.compile(None, threads=1), name, scalar)
