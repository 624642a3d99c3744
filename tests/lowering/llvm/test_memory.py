"""Memory: subscripts, element types, allocation and what happens when there is none left."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from support.machine_code import NUMPY_TYPES, MachineCode

from loopwright.lowering.generate import generate
from loopwright.lowering.llvm import translate
from loopwright.passes.machine.target import Target
from loopwright.runtime.jit.object_code import optimised_ir
from loopwright.runtime.program import load


def test_rank_zero_static_and_dynamic_shapes() -> None:
    code = MachineCode("""
    func.func @f(%s: memref<f32>, %A: memref<2x?x3xf32>, %B: memref<?x?xf32>,
                 %i: index, %j: index) {
      %a = affine.load %A[%i, %j, 2] : memref<2x?x3xf32>
      %b = affine.load %B[%j, symbol(%i) * 2 + 1] : memref<?x?xf32>
      %t = arith.addf %a, %b : f32
      %old = affine.load %s[] : memref<f32>
      %u = arith.addf %old, %t : f32
      affine.store %u, %s[] : memref<f32>
      memref.store %u, %B[%i, %j] : memref<?x?xf32>
      %v = memref.load %A[%i, %j, %i] : memref<2x?x3xf32>
      affine.store %v, %A[0, 0, 0] : memref<2x?x3xf32>
      return
    }""")
    s = np.array(1, np.float32)
    a = np.arange(2 * 5 * 3, dtype=np.float32).reshape(2, 5, 3)
    b = np.arange(5 * 4, dtype=np.float32).reshape(5, 4) * 100
    expected = 1 + a[1, 3, 2] + b[3, 3]
    moved = a[1, 3, 1]
    code("f", s, a, b, 1, 3)
    assert s == expected
    assert b[1, 3] == expected
    assert a[0, 0, 0] == moved


@pytest.mark.parametrize("kind", NUMPY_TYPES)
def test_element_types_keep_their_size(kind: str) -> None:
    code = MachineCode(f"""
    func.func @f(%n: index, %A: memref<?x{kind}>, %B: memref<?x{kind}>) {{
      affine.for %i = 0 to %n {{
        %x = affine.load %A[%i] : memref<?x{kind}>
        affine.store %x, %B[%i * 2] : memref<?x{kind}>
      }}
      return
    }}""")
    a = np.arange(1, 20).astype(NUMPY_TYPES[kind])
    b = np.zeros(40, NUMPY_TYPES[kind])
    code("f", 19, a, b)
    np.testing.assert_array_equal(b[:38:2], a)
    assert not b[1::2].any()


def test_booleans_in_memory_are_bytes_of_any_value() -> None:
    code = MachineCode("""
    func.func @f(%A: memref<16xi1>, %r: memref<16xi32>) {
      affine.for %i = 0 to 16 {
        %x = affine.load %A[%i] : memref<16xi1>
        %y = arith.extui %x : i1 to i32
        affine.store %y, %r[%i] : memref<16xi32>
      }
      return
    }""")
    a = np.arange(16, dtype=np.uint8).view(np.bool_)
    r = np.zeros(16, np.int32)
    code("f", a, r)
    assert r.tolist() == [0] + [1] * 15


def test_sizes_of_arguments_allocations_and_casts() -> None:
    code = MachineCode("""
    func.func @f(%A: memref<?x7x?xf32>, %n: index) -> (index, index, index, index, index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %a0 = memref.dim %A, %c0 : memref<?x7x?xf32>
      %a1 = memref.dim %A, %c1 : memref<?x7x?xf32>
      %a2 = memref.dim %A, %c2 : memref<?x7x?xf32>
      %B = memref.alloc(%n) : memref<3x?xf32>
      %C = memref.cast %B : memref<3x?xf32> to memref<?x?xf32>
      %b0 = memref.dim %C, %c0 : memref<?x?xf32>
      %b1 = memref.dim %C, %c1 : memref<?x?xf32>
      memref.dealloc %B : memref<3x?xf32>
      return %a0, %a1, %a2, %b0, %b1 : index, index, index, index, index
    }""")
    assert code("f", np.zeros((4, 7, 2), np.float32), 11) == (4, 7, 2, 3, 11)


ALLOCATIONS = {
    "small alloca": ("memref.alloca() : memref<6x7xf64>", "6x7"),
    "small alloc": ("memref.alloc() : memref<6x7xf64>", "6x7"),
    "large alloca": ("memref.alloca() : memref<60x70xf64>", "60x70"),
    "large alloc": ("memref.alloc() : memref<60x70xf64>", "60x70"),
    "dynamic alloca": ("memref.alloca(%n) : memref<6x?xf64>", "6x?"),
    "dynamic alloc": ("memref.alloc(%n) : memref<6x?xf64>", "6x?"),
}


def in_a_loop(allocation: str, shape: str, deallocation: str) -> str:
    kind = f"memref<{shape}xf64>"
    return f"""
    func.func @f(%n: index, %r: memref<?xf64>) {{
      affine.for %i = 0 to %n {{
        %m = {allocation}
        %k = arith.index_cast %i : index to i64
        %x = arith.sitofp %k : i64 to f64
        affine.for %a = 0 to 6 {{
          affine.store %x, %m[%a, 0] : {kind}
        }}
        %y = affine.load %m[5, 0] : {kind}
        affine.store %y, %r[%i] : memref<?xf64>
        {deallocation}
      }}
      return
    }}"""


def memory_balance(code: MachineCode) -> tuple[int, int]:
    """How many calls of the allocator and of `free` there are in the code."""
    calls = re.findall(r'call [^@]*@"?(aligned_alloc|free)"?\(', code.llvm_ir)
    return calls.count("aligned_alloc"), calls.count("free")


@pytest.mark.parametrize("name", ALLOCATIONS)
@pytest.mark.parametrize("deallocated", [False, True])
def test_allocation_in_a_loop(name: str, deallocated: bool) -> None:
    allocation, shape = ALLOCATIONS[name]
    deallocation = f"memref.dealloc %m : memref<{shape}xf64>" if deallocated else ""
    code = MachineCode(in_a_loop(allocation, shape, deallocation))
    result = np.zeros(40)
    code("f", 40, result)
    np.testing.assert_array_equal(result, np.arange(40.0))
    allocated, _ = memory_balance(code)
    assert allocated == ("small" not in name)


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.parametrize("deallocation", ["", "memref.dealloc %m : memref<?xf64>"])
def test_a_loop_does_not_leak(deallocation: str) -> None:
    code = MachineCode(f"""
    func.func @f(%n: index, %size: index, %r: memref<?xf64>) {{
      affine.for %i = 0 to %n {{
        %m = memref.alloc(%size) : memref<?xf64>
        %x = arith.constant 1.0 : f64
        affine.for %j = 0 to %size {{
          affine.store %x, %m[%j] : memref<?xf64>
        }}
        %y = affine.load %m[0] : memref<?xf64>
        affine.store %y, %r[%i] : memref<?xf64>
        {deallocation}
      }}
      return
    }}""")
    result = np.zeros(500)
    code("f", 1, 50_000, result)
    before = resident_bytes()
    # 500 times 400 kB.
    code("f", 500, 50_000, result)
    assert resident_bytes() - before < 50_000_000
    assert result.all()


DEALLOCATIONS = {
    "twice": """
      memref.dealloc %m : memref<?xf64>
      memref.dealloc %m : memref<?xf64>""",
    "before a use": """
      memref.dealloc %m : memref<?xf64>
      affine.store %x, %m[1] : memref<?xf64>""",
    "through a cast": """
      %c = memref.cast %m : memref<?xf64> to memref<?xf64>
      memref.dealloc %m : memref<?xf64>
      affine.store %x, %c[1] : memref<?xf64>""",
    "in a condition": """
      scf.if %condition {
        memref.dealloc %m : memref<?xf64>
      }
      affine.store %x, %m[1] : memref<?xf64>""",
    "in a loop": """
      affine.for %i = 0 to 3 {
        memref.dealloc %m : memref<?xf64>
      }""",
}


@pytest.mark.parametrize("name", DEALLOCATIONS)
def test_wrong_deallocation_does_no_harm(name: str) -> None:
    code = MachineCode(f"""
    func.func @f(%n: index, %condition: i1, %x: f64) -> f64 {{
      %m = memref.alloc(%n) : memref<?xf64>
      affine.store %x, %m[0] : memref<?xf64>
      {DEALLOCATIONS[name]}
      %y = arith.addf %x, %x : f64
      return %y : f64
    }}""")
    for condition in (False, True):
        for n in (2, 100, 100_000):
            assert code("f", n, condition, 4.0) == 8.0


def test_deallocating_an_argument_leaves_it_alone() -> None:
    code = MachineCode("""
    func.func @f(%A: memref<?xf64>) {
      memref.dealloc %A : memref<?xf64>
      return
    }""")
    code("f", np.zeros(9))
    assert '@"free"' not in code.llvm_ir


def test_memory_is_aligned_to_a_cache_line() -> None:
    # Aligned vector loads and stores trap on anything else.
    code = MachineCode("""
    func.func @f(%n: index, %r: memref<8xf64>) {
      %big = memref.alloc(%n) : memref<?xf64>
      %small = memref.alloca() : memref<8xf64>
      %v = affine.vector_load %r[0] : memref<8xf64>, vector<8xf64>
      affine.vector_store %v, %big[8] : memref<?xf64>, vector<8xf64>
      affine.vector_store %v, %small[0] : memref<8xf64>, vector<8xf64>
      %w = affine.vector_load %big[8] : memref<?xf64>, vector<8xf64>
      %x = affine.vector_load %small[0] : memref<8xf64>, vector<8xf64>
      %y = arith.addf %w, %x : vector<8xf64>
      affine.vector_store %y, %r[0] : memref<8xf64>, vector<8xf64>
      return
    }""")
    result = np.arange(8.0)
    code("f", 16, result)
    np.testing.assert_array_equal(result, 2 * np.arange(8.0))
    assert "align 64" in code.llvm_ir


FAILING = """
func.func @f(%n: index, %m: index, %r: memref<4xf64>) -> f64 {
  %x = arith.constant 7.0 : f64
  %ok = memref.alloc(%m) : memref<?xf64>
  affine.store %x, %r[0] : memref<4xf64>
  affine.for %i = 0 to 3 {
    %big = memref.alloc(%n, %n) : memref<?x?xf64>
    affine.store %x, %big[0, 0] : memref<?x?xf64>
    affine.store %x, %r[1] : memref<4xf64>
  }
  affine.store %x, %r[2] : memref<4xf64>
  return %x : f64
}"""

TOO_LARGE = (1 << 24, 1 << 31, 1 << 32, (1 << 62) + 1, -1, -(1 << 31))


@pytest.mark.parametrize("n", TOO_LARGE)
def test_failing_allocation_is_counted_and_ends_the_function(n: int) -> None:
    code = MachineCode(FAILING)
    result = np.zeros(4)
    code("f", n, 100, result)
    assert code.failed_allocations == 1
    assert result.tolist() == [7, 0, 0, 0]
    assert code("f", 2, 100, result) == 7.0
    assert code.failed_allocations == 1
    assert result.tolist() == [7, 7, 7, 0]


def test_failing_constant_allocation() -> None:
    # What is stored last decides what is loaded, so that LLVM cannot do without the memory.
    kind = "memref<1000000x1000000x1000000xf64>"
    code = MachineCode(f"""
    func.func @f(%a: index, %r: memref<4xf64>) {{
      %x = arith.constant 7.0 : f64
      affine.for %i = 0 to 3 {{
        %big = memref.alloc() : {kind}
        affine.store %x, %big[0, 0, %i] : {kind}
        affine.store %x, %big[0, 0, symbol(%a)] : {kind}
        %y = affine.load %big[0, 0, %i + symbol(%a)] : {kind}
        affine.store %y, %r[%i] : memref<4xf64>
      }}
      return
    }}""")
    result = np.zeros(4)
    code("f", 0, result)
    assert not result.any()
    assert code.failed_allocations == 1


@pytest.mark.parametrize("threads", [1, 3])
def test_failing_allocation_in_a_parallel_loop(threads: int) -> None:
    code = MachineCode(
        """
    func.func @f(%n: index, %r: memref<6xf64>) {
      %x = arith.constant 7.0 : f64
      affine.parallel (%i) = (0) to (6) {
        %big = memref.alloc(%n, %n) : memref<?x?xf64>
        affine.store %x, %big[0, 0] : memref<?x?xf64>
        affine.store %x, %r[%i] : memref<6xf64>
      }
      return
    }""",
        threads=threads,
    )
    result = np.zeros(6)
    code("f", 1 << 31, result)
    assert not result.any()
    assert 1 <= code.failed_allocations <= threads
    code("f", 3, result)
    assert (result == 7).all()


def test_empty_allocations() -> None:
    code = MachineCode("""
    func.func @f(%n: index) -> index {
      %a = memref.alloc(%n) : memref<?x5xf64>
      %b = memref.alloc() : memref<0xf64>
      %c0 = arith.constant 0 : index
      %d = memref.dim %a, %c0 : memref<?x5xf64>
      memref.dealloc %a : memref<?x5xf64>
      return %d : index
    }""")
    assert code("f", 0) == 0


def test_many_small_allocations_do_not_exhaust_the_stack() -> None:
    allocations = "\n".join(
        f"""
      %m{number} = memref.alloca() : memref<2000xf64>
      affine.store %x, %m{number}[%i] : memref<2000xf64>
      %y{number} = affine.load %m{number}[%i] : memref<2000xf64>
      affine.store %y{number}, %r[{number}] : memref<40xf64>"""
        for number in range(40)
    )
    code = MachineCode(f"""
    func.func @f(%i: index, %x: f64, %r: memref<40xf64>) {{
      {allocations}
      return
    }}""")
    result = np.zeros(40)
    code("f", 3, 2.5, result)
    assert (result == 2.5).all()
    slots = len(re.findall(r"alloca \[2000 x double\]", code.llvm_ir))
    allocated, _ = memory_balance(code)
    assert slots * 16000 <= 256 * 1024
    assert slots + allocated == 40


def test_prefetch_changes_nothing() -> None:
    code = MachineCode("""
    func.func @f(%A: memref<4xf64>) {
      affine.for %i = 0 to 4 {
        affine.prefetch %A[%i * 1000000], read, locality<3>, data : memref<4xf64>
        affine.prefetch %A[%i], write, locality<0>, data : memref<4xf64>
      }
      return
    }""")
    a = np.arange(4.0)
    code("f", a)
    assert a.tolist() == [0, 1, 2, 3]
    assert "prefetch" in code.assembly


def test_an_identity_layout_is_no_layout() -> None:
    kind = "memref<4x4xf64, affine_map<(d0, d1) -> (d0, d1)>>"
    code = MachineCode(f"""
    func.func @f(%A: {kind}) -> f64 {{
      %x = affine.load %A[2, 3] : {kind}
      return %x : f64
    }}""")
    assert code("f", np.arange(16.0).reshape(4, 4)) == 11


def test_equal_subscripts_of_several_dimensions() -> None:
    code = MachineCode("""
    func.func @f(%A: memref<4x5x5xf64>, %B: memref<?x?x?xf64>) {
      affine.for %i = 0 to 4 {
        affine.for %j = 0 to 5 {
          %0 = affine.load %A[%i, %j, %j] : memref<4x5x5xf64>
          affine.store %0, %B[%i, %i, %j] : memref<?x?x?xf64>
        }
      }
      return
    }""")
    source, target = np.arange(100.0).reshape(4, 5, 5), np.zeros((4, 6, 5))
    code("f", source, target)
    rows, columns = np.ogrid[:4, :5]
    np.testing.assert_array_equal(target[rows, rows, columns], source[rows, columns, columns])
    assert np.count_nonzero(target) == np.count_nonzero(source[rows, columns, columns])


def test_gathers_of_what_no_loop_changes_stand_in_front_of_loops_that_store_to_the_heap() -> None:
    function = load("""
    func.func @distances(%x: memref<2000x3xf32>, %c: memref<16x9xf32>, %y: memref<2000x16xf32>) {
      %heap = memref.alloc() : memref<2000x16xf32>
      affine.for %i = 0 to 2000 {
        affine.for %q = 0 to 3 {
          affine.for %j = 0 to 16 {
            %a = affine.load %x[%i, %q] : memref<2000x3xf32>
            %b = affine.load %c[%j, %q] : memref<16x9xf32>
            %d = arith.subf %a, %b : f32
            %o = affine.load %heap[%i, %j] : memref<2000x16xf32>
            %e = arith.addf %o, %d : f32
            affine.store %e, %heap[%i, %j] : memref<2000x16xf32>
          }
        }
        affine.for %j = 0 to 16 {
          %s = affine.load %heap[%i, %j] : memref<2000x16xf32>
          affine.store %s, %y[1999 - %i, %j] : memref<2000x16xf32>
        }
      }
      return
    }""")["distances"]
    target = Target.named("zen5")
    schedule = function.schedule("distribute{loops=i},vectorize{loops=S0.j,S1.j width=16}", target)
    text = optimised_ir(translate(generate(schedule, {}), target=target), target=target)
    assert "@aligned_alloc" in text
    before, _, loop = text.partition("= phi i64 ")
    assert "@llvm.masked.gather" in before.partition("define")[2]
    assert "call <16 x float> @llvm.masked.gather" not in loop
