"""Members that a region reads in loops only: pointers to them may lead nowhere otherwise."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.c_code import compilers

import loopwright

PROGRAM = """\
#include <stdio.h>
typedef struct { int n, m; double *data; } mat;
typedef struct { double factor; double *cells; } grid;
static void transpose(const mat *a, mat *b) {
    for (int i = 0; i < a->n; i++)
        for (int j = 0; j < a->m; j++) b->data[j * a->n + i] = a->data[i * a->m + j];
}
static void scale(int n, grid *g) {
    int i;
    for (i = 0; i < n; i++) g->cells[i] *= g->factor;
}
static void triangle(int n, grid *g) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) g->cells[i] += g->cells[j];
}
static void product(const mat *a, const mat *b, mat *c) {
    for (int i = 0; i < a->n; i++)
        for (int j = 0; j < b->m; j++) {
            double s = 0;
            for (int k = 0; k < a->m; k++) s += a->data[i * a->m + k] * b->data[k * b->m + j];
            c->data[i * b->m + j] = s;
        }
}
int main(void) {
    double x[12] = {0.1, 1.3, 2.7, 3.1, 5.9, 8.3}, y[12] = {0}, z[9] = {0};
    mat a = {3, 4, x}, b = {4, 3, y}, c = {3, 3, z}, none = {0, 0, NULL};
    grid g = {3, y};
    transpose(&a, &b);
    product(&a, &b, &c);
    transpose(&none, NULL);
    product(&none, NULL, NULL);
    scale(12, &g);
    scale(0, NULL);
    triangle(12, &g);
    triangle(1, NULL);
    for (int i = 0; i < 12; i++) printf("%.17g %.17g\\n", y[i], z[i % 9]);
    return 0;
}
"""


@pytest.mark.parametrize("machine_code", [False, True])
def test_optimised_code_runs_where_the_loops_run(machine_code: bool, tmp_path: Path) -> None:
    path, output, program = (tmp_path / each for each in ("f.c", "g.c", "f"))
    path.write_text(PROGRAM)
    flags = ["-ffp-contract=off"]
    made = loopwright.drop_in(path, output, machine_code=machine_code, cflags=flags)
    assert {"transpose", "scale", "triangle", "product"} <= {*made.replaced}
    found: list[str] = []
    for file in (path, output):
        command = [compilers()[0], "-O2", "-march=native", "-Wall", "-Wextra", "-Werror"]
        subprocess.run([*command, *flags, str(file), "-o", str(program)], check=True)
        done = subprocess.run([str(program)], capture_output=True, text=True, check=True)
        found.append(done.stdout)
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) if (i > 3) g->cells[i] = 0;",
        "for (int i = 0; i < n; i++) x[i] = 0; for (int i = 0; i < n - 1; i++) g->cells[i] = 0;",
        "for (i = j; i < n; i++) for (j = 0; j < n; j++) g->cells[i] = 0;",
        "for (i = 0; i < j; i++) for (j = 0; j < n; j++) g->cells[i] = 0;",
    ],
)
def test_other_reads_stay(body: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        "struct g { double *cells; };\nvoid f(int n, int i, int j, double *x, struct g *g) {\n"
        f"#pragma scop\n{body}\n#pragma endscop\n}}\n"
    )
    with pytest.raises(loopwright.errors.SourceError):
        made = loopwright.drop_in(path, tmp_path / "g.c")
        raise made.left_out[0]
