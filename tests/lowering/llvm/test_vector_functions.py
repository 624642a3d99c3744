"""Vectors of exp, log, sine ...: as the C library's, within a few units in the last place."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.elementary import BINARY, text
from support.functions import FUNCTIONS

import loopwright
from loopwright.passes.machine.target import Target, detect
from loopwright.runtime.kernel import Kernel

Array = np.ndarray[Any, Any]

N = 301
UNITS = 4.0
"""What libmvec promises, in units in the last place; the reference has an error of its own."""

SCALARS = {"f64": np.float64, "f32": np.float32}
DOMAINS = {"acosh": (1.0, 50.0), "atanh": (-0.99, 0.99), "acos": (-1.0, 1.0), "asin": (-1.0, 1.0)}
DOMAINS |= dict.fromkeys(("log", "log10", "log2", "log1p"), (1e-3, 100.0))

REFERENCES: dict[str, Callable[..., Array]] = {
    **{name: each for name, each in FUNCTIONS.items() if name not in ("erf", "erfc", "rsqrt")},
    "atan2": np.arctan2,
    "powf": np.power,
}

LIBRARY = replace(Target.host(), features=Target.host().features - {"fma", "asimd"})
"""A machine for which there are no elementary functions of our own."""

needs_library = pytest.mark.skipif(
    not Target.host().vector_functions, reason="the C library here has no functions for vectors"
)


def kernel(name: str, scalar: str, schedule: str | None, *, fast_math: bool = True) -> Kernel:
    program = loopwright.load(text(name, scalar))["apply"]
    return program.compile(schedule, threads=1, fast_math=fast_math, target=LIBRARY)


def inputs(name: str, scalar: str) -> tuple[Array, Array]:
    random = np.random.default_rng(0)
    low, high = DOMAINS.get(name, (0.1, 9.0) if name == "powf" else (-10.0, 10.0))
    first, second = (random.uniform(low, high, N).astype(SCALARS[scalar]) for _ in "AC")
    return first, second


def error(result: Array, name: str, operands: tuple[Array, ...]) -> float:
    """The largest distance from what more digits give, in units in the last place."""
    exact = REFERENCES[name](*(each.astype(np.longdouble) for each in operands))
    units = np.spacing(np.abs(exact).astype(result.dtype)).astype(np.longdouble)
    return float(np.max(np.abs(result.astype(np.longdouble) - exact) / units))


@needs_library
@pytest.mark.parametrize("scalar", SCALARS)
@pytest.mark.parametrize("name", REFERENCES)
def test_functions_of_vectors_are_close_to_those_of_scalars(name: str, scalar: str) -> None:
    first, second = inputs(name, scalar)
    operands = (first, second) if name in BINARY else (first,)
    for width in (3, 8, 20):
        result = np.zeros_like(first)
        apply = kernel(name, scalar, f"vectorize{{loops=i width={width}}}")
        apply(N, first, second, result)
        assert "_ZGV" in apply.assembly
        assert error(result, name, operands) <= UNITS + 0.5


@needs_library
@pytest.mark.parametrize("name", ["exp", "log1p", "powf"])
def test_vectors_that_llvm_makes_use_them_too(name: str) -> None:
    first, second = inputs(name, "f64")
    result = np.zeros_like(first)
    apply = kernel(name, "f64", None)
    apply(N, first, second, result)
    assert "_ZGV" in apply.assembly
    operands = (first, second) if name in BINARY else (first,)
    assert error(result, name, operands) <= UNITS + 0.5


@pytest.mark.parametrize("schedule", [None, "vectorize{loops=i width=8}"])
def test_without_fast_math_every_lane_has_the_result_of_the_scalar_function(
    schedule: str | None,
) -> None:
    first, second = inputs("exp", "f64")
    results = [np.zeros_like(first) for _ in range(2)]
    apply = kernel("exp", "f64", schedule, fast_math=False)
    apply(N, first, second, results[0])
    assert "_ZGV" not in apply.assembly
    kernel("exp", "f64", None, fast_math=False)(N, first, second, results[1])
    np.testing.assert_array_equal(*results)


@needs_library
def test_an_operation_may_allow_it_by_itself() -> None:
    first, second = inputs("exp", "f64")
    licensed = text("exp", "f64").replace("exp %0", "exp %0 fastmath<afn>")
    apply = loopwright.load(licensed)["apply"].compile(
        "vectorize{loops=i width=8}", threads=1, target=LIBRARY
    )
    result = np.zeros_like(first)
    apply(N, first, second, result)
    assert "_ZGV" in apply.assembly
    assert error(result, "exp", (first,)) <= UNITS + 0.5


@needs_library
@pytest.mark.parametrize("name", ["exp", "log", "sin", "powf", "tanh"])
def test_infinities_nan_and_the_smallest_numbers_keep_their_meaning(name: str) -> None:
    odd = np.array([np.inf, -np.inf, np.nan, 0.0, 5e-324, 1e308, -1e308, 709.7, -745.1, 1.0])
    first, second = np.resize(odd, N), np.resize(odd[::-1], N)
    results = [np.zeros(N) for _ in range(2)]
    for result, fast_math in zip(results, (False, True), strict=True):
        apply = kernel(name, "f64", "vectorize{loops=i width=8}", fast_math=fast_math)
        apply(N, first, second, result)
    np.testing.assert_allclose(results[1], results[0], rtol=1e-14, atol=1e-310, equal_nan=True)


def test_a_machine_without_the_library_calls_the_scalar_function() -> None:
    program = loopwright.load(text("exp", "f64"))["apply"]
    bare = replace(LIBRARY, vector_functions=frozenset[str]())
    apply = program.compile("vectorize{loops=i width=8}", threads=1, fast_math=True, target=bare)
    first, second = inputs("exp", "f64")
    result = np.zeros(N)
    apply(N, first, second, result)
    assert "_ZGV" not in apply.assembly
    np.testing.assert_allclose(result, np.exp(first), rtol=1e-15)


@needs_library
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_object_files_link_with_the_mathematics_library(tmp_path: Path) -> None:
    program = loopwright.load(text("exp", "f64"))["apply"]
    program.build(
        tmp_path / "apply.o",
        "vectorize{loops=i width=8}",
        sizes={"n": N},
        threads=1,
        fast_math=True,
        target=LIBRARY,
    )
    symbols = subprocess.run(
        ["nm", tmp_path / "apply.o"], capture_output=True, text=True, check=True
    ).stdout
    assert "_ZGV" in symbols
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["cc", "main.c", "apply.o", "-lm", "-o", "main"], cwd=tmp_path, check=True)


@pytest.mark.parametrize("exponent", ["2.0", "3.0", "0.5", "-1.0"])
def test_powers_that_are_products_stay_products(exponent: str) -> None:
    """Calls of the function for vectors took twenty times as long."""
    program = loopwright.load(
        text("powf", "f64")
        .replace("affine.for", f"%e = arith.constant {exponent} : f64\n  affine.for")
        .replace("%0, %1 :", "%0, %e :")
    )["apply"]
    apply = program.compile("vectorize{loops=i width=8}", threads=1, fast_math=True, target=LIBRARY)
    first, second = inputs("powf", "f64")
    result = np.zeros(N)
    apply(N, first, second, result)
    assert "_ZGV" not in apply.assembly
    np.testing.assert_allclose(result, first ** float(exponent), rtol=1e-14)


def test_a_machine_that_does_not_tell_its_features_has_no_vector_functions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("loopwright.passes.machine.cpuinfo.CPUINFO", tmp_path / "missing")
    assert detect().vector_functions == frozenset()
