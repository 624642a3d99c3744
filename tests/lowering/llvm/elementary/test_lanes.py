"""Every lane of a vector of any width has the bits that the scalar function gives."""

from __future__ import annotations

import numpy as np
import pytest
from support.elementary import EXACT, SCALARS, Array, apply, bits, kernel, operation

import loopwright
from loopwright.passes.machine.target import Target
from loopwright.runtime.program import Function

WIDTHS = (2, 3, 4, 8, 16)

SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, 1e-40, 3e38, 1e308, -1e308)


def all_functions(scalar: str) -> Function:
    """Every function of `A[i]`, or of `A[i]` and `C[i]`, in a row of B each."""
    body = "\n".join(
        f"    %r{row} = {operation(name, scalar)}\n"
        f"    affine.store %r{row}, %B[{row}, %i] : memref<?x?x{scalar}>"
        for row, name in enumerate(EXACT)
    )
    return loopwright.load(f"""
func.func @apply(%m: index, %n: index, %A: memref<?x{scalar}>, %C: memref<?x{scalar}>,
                 %B: memref<?x?x{scalar}>) {{
  affine.for %i = 0 to %n {{
    %0 = affine.load %A[%i] : memref<?x{scalar}>
    %1 = affine.load %C[%i] : memref<?x{scalar}>
{body}
  }}
  return
}}
""")["apply"]


def arguments(scalar: str) -> tuple[Array, Array]:
    """Numbers of all kinds: special ones, all magnitudes, and those of everyday."""
    random = np.random.default_rng(0)
    found: list[Array] = []
    for _ in "AC":
        anything = random.integers(0, 1 << 64, 500, dtype=np.uint64).view(np.float64)
        everyday = [random.uniform(-high, high, 500) for high in (1.0, 20.0, 1e3, 1e12)]
        with np.errstate(all="ignore"):
            values = np.concatenate([anything, *everyday, np.resize(SPECIAL, 157)])
            found.append(random.permutation(values.astype(SCALARS[scalar])))
    return found[0], found[1]


@pytest.mark.parametrize("scalar", SCALARS)
def test_vectors_of_every_width_have_the_bits_of_scalars(scalar: str) -> None:
    function = all_functions(scalar)
    first, second = arguments(scalar)
    results: list[Array] = []
    for width in (None, *WIDTHS):
        schedule = None if width is None else f"vectorize{{loops=i width={width}}}"
        result = np.zeros((len(EXACT), len(first)), first.dtype)
        function.compile(schedule, threads=1)(len(EXACT), len(first), first, second, result)
        results.append(bits(result))
    for width, result in zip(WIDTHS, results[1:], strict=True):
        different = [n for n, a, b in zip(EXACT, results[0], result, strict=True) if (a != b).any()]
        assert not different, f"width {width}"


@pytest.mark.parametrize("fast_math", [False, True])
def test_fast_math_changes_no_bits_of_them(fast_math: bool) -> None:
    function = all_functions("f64")
    first, second = arguments("f64")
    results: list[Array] = []
    for schedule, relaxed in ((None, False), ("vectorize{loops=i width=8}", fast_math)):
        result = np.zeros((len(EXACT), len(first)))
        compiled = function.compile(schedule, threads=1, fast_math=relaxed)
        compiled(len(EXACT), len(first), first, second, result)
        results.append(bits(result))
    assert np.array_equal(*results)


@pytest.mark.skipif(not Target.host().fuses_multiply_adds, reason="the library is called here")
@pytest.mark.parametrize("name", ["exp", "log", "erf", "erfc", "tanh", "powf", "atan2", "hypot"])
def test_nothing_of_the_c_library_is_called(name: str) -> None:
    function = kernel(name, "f64", 4)
    apply(function, np.ones(9))
    assert "call" not in function.assembly


@pytest.mark.skipif("fma" not in Target.host().features, reason="assembly of other machines")
@pytest.mark.parametrize("name", ["exp", "sin"])
def test_llvm_makes_vectors_of_loops_as_written(name: str) -> None:
    function = kernel(name, "f64", None)
    apply(function, np.ones(9))
    register = {128: "xmm", 256: "ymm", 512: "zmm"}[Target.host().vector_bits]
    loop = function.assembly.partition("loopwright_apply:")[2]
    assert any("vfmadd" in line and register in line for line in loop.splitlines())
