"""`loopwright report`: mistakes on its command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.runtime_programs import GEMM

from loopwright.cli import main


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--seconds", "0"], "--seconds must be positive, got 0.0"),
        (["--seconds", "inf"], "--seconds must be at most 1000000000, got inf"),
        (["--peers", "clangg"], "no peer 'clangg'; there are clang, "),
        (["--threads", "0"], "--threads must be between 1 and "),
        (["--size", "MINI"], "--size is for shipped kernels"),
        (["-o", "nowhere/report.html"], "there is no directory nowhere"),
        (["--set", "ni=many"], "--set ni: a size is a number, got 'many'"),
        (["-p", "tile{loops=x sizes=4}"], "there is no loop x"),
        (["-p", "default"], "the default schedule of gemm needs sizes; add --set ni=..."),
    ],
)
def test_mistakes(
    options: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gemm.mlir").write_text(GEMM)
    assert main(["report", "gemm.mlir", *options]) == 1
    error = capsys.readouterr().err
    assert error.startswith("loopwright: error: ") and message in error
    assert not Path("report.html").exists()


def test_peers_are_for_shipped_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gemm.mlir").write_text(GEMM)
    assert main(["report", "gemm.mlir", "--peers", "numpy"]) == 1
    assert "--peers is for shipped kernels" in capsys.readouterr().err


OUTSIDE = """\
func.func @outside(%n: index, %A: memref<?xf64>, %s: memref<f64>) {
  %c = arith.constant 3.5 : f64
  affine.store %c, %s[] : memref<f64>
  affine.for %i = 0 to %n {
    %t = affine.load %s[] : memref<f64>
    %a = affine.load %A[%i] : memref<?xf64>
    %u = arith.addf %a, %t : f64
    affine.store %u, %s[] : memref<f64>
  }
  return
}
"""

ONE = """\
func.func @one(%n: index, %A: memref<?xf64>) {
  %c = arith.constant 3.5 : f64
  affine.store %c, %A[2] : memref<?xf64>
  return
}
"""

EMPTY = "func.func @none(%n: index, %A: memref<?xf64>) {\n  return\n}\n"


@pytest.mark.parametrize("program", [OUTSIDE, ONE, EMPTY], ids=["outside", "one", "empty"])
@pytest.mark.parametrize("sizes", [[], ["--set=n=7", "--set=A_dim0=7"], ["--set=n=0"]])
def test_programs_with_few_loops_or_none(
    program: str, sizes: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("program.mlir").write_text(program)
    assert main(["report", "program.mlir", "--no-runs", *sizes, "-o", "page.html"]) == 0
    assert 'id="code"' in Path("page.html").read_text()
