"""Which rows are prefetched, which stores go past the caches, and that results stay the same."""

from dataclasses import replace

import numpy as np
import pytest
from support.machine_code import MachineCode
from support.targets import WIDE

import loopwright
from loopwright.lowering.generate import generate
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.formats import apply_text

BLUR = """
func.func @f(%m: index, %n: index, %A: memref<?x?xf32>, %B: memref<?x?xf32>) {
  affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%m] {
    affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      %0 = affine.load %A[%i - 1, %j] : memref<?x?xf32>
      %1 = affine.load %A[%i, %j - 1] : memref<?x?xf32>
      %2 = affine.load %A[%i + 1, %j + 1] : memref<?x?xf32>
      %3 = arith.addf %0, %1 : f32
      %4 = arith.subf %3, %2 : f32
      affine.store %4, %B[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
"""

UPDATE = BLUR.replace("%A[%i, %j - 1]", "%B[%i, %j]")

REPEATED = (
    BLUR.replace("%m: index,", "%steps: index, %m: index,")
    .replace("  affine.for %i", "  affine.for %t = 0 to %steps {\n  affine.for %i")
    .replace("  return", "  }\n  return")
)

CACHES = {1: 1 << 10, 2: 8 << 10, 3: 16 << 10}
TARGET = replace(WIDE, caches=CACHES)

VECTORS = "vectorize{loops=j width=16}"


def loop_ir(text: str, m: int, n: int, schedule: str = VECTORS) -> str:
    scop = loopwright.load(text)["f"].scop
    original = Schedule.original(scop, TARGET)
    sizes = {"steps": 4, "m": m, "n": n, "A_dim0": m, "A_dim1": n, "B_dim0": m, "B_dim1": n}
    return str(generate(apply_text(schedule, original), sizes))


def test_the_row_that_comes_next_is_prefetched() -> None:
    text = loop_ir(BLUR, 100, 128)
    (prefetch,) = (line for line in text.splitlines() if "affine.prefetch" in line)
    assert "%A[%i + 2, %j + 1]" in prefetch
    assert "affine.prefetch" not in loop_ir(BLUR, 6, 128), "it stays in the cache"
    assert "affine.prefetch" not in loop_ir(REPEATED, 100, 128), "rows come by several times"
    assert "affine.prefetch" not in loop_ir(BLUR, 100, 1024), "rows do not stay in the cache"


def test_a_large_array_that_is_only_written_bypasses_the_caches() -> None:
    assert loop_ir(BLUR, 100, 128).count("nontemporal") == 1
    assert "nontemporal" not in loop_ir(BLUR, 20, 128), "it fits"
    assert "nontemporal" not in loop_ir(REPEATED, 100, 128), "it is written again"
    assert "nontemporal" not in loop_ir(UPDATE, 100, 128), "it is read"


def test_long_rows_begin_with_a_vector_that_aligns_the_others() -> None:
    assert "extract_aligned_pointer" in loop_ir(BLUR, 100, 256)
    assert "affine.for %j = 1 to" in loop_ir(BLUR, 100, 250), "rows begin anywhere"


@pytest.mark.parametrize("width", [250, 256, 259])
@pytest.mark.parametrize("offset", [0, 4, 16, 60])
@pytest.mark.parametrize("schedule", [VECTORS, "parallel{loops=i}," + VECTORS])
def test_results_at_any_alignment(schedule: str, offset: int, width: int) -> None:
    m = 40
    code = MachineCode(loop_ir(BLUR, m, width, schedule))
    a = np.random.default_rng(2).random((m, width), np.float32)
    memory = np.zeros(m * width + 64, np.float32)
    start = (-memory.ctypes.data % 64 + offset) // 4
    b = memory[start : start + m * width].reshape(m, width)
    code("f", m, width, a, b)
    expected = np.zeros_like(a)
    expected[1:-1, 1:-1] = (a[:-2, 1:-1] + a[1:-1, :-2]) - a[2:, 2:]
    np.testing.assert_array_equal(b, expected)
    assert not memory[:start].any()
    assert not memory[start + m * width :].any()
