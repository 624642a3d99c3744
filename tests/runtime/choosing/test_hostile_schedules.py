"""Schedules of strangers in a tuning database: an answer in seconds, never an exception."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import loopwright
from loopwright.passes.machine.target import Target
from loopwright.runtime.choosing.database import Question, Tuned, TuningDatabase

SCALE = """
func.func @scale(%n: index, %x: memref<?xf64>) {
  affine.for %i = 0 to %n {
    %v = affine.load %x[%i] : memref<?xf64>
    %w = arith.addf %v, %v : f64
    affine.store %w, %x[%i] : memref<?xf64>
  }
  return
}
"""


@pytest.mark.parametrize(
    "schedule",
    [
        "tile{loops=i sizes=0}",
        "tile{loops=i sizes=T}",
        "tile{loops=i sizes=99999999999999999999}",
        ",".join(["tile{loops=i sizes=2}"] * 400),
        "affine-schedule{seconds=999999999}",
        "affine-schedule{fusion=../../etc/passwd}",
        "pack{loops=i array=/dev/zero}",
        "mlir-opt[canonicalize]",
        "{" * 5000,
        "schedule.sequence @scale {" + "(" * 5000,
        "builtin.module { func.func @scale() { return } }",
        "\x00\x1b[31m\udcff".encode(errors="replace").decode(),
        "I(L0,L1)P(L0)" * 100,
    ],
)
def test_a_stranger_s_schedule_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, schedule: str
) -> None:
    path = tmp_path / "tuning.sqlite"
    monkeypatch.setenv("LOOPWRIGHT_TUNING", str(path))
    function = loopwright.load(SCALE)["scale"]
    sizes = {"n": 100, "x_dim0": 100}
    question = Question.of(function.function, sizes, Target.host(), threads=1, fast_math=False)
    assert TuningDatabase(path).put(question, Tuned(schedule, 1e-9, 1e9))
    kernel = function.compile("auto", threads=1)
    values = np.ones(100)
    with pytest.warns(RuntimeWarning, match="does not apply any more"):
        kernel(100, values)
    assert (values == 2).all()
