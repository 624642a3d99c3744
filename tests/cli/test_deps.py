"""`loopwright deps`: parameters, statements and dependences, readable."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.runtime_programs import FIXED, GEMM

from loopwright.cli import main

EXPECTED = """\
gemm
  parameters: ni, nj, nk

  statements:
    S0(i, j, k)  writes C[i, j]  reads C[i, j], A[i, k], B[k, j]  \
{ S0[i, j, k] : 0 <= i < ni and 0 <= j < nj and 0 <= k < nk }

  dependences:
    flow (reduction)    S0 -> S0  on C  (i: 0, j: 0, k: 1)  \
{ S0[i, j, k] -> S0[i' = i, j' = j, k' = 1 + k] }
    anti (reduction)    S0 -> S0  on C  (i: 0, j: 0, k: 1)  \
{ S0[i, j, k] -> S0[i' = i, j' = j, k' = 1 + k] }
    output (reduction)  S0 -> S0  on C  (i: 0, j: 0, k: 1)  \
{ S0[i, j, k] -> S0[i' = i, j' = j, k' = 1 + k] }
"""


def test_dependences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "gemm.mlir"
    path.write_text(GEMM)
    assert main(["deps", str(path)]) == 0
    assert capsys.readouterr().out == EXPECTED


def test_reuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "gemm.mlir"
    path.write_text(GEMM)
    assert main(["deps", str(path), "--input-dependences"]) == 0
    out = capsys.readouterr().out.splitlines()
    reused = [line.split("on ")[1][0] for line in out if line.startswith("    input")]
    assert {"A", "B"} <= set(reused)


def test_all_functions_or_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "both.mlir"
    path.write_text(GEMM + FIXED)
    assert main(["deps", str(path)]) == 0
    both = capsys.readouterr().out
    assert main(["deps", str(path), "--func", "fixed"]) == 0
    one = capsys.readouterr().out
    assert both.endswith(f"\n\n{one}")
    assert one.splitlines()[-1] == "    none"
    assert "parameters: none" in one
