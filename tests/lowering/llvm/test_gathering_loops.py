"""LLVM makes no vectors of loops that gather more than they compute."""

from __future__ import annotations

import numpy as np
import pytest
from support.polyhedral_programs import scop_of

from loopwright.lowering.generate import generate
from loopwright.lowering.llvm.gathering_loops import gathering_loops
from loopwright.passes.machine.target import Target
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.program import load

HINT = "llvm.loop.vectorize.enable"

TEXT = """
func.func @f(%I: memref<64xi32>, %A: memref<64x4x{kind}>, %o: memref<64x4x{kind}>) {{
  affine.for %i = 0 to 64 {{
    {loops}
      %k = affine.load %I[%i] : memref<64xi32>
      %c = arith.index_cast %k : i32 to index
      {first}
      %v = memref.load %A[%c, {column}] : memref<64x4x{kind}>
      {more}
      %u = affine.load %o[%i, {column}] : memref<64x4x{kind}>
      %w = arith.{add} %u, %v : {kind}
      affine.store %w, %o[%i, {column}] : memref<64x4x{kind}>
    {end}
  }}
  return
}}
"""
ROWS = {"loops": "affine.for %j = 0 to 4 {", "column": "%j", "end": "}", "first": "", "more": ""}
ONE = {
    "loops": "",
    "column": "%z",
    "end": "",
    "first": "%z = arith.constant 0 : index",
    "more": "",
}
DIVIDED = "%d{k} = arith.divf %v, %v : f64\n affine.store %d{k}, %o[%i, {k}] : memref<64x4xf64>"
MUCH = "\n".join(DIVIDED.format(k=k) for k in range(1, 4))


@pytest.mark.parametrize(
    ("parts", "kind", "target", "found"),
    [
        (ONE, "f64", "zen4", ["i"]),
        (ONE, "f32", "zen5", ["i"]),
        (ONE, "f64", "zen3", []),
        (ONE, "i8", "zen4", ["i"]),
        (ONE, "i8", "zen3", ["i"]),
        (ROWS, "f64", "zen4", ["i"]),
        ({**ONE, "more": MUCH}, "f64", "zen4", []),
    ],
)
def test_loops_that_gather(parts: dict[str, str], kind: str, target: str, found: list[str]) -> None:
    scop = scop_of(TEXT.format(kind=kind, add="addi" if kind == "i8" else "addf", **parts))
    loops = generate(Schedule.original(scop), {})
    indices = gathering_loops(loops, Target.named(target), reassociates=False)
    assert [index.name_hint for index in indices] == found


@pytest.mark.parametrize("target", ["zen4", "zen3"])
@pytest.mark.parametrize("kind", ["i8", "i16", "i64"])
def test_tables_of_bytes(kind: str, target: str) -> None:
    """No byte is outside of the table, and LLVM makes vectors of what it does not compare."""
    scop = scop_of(
        f"""
func.func @f(%x: memref<64x640xi8>, %t: memref<256x{kind}>, %y: memref<64x640x{kind}>) {{
  affine.for %i = 0 to 64 {{
    affine.for %j = 0 to 640 {{
      %0 = affine.load %x[%i, %j] : memref<64x640xi8>
      %1 = arith.index_castui %0 : i8 to index
      %2 = memref.load %t[%1] : memref<256x{kind}>
      affine.store %2, %y[%i, %j] : memref<64x640x{kind}>
    }}
  }}
  return
}}
"""
    )
    loops = generate(Schedule.original(scop), {})
    indices = gathering_loops(loops, Target.named(target), reassociates=False)
    assert any(index.name_hint == "j" for index in indices) == (kind != "i64" or target == "zen4")


GATHERED_IN_FRONT = """
func.func @products(%A: memref<12x20x{n}x{T}>, %B: memref<{n}x9x{T}>, %C: memref<9x12x20x{T}>) {{
  %zero = arith.constant 0.0 : {T}
  affine.for %k = 0 to 9 {{
    affine.for %j = 0 to 12 {{
      affine.for %i = 0 to 20 {{
        %0 = affine.for %q = 0 to {n} iter_args(%s = %zero) -> {T} {{
          %a = affine.load %A[%j, %i, %q] : memref<12x20x{n}x{T}>
          %b = affine.load %B[%q, %k] : memref<{n}x9x{T}>
          %p = arith.mulf %a, %b : {T}
          %t = arith.addf %s, %p : {T}
          affine.yield %t : {T}
        }}
        affine.store %0, %C[%k, %j, %i] : memref<9x12x20x{T}>
      }}
    }}
  }}
  return
}}
"""


@pytest.mark.parametrize("fast_math", [False, True])
@pytest.mark.parametrize(
    ("kind", "element", "terms"), [("f32", np.float32, 18), ("f64", np.float64, 11)]
)
def test_terms_that_all_sums_of_a_row_share_are_gathered_in_front_of_it(
    kind: str, element: type, terms: int, fast_math: bool
) -> None:
    """They are no reason to gather the others, row by row."""
    (function,) = load(GATHERED_IN_FRONT.format(T=kind, n=terms)).values()
    kernel = function.compile(threads=1, schedule="", fast_math=fast_math)
    rng = np.random.default_rng(0)
    a, b = rng.random((12, 20, terms)).astype(element), rng.random((terms, 9)).astype(element)
    c = np.zeros((9, 12, 20), element)
    kernel(a, b, c)
    np.testing.assert_allclose(c, np.einsum("jiq,qk->kji", a, b), rtol=1e-5)
    assert HINT in kernel.llvm_ir


SUMS = """
func.func @sums(%I: memref<64x40xi32>, %x: memref<64x{kind}>, %s: memref<64x{kind}>) {{
  affine.for %i = 0 to 64 {{
    affine.for %j = 0 to 40 {{
      %k = affine.load %I[%i, %j] : memref<64x40xi32>
      %c = arith.index_cast %k : i32 to index
      %v = memref.load %x[%c] : memref<64x{kind}>
      %u = affine.load %s[%i] : memref<64x{kind}>
      %w = arith.addf %u, %v : {kind}
      affine.store %w, %s[%i] : memref<64x{kind}>
    }}
  }}
  return
}}
"""


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("factor", [4, 8, 16])
def test_sums_side_by_side_are_not_gathered_on_zen(kind: str, factor: int) -> None:
    """LLVM's SLP vectoriser would put their scalars together by gathers, which take longer."""
    host = Target.host()
    zen = next(
        (t for t in map(Target.named, ("zen4", "zen3")) if t.features <= host.features), host
    )
    function = load(SUMS.format(kind=kind))["sums"]
    kernel = function.compile(f"unroll-and-jam{{loops=i factor={factor}}}", threads=1, target=zen)
    rng = np.random.default_rng(0)
    dtype = np.dtype(kind.replace("f", "float"))
    subscripts = rng.integers(0, 64, (64, 40), dtype=np.int32)
    x, s = rng.random(64).astype(dtype), np.zeros(64, dtype)
    expected = s.copy()
    for j in range(40):
        expected += x[subscripts[:, j]]
    kernel(subscripts, x, s)
    np.testing.assert_array_equal(s, expected)
    assert zen is host or "gather" not in kernel.assembly
