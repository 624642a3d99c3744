"""Drop-in sources of files whose loops come from macros: what is replaced is a statement."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.c_code import compilers

import loopwright

MACROS = """\
#include <stdio.h>
#define COPY(T) { T *to = (T *) q; T *from = (T *) p; \\
    for (int i = 0; i < n; i++) to[i] = 2 + from[i]; }
#define BEGIN for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++)
#define END }}
#define ALL(x) for (int i = 0; i < n; i++) x[i] += 1
#define BRACED(x) { for (int i = 0; i < n; i++) x[i] *= 3; }
#define FOR(i) for (int i = 0; i < n; i++)
#define TWO(x, y) ALL(x); printf("two\\n"); ALL(y)
"""
FUNCTIONS = {
    "COPY(double)": (),
    'BEGIN p[i] += j; printf("%g\\n", p[i]); }': (),
    'for (int k = 0; k < n; k++) { printf("%d\\n", k); FOR(i) { p[i] += k; END': (),
    "BEGIN p[i] += j; }": ("f",),
    "ALL(p);": ("f",),
    "BRACED(p)": ("f",),
    "FOR(i) FOR(j) p[i] += j;": ("f",),
    "TWO(p, q);": (),
    "if (n > 3) ALL(p); else ALL(q);": ("f",),
    'if (n > 3) printf("more\\n"), n--; else BRACED(q)': ("f",),
    "while (n-- > 3) BRACED(p)": ("f",),
    "switch (n) { case 7: ALL(p); case 1: ALL(q); }": ("f",),
}


@pytest.mark.parametrize("body", FUNCTIONS)
def test_only_statements_are_replaced(body: str, tmp_path: Path) -> None:
    original, output = tmp_path / "program.c", tmp_path / "program.loopwright.c"
    original.write_text(
        f"{MACROS}static void f(int n, double *p, double *q) {{ {body} }}\n"
        "int main(void) {\n"
        "    static double p[90], q[90];\n"
        "    for (int n = 0; n < 90; n++) { p[n] = n % 7; q[n] = n % 5; }\n"
        "    for (int n = 0; n < 12; n++) {\n"
        "        f(n, p, q);\n"
        '        for (int k = 0; k < 12; k++) printf("%g %g\\n", p[k], q[k]);\n'
        "    }\n"
        "}\n"
    )
    made = loopwright.drop_in(original, output)
    assert tuple(each for each in made.replaced if each[0] == "f") == FUNCTIONS[body]
    refused = [each for each in made.left_out if "macro" in each.message]
    assert bool(refused) == (FUNCTIONS[body] == ())
    assert _printed(output) == _printed(original)


def _printed(source: Path) -> str:
    program = source.with_suffix(".exe")
    subprocess.run([compilers()[0], "-w", str(source), "-lm", "-o", str(program)], check=True)
    return subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
