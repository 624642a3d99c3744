"""Drop-in sources with elements at subscripts that depend on data, and what stands beside them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.c_code import compilers

import loopwright

HEAD = """\
#include <stdio.h>
const double table[256] = {3, 1, 4, 1.5, 9, 2, 6};
static double grid[50][7];
"""
MAIN = """
int main(void) {
    static double x[300], y[300], z[300];
    static int idx[300];
    static unsigned char bytes[300];
    for (int i = 0; i < 300; i++) {
        x[i] = 1.0 / (i + 3);
        idx[i] = i * 37 % 300;
        bytes[i] = i * 11;
        grid[i / 7][i % 7] = x[i] * i;
    }
    f(300, idx, bytes, x, y, z);
    for (int i = 0; i < 300; i++) printf("%.17g %.17g\\n", y[i], z[i]);
    return 0;
}
"""
PARAMETERS = "int n, const int *idx, const unsigned char *bytes, {0} *x, {0} *y, {0} *z"
REPLACED = {
    "restrict": ("double * restrict", "y[i] = x[idx[i]] * 2;"),
    "from both": ("double * restrict", "y[i] += x[idx[i]] - z[i] * x[n - 1 - idx[i]];"),
    "a table": ("double *", "y[i] = table[bytes[i]] + table[255 - bytes[i]];"),
    "a table under a condition": ("double *", "y[i] = bytes[i] > 9 ? table[bytes[i]] : 1.5;"),
    "rows of an array": ("double * restrict", "y[i] = grid[idx[i] / 7][idx[i] % 7] + x[i];"),
    "a sum": ("double * restrict", "y[0] += x[idx[i]];"),
}
STAYING = {
    "overlaps": ("double *", "y[i] = x[idx[i]] * 2;"),
    "under a condition": ("double * restrict", "y[i] = idx[i] > 9 ? x[idx[i]] : 1.5;"),
}


def _source(kind: str, body: str, folder: Path) -> Path:
    path = folder / "f.c"
    parameters = PARAMETERS.replace("{0} *", kind + " ")
    head = f"__attribute__((noinline))\nstatic void f({parameters})"
    loops = f"for (int i = 0; i < n; i++) {{ {body} }}"
    unused = "(void)idx; (void)bytes; (void)x; (void)z;"
    path.write_text(f"{HEAD}{head} {{\n    {unused}\n    {loops}\n}}\n{MAIN}")
    return path


def _output(path: Path) -> str:
    program = path.with_suffix(".exe")
    flags = ["-O2", "-march=native", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([compilers()[0], *flags, str(path), "-o", str(program)], check=True)
    return subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("machine_code", [False, True])
@pytest.mark.parametrize("name", REPLACED)
def test_gathers_from_elements_that_are_apart(
    name: str, machine_code: bool, tmp_path: Path
) -> None:
    path, output = _source(*REPLACED[name], tmp_path), tmp_path / "g.c"
    flags = ["-ffp-contract=off"]
    made = loopwright.drop_in(path, output, machine_code=machine_code, cflags=flags)
    assert "f" in made.replaced
    assert _output(output) == _output(path)


@pytest.mark.parametrize("name", STAYING)
def test_gathers_that_stay(name: str, tmp_path: Path) -> None:
    made = loopwright.drop_in(_source(*STAYING[name], tmp_path), tmp_path / "g.c")
    assert "f" not in made.replaced
    assert "'x' is read at subscripts that depend on data" in " ".join(map(str, made.left_out))


BASED = {
    "a local pointer": "double *restrict x, double *z) {{ double *y = x;",
    "a parameter": "double *restrict x, double *y) {{ y = x + 1;",
    "a parameter in some cases": "double *restrict x, double *y) {{ if (n > 3) y = x;",
    "the restrict one": "double *x, double *restrict y) {{ x = y;",
    "a global pointer": "double *restrict x, double *z) {{ y = x;",
    "a member": "double *restrict x, struct g *g) {{ g->y = x;",
}


@pytest.mark.parametrize("name", BASED)
def test_pointers_that_may_be_based_on_restrict_ones(name: str, tmp_path: Path) -> None:
    path, head = tmp_path / "f.c", BASED[name].replace("{{", "{")
    y = "g->y" if "g->" in head else "y"
    path.write_text(
        "#include <stdio.h>\nstruct g { double *y; };\nstatic double *y;\n"
        f'void f(int n, const int *idx, {head} puts("");\n'
        f"for (int i = 0; i < n; i++) {y}[i] += x[idx[i]];\n}}\n"
    )
    assert not loopwright.drop_in(path, tmp_path / "g.c").replaced


@pytest.mark.parametrize(
    "beside",
    [
        "for (int i = 0; i < n; i++) y[i] = x[idx[i]];",
        "for (int i = 0; i < n; i++) if (x[i] > 0) y[i] = 1;",
        "for (int i = 0; i < n; i++) y[i] = idx[i] ? x[i + n] : 1;",
    ],
)
@pytest.mark.parametrize("inside", [False, True])
def test_what_stands_beside_is_replaced(beside: str, inside: bool, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    product = "for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) z[j] += w[k * n + j];"
    loops = f"{product}\n{beside}"
    if inside:
        loops = f"for (int t = 0; t < n; t++) {{ {loops} }}"
    path.write_text(
        "void f(int n, const int *idx, double *w, double *x, double *y, double *z) {\n"
        f"{loops}\n}}\n"
    )
    made = loopwright.drop_in(path, tmp_path / "g.c")
    assert len(made.replaced) == len(made.left_out) - inside == 1
