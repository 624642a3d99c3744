"""Files of a user as kernels of `loopwright bench`."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from support.documents import check_file
from support.machines import make_machine

from loopwright.cli import main
from loopwright.runtime.machine import measured as machines

C_FILE = """
void blur(int h, int w, const float *restrict in, float *restrict out) {
  for (int i = 1; i < h - 1; i++)
    for (int j = 1; j < w - 1; j++)
      out[i * w + j] = (in[i * w + j - 1] + in[i * w + j + 1] + in[(i - 1) * w + j]) * 0.3f;
}
void scale(int n, float a, float *x) {
  for (int i = 0; i < n; i++) x[i] *= a;
}
"""

PYTHON_FILE = """
import loopwright
from loopwright import i32, i64

@loopwright.kernel
def weighted(k: i32, n: int, X: i32["n", "n"], W: i64["n"], s: i32["n"]):
    for i in range(n):
        for j in range(n):
            s[i] += k * X[i, j]
        W[i] = W[i] + 1
"""

GATHER = """
func.func @gather(%n: index, %J: memref<?xi32>, %A: memref<?xf64>, %B: memref<?xf64>) {
  affine.for %i = 0 to %n {
    %j = affine.load %J[%i] : memref<?xi32>
    %k = arith.index_cast %j : i32 to index
    %v = memref.load %A[%k] : memref<?xf64>
    affine.store %v, %B[%i] : memref<?xf64>
  }
  return
}
"""

TOTAL = """
func.func @total(%A: memref<30xf64>, %s: memref<f64>) {
  affine.for %i = 0 to 30 {
    %a = affine.load %A[%i] : memref<30xf64>
    %b = affine.load %s[] : memref<f64>
    %c = arith.addf %a, %b : f64
    affine.store %c, %s[] : memref<f64>
  }
  return
}
"""

NARROW = """
func.func @scale(%n: index, %A: memref<?x{kind}>, %B: memref<?xf32>) {{
  affine.for %i = 0 to %n {{
    %0 = affine.load %A[%i] : memref<?x{kind}>
    %1 = arith.extf %0 : {kind} to f32
    %2 = affine.load %B[%i] : memref<?xf32>
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.truncf %3 : f32 to {kind}
    affine.store %4, %A[%i] : memref<?x{kind}>
  }}
  return
}}
"""

QUICK = ["--seconds", "0.001", "--schedule", "default"]


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a program of each language; the machine is known already."""
    monkeypatch.setenv("LOOPWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    machines.save(make_machine())
    (tmp_path / "image.c").write_text(C_FILE)
    (tmp_path / "sums.py").write_text(PYTHON_FILE)
    (tmp_path / "gather.mlir").write_text(GATHER)
    return tmp_path


def test_arguments_of_all_integer_types(tmp_path: Path) -> None:
    kinds = ("uint8_t", "int8_t", "uint16_t", "int16_t", "uint32_t", "int64_t", "_Bool")
    arguments = ", ".join(f"{kind} x{k}" for k, kind in enumerate(kinds))
    total = " + ".join(f"x{k}" for k in range(len(kinds)))
    (tmp_path / "sum.c").write_text(
        f"#include <stdint.h>\nvoid sum(int n, {arguments}, uint8_t *a) {{\n"
        f"  for (int i = 0; i < n; i++) a[i] += {total};\n}}\n"
    )
    json = ["--json", str(tmp_path / "rows.json")]
    options = ["-s", "n=50", "--peers", "gcc", *json, *QUICK]
    assert main(["bench", str(tmp_path / "sum.c"), *options]) == 0
    rows = check_file(tmp_path / "rows.json", "bench")["rows"]
    assert len([row for row in rows if row["median"]]) > 1
    assert all(row["correct"] for row in rows if row["median"])


def test_functions_of_files_are_measured_beside_shipped_kernels(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = ["-s", "h=21", "-s", "w=30", "-s", "n=17", "-s", "a=1.5", "-s", "k=3"]
    names = ["image.c", "polybench/atax", "sums.py"]
    options = ["--size", "MINI", "--peers", "gcc", "--json", "rows.json"]
    assert main(["bench", *names, *sizes, *options, *QUICK]) == 0
    rows = check_file(files / "rows.json", "bench")["rows"]
    measured = {(row["kernel"], row["size"], row["element_type"]) for row in rows if row["median"]}
    assert measured == {
        ("polybench/atax", "MINI", "f64"),
        ("image.c:blur", "h=21,w=30", "f32"),
        ("image.c:scale", "n=17,a=1.5", "f32"),
        ("sums.py", "n=17,k=3", "i64"),
    }
    assert all(row["correct"] for row in rows if row["median"])
    blur = next(row for row in rows if row["kernel"] == "image.c:blur")
    assert blur["flops"] == 3 * 19 * 28
    # What is read: the rows but the last, without four corners; written: the inner points.
    assert blur["traffic"] == 4 * (20 * 28 + 2 * 19 + 19 * 28)
    assert {row["peer"] for row in rows} >= {"gcc", "loopwright"}
    assert "MFLOP" in capsys.readouterr().out


def test_outputs_without_dimensions_are_compared(files: Path) -> None:
    (files / "total.mlir").write_text(TOTAL)
    assert main(["bench", "total.mlir", "--peers", "gcc", "--json", "rows.json", *QUICK]) == 0
    rows = check_file(files / "rows.json", "bench")["rows"]
    assert all(row["correct"] for row in rows if row["median"])


RESULTS = """
func.func @sums(%A: memref<30xf64>, %result: memref<30xf64>) -> (f64, i32) {
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1 : i32
  %none = arith.constant 0 : i32
  %r:2 = affine.for %i = 0 to 30 iter_args(%s = %zero, %n = %none) -> (f64, i32) {
    %a = affine.load %A[%i] : memref<30xf64>
    %b = arith.addf %s, %a : f64
    %m = arith.addi %n, %one : i32
    affine.store %b, %result[%i] : memref<30xf64>
    affine.yield %b, %m : f64, i32
  }
  return %r#0, %r#1 : f64, i32
}
func.func @twice(%A: memref<30xf64>, %B: memref<30xf64>) -> f64 {
  %s:2 = func.call @sums(%A, %B) : (memref<30xf64>, memref<30xf64>) -> (f64, i32)
  %d = arith.addf %s#0, %s#0 : f64
  return %d : f64
}
func.func @nothing(%A: memref<30xf64>) {
  return
}
"""


@pytest.mark.parametrize("name", ["sums", "twice"])
def test_results_are_outputs(files: Path, name: str) -> None:
    """Also several, of functions that others call, with arrays of their names."""
    (files / "sums.mlir").write_text(RESULTS)
    peers = "clang,numba" if importlib.util.find_spec("numba") else "clang"
    options = ["-f", name, "--peers", peers, "--schedule", "default", "--json", "rows.json"]
    assert main(["bench", "sums.mlir", *options, *QUICK]) == 0
    rows = check_file(files / "rows.json", "bench")["rows"]
    measured = [row for row in rows if row["median"]]
    assert ("clang" in {row["peer"] for row in measured}) == (name == "sums")
    assert measured and all(row["correct"] for row in measured)


def test_functions_that_compute_nothing(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "sums.mlir").write_text(RESULTS)
    assert main(["bench", "sums.mlir", "-f", "nothing", "--peers", "none", *QUICK]) == 1
    assert "nothing writes no array and returns nothing" in capsys.readouterr().err


def test_data_that_leaves_an_array_runs_no_peer(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "append.c").write_text(
        "void append(int n, int *k, double *a, double *out) {\n"
        "  for (int i = 0; i < n; i++) { out[k[0]] = a[i]; k[0] = k[0] + 1; }\n}\n"
    )
    np.save("k.npy", np.array([8], np.int32))
    sizes = [option for size in ("n=5", "k_dim0=1", "out_dim0=10") for option in ("-s", size)]
    options = [*sizes, "-i", "k=k.npy", "--peers", "gcc", *QUICK]
    assert main(["bench", "append.c", *options]) == 1
    output = capsys.readouterr()
    assert "append: access outside of out: subscript 0 is 10, the extent 10" in output.err
    assert "gcc -O3" not in output.out


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_narrow_floats(files: Path, kind: str) -> None:
    (files / "scale.mlir").write_text(NARROW.format(kind=kind))
    options = ["-s", "n=33", "--peers", "clang", "--json", "rows.json"]
    assert main(["bench", "scale.mlir", *options, *QUICK]) == 0
    rows = check_file(files / "rows.json", "bench")["rows"]
    measured = [row for row in rows if row["median"]]
    assert {row["element_type"] for row in measured} == {kind}
    assert all(row["correct"] and row["traffic"] == 33 * 8 for row in measured)


@pytest.mark.parametrize("width", [8, 16, 32, 64])
@pytest.mark.parametrize("sign", ["u", ""])
def test_integers(files: Path, width: int, sign: str) -> None:
    kind = f"{sign}int{width}_t"
    text = f"#include <stdint.h>\nvoid mix(int n, {kind} *x, {kind} *y) {{\n"
    (files / "mix.c").write_text(
        text + "for (int i = 0; i < n; i++) y[i] = x[i] ^ (x[i] >> 3);\n}\n"
    )
    options = ["-s", "n=33", "--peers", "gcc", "--json", "rows.json"]
    assert main(["bench", "mix.c", *options, *QUICK]) == 0
    rows = check_file(files / "rows.json", "bench")["rows"]
    measured = [row for row in rows if row["median"]]
    assert {row["element_type"] for row in measured} == {f"{sign or 'i'}{width}"}
    assert {row["peer"] for row in measured} == {"gcc", "loopwright"}
    assert all(row["correct"] for row in measured)


@pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="needs Numba")
def test_workers_get_the_kernels_of_files(files: Path) -> None:
    arguments = ["bench", "image.c", "-f", "blur", "-s", "h=9", "-s", "w=12"]
    assert main([*arguments, "--peers", "numba,numpy", "--json", "rows.json", *QUICK]) == 0
    rows = check_file(files / "rows.json", "bench")["rows"]
    numba = next(row for row in rows if row["peer"] == "numba")
    assert numba["correct"] and numba["median"]
    numpy = next(row for row in rows if row["peer"] == "numpy")
    assert numpy["note"] == "there is no NumPy form of this kernel"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["image.c"], "the sizes h, w of blur must be known; add --set h=... --set w=..."),
        (["image.c", "-s", "q=3"], "--set: no 'q'; there are a, h, in_dim0"),
        (["image.c", "-s", "h=4", "--size", "MINI"], "give image.c sizes with --set"),
        (["polybench/atax", "-s", "n=4"], "--set, --input and --func are for files"),
        (["none.mlir", "-s", "n=4"], "cannot read 'none.mlir': No such file or directory"),
        (["image.c", "-f", "blurr", "-s", "h=4"], "blurr"),
        (["gather.mlir", "-s", "n=4", "-i", "K=k.npy"], "cannot read k.npy"),
    ],
)
def test_wrong_arguments(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", *arguments, "--peers", "none", *QUICK]) == 1
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
