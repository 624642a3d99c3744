"""Both LLVMs: the shared library's, and the one inside of llvmlite."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from loopwright.lowering.llvm.target import features, processor, vectoriser_features
from loopwright.passes.target import Target
from loopwright.runtime import llvm
from loopwright.runtime.llvm import library
from loopwright.runtime.llvm.choice import VARIABLE
from loopwright.runtime.llvm.library_module import LibraryModule
from loopwright.runtime.llvm.llvmlite_module import LlvmliteModule
from loopwright.runtime.program import load

HOST = llvm.Machine(processor(Target.host()), vectoriser_features(Target.host()))
PLAIN = llvm.Machine(processor(Target.host()), features(Target.host()))
MODULES: list[Callable[[str, llvm.Machine], llvm.Module]] = [LlvmliteModule]
if library.find_library() is not None:
    MODULES.append(LibraryModule)

PRODUCT = """
func.func @f(%A: memref<64x64xf64>, %B: memref<64x64xf64>, %C: memref<64x64xf64>) {
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 64 {
      affine.for %k = 0 to 64 {
        %a = affine.load %A[%i, %k] : memref<64x64xf64>
        %b = affine.load %B[%k, %j] : memref<64x64xf64>
        %c = affine.load %C[%i, %j] : memref<64x64xf64>
        %p = arith.mulf %a, %b : f64
        %s = arith.addf %c, %p : f64
        affine.store %s, %C[%i, %j] : memref<64x64xf64>
      }
    }
  }
  return
}
"""
SCHEDULES = (
    "",
    "tile{loops=i,j sizes=8,16},interchange{loops=k,i,j},unroll{loops=i},"
    "vectorize{loops=j width=8}",
    "interchange{loops=k,j},vectorize{loops=j width=8},unroll{loops=k factor=4}",
    "parallel{loops=i}",
)


def llvm_ir(schedule: str) -> str:
    (function,) = load(PRODUCT).values()
    return function.compile(schedule=schedule, threads=2).llvm_ir


def assembly(module: llvm.Module) -> list[str]:
    """The instructions."""
    lines = module.emit(PLAIN, "assembly").decode().splitlines()
    return [line for line in lines if not line.strip().startswith((".", "#"))]


@pytest.mark.skipif(len(MODULES) < 2, reason="there is one LLVM only")
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("is_simplified", [False, True])
@pytest.mark.parametrize("unrolls", [False, True])
def test_both_make_the_same_code(schedule: str, is_simplified: bool, unrolls: bool) -> None:
    """Labels and schedules do not depend on which of the two it is."""
    text = llvm_ir(schedule)
    found: list[list[str]] = []
    for kind in MODULES:
        module = kind(text, PLAIN if is_simplified else HOST)
        if is_simplified:
            module.simplify(unrolls=unrolls)
        else:
            module.optimise(unrolls=unrolls)
        found.append(assembly(module))
    assert found[0] == found[1]
    assert any("mulsd" in line or "mulpd" in line or "fmadd" in line for line in found[0])


@pytest.mark.parametrize("kind", MODULES)
def test_modules_are_linked(kind: Callable[[str, llvm.Machine], llvm.Module]) -> None:
    first = kind("define i64 @f() {\n  ret i64 1\n}", HOST)
    first.link(kind("define i64 @g() {\n  ret i64 2\n}", HOST))
    assert "@f" in str(first) and "@g" in str(first)
    assert {"f:", "g:"} <= {line.split()[0] for line in assembly(first) if line}
    with pytest.raises(RuntimeError, match="symbol multiply defined"):
        first.link(kind("define i64 @f() {\n  ret i64 3\n}", HOST))


@pytest.mark.parametrize("kind", MODULES)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("define i64 @f( {", "expected"),
        ("define i64 @f() {\n  %a = add i64 %b, 1\n  ret i64 %a\n}", "undefined value"),
        (
            "define i64 @f(i1 %c) {\n  br i1 %c, label %a, label %b\n"
            "a:\n  %x = add i64 1, 1\n  br label %b\nb:\n  ret i64 %x\n}",
            "does not dominate",
        ),
    ],
)
def test_invalid_modules_are_errors(
    kind: Callable[[str, llvm.Machine], llvm.Module], text: str, message: str
) -> None:
    with pytest.raises(RuntimeError, match=message):
        kind(text, HOST)


@pytest.mark.parametrize("kind", MODULES)
def test_threads_use_it_at_once(kind: Callable[[str, llvm.Machine], llvm.Module]) -> None:
    text = llvm_ir("")
    found: list[bytes] = []

    def work() -> None:
        for _ in range(3):
            module = kind(text, HOST)
            module.optimise(unrolls=True)
            found.append(module.emit(PLAIN, "object"))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 12 and len(set(found)) == 1


def test_the_variable_takes_that_of_llvmlite() -> None:
    program = (
        "from loopwright.runtime import jit, llvm\n"
        "from loopwright.passes.target import Target\n"
        "jit.compile_module('define void @f() { ret void }', target=Target.host())\n"
        "print(llvm.version())"
    )
    for value in ("llvmlite", ""):
        run = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), VARIABLE: value},
        )
        is_llvmlite = value == "llvmlite" or library.find_library() is None
        assert ("llvmlite" in run.stdout) == is_llvmlite


def test_without_the_package_there_is_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "PACKAGE", "no-such-package-of-llvm")
    assert library.find_library.__wrapped__() is None
    monkeypatch.undo()
    monkeypatch.setattr(library, "FILE", "no-such-file.so")
    assert library.find_library.__wrapped__() is None
