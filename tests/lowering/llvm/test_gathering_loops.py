"""LLVM makes no vectors of loops that gather more than they compute."""

from __future__ import annotations

import pytest
from support.polyhedral_programs import scop_of

from loopwright.lowering.generate import generate
from loopwright.lowering.llvm.gathering_loops import gathering_loops
from loopwright.passes.machine.target import Target
from loopwright.passes.schedules.schedule import Schedule

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
