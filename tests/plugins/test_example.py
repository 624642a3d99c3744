"""The plug-in package in `examples/plugin`, installed into a folder: command line and API."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

API = """
import loopwright
from loopwright.costmodel.find import find_model
from loopwright.passes.syntax.schedule_ops import to_sequence
from loopwright.runtime.tuning.tune import TuningOptions, tune
import numpy as np

gemm = loopwright.load({text!r})["gemm"]
rotated = gemm.schedule("rotate{{loops=i,j,k}}")
print(rotated)
print(str(gemm.schedule(str(to_sequence(rotated)))) == str(rotated))
print(str(gemm.schedule("rotate(L0,L1,L2)")) == str(rotated))

A, B = np.random.default_rng(0).random((2, 128, 128))
C = np.zeros((128, 128))
gemm.compile(schedule=rotated)(A, B, C)
print(np.allclose(C, A @ B))

print(type(find_model("parallelism")).__module__)
options = TuningOptions(model="parallelism", search="random-descents", threads=2, keep=False)
found = tune(gemm, [A, B, C], options)
print(found.predicted >= 2.0, found.candidates > 5)
"""

GEMM = """
func.func @gemm(%A: memref<128x128xf64>, %B: memref<128x128xf64>, %C: memref<128x128xf64>) {
  affine.for %i = 0 to 128 {
    affine.for %j = 0 to 128 {
      affine.for %k = 0 to 128 {
        %a = affine.load %A[%i, %k] : memref<128x128xf64>
        %b = affine.load %B[%k, %j] : memref<128x128xf64>
        %c = affine.load %C[%i, %j] : memref<128x128xf64>
        %p = arith.mulf %a, %b : f64
        %s = arith.addf %c, %p : f64
        affine.store %s, %C[%i, %j] : memref<128x128xf64>
      }
    }
  }
  return
}
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package and its metadata, as pip leaves them."""
    folder = tmp_path_factory.mktemp("plugin")
    source = shutil.copytree(ROOT / "examples" / "plugin", folder / "source")
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index")
    command = (*(sys.executable, "-m", "pip", "install"), *options, "--target")
    subprocess.run([*command, folder / "target", source], check=True)
    return folder / "target"


def run(installed: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(installed), str(ROOT / "src")])
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": path, "LOOPWRIGHT_TUNING": "off"},
        capture_output=True,
        text=True,
    )


def test_the_transformation_on_the_command_line(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "gemm.mlir").write_text(GEMM)
    command = ("-m", "loopwright", "schedule", str(tmp_path / "gemm.mlir"), "-p")
    shown = run(installed, *command, "rotate{loops=i,j,k}")
    assert shown.returncode == 0, shown.stderr
    after = shown.stdout.partition("after:")[2]
    assert [line.strip() for line in after.splitlines()[1:4]] == ["for k", "for i", "for j"]
    assert "rotate(L0,L1,L2)" in after and "schedule.rotate %i, %j, %k" in after
    wrong = run(installed, *command, "rotate{loops=i}")
    assert wrong.returncode == 1
    assert wrong.stderr == "loopwright: error: rotate of i: name at least two loops\n"


def test_legality_is_checked(installed: Path, tmp_path: Path) -> None:
    # The order of j and i matters: A[i, j] = A[i - 1, j + 1].
    (tmp_path / "order.mlir").write_text(
        """
func.func @order(%A: memref<9x9xf64>) {
  affine.for %i = 1 to 9 {
    affine.for %j = 0 to 8 {
      %a = affine.load %A[%i - 1, %j + 1] : memref<9x9xf64>
      affine.store %a, %A[%i, %j] : memref<9x9xf64>
    }
  }
  return
}
"""
    )
    file = str(tmp_path / "order.mlir")
    shown = run(installed, "-m", "loopwright", "schedule", file, "-p", "rotate{loops=i,j}")
    assert shown.returncode == 1
    assert "rotate of i, j is illegal: the flow dependence from S0 to S0 on A" in shown.stderr


def test_model_and_search_on_the_command_line(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "gemm.mlir").write_text(GEMM)
    command = ("-m", "loopwright", "tune", str(tmp_path / "gemm.mlir"), "--threads", "2")
    options = ("--model", "parallelism", "--search", "random-descents")
    found = run(installed, *command, *options)
    assert found.returncode == 0, found.stderr
    assert int(found.stdout.partition(" schedules, ")[0].split()[-1]) > 5
    refused = run(installed, *command, *options, "--beam", "2")
    assert refused.returncode == 1
    assert "--search random-descents has no beam: leave out --beam" in refused.stderr


def test_all_three_in_python(installed: Path) -> None:
    done = run(installed, "-c", API.format(text=GEMM))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "rotate{loops=i,j,k}",
        *("True", "True", "True"),
        "loopwright_example.parallelism",
        "True True",
    ]


def test_a_model_without_training_cannot_be_trained(installed: Path, tmp_path: Path) -> None:
    command = ("-m", "loopwright", "train", str(tmp_path), "-o", str(tmp_path / "model.npz"))
    done = run(installed, *command, "--model", "parallelism")
    assert done.returncode == 1
    assert "the model 'parallelism' learns nothing" in done.stderr
