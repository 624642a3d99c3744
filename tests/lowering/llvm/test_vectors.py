"""Vector operations: memory accesses with masks and offsets, masks, reductions, lanes."""

from __future__ import annotations

import ctypes
import math
import mmap
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.machine_code import NUMPY_TYPES, MachineCode
from xdsl.dialects.builtin import f32

from loopwright.passes.machine.target import Target

KINDS = ("f32", "f64", "i1", "i8", "i32", "i64", "index")


def numbers(kind: str, count: int) -> np.ndarray[Any, Any]:
    return np.arange(1, count + 1).astype(NUMPY_TYPES[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_masked_load_and_store(kind: str) -> None:
    code = MachineCode(f"""
    func.func @f(%n: index, %at: index, %A: memref<3x?x{kind}>, %B: memref<?x{kind}>,
                 %P: memref<8x{kind}>) {{
      %mask = vector.create_mask %n : vector<8xi1>
      %other = affine.vector_load %P[0] : memref<8x{kind}>, vector<8x{kind}>
      %c2 = arith.constant 2 : index
      %v = vector.maskedload %A[%c2, %at], %mask, %other
        : memref<3x?x{kind}>, vector<8xi1>, vector<8x{kind}> into vector<8x{kind}>
      vector.maskedstore %B[%at], %mask, %v : memref<?x{kind}>, vector<8xi1>, vector<8x{kind}>
      affine.vector_store %v, %P[0] : memref<8x{kind}>, vector<8x{kind}>
      return
    }}""")
    for n in (-(1 << 40), -1, 0, 1, 5, 8, 9, 1 << 40):
        lanes = min(max(n, 0), 8)
        a = numbers(kind, 3 * 20).reshape(3, 20)
        b, p = np.zeros(20, NUMPY_TYPES[kind]), numbers(kind, 8)
        code("f", n, 12, a, b, p)
        np.testing.assert_array_equal(p[:lanes], a[2, 12 : 12 + lanes])
        np.testing.assert_array_equal(p[lanes:], numbers(kind, 8)[lanes:])
        np.testing.assert_array_equal(b[12 : 12 + lanes], a[2, 12 : 12 + lanes])
        assert not b[:12].any() and not b[12 + lanes :].any()


def test_constant_mask() -> None:
    code = MachineCode("""
    func.func @f(%A: memref<8xf64>) {
      %mask = vector.constant_mask [3] : vector<8xi1>
      %ones = arith.constant dense<1.0> : vector<8xf64>
      %c0 = arith.constant 0 : index
      vector.maskedstore %A[%c0], %mask, %ones : memref<8xf64>, vector<8xi1>, vector<8xf64>
      return
    }""")
    a = np.zeros(8)
    code("f", a)
    assert a.tolist() == [1, 1, 1, 0, 0, 0, 0, 0]


def test_masked_accesses_touch_nothing_beyond_the_mask() -> None:
    # The page after the array cannot be accessed.
    pages = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    protect = ctypes.CDLL(None).mprotect
    assert protect(ctypes.c_void_p(start + mmap.PAGESIZE), mmap.PAGESIZE, 0) == 0
    code = MachineCode("""
    func.func @f(%n: index, %at: index, %A: memref<?xf32>) {
      %mask = vector.create_mask %n : vector<16xi1>
      %zero = arith.constant dense<0.0> : vector<16xf32>
      %v = vector.maskedload %A[%at], %mask, %zero
        : memref<?xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
      %w = arith.addf %v, %v : vector<16xf32>
      vector.maskedstore %A[%at], %mask, %w : memref<?xf32>, vector<16xi1>, vector<16xf32>
      return
    }""")
    array = np.frombuffer(pages, np.float32, mmap.PAGESIZE // 4)
    array[:] = 1
    size = len(array)
    for n in (0, 1, 7, 15, 16):
        code("f", n, size - n, array)
    expected = np.ones(size)
    for n in (0, 1, 7, 15, 16):
        expected[size - n :] *= 2
    np.testing.assert_array_equal(array, expected)
    assert protect(ctypes.c_void_p(start + mmap.PAGESIZE), mmap.PAGESIZE, 3) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_gather_and_scatter(kind: str) -> None:
    code = MachineCode(f"""
    func.func @f(%n: index, %A: memref<4x16x{kind}>, %B: memref<64x{kind}>,
                 %P: memref<8x{kind}>) {{
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %offsets = arith.constant dense<[0, 16, 1, -3, 40, 2, 7, -19]> : vector<8xindex>
      %mask = vector.create_mask %n : vector<8xi1>
      %other = affine.vector_load %P[0] : memref<8x{kind}>, vector<8x{kind}>
      %v = vector.gather %A[%c1, %c3] [%offsets], %mask, %other
        : memref<4x16x{kind}>, vector<8xindex>, vector<8xi1>, vector<8x{kind}> into vector<8x{kind}>
      %c20 = arith.constant 20 : index
      vector.scatter %B[%c20] [%offsets], %mask, %v
        : memref<64x{kind}>, vector<8xindex>, vector<8xi1>, vector<8x{kind}>
      affine.vector_store %v, %P[0] : memref<8x{kind}>, vector<8x{kind}>
      return
    }}""")
    offsets = np.array([0, 16, 1, -3, 40, 2, 7, -19])
    for n in range(9):
        a = numbers(kind, 64).reshape(4, 16)
        b, p = np.zeros(64, NUMPY_TYPES[kind]), numbers(kind, 8)[::-1].copy()
        gathered = np.where(np.arange(8) < n, a.reshape(-1)[19 + offsets], p)
        expected = np.zeros(64, NUMPY_TYPES[kind])
        expected[20 + offsets[:n]] = gathered[:n]
        code("f", n, a, b, p)
        np.testing.assert_array_equal(p, gathered)
        np.testing.assert_array_equal(b, expected)


@pytest.mark.parametrize("width", [2, 4, 8, 16, 32])
@pytest.mark.parametrize("kind", ["f32", "i8", "i1"])
def test_vectors_of_any_width(kind: str, width: int) -> None:
    code = MachineCode(f"""
    func.func @f(%A: memref<?x{kind}>, %B: memref<?x{kind}>) {{
      affine.for %i = 0 to {4 * width} step {width} {{
        %v = affine.vector_load %A[%i + 1] : memref<?x{kind}>, vector<{width}x{kind}>
        affine.vector_store %v, %B[%i + 3] : memref<?x{kind}>, vector<{width}x{kind}>
      }}
      return
    }}""")
    a = numbers(kind, 5 * width)
    b = np.zeros(5 * width + 3, NUMPY_TYPES[kind])
    code("f", a, b)
    np.testing.assert_array_equal(b[3 : 3 + 4 * width], a[1 : 1 + 4 * width])
    assert not b[:3].any() and not b[3 + 4 * width :].any()


def test_vectors_need_no_more_alignment_than_their_elements() -> None:
    code = MachineCode("""
    func.func @f(%A: memref<?xf32>, %B: memref<?xf32>) {
      %v = affine.vector_load %A[0] : memref<?xf32>, vector<16xf32>
      affine.vector_store %v, %B[0] : memref<?xf32>, vector<16xf32>
      return
    }""")
    a, b = numbers("f32", 40), np.zeros(40, np.float32)
    for offset in range(1, 17):
        code("f", a[offset : offset + 16], b[offset + 1 : offset + 17])
        np.testing.assert_array_equal(b[offset + 1 : offset + 17], a[offset : offset + 16])


def test_stated_alignment_is_used() -> None:
    code = MachineCode("""
    func.func @f(%A: memref<?xf32>, %B: memref<?xf32>) {
      %v = affine.vector_load %A[0] {alignment = 64 : i64} : memref<?xf32>, vector<16xf32>
      affine.vector_store %v, %B[0] : memref<?xf32>, vector<16xf32>
      return
    }""")
    assert "align 64" in code.llvm_ir
    assert "align 4" in code.llvm_ir


def test_broadcast_step_extract_insert_shuffle() -> None:
    code = MachineCode("""
    func.func @f(%x: f32, %p: index, %r: memref<?xf32>, %s: memref<8xindex>) -> (f32, f32) {
      %v = vector.broadcast %x : f32 to vector<8xf32>
      %a = affine.vector_load %r[0] : memref<?xf32>, vector<8xf32>
      %b = vector.insert %x, %a[3] : f32 into vector<8xf32>
      %c = vector.insert %x, %b[%p] : f32 into vector<8xf32>
      affine.vector_store %c, %r[8] : memref<?xf32>, vector<8xf32>
      affine.vector_store %v, %r[16] : memref<?xf32>, vector<8xf32>
      %d = vector.shuffle %a, %v [7, 0, 8, 2] : vector<8xf32>, vector<8xf32>
      affine.vector_store %d, %r[24] : memref<?xf32>, vector<4xf32>
      %step = vector.step : vector<8xindex>
      affine.vector_store %step, %s[0] : memref<8xindex>, vector<8xindex>
      %e = vector.extract %a[2] : f32 from vector<8xf32>
      %g = vector.extract %a[%p] : f32 from vector<8xf32>
      return %e, %g : f32, f32
    }""")
    r, s = numbers("f32", 32), np.zeros(8, np.int64)
    assert code("f", 50.0, 6, r, s) == (3, 7)
    assert r[8:16].tolist() == [1, 2, 3, 50, 5, 6, 50, 8]
    assert r[16:24].tolist() == [50] * 8
    assert r[24:28].tolist() == [8, 1, 50, 3]
    assert s.tolist() == list(range(8))


Reduce = Callable[[np.ndarray[Any, Any]], Any]
REDUCTIONS: dict[tuple[str, str], Reduce] = {
    ("add", "i32"): np.sum,
    ("mul", "i32"): np.prod,
    ("and", "i32"): np.bitwise_and.reduce,
    ("or", "i32"): np.bitwise_or.reduce,
    ("xor", "i32"): np.bitwise_xor.reduce,
    ("minsi", "i32"): np.min,
    ("maxsi", "i32"): np.max,
    ("minui", "i32"): lambda a: a.view(np.uint32).min().astype(np.int32),
    ("maxui", "i32"): lambda a: a.view(np.uint32).max().astype(np.int32),
    ("add", "f64"): math.fsum,
    ("mul", "f64"): np.prod,
    ("minnumf", "f64"): np.fmin.reduce,
    ("maxnumf", "f64"): np.fmax.reduce,
    ("minimumf", "f64"): np.min,
    ("maximumf", "f64"): np.max,
}
COMBINE = {
    "add": np.add,
    "mul": np.multiply,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


@pytest.mark.parametrize(("operation", "kind"), REDUCTIONS)
def test_reduction(operation: str, kind: str) -> None:
    code = MachineCode(f"""
    func.func @f(%A: memref<8x{kind}>, %x: {kind}) -> ({kind}, {kind}) {{
      %v = affine.vector_load %A[0] : memref<8x{kind}>, vector<8x{kind}>
      %r = vector.reduction <{operation}>, %v : vector<8x{kind}> into {kind}
      %s = vector.reduction <{operation}>, %v, %x : vector<8x{kind}> into {kind}
      return %r, %s : {kind}, {kind}
    }}""")
    reduce = REDUCTIONS[operation, kind]
    generator = np.random.default_rng(2)
    for nan in (False, True) if kind == "f64" else (False,):
        values = generator.integers(-9, 9, 8).astype(NUMPY_TYPES[kind])
        if nan:
            values[3] = np.nan
        found, started = code("f", values, 3)
        expected = reduce(values)
        with_start = reduce(np.append(values, NUMPY_TYPES[kind](3)))
        np.testing.assert_array_equal([found, started], [expected, with_start])


def test_sums_of_lanes_are_in_order_unless_reassociation_is_allowed() -> None:
    def reduction(flags: str) -> MachineCode:
        return MachineCode(f"""
        func.func @f(%A: memref<8xf32>) -> f32 {{
          %v = affine.vector_load %A[0] : memref<8xf32>, vector<8xf32>
          %r = vector.reduction <add>, %v {flags} : vector<8xf32> into f32
          return %r : f32
        }}""")

    values = np.array([1e8, 1, -1e8, 1, 1, 1, 1, 1], np.float32)
    in_order = np.float32(0)
    for value in values:
        in_order = np.float32(in_order + value)
    assert reduction("")("f", values) == in_order
    assert reduction("").assembly.count("vaddss") >= 7
    assert reduction("fastmath<reassoc>").assembly.count("vaddss") < 7


def test_vector_fma_rounds_once() -> None:
    code = MachineCode("""
    func.func @f(%A: memref<8xf64>, %B: memref<8xf64>) {
      %a = affine.vector_load %A[0] : memref<8xf64>, vector<8xf64>
      %b = affine.vector_load %B[0] : memref<8xf64>, vector<8xf64>
      %n = arith.negf %b : vector<8xf64>
      %r = vector.fma %a, %a, %n : vector<8xf64>
      affine.vector_store %r, %A[0] : memref<8xf64>, vector<8xf64>
      return
    }""")
    a = 1 + np.arange(8) * 2.0**-30
    b = a * a
    code("f", a, b)
    rounding = np.arange(8) ** 2 * 2.0**-60 - (b - 1 - np.arange(8) * 2.0**-29)
    np.testing.assert_array_equal(a, rounding)


def micro_kernel(lanes: int = 16, rows: int = 8, columns: int = 3) -> str:
    """A tile of C, updated in memory at each step of k."""
    vector = f"vector<{lanes}xf32>"
    return f"""
    func.func @gemm(%C: memref<{rows}x{columns * lanes}xf32>, %A: memref<256x{rows}xf32>,
                    %B: memref<256x{columns * lanes}xf32>) {{
      affine.for %k = 0 to 256 {{
        affine.for %i = 0 to {rows} {{
          affine.for %j = 0 to {columns} {{
            %a = affine.load %A[%k, %i] : memref<256x{rows}xf32>
            %x = vector.broadcast %a : f32 to {vector}
            %b = affine.vector_load %B[%k, %j * {lanes}]
              : memref<256x{columns * lanes}xf32>, {vector}
            %c = affine.vector_load %C[%i, %j * {lanes}]
              : memref<{rows}x{columns * lanes}xf32>, {vector}
            %p = arith.mulf %x, %b : {vector}
            %s = arith.addf %c, %p : {vector}
            affine.vector_store %s, %C[%i, %j * {lanes}]
              : memref<{rows}x{columns * lanes}xf32>, {vector}
          }}
        }}
      }}
      return
    }}"""


def test_a_tile_stays_in_registers_across_a_loop() -> None:
    code = MachineCode(micro_kernel())
    generator = np.random.default_rng(0)
    a, b = generator.normal(size=(256, 8)), generator.normal(size=(256, 48))
    c = np.zeros((8, 48), np.float32)
    code("gemm", c, a.astype(np.float32), b.astype(np.float32))
    np.testing.assert_allclose(c, a.T @ b, rtol=1e-4, atol=1e-4)


def test_registers_and_instructions_of_a_micro_kernel() -> None:
    lanes = Target.host().lanes(f32)
    code = MachineCode(micro_kernel(lanes, 4, 2))
    register = {16: "%zmm", 8: "%ymm", 4: "%xmm"}[lanes]
    # One multiplication and one store of each vector of C: they are not repeated for each k.
    instructions = code.assembly.splitlines()
    products = [line for line in instructions if re.search(rf"v?f?m(ul|add).*{register}", line)]
    stores = [line for line in instructions if re.search(rf"mov[ua]p[sd]\s+{register}\d+, ", line)]
    assert len(products) == 8
    assert len([line for line in stores if line.endswith(")")]) == 8


def test_vectors_that_fill_no_register_and_more_than_one() -> None:
    code = MachineCode("""
    func.func @f(%A: memref<?xf64>) {
      %a = affine.vector_load %A[0] : memref<?xf64>, vector<3xf64>
      %b = arith.addf %a, %a : vector<3xf64>
      affine.vector_store %b, %A[0] : memref<?xf64>, vector<3xf64>
      %c = affine.vector_load %A[3] : memref<?xf64>, vector<32xf64>
      %d = math.sqrt %c : vector<32xf64>
      affine.vector_store %d, %A[3] : memref<?xf64>, vector<32xf64>
      return
    }""")
    a = np.arange(40.0) ** 2
    code("f", a)
    squares, roots = np.arange(40.0) ** 2, np.arange(40.0)
    expected = np.concatenate([2 * squares[:3], roots[3:35], squares[35:]])
    np.testing.assert_array_equal(a, expected)


THREE_POINTS = """
    func.func @f(%n: index, %A: memref<?xf64>, %B: memref<?xf64>) {
      affine.for %j = 1 to %n step 8 {
        %a0 = affine.vector_load %A[%j - 1] : memref<?xf64>, vector<4xf64>
        %a1 = affine.vector_load %A[%j] : memref<?xf64>, vector<4xf64>
        %a2 = affine.vector_load %A[%j + 2] : memref<?xf64>, vector<4xf64>
        %s1 = arith.addf %a0, %a1 : vector<4xf64>
        %s2 = arith.addf %s1, %a2 : vector<4xf64>
        affine.vector_store %s2, %B[%j] : memref<?xf64>, vector<4xf64>
        STORE
        %b0 = affine.vector_load %A[%j + 3] : memref<?xf64>, vector<4xf64>
        %b1 = affine.vector_load %A[%j + 4] : memref<?xf64>, vector<4xf64>
        %b2 = affine.vector_load %A[%j + 6] : memref<?xf64>, vector<4xf64>
        %s3 = arith.addf %b0, %b1 : vector<4xf64>
        %s4 = arith.addf %s3, %b2 : vector<4xf64>
        affine.vector_store %s4, %B[%j + 4] : memref<?xf64>, vector<4xf64>
      }
      return
    }"""


def three_points(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    result = np.zeros_like(a)
    result[1:17] = (a[0:16] + a[1:17]) + a[3:19]
    return result


def test_neighbours_that_others_load_are_put_together_in_registers() -> None:
    code = MachineCode(THREE_POINTS.replace("STORE", ""))
    # 3 and 6 lie 1 and 2 behind vectors that are loaded anyway, as are those that follow.
    assert code.llvm_ir.count("shufflevector") == 2
    assert code.llvm_ir.count("load <4 x double>") == 4
    a, b = np.sqrt(np.arange(19.0)), np.zeros(19)
    code("f", 17, a, b)
    np.testing.assert_array_equal(b, three_points(a))


def test_vectors_are_not_put_together_across_a_store() -> None:
    store = "affine.vector_store %s2, %A[%j + 3] : memref<?xf64>, vector<4xf64>"
    code = MachineCode(THREE_POINTS.replace("STORE", store))
    assert "shufflevector" not in code.llvm_ir
    a, b = np.sqrt(np.arange(30.0)), np.zeros(30)
    expected, scratch = b.copy(), a.copy()
    for j in range(1, 17, 8):
        first = (scratch[j - 1 : j + 3] + scratch[j : j + 4]) + scratch[j + 2 : j + 6]
        scratch[j + 3 : j + 7] = first
        second = (scratch[j + 3 : j + 7] + scratch[j + 4 : j + 8]) + scratch[j + 6 : j + 10]
        expected[j : j + 8] = [*first, *second]
    code("f", 17, a, b)
    np.testing.assert_array_equal(b, expected)


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_constants_of_both_zeros_stay_apart(kind: str) -> None:
    code = MachineCode(f"""
    func.func @f(%A: memref<4x4x{kind}>) {{
      %plus = arith.constant dense<0.0> : vector<4x{kind}>
      %minus = arith.constant dense<-0.0> : vector<4x{kind}>
      %both = arith.constant dense<[0.0, -0.0, -0.0, 0.0]> : vector<4x{kind}>
      %again = arith.constant dense<-0.0> : vector<4x{kind}>
      affine.vector_store %plus, %A[0, 0] : memref<4x4x{kind}>, vector<4x{kind}>
      affine.vector_store %minus, %A[1, 0] : memref<4x4x{kind}>, vector<4x{kind}>
      affine.vector_store %both, %A[2, 0] : memref<4x4x{kind}>, vector<4x{kind}>
      affine.vector_store %again, %A[3, 0] : memref<4x4x{kind}>, vector<4x{kind}>
      return
    }}""")
    array = np.ones((4, 4), NUMPY_TYPES[kind])
    code("f", array)
    expected = [[False] * 4, [True] * 4, [False, True, True, False], [True] * 4]
    assert np.signbit(array).tolist() == expected
    assert not array.any()
