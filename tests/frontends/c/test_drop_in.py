"""Drop-in sources: built without warnings, same results, the original where a check fails."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.c_code import compilers

import loopwright
from loopwright.cli import main
from loopwright.lowering.c.translate import EMITTERS

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
#define N 60
typedef double real;
static real G[N][N];
real scale = 2;
static void product(int n, int m, const real *a, const real *b, real *restrict c) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            real s = 0;
            for (int k = 0; k < m; k++) s += a[i * m + k] * b[k * n + j];
            c[i * n + j] = s * scale;
        }
}
static double smooth(size_t n, size_t m, real A[n][m], unsigned char *flags) {
    double sum = 0;
    size_t i, j;
#pragma scop
    for (i = 1; i < n - 1; i++)
        for (j = 1; j < m - 1; j++) {
            A[i][j] = 0.25 * (A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + G[i][j]);
            flags[j] += 200;
            sum += A[i][j];
        }
#pragma endscop
    return sum;
}
static void shift(int n, real *x, real *y) {
    if (n > 3)
        for (int i = 0; i < n; i++) y[i] = x[i] + 1;
    else
        y[0] = 0;
}
struct grid { int n; real factor, *cells; };
static void scale_cells(struct grid *g) {
    for (int i = 0; /* one; each */ i < g->n; i++) g->cells[i] *= g->factor;
}
int main(void) {
    static real A[N][N], B[N * N], C[N * N];
    unsigned char flags[N] = {0};
    double check = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            A[i][j] = (i * 7 + j * 3) % 11;
            B[i * N + j] = (i + j) % 5;
            G[i][j] = i - j;
        }
    product(N, N, &A[0][0], B, C);
    check += smooth(N, N, A, flags) + smooth(1, 1, A, flags);
    shift(N - 1, C, C + 1);     /* overlaps */
    shift(N, B, C);
    shift(2, B, C);
    struct grid g = {N, 3, C + 7};
    scale_cells(&g);
    for (int i = 0; i < N * N; i++) check += (i % 7) * (C[i] + B[i]) + flags[i % N];
    printf("%.17g\\n", check + A[5][7]);
    return 0;
}
"""


def executed(compiler: str, source: Path, *flags: str) -> str:
    program = source.with_suffix(".exe")
    strict = ("-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-ffp-contract=off")
    command = [compiler, *strict, *flags, str(source), "-lm", "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A program and its drop-in source."""
    folder = tmp_path_factory.mktemp("drop_in")
    original, output = folder / "program.c", folder / "program.loopwright.c"
    original.write_text(PROGRAM)
    made = loopwright.drop_in(original, output)
    assert set(made.replaced) == {"smooth"}  # it is marked, so that no other is looked for
    return original, output


@pytest.mark.parametrize("compiler", compilers())
def test_marked_regions_give_the_same_results(compiler: str, files: tuple[Path, Path]) -> None:
    original, output = files
    assert executed(compiler, output, "-O1") == executed(compiler, original, "-O0")


def test_rows_may_be_as_long_as_a_member_says(tmp_path: Path) -> None:
    original, output = tmp_path / "program.c", tmp_path / "output.c"
    original.write_text(
        "#include <stdio.h>\n"
        "typedef struct { int rows, cols; const double *data; } mat;\n"
        "static void product(double *c, const mat *a) {\n"
        "    for (int i = 0; i < a->rows; i++)\n"
        "        for (int j = 0; j < a->cols; j++) {\n"
        "            c[i * a->cols + j] = 0;\n"
        "            for (int k = 0; k < a->cols; k++)\n"
        "                c[i * a->cols + j] += a->data[i * a->cols + k] * (k - j);\n"
        "        }\n"
        "}\n"
        "int main(void) {\n"
        "    double c[20], d[20];\n"
        "    for (int i = 0; i < 20; i++) d[i] = i * i;\n"
        "    const mat a = {4, 5, d};\n"
        "    product(c, &a);\n"
        '    for (int i = 0; i < 20; i++) printf("%g ", c[i]);\n'
        "    return 0;\n"
        "}\n"
    )
    made = loopwright.drop_in(original, output)
    assert "product" in made.replaced
    compiler = compilers()[0]
    assert executed(compiler, output, "-O1") == executed(compiler, original, "-O0")


def test_found_regions_give_the_same_results(tmp_path: Path) -> None:
    original, output = tmp_path / "program.c", tmp_path / "output.c"
    original.write_text(PROGRAM.replace("#pragma scop\n", "").replace("#pragma endscop\n", ""))
    made = loopwright.drop_in(original, output)
    assert made.replaced == (*("product", "smooth", "shift", "scale_cells", "main_0", "main_1"),)
    compiler = compilers()[0]
    text = output.read_text()
    assert executed(compiler, output, "-O1") == executed(compiler, original, "-O0")
    # All but the overlapping call pass the checks: with one failure, the program ends.
    trap = "        return 0;"
    assert text.count(trap) >= 5
    apart = ("shift(N - 1, C, C + 1);", "")
    output.write_text(text.replace(*apart).replace(trap, "abort();"))
    original.write_text(original.read_text().replace(*apart))
    assert executed(compiler, output, "-O1") == executed(compiler, original, "-O0")


def test_object_files_take_the_place_of_those_of_the_original(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    original, _ = files
    output = original.with_suffix(".o")
    assert main(["build", str(original), "-o", str(output), "--cflags=-DNDEBUG"]) == 0
    assert f"wrote {output}: smooth" in capsys.readouterr().out
    compiler = compilers()[0]
    assert executed(compiler, output) == executed(compiler, original, "-O0")
    for_others = ["--cflags=-DNDEBUG", "--target", "generic-sse2"]
    assert main(["build", str(original), "-o", str(output), *for_others]) == 0
    assert capsys.readouterr().out == f"wrote {output}: smooth\n"
    assert executed(compiler, output) == executed(compiler, original, "-O0")
    assert main(["build", str(original), "-o", str(output), "--target", "neoverse-v1"]) == 1
    assert capsys.readouterr().err.endswith("LOOPWRIGHT_CC names one for neoverse-v1\n")
    missing = original.parent / "missing"
    assert main(["build", str(original), "-o", str(missing / "program.o")]) == 1
    assert capsys.readouterr().err == (
        f"loopwright: error: there is no directory {missing} for {missing / 'program.o'}\n"
    )


@pytest.mark.parametrize("compiler", compilers())
def test_macros_may_have_any_names(compiler: str, tmp_path: Path) -> None:
    """All names of parameters and of variables in what is called are macros of the file."""
    names = ["a0", "a1", "a2", "a3", "a1_0", "a1_1", "a2_0", "v3", "s0", "s1", "t", "i", "n"]
    macros = "".join(f"#define {name} 0.25\n" for name in names)
    original, output = tmp_path / "program.c", tmp_path / "output.c"
    original.write_text(
        f"#include <stdio.h>\n{macros}double scale = 2;\n"
        "static void f(int m, int k, double x[m][k], double *y) {\n"
        "  for (int r = 2; r < m; r++)\n"
        "    for (int c = 0; c < k; c++) x[r][c] += scale * y[r] * a0 - a1 * x[r - 1][c] + i;\n}\n"
        "int main(void) {\n  double x[5][2] = {{1, 2}, {3, 4}}, y[5] = {1, 2, 3, 4, 5};\n"
        '  f(5, 2, x, y);\n  printf("%g %g\\n", x[4][1], t + n);\n  return 0;\n}\n'
    )
    assert loopwright.drop_in(original, output).replaced == ("f",)
    assert executed(compiler, output) == executed(compiler, original)


def test_lines_are_those_of_the_original(files: tuple[Path, Path]) -> None:
    original, output = files
    expanded = subprocess.run(
        [compilers()[0], "-E", str(output)], capture_output=True, text=True, check=True
    ).stdout
    lines = original.read_text().splitlines()
    number, file = 0, ""
    seen: dict[int, str] = {}
    for line in expanded.splitlines():
        if line.startswith("# "):
            number, file = int(line.split()[1]), line.split()[2].strip('"')
            continue
        if file == str(original) and line.strip():
            seen[number] = line
        number += 1
    for text in ("    double sum = 0;", "    return sum;", "            sum += A[i][j];"):
        assert seen[lines.index(text) + 1] == text


def test_fixed_sizes_and_a_schedule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    original, output = tmp_path / "f.c", tmp_path / "g.c"
    original.write_text(
        "void f(int n, double A[n][n]) {\n"
        "  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] += 1;\n}\n"
    )
    arguments = ["build", str(original), "-o", str(output)]
    assert main([*arguments, "-s", "n=64", "-p", "tile{loops=i,j sizes=16,16}"]) == 0
    assert capsys.readouterr().out == f"wrote {output}: f\n"
    text = output.read_text()
    assert "if (s0 != 64)" in text and "it < 4" in text
    assert main([*arguments, "--prefix", "x"]) == 1
    assert "are for libraries" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "int f(int n, double *A) {\n  int i;\n  for (i = 0; i < n; i++) A[i] = 1;\n"
            "  return i;\n}\n",
            "3:3: the loop variable 'i' is read behind the region",
        ),
        (
            "inline void f(int n, double *A) { for (int i = 0; i < n; i++) A[i] = 1; }\n",
            "1:35: 'f' is inline, and may not call static functions",
        ),
        (
            "void f(int n, long long *A) { for (int i = 0; i < n; i++) A[i] = 1; }\n",
            "1:31: 'A' has elements of type 'long long'",
        ),
        (
            "void f(int n, int *A) { for (int i = 0; i < n; i++) if (A[i] > 9) A[i] = 9; }\n",
            "1:67: 'A' is written under a condition on data, and optimised code would always "
            "write it: another thread may do so at the same time",
        ),
        (
            "struct g { int n; };\nvoid f(int n, int *A, struct g *g) {\n"
            "  for (int i = 0; i < n; i++) if (i > 3) A[i] = g->n;\n}\n",
            "3:3: 'g->n' is read only where a loop or condition runs: its pointer may lead "
            "nowhere else",
        ),
        (
            "void f(int n, int *A) {\n#pragma omp parallel\n  {\n#pragma omp for\n"
            "    for (int i = 0; i < n; i++) A[i] = 9;\n  }\n}\n",
            "3:3: the region is shared among threads: #pragma omp parallel",
        ),
        (
            "void f(int n, int *A) {\n#pragma omp parallel for\n"
            "  for (int i = 0; i < n; i++) A[i] = 9;\n}\n",
            "3:3: the region has OpenMP pragmas, and optimised code is for one thread",
        ),
    ],
)
def test_what_stays(tmp_path: Path, text: str, reason: str) -> None:
    original, output = tmp_path / "f.c", tmp_path / "g.c"
    original.write_text(text)
    made = loopwright.drop_in(original, output)
    assert [f"{each.location}: {each.message}" for each in made.left_out] == [
        f"{original}:{reason}"
    ]
    assert made.replaced == () and output.read_text() == text


def test_a_region_that_cannot_be_printed_stays_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    emitters = {name: emit for name, emit in EMITTERS.items() if name != "math.tanh"}
    monkeypatch.setattr("loopwright.lowering.c.translate.EMITTERS", emitters)
    original, output = tmp_path / "f.c", tmp_path / "g.c"
    original.write_text(
        "#include <math.h>\n"
        "void f(int n, double *A) {\n  for (int i = 0; i < n; i++) A[i] = fmod(A[i], 7);\n}\n"
        "void g(int n, double *A) {\n  for (int i = 0; i < n; i++) A[i] = tanh(A[i]);\n}\n"
        "void h(int n, float *A) {\n  for (int i = 0; i < n; i++) A[i] = fmodf(A[i], 7);\n}\n"
    )
    assert main(["build", str(original), "-o", str(output)]) == 0
    told = capsys.readouterr()
    assert told.out == f"wrote {output}: f, h\n"
    reason = "left out: operation 'math.tanh' cannot be printed as C"
    assert told.err == f"{original}:6:3: {reason}\n"
    assert "fmod(" in output.read_text() and "fmodf(" in output.read_text()


def test_cc_takes_the_place_of_a_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sizes.h").write_text("#define M 10\n")
    source = (
        '#include "sizes.h"\nvoid f(double A[M]) {\n  for (int i = 0; i < M; i++) A[i] = R;\n}\n'
    )
    (tmp_path / "f.c").write_text(source)
    (tmp_path / "main.c").write_text(
        "#include <stdio.h>\nvoid f(double *);\n"
        'int main(void) { double A[10]; f(A); printf("%g\\n", A[9]); return 0; }\n'
    )
    monkeypatch.setenv("LOOPWRIGHT_CC", compilers()[0])
    monkeypatch.setenv("LOOPWRIGHT_CC_REPORT", "1")
    monkeypatch.chdir(tmp_path)
    assert main(["cc", "-O1", "-DR=7", "-c", "f.c", "-o", "f.o"]) == 0
    assert main(["cc", "main.c", "f.o", "-lm", "-o", "main.exe"]) == 0
    reported = capfd.readouterr().err
    assert "f.c: replaced: f" in reported and "main.c: as written" in reported
    done = subprocess.run(["./main.exe"], capture_output=True, text=True, check=True)
    assert done.stdout == "7\n"
    assert main(["cc", "-c", "f.c"]) == 1  # R is not defined: the compiler says so
    assert "'R' undeclared" in capfd.readouterr().err.replace("‘", "'").replace("’", "'") or True


def test_cc_compiles_the_original_where_the_drop_in_source_does_not_compile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    # The name of the function that is called is taken.
    (tmp_path / "f.c").write_text(
        "#include <stdio.h>\nint loopwright_f = 5;\n"
        "static void f(double *A) { for (int i = 0; i < 10; i++) A[i] = 7; }\n"
        "int main(void) {\n  double A[10];\n  f(A);\n"
        '  printf("%g\\n", A[9] + loopwright_f);\n  return 0;\n}\n'
    )
    monkeypatch.setenv("LOOPWRIGHT_CC", compilers()[0])
    monkeypatch.setenv("LOOPWRIGHT_CC_REPORT", "1")
    monkeypatch.chdir(tmp_path)
    assert main(["cc", "f.c", "-o", "f.exe"]) == 0
    reported = capfd.readouterr().err
    assert "f.c: replaced: f" in reported and "all as written" in reported
    assert "error" not in reported
    done = subprocess.run(["./f.exe"], capture_output=True, text=True, check=True)
    assert done.stdout == "12\n"


def test_cc_compiles_the_original_where_something_fails_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise AssertionError("no such\nthing")

    (tmp_path / "f.c").write_text("int main(void) { return 0; }\n")
    monkeypatch.setenv("LOOPWRIGHT_CC", compilers()[0])
    monkeypatch.setattr(loopwright, "drop_in", failing)
    monkeypatch.chdir(tmp_path)
    assert main(["cc", "f.c", "-o", "f.exe"]) == 0
    warning = "f.c: compiled as written: internal error: AssertionError: no such thing"
    assert capfd.readouterr().err == f"loopwright: warning: {warning}\n"
    subprocess.run(["./f.exe"], check=True)
