"""Object code: compiled, loaded, called, unloaded."""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.machine_code import MachineCode

from loopwright.dialects.parse import parse_module
from loopwright.lowering.llvm import llvm_target, translate
from loopwright.passes.machine.target import Target
from loopwright.runtime.jit import object_code as jit
from loopwright.runtime.jit import openmp
from loopwright.runtime.program import load

ADD = """
define i64 @add(i64 %a, i64 %b) {
  %c = add i64 %a, %b
  ret i64 %c
}
define i64 @other(i64 %a) {
  %c = call i64 @missing(i64 %a)
  ret i64 %c
}
declare i64 @missing(i64)
"""


def binary(address: int) -> ctypes._FuncPointer:  # pyright: ignore[reportPrivateUsage]
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(address)


@ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
def successor(value: int) -> int:
    return value + 1


IMPORTS = {"missing": ctypes.cast(successor, ctypes.c_void_p).value or 0}


@pytest.mark.parametrize("vectorise", [None, False, True])
def test_object_code_is_called(vectorise: bool | None) -> None:
    options = jit.CompileOptions(vectorise)
    code = jit.compile_module(ADD, target=Target.host(), options=options)
    loaded = jit.load_object(code, ["add", "other"], IMPORTS)
    assert binary(loaded["add"])(40, 2) == 42
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(loaded["other"])(41) == 42


def test_the_same_object_can_be_loaded_many_times_and_is_unloaded() -> None:
    code = jit.compile_module(ADD, target=Target.host())
    kept = jit.load_object(code, ["add"], IMPORTS)
    for _ in range(200):
        loaded = jit.load_object(code, ["add"], IMPORTS)
        assert loaded["add"] != kept["add"]
        assert binary(loaded["add"])(1, 2) == 3
        del loaded
    gc.collect()
    assert binary(kept["add"])(1, 2) == 3


def test_missing_symbols_are_an_error() -> None:
    code = jit.compile_module(ADD, target=Target.host())
    with pytest.raises(RuntimeError, match="materialize"):
        jit.load_object(code, ["other"])
    with pytest.raises(RuntimeError, match=r"nonsense|materialize"):
        jit.load_object(code, ["nonsense"], IMPORTS)
    loaded = jit.load_object(code, ["add"], IMPORTS)
    assert binary(loaded["add"])(2, 2) == 4


def test_foreign_bytes_are_an_error() -> None:
    with pytest.raises(RuntimeError):
        jit.load_object(b"this is no object file", ["add"])


def test_invalid_llvm_ir_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="expected"):
        jit.compile_module("define i64 @f( {", target=Target.host())


def test_several_threads_compile_and_load_at_once() -> None:
    results: list[int] = []

    def work(number: int) -> None:
        text = f"define i64 @f() {{\n  ret i64 {number}\n}}"
        for _ in range(5):
            loaded = jit.load_object(jit.compile_module(text, target=Target.host()), ["f"])
            results.append(ctypes.CFUNCTYPE(ctypes.c_int64)(loaded["f"])() - number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [0] * 20


def test_assembly_and_optimised_ir_are_text() -> None:
    assert "loopwright_f" in MachineCode("func.func @f() {\n  return\n}").assembly
    optimised = jit.optimised_ir(ADD, target=Target.host())
    assert "define" in optimised and "@add" in optimised


VECTOR = """
func.func @f(%A: memref<16xf32>) {
  affine.for %i = 0 to 16 step 8 {
    %a = affine.vector_load %A[%i] : memref<16xf32>, vector<8xf32>
    affine.vector_store %a, %A[%i] : memref<16xf32>, vector<8xf32>
  }
  SCALAR
  return
}"""
SCALAR = """affine.for %i = 0 to 16 {
    %a = affine.load %A[%i] : memref<16xf32>
    affine.store %a, %A[%i] : memref<16xf32>
  }"""


def test_only_code_with_vectors_everywhere_is_left_alone() -> None:
    mark = "loopwright-explicit-vectors"
    assert mark in MachineCode(VECTOR.replace("SCALAR", "")).llvm_ir
    assert mark not in MachineCode(VECTOR.replace("SCALAR", SCALAR)).llvm_ir
    assert mark not in MachineCode("func.func @f() {\n  return\n}").llvm_ir


def test_scalar_loops_are_vectorised_for_wide_registers() -> None:
    code = MachineCode("""
    func.func @f(%n: index, %A: memref<?xf32>, %B: memref<?xf32>) {
      affine.for %i = 0 to %n {
        %a = affine.load %A[%i] : memref<?xf32>
        %b = affine.load %B[%i] : memref<?xf32>
        %c = arith.mulf %a, %b : f32
        affine.store %c, %A[%i] : memref<?xf32>
      }
      return
    }""")
    register = {512: "%zmm", 256: "%ymm", 128: "%xmm"}[Target.host().vector_bits]
    assert any("mulps" in line and register in line for line in code.assembly.splitlines())


UNROLLED_LOOPS = """
func.func @f(%A: memref<148x148xf64>, %B: memref<148x148xf64>) {
  affine.for %j = 0 to 148 {
    affine.for %kt = 0 to 10 {
      affine.for %k = affine_map<(d0) -> (d0 * 16)>(%kt)
          to min affine_map<(d0) -> (148, d0 * 16 + 16)>(%kt) {
        affine.for %i = 0 to 148 step 2 {
          %a = affine.load %A[%i, %j] : memref<148x148xf64>
          %b = affine.load %B[%i, %j] : memref<148x148xf64>
          %c = arith.addf %a, %b : f64
          affine.store %c, %A[%i, %j] : memref<148x148xf64>
          %d = affine.load %A[%i + 1, %j] : memref<148x148xf64>
          %e = affine.load %B[%i + 1, %j] : memref<148x148xf64>
          %f = arith.addf %d, %e : f64
          affine.store %f, %A[%i + 1, %j] : memref<148x148xf64>
        }
      }
    }
  }
  return
}"""


def test_loops_of_unrolled_loops_do_not_explode() -> None:
    """A random program of 3 KiB, of which LLVM made 19,000 instructions in 16 seconds."""
    code = MachineCode(UNROLLED_LOOPS)
    assert len(jit.optimised_ir(code.llvm_ir, target=Target.host())) < 10_000
    values = np.random.default_rng(0).random((2, 148, 148))
    expected = values[0]
    for _ in range(148):
        expected = expected + values[1]
    code("f", *values)
    np.testing.assert_array_equal(values[0], expected)


COPIED_LOOPS = """
func.func @f(%A: memref<200x200xf64>, %B: memref<200x200xf64>, %C: memref<200x200xf64>) {
  affine.for %i = 0 to 200 {
    affine.for %j = affine_map<(d0) -> (d0 + 1)>(%i) to 200 {
      affine.for %k = 0 to 200 {
        %a = affine.load %A[%i, %j] : memref<200x200xf64>
        %b = affine.load %B[%i, %k] : memref<200x200xf64>
        %c = affine.load %C[%j, %k] : memref<200x200xf64>
        %p = arith.mulf %b, %c : f64
        %s = arith.addf %a, %p : f64
        affine.store %s, %A[%i, %j] : memref<200x200xf64>
      }
    }
  }
  return
}"""


def test_loops_that_stand_in_many_copies_are_not_unrolled() -> None:
    """A schedule from data generation: LLVM made 4.4 MB of 450 KB, in a minute."""
    (function,) = load(COPIED_LOOPS).values()
    schedule = (
        "interchange{loops=j,i,k},tile{loops=k sizes=384},interchange{loops=kt,j,i,k},"
        "pack{loops=kt array=C order=0,1 panels=24,0},"
        "tile{loops=C0,C1 sizes=24,8},unroll{loops=C0,C1},vectorize{loops=C0 width=8},"
        "tile{loops=j,i sizes=96,8},unroll{loops=i,j},vectorize{loops=j width=8}"
    )
    kernel = function.compile(schedule=schedule, threads=1)
    assert len(jit.optimised_ir(kernel.llvm_ir, target=Target.host())) < 1_000_000
    values = np.random.default_rng(0).random((3, 200, 200))
    expected = values[0] + np.triu(values[1] @ values[2].T, 1)
    kernel(*values)
    np.testing.assert_allclose(values[0], expected)


SQUARES = """
func.func @f(%A: memref<1024xf32>) {
  affine.for %i = 0 to 1024 {
    %a = affine.load %A[%i] : memref<1024xf32>
    %b = arith.mulf %a, %a : f32
    affine.store %b, %A[%i] : memref<1024xf32>
  }
  return
}"""


@pytest.mark.parametrize(
    ("name", "register", "wider"), [("x86-64-v3", "%ymm", "%zmm"), ("x86-64-v4", "%zmm", "none")]
)
def test_code_for_a_named_target(name: str, register: str, wider: str) -> None:
    target = Target.named(name)
    text = str(translate(parse_module(SQUARES), target=target))
    assembly = jit.emit_assembly(text, target=target)
    assert register in assembly
    assert wider not in assembly


INSERTED = """
define void @f(ptr %p, ptr %q) {
  %a = load <8 x i16>, ptr %p
  %b = load <8 x i16>, ptr %q
  %c = shufflevector <8 x i16> %a, <8 x i16> %b, <8 x i32> <i32 0, i32 8, i32 9, i32 3,
    i32 undef, i32 undef, i32 undef, i32 undef>
  store <8 x i16> %c, ptr %p
  ret void
}"""


@pytest.mark.skipif(not Target.named("zen3").runs_here, reason="its code is for x86-64")
def test_loaded_code_has_no_instruction_that_this_machine_lacks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    zen = Target.named("zen3")
    assert "insertq" in jit.emit_assembly(INSERTED, target=zen), "SSE4a, which is AMD's alone"
    monkeypatch.setattr(llvm_target.binding, "get_host_cpu_features", lambda: {"sse4a": False})
    llvm_target.lacking_features.cache_clear()
    try:
        assert "insertq" not in jit.emit_assembly(INSERTED, target=replace(zen, is_loaded=True))
    finally:
        llvm_target.lacking_features.cache_clear()


def test_a_runtime_is_found_without_importing_torch() -> None:
    program = (
        "import sys; from loopwright.runtime.jit import openmp; "
        "found = openmp.imports(); "
        "assert 'torch' not in sys.modules; "
        "assert all(found.values()), found; "
        "print(openmp.library() is not None)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == str(openmp.library() is not None)


def test_llvm_stores_far_elements_one_by_one_on_zen() -> None:
    program = """
    func.func @turn(%A: memref<64x64xf64>, %B: memref<64x64xf64>) {
      affine.for %i = 0 to 64 {
        affine.for %j = 0 to 64 {
          %a = affine.load %A[%i, %j] : memref<64x64xf64>
          %b = arith.mulf %a, %a : f64
          affine.store %b, %B[%j, %i] : memref<64x64xf64>
        }
      }
      return
    }
    """
    (function,) = load(program).values()
    llvm_ir = function.compile(schedule="", threads=1).llvm_ir
    zen = replace(Target.host(), name="zen4", processor="znver4")
    assert "scatter" not in jit.optimised_ir(llvm_ir, target=zen)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_is_unloaded_leaves_no_memory() -> None:
    names = [f"f{number}" for number in range(100)]
    text = "\n".join(f"define i64 @{name}(i64 %x) {{ ret i64 %x }}" for name in names)
    code = jit.compile_module(text, target=Target.host())

    def private_bytes() -> int:
        gc.collect()
        lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
        return sum(int(line.split()[1]) << 10 for line in lines if "Private_Dirty" in line)

    def load_often(times: int) -> None:
        for _ in range(times):
            jit.load_object(code, names[:1])

    load_often(200)
    before = private_bytes()
    load_often(500)
    assert private_bytes() - before < 500 * 2048


def test_code_stays_while_its_neighbours_go() -> None:
    text = "define i64 @f(i64 %x) {{ %y = add i64 %x, {}\nret i64 %y }}"
    kept: list[tuple[int, jit.LoadedObject]] = []
    for number in range(70):
        code = jit.compile_module(text.format(number), target=Target.host())
        loaded = jit.load_object(code, ["f"])
        if number % 20 == 7:
            kept.append((number, loaded))
    del loaded
    gc.collect()
    for number, loaded in kept:
        assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(loaded["f"])(1000) == 1000 + number
