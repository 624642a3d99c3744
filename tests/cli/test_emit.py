"""`loopwright emit` with a schedule that is chosen: how many threads it plans for."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.cli import main

COMMAND = ("emit", "polybench/gemm", "--size", "SMALL", "--mlir", "-p", "default")


def test_default_plans_for_the_threads_of_the_runtime(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*COMMAND]) == 0
    assert "func.func @gemm" in capsys.readouterr().out


def test_threads_are_at_least_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*COMMAND, "-t", "0"]) == 1
    assert "--threads must be between 1 and 1024, got 0" in capsys.readouterr().err


OTHER_TYPES = """
func.func private @FUNCTION(f64, i32) -> f64 attributes {llvm.readnone}
func.func @f(%n: index, %A: memref<?xf64>, %k: i32) {
  affine.for %i = 0 to %n {
    %0 = affine.load %A[%i] : memref<?xf64>
    %1 = func.call @FUNCTION(%0, %k) : (f64, i32) -> f64
    affine.store %1, %A[%i] : memref<?xf64>
  }
  return
}
"""


@pytest.mark.parametrize("name", ["fdim", "exp10"])
def test_functions_with_names_of_the_library_and_other_types_are_called(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "f.mlir"
    path.write_text(OTHER_TYPES.replace("FUNCTION", name))
    assert main(["emit", str(path), "--llvm"]) == 0
    assert f'declare double @"{name}"(double %".1", i32 %".2")' in capsys.readouterr().out
