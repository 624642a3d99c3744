"""What is in the cache on disk runs without the compiler: no xDSL, isl or LLVM is imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("xdsl", "islpy", "llvmlite")

TELL = """
import sys
print("imported:", *[name for name in ("xdsl", "islpy", "llvmlite") if name in sys.modules])
"""

FILE = """
import numpy as np, loopwright
A = np.ones((20, 20)); C = np.ones((20, 20))
loopwright.load("kernels/polybench/gemm.mlir")["gemm"].compile({options})(
    20, 20, 20, 1.5, 1.2, C, A, np.ones((20, 20)))
print(C[0, 0])
"""

DECORATED = """
import numpy as np, loopwright
from loopwright import f64, prange

@loopwright.kernel
def smooth(n: int, A: f64["n", "n"], B: f64["n", "n"]):
    for i in prange(1, n - 1):
        for j in range(1, n - 1):
            B[i, j] = 0.25 * (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1])

@loopwright.kernel
def total(A):
    s = 0.0
    for i in range(A.shape[0]):
        s += A[i]
    return s

B = np.zeros((30, 30))
smooth(30, np.ones((30, 30)), B)
print(B.sum(), total(np.arange(9.0)))
"""

RUN = """
from loopwright.cli import main
code = main(["run", "polybench/gemm", "--size", "MINI", "--seconds", "0.01"])
print(code)
"""

PROGRAMS = {
    "a file": FILE.format(options=""),
    "as written": FILE.format(options="None, threads=1"),
    "fast math": FILE.format(options="fast_math=True, threads=2"),
    "decorated functions": DECORATED,
    "the command run": RUN,
}


def started(program: str, folder: Path) -> list[str]:
    """The lines that a process prints."""
    file = folder / "program.py"
    file.write_text(program + TELL)
    environment = {**os.environ, "LOOPWRIGHT_CACHE": str(folder / "cache")}
    run = subprocess.run(
        [sys.executable, str(file)], env=environment, capture_output=True, text=True, check=True
    )
    return run.stdout.splitlines()


@pytest.mark.parametrize("kind", PROGRAMS)
def test_a_second_start_imports_no_compiler(kind: str, tmp_path: Path) -> None:
    first, second = (started(PROGRAMS[kind], tmp_path) for _ in range(2))
    assert first[-1] == f"imported: {' '.join(HEAVY)}"
    assert second[-1] == "imported:"
    assert first[-2] == second[-2]


def test_a_change_of_the_file_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "f.mlir"
    program = f"""
import numpy as np, loopwright
A = np.zeros(4)
loopwright.load({str(file)!r})["f"].compile()(A)
print(A[0])
"""
    for value in ("1.0", "2.0", "1.0"):
        file.write_text(
            "func.func @f(%A: memref<4xf64>) { affine.for %i = 0 to 4 { "
            f"%x = arith.constant {value} : f64 "
            "affine.store %x, %A[%i] : memref<4xf64> } return }"
        )
        assert started(program, tmp_path)[-2] == value


def test_a_program_that_was_changed_in_memory_is_compiled_anew(tmp_path: Path) -> None:
    program = """
import numpy as np, loopwright
from xdsl.dialects.builtin import FloatAttr, f64
from xdsl.dialects import arith
text = '''func.func @f(%A: memref<4xf64>) { affine.for %i = 0 to 4 {
  %x = arith.constant 1.0 : f64 affine.store %x, %A[%i] : memref<4xf64> } return }'''
for value in (3.0, None, 2.0):
    program = loopwright.load(text)
    for op in list(program.module.walk()) if value is not None else ():
        if isinstance(op, arith.ConstantOp):
            op.properties["value"] = FloatAttr(value, f64)
    A = np.zeros(4)
    program["f"].compile()(A)
    print(A[0])
"""
    for _ in range(2):
        assert started(program, tmp_path)[-4:-1] == ["3.0", "1.0", "2.0"]
