"""`loopwright convert`, and Python files as programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import loopwright
from loopwright.cli import main
from loopwright.passes.polyhedral.bounds import BoundsError, check_bounds
from loopwright.passes.polyhedral.scop import Scop

PYTHON = """\
import loopwright
from loopwright import f64, u8


@loopwright.kernel
def smooth(steps: int, n: int, A: f64["n", "n"], B: f64["n", "n"]):
    assert n >= 3
    for t in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                B[i, j] = 0.25 * (A[i, j - 1] + A[i, j + 1] + A[i - 1, j] + A[i + 1, j])
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                if B[i, j] > 0.1:
                    A[i, j] = B[i, j] if i > 1 else 0.5


@loopwright.kernel
def largest(U: u8["n"], s: u8):
    U[0] = s
    return U.max(), s
"""

C = """\
void scale(int n, double x, double A[n]) {
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = x * A[i];
#pragma endscop
}
"""


def convert(source: Path, language: str, *options: str) -> Path:
    """The file that a program is converted to."""
    suffix = {"python": "py"}.get(language, language)
    target = source.with_name(f"{source.stem}_{source.suffix[1:]}.{suffix}")
    assert main(["convert", str(source), "--to", language, "-o", str(target), *options]) == 0
    return target


def facts(scop: Scop) -> tuple[object, ...]:
    """What the forms of a program have in common; local arrays may have other names."""
    local = {array.name for array in scop.arrays if array.argument is None}
    accesses = {
        (each.kind, each.array.name in local or each.array.name, str(each.relation.domain()))
        for statement in scop.statements
        for each in statement.accesses
    }
    return str(scop.tree), accesses


def same(first: Scop, second: Scop) -> bool:
    ours, theirs = (s.domain.coalesce() for s in (first, second))
    return ours.is_equal(theirs.align_params(ours.get_space())) and facts(first) == facts(second)


@pytest.mark.parametrize("chain", [("mlir",), ("python",), ("mlir", "python"), ("python", "mlir")])
def test_python_files(chain: Sequence[str], tmp_path: Path) -> None:
    path = source = tmp_path / "kernels.py"
    source.write_text(PYTHON)
    for language in chain:
        path = convert(path, language)
    before, after = loopwright.load(source), loopwright.load(path)
    assert list(before) == list(after) == ["smooth", "largest"]
    for name in before:
        assert same(before[name].scop, after[name].scop)
        assert str(before[name].signature) == str(after[name].signature)
    for n, accepted in ((2, False), (3, True)):
        sizes = {"steps": 1, "n": n, **{f"{a}_dim{d}": n for a in "AB" for d in (0, 1)}}
        for program in (before, after):
            outside = _refuses(program["smooth"].scop, sizes)
            assert outside is not accepted


def _refuses(scop: Scop, sizes: dict[str, int]) -> bool:
    try:
        check_bounds(scop, sizes)
    except BoundsError:
        return True
    return False


def test_c_files_and_back(tmp_path: Path) -> None:
    path = tmp_path / "scale.c"
    path.write_text(C)
    original = loopwright.load(path)["scale"].scop
    python = convert(path, "python")
    assert "def scale(n: int, x: f64, A: f64[" in python.read_text()
    assert same(original, loopwright.load(python)["scale"].scop)
    again = loopwright.load(convert(python, "c"))["scale"].scop
    assert str(again.tree) == str(original.tree)


def test_one_function_of_several(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(PYTHON)
    assert main(["convert", str(path), "--to", "c", "--func", "smooth"]) == 0
    text = capsys.readouterr().out
    assert "#pragma scop\n    for (int64_t t = 0; t < steps; t++) {" in text
    assert "/* 'smooth' is for sizes with n - A_dim0 = 0 only */" in text
    assert "largest" not in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n", "kernels.py: there is no function with the decorator loopwright.kernel"),
        ("import os\nos.nothing\n", "kernels.py:2:1: error: running the file fails: Attribute"),
        (
            "x = 1\ny = 2 +\n",
            "kernels.py:2:8: error: this is no Python: invalid syntax\ny = 2 +\n       ^\n",
        ),
        ("raise SystemExit('a\\nb')", "1:1: error: running the file fails: SystemExit: a b\n"),
        (PYTHON.replace("steps)", "2.5)"), "kernels.py:8:20: error: a bound must be an integer"),
    ],
)
def test_mistakes_in_a_file(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(text)
    assert main(["convert", str(path), "--to", "mlir"]) == 1
    assert message in capsys.readouterr().err


CHANGED = """
func.func @f(%n: index, %A: memref<?xf64>, %B: memref<?xf64>, %J: memref<?xi64>) {
  %two = arith.constant 2.0 : f64
  %none = arith.constant 0 : i64
  affine.for %i = 0 to %n {
    %a = affine.load %A[%i] : memref<?xf64>
    %c = arith.cmpf ogt, %a, %two : f64
    %k = affine.load %J[%i] : memref<?xi64>
    %q = arith.index_cast %k : i64 to index
    affine.store %two, %A[%i] : memref<?xf64>
    affine.store %none, %J[%i] : memref<?xi64>
    %b = memref.load %B[%q] : memref<?xf64>
    %r = arith.select %c, %b, %two : f64
    affine.store %r, %A[%i] : memref<?xf64>
    %s = arith.select %c, %two, %b : f64
    affine.store %s, %A[%n] : memref<?xf64>
  }
  return
}
"""


def test_values_are_those_before_later_stores(tmp_path: Path) -> None:
    source = tmp_path / "changed.mlir"
    source.write_text(CHANGED)
    results: list[list[list[float]]] = []
    for path in (source, convert(source, "python"), convert(source, "c")):
        arrays = [np.array([1.0, 3.0, 5.0, 0.0]), np.array([7.0, 8.0, 9.0]), np.array([2, 1, 0])]
        function = loopwright.load(path)["f"]
        extents = [4, 3, 3] if len(function.signature.arguments) > 4 else []
        values = [x for pair in zip(extents, arrays, strict=False) for x in pair] or arrays
        function.compile()(3, *values)
        results.append([each.tolist() for each in arrays])
    assert results[0] == results[1] == results[2] == [[2, 8, 7, 2], [7, 8, 9], [0, 0, 0]]


NAMED = """
func.func @int(%n: index, %A: memref<?xf64>) {
  affine.for %i = 0 to %n {
    %a = affine.load %A[%i] : memref<?xf64>
    %b = math.absf %a : f64
    affine.store %b, %A[%i] : memref<?xf64>
  }
  return
}
"""


def test_functions_have_names_that_python_can_have(tmp_path: Path) -> None:
    """Each is translated back, whatever the functions before it are called."""
    names = ("int", "abs", "class", "class_", '"2 x"', "math")
    source = tmp_path / "named.mlir"
    source.write_text("".join(NAMED.replace("@int", f"@{name}") for name in names))
    program = loopwright.load(convert(source, "python"))
    assert list(program) == ["int_", "abs_", "class_", "class__", "f2_x", "math_"]
    array = np.array([-1.0, 2.0])
    program["math_"].compile()(2, array)
    assert array.tolist() == [1.0, 2.0]
