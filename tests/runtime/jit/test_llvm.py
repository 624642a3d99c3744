"""Both LLVMs: the shared library's, and the one inside of llvmlite."""

from __future__ import annotations

import _ctypes
import os
import platform
import re
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from loopwright.lowering.llvm.llvm_target import features, processor, vectoriser_features
from loopwright.passes.machine.target import Target
from loopwright.runtime.jit.code_versions import LLVM_PACKAGE, LLVM_VARIABLE
from loopwright.runtime.jit.llvm import library
from loopwright.runtime.jit.llvm.library_module import LibraryModule
from loopwright.runtime.jit.llvm.llvmlite_module import LlvmliteModule
from loopwright.runtime.jit.object_code import llvm
from loopwright.runtime.program import load

HOST = llvm.Machine(processor(Target.host()), vectoriser_features(Target.host()))
PLAIN = llvm.Machine(processor(Target.host()), features(Target.host()))
Make = Callable[[str, llvm.Machine], llvm.Module]
MODULES: list[Make] = [LlvmliteModule]
LIBRARY = library.find_library()
if LIBRARY is not None:
    MODULES.append(partial(LibraryModule, library=LIBRARY))

PRODUCT = """
func.func @f(%A: memref<67x67xTYPE>, %B: memref<67x67xTYPE>, %C: memref<67x67xTYPE>) {
  affine.for %i = 0 to 67 {
    affine.for %j = 0 to 67 {
      affine.for %k = 0 to 67 {
        %a = affine.load %A[SUBSCRIPTS] : memref<67x67xTYPE>
        %b = affine.load %B[%k, %j] : memref<67x67xTYPE>
        %c = affine.load %C[%i, %j] : memref<67x67xTYPE>
        %p = arith.mulf %a, %b : TYPE
        %s = arith.addf %c, %p : TYPE
        affine.store %s, %C[%i, %j] : memref<67x67xTYPE>
      }
    }
  }
  return
}
"""
# Sizes are no multiple of a vector: there are masks. Columns are gathered, or transposed.
CASES = [
    (element, subscripts, schedule)
    for element in ("f32", "f64")
    for subscripts, schedule in (
        ("%i, %k", ""),
        ("%i, %k", "parallel{loops=i}"),
        ("%i, %k", "interchange{loops=k,j},vectorize{loops=j width=8},unroll{loops=k factor=4}"),
        (
            "%i, %k",
            "tile{loops=i,j sizes=8,16},interchange{loops=k,i,j},unroll{loops=i},"
            "vectorize{loops=j width=8}",
        ),
        ("%k, %i", "interchange{loops=k,i,j},vectorize{loops=j width=16}"),
        ("%j, %k", "interchange{loops=k,j},vectorize{loops=j width=8}"),
        (
            "%j, %k",
            "tile{loops=j,k sizes=8,8},interchange{loops=k,j},unroll{loops=k},"
            "vectorize{loops=j width=8}",
        ),
    )
]


def llvm_ir(element: str = "f64", subscripts: str = "%i, %k", schedule: str = "") -> str:
    text = PRODUCT.replace("TYPE", element).replace("SUBSCRIPTS", subscripts)
    (function,) = load(text).values()
    return function.compile(schedule=schedule, threads=2).llvm_ir


def assembly(module: llvm.Module) -> list[str]:
    """Instructions and constants."""
    lines = [line.strip() for line in module.emit(PLAIN, "assembly").decode().splitlines()]
    data = (".quad", ".long", ".byte", ".zero")
    return [line for line in lines if line.startswith(data) or not line.startswith((".", "#"))]


def test_the_library_is_there_where_its_package_is_required() -> None:
    if sys.platform == "linux" and platform.machine() == "x86_64":
        assert LIBRARY is not None and LLVM_PACKAGE in llvm.version()


@pytest.mark.skipif(len(MODULES) < 2, reason="there is one LLVM only")
@pytest.mark.parametrize(("element", "subscripts", "schedule"), CASES)
@pytest.mark.parametrize("is_simplified", [False, True])
@pytest.mark.parametrize("unrolls", [False, True])
def test_both_make_the_same_code(
    element: str, subscripts: str, schedule: str, is_simplified: bool, unrolls: bool
) -> None:
    """Labels and schedules do not depend on which of the two it is."""
    text = llvm_ir(element, subscripts, schedule)
    found: list[list[str]] = []
    for kind in MODULES:
        module = kind(text, PLAIN if is_simplified else HOST)
        if is_simplified:
            module.simplify(unrolls=unrolls)
        else:
            module.optimise(unrolls=unrolls)
        found.append(assembly(module))
    assert found[0] == found[1]
    assert any("mul" in line or "fmadd" in line for line in found[0])


@pytest.mark.skipif(platform.machine() != "x86_64", reason="an option of x86-64")
@pytest.mark.parametrize("kind", MODULES)
def test_selects_do_not_become_branches(kind: Make) -> None:
    """Where they hang on each other from one iteration to the next, as in alignments."""
    (function,) = load("""
func.func @f(%A: memref<100xi32>, %H: memref<100xi32>, %F: memref<100xi32>, %to: memref<100xi32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  affine.for %i = 1 to 100 iter_args(%e = %one, %h = %one) -> (i32, i32) {
    %a = affine.load %A[%i] : memref<100xi32>
    %diagonal = affine.load %H[%i - 1] : memref<100xi32>
    %f = affine.load %F[%i] : memref<100xi32>
    %longer = arith.subi %e, %one : i32
    %opened = arith.subi %h, %three : i32
    %gap = arith.maxsi %longer, %opened : i32
    %match = arith.addi %diagonal, %a : i32
    %s = arith.maxsi %match, %gap : i32
    %t = arith.maxsi %s, %f : i32
    %best = arith.maxsi %t, %zero : i32
    affine.store %best, %to[%i] : memref<100xi32>
    affine.yield %gap, %best : i32, i32
  }
  return
}
""").values()
    module = kind(function.compile(threads=1).llvm_ir, HOST)
    module.optimise(unrolls=False)
    jumps = [line for line in assembly(module) if re.match(r"j(g|ge|l|le)\b", line)]
    assert any(line.startswith("cmov") for line in assembly(module)) and not jumps, jumps


@pytest.mark.parametrize("kind", MODULES)
def test_modules_are_linked(kind: Make) -> None:
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
def test_invalid_modules_are_errors(kind: Make, text: str, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        kind(text, HOST)


@pytest.mark.parametrize("kind", MODULES)
def test_threads_use_it_at_once(kind: Make) -> None:
    text = llvm_ir()
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
        "from loopwright.runtime.jit.object_code import compile_module, llvm\n"
        "from loopwright.passes.machine.target import Target\n"
        "compile_module('define void @f() { ret void }', target=Target.host())\n"
        "print(llvm.version())"
    )
    for value in ("llvmlite", ""):
        run = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), LLVM_VARIABLE: value},
        )
        is_llvmlite = value == "llvmlite" or library.find_library() is None
        assert ("llvmlite" in run.stdout) == is_llvmlite


@pytest.mark.skipif(LIBRARY is None, reason="there is no library")
def test_what_the_library_complains_of_is_an_error() -> None:
    assert LIBRARY is not None
    module = LibraryModule("define void @f() {\n  ret void\n}", HOST, LIBRARY)
    with pytest.raises(RuntimeError, match="unknown pass name"):
        module._run("no-such-pass", unrolls=True)  # pyright: ignore[reportPrivateUsage]
    wrong = 'define void @f() {\n  call void asm sideeffect "nonsense", ""()\n  ret void\n}'
    module = LibraryModule(wrong, HOST, LIBRARY)
    with pytest.raises(RuntimeError, match="invalid instruction mnemonic"):
        module.emit(PLAIN, "object")


def test_without_the_package_there_is_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "LLVM_PACKAGE", "no-such-package-of-llvm")
    with warnings.catch_warnings(action="error"):
        assert library._find.__wrapped__() is None  # pyright: ignore[reportPrivateUsage]


@pytest.mark.skipif(LIBRARY is None, reason="there is no library")
def test_an_installed_library_that_cannot_be_used_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "text.so").write_text("no library")
    for file, reason in (
        (tmp_path / "text.so", "text.so: "),
        (Path(_ctypes.__file__), "LLVMGetVersion"),
        (tmp_path / "no-such-file.so", r"there is no no-such-file\.so"),
    ):
        monkeypatch.setattr(library, "_FOLDERS", (str(file.parent),))
        monkeypatch.setattr(library, "FILE", file.name)
        with pytest.warns(RuntimeWarning, match=reason):
            assert library._find.__wrapped__() is None  # pyright: ignore[reportPrivateUsage]
