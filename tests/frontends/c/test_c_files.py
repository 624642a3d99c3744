"""C files as programs: regions, names, positions, results."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import loopwright
from loopwright.cli import main
from loopwright.dialects.errors import SourceError
from loopwright.errors import ArgumentValueError

TWO = """\
void two(int n, double A[n], double B[n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    A[i] = 2 * B[i];
#pragma endscop
  B[0] = 1;
#pragma scop
  for (int i = 1; i < n; i++)
    B[i] = B[i - 1] + A[i];
#pragma endscop
}
"""

FOUND = """\
#include <stdio.h>
double norm(int n, double *x) {
  double s = 0;
  for (int i = 0; i < n; i++) s += x[i] * x[i];
  return s;
}
void steps(int n, double A[n], double B[n]) {
  int t = 0;
  while (t < 10) {
    for (int i = 1; i < n - 1; i++) B[i] = A[i - 1] + A[i + 1];
    for (int i = 1; i < n - 1; i++) A[i] = B[i];
    t++;
  }
  for (int i = 0; i < n; i++) printf("%g ", A[i]);
}
"""


def test_regions_have_the_names_of_their_functions(tmp_path: Path) -> None:
    path = tmp_path / "two.c"
    path.write_text(TWO)
    program = loopwright.load(path)
    assert list(program) == ["two_0", "two_1"]
    A, B = np.zeros(6), np.arange(6.0)
    program["two_0"].compile(threads=1)(6, A, B)
    assert A.tolist() == [0, 2, 4, 6, 8, 10]
    program["two_1"].compile(threads=1)(6, A, B)
    assert B.tolist() == [0, 2, 6, 12, 20, 30]


def test_regions_are_found_and_others_named(tmp_path: Path) -> None:
    path = tmp_path / "found.c"
    path.write_text(FOUND)
    with pytest.warns(UserWarning, match=r"found\.c:14:31: left out: the call of 'printf'"):
        program = loopwright.load(path)
    assert list(program) == ["norm", "steps"]
    assert len(program["steps"].scop.statements) == 2  # both loops, but nothing of `while`


def test_nests_with_data_in_subscripts_are_regions_with_the_loops_inside(tmp_path: Path) -> None:
    path = tmp_path / "product.c"
    path.write_text(
        "void f(int n, double A[n][n], double B[n][n], double C[n][n], int *x, int *count) {\n"
        "  for (int i = 0; i < n; i++) {\n    for (int j = 0; j < n; j++) {\n      double s = 0;\n"
        "      for (int k = 0; k < n; k++) s += A[i][k] * B[k][j];\n      C[i][j] = s;\n    }\n"
        "    count[x[i]] += 1;\n  }\n}\n"
    )
    function = loopwright.load(path)["f"]
    assert [each.is_opaque for each in function.scop.statements] == [False] * 3 + [True]
    n = 40
    a, b = (np.random.default_rng(seed).random((n, n)) for seed in range(2))
    x = np.arange(n, dtype=np.int32) % 7
    for schedule in (None, "rules"):
        c, count = np.zeros((n, n)), np.zeros(7, np.int32)
        function.compile(schedule, threads=2, verify=True)(n, a, b, c, x, count)
        np.testing.assert_allclose(c, a @ b, rtol=1e-12)
        assert count.tolist() == np.bincount(x).tolist()


def test_errors_after_parsing_point_into_the_file(tmp_path: Path) -> None:
    path = tmp_path / "two.c"
    path.write_text(TWO)
    kernel = loopwright.load(path)["two_0"].compile(None)
    with pytest.raises(loopwright.errors.BoundsError, match=r"two\.c:4:\d+: error: .*B\[i\]"):
        kernel(6, np.zeros(6), np.zeros(5))


def test_a_program_is_pickled_as_text(tmp_path: Path) -> None:
    path = tmp_path / "two.c"
    path.write_text(TWO)
    program = loopwright.load(path)
    assert str(pickle.loads(pickle.dumps(program))) == str(program)


def test_the_command_line_takes_c_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "two.c"
    path.write_text(TWO.replace("2 * B[i]", "FACTOR * B[i]"))
    assert main(["schedule", str(path), "-f", "two_0", "--cflags=-DFACTOR=3"]) == 0
    assert "S0(i): A[i] from B[i]" in capsys.readouterr().out
    assert main(["deps", str(path), "-f", "two_1", "--cflags=-DFACTOR=3"]) == 0
    assert "B[i]" in capsys.readouterr().out
    assert main(["emit", str(path), "--c"]) == 1
    assert "use of undeclared identifier 'FACTOR'" in capsys.readouterr().err
    assert main(["schedule", str(tmp_path / "none.c")]) == 1
    assert "none.c" in capsys.readouterr().err


def test_columns_and_letters_beyond_ascii(tmp_path: Path) -> None:
    path = tmp_path / "letters.c"
    path.write_text("/* äöü → */\n" + TWO)
    assert list(loopwright.load(path)) == ["two_0", "two_1"]


def test_shared_variables_are_arguments_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "shared.c"
    path.write_text(
        "void use(double *);\n"
        "void f(int n, double A[n]) {\n  double s;\n  use(&s);\n"
        "  for (int i = 0; i < n; i++) { s = A[i]; A[i] = 2 * s; }\n}\n"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        program = loopwright.load(path)
    assert "%s: memref<f64>" in str(program)


def test_loop_variables_may_be_declared_in_the_region(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        "void f(int n, double A[n][n]) {\n#pragma scop\n  int i;\n"
        "  for (i = 0; i < n; i++) {\n    int j;\n"
        "    for (j = 0; j < i; j++) A[i][j] += 1;\n    for (j = i; j < n; j++) A[i][j] = 5;\n  }\n"
        "  for (i = 1; i < n; i++) A[i][0] = 7;\n#pragma endscop\n}\n"
    )
    A = np.zeros((3, 3))
    loopwright.load(path)["f"].compile(threads=1)(3, A)
    assert A.tolist() == [[5, 5, 5], [7, 5, 5], [7, 1, 5]]


@pytest.mark.parametrize(
    ("head", "rows"),
    [
        ("unsigned char i = 0; i < 10; i++", range(10)),
        ("unsigned char i = 0; i < n && i <= 254; i++", range(20)),
        ("unsigned char i = 9; i > 0; i--", range(1, 10)),
        ("short i = 18; i >= 0; i -= 2", range(0, 20, 2)),
        ("unsigned char i = 0; i <= 255; i++", None),
        ("unsigned char i = 1; i < 254; i += 2", range(1, 254, 2)),
        ("unsigned char i = 0; i < 255; i += 2", None),
        ("unsigned char i = 9; i >= 0; i--", None),
        ("unsigned char i = 20; i != 10; i++", None),
        ("signed char i = 0; i < n; i++", range(20)),
    ],
)
def test_short_loop_variables_must_not_wrap_around(
    head: str, rows: range | None, tmp_path: Path
) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        f"void f(int n, int *A) {{\n#pragma scop\n  for ({head}) A[i] += i;\n#pragma endscop\n}}\n"
    )
    if rows is None:
        with pytest.raises(SourceError, match="may wrap around"):
            loopwright.load(path)
        return
    A = np.zeros(300, "i4")
    loopwright.load(path)["f"].compile(threads=1)(20, A)
    assert A.tolist() == [i if i in rows else 0 for i in range(300)]


UNSIGNED = (("unsigned char", 8), ("unsigned short", 16), ("unsigned", 32), ("unsigned long", 64))


@pytest.mark.parametrize(("kind", "width"), UNSIGNED)
def test_unsigned_numbers_are_passed_as_what_they_are(
    kind: str, width: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        f"void f(int n, {kind} u, {kind} *A, double *B) {{\n"
        "  for (int i = 0; i < n; i++) { A[i] = u / 3; B[i] = u; }\n}\n"
    )
    largest = 2**width - 1
    kernel = loopwright.load(path)["f"].compile(threads=1)
    for value in (0, largest // 2, largest // 2 + 1, largest):
        A, B = np.zeros(2, f"u{width // 8}"), np.zeros(2)
        kernel(2, value, A, B)
        assert A.tolist() == [value // 3] * 2 and B.tolist() == [float(value)] * 2
    for value in (-1, largest + 1):
        with pytest.raises(ArgumentValueError, match=f"does not fit into u{width}"):
            kernel(2, value, A, B)
    assert main(["run", str(path), "-s", "n=3", "-s", f"u={largest}", "--seconds", "0.01"]) == 0
    assert f"u={largest}" in capsys.readouterr().out


def test_signed_numbers_keep_their_range(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        "void f(int n, short s, int *A) { for (int i = 0; i < n; i++) A[i] = s / 3; }\n"
    )
    kernel, A = loopwright.load(path)["f"].compile(threads=1), np.zeros(1, "i4")
    kernel(1, -32768, A)
    assert A.tolist() == [-10922]
    with pytest.raises(ArgumentValueError, match="32768 does not fit into i16"):
        kernel(1, 32768, A)


def test_without_the_parser_one_line_says_what_to_install(tmp_path: Path) -> None:
    path = tmp_path / "two.c"
    path.write_text(TWO)
    lines = (
        "import sys",
        "sys.modules['clang'] = None",
        "from loopwright.cli import main",
        f"sys.exit(main(['schedule', {str(path)!r}]) * 10 + main(['build', '--help']))",
    )
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=False
    )
    wanted = 'loopwright: error: reading C needs clang: pip install "loopwright[c]"\n'
    assert done.stderr == wanted


def test_scatters_under_a_condition_keep_what_is_there(tmp_path: Path) -> None:
    """A subscript that is not affine but reads no data: the condition chooses what is stored."""
    path = tmp_path / "f.c"
    path.write_text(
        "void f(int n, int m, int J[n], double v[n], double A[m], double B[m]) {\n"
        "#pragma scop\n"
        "  for (int i = 0; i < n; i++) {\n"
        "    if (v[i] > 1.0) B[i * i % m] = A[J[i]];\n"
        "    else B[(i * i + 1) % m] += v[i];\n"
        "  }\n"
        "#pragma endscop\n"
        "}\n"
    )
    n, m = 9, 5
    j = np.array([0, 4, 1, 0, 2, 3, 3, 1, 2], "i4")
    v = np.array([3.0, 1, 3, 0, 1, 2, 0, 5, -1])
    a, b = np.arange(5.0) + 10, np.arange(5.0)
    expected = b.copy()
    for i in range(n):
        if v[i] > 1.0:
            expected[i * i % m] = a[j[i]]
        else:
            expected[(i * i + 1) % m] += v[i]
    for schedule in (None, "default"):
        found = b.copy()
        loopwright.load(path)["f"].compile(schedule)(n, m, j, v, a, found)
        assert np.array_equal(found, expected)
