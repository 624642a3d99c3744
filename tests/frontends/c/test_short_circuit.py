"""Conditions on both data and loop variables, of which one part guards the accesses of another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from support.c_code import assert_same_as_compiled

import loopwright

BODIES = {
    "distance transform": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {"
    " if (j > 0 && d[i][j - 1] + 1 < d[i][j]) d[i][j] = d[i][j - 1] + 1;"
    " if (i > 0 && d[i - 1][j] + 1 < d[i][j]) d[i][j] = d[i - 1][j] + 1; }",
    "backwards": "for (int i = n - 1; i >= 0; i--) for (int j = m - 1; j >= 0; j--) {"
    " if (j < m - 1 && d[i][j + 1] + 1 < d[i][j]) d[i][j] = d[i][j + 1] + 1;"
    " if (i + 1 < n && d[i + 1][j] + 1 < d[i][j]) d[i][j] = d[i + 1][j] + 1; }",
    "data first": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
    " if (d[i][j] > 2 && j > 0) d[i][j] -= d[i][j - 1];",
    "other branch": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
    " if (j > 0 && d[i][j - 1] > 3) d[i][j] = d[i][j - 1] - 1; else d[i][j] += j;",
    "or": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
    " if (j == 0 || d[i][j - 1] > 3) d[i][j] += 2;",
    "or with another branch": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
    " if (j == 0 || d[i][j - 1] > 3) d[i][j] += 2; else d[i][j] = d[i][j - 1];",
    "not": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
    " if (!(j == 0 || d[i][j - 1] > 3)) d[i][j] = d[i][j - 1] + 7;",
    "edges": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
    " e[i][j] = (i == 0 || d[i - 1][j] < d[i][j]) && (j == m - 1 || d[i][j + 1] < d[i][j]);",
    "two pairs": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
    " if ((i > 0 && d[i - 1][j] > 4) || (j > 0 && e[i][j - 1] > 1)) e[i][j] = 1;"
    " else e[i][j] += d[i][j];",
    "a chain": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {"
    " if (i > 0 && d[i - 1][j] > 7) e[i][j] = d[i - 1][j];"
    " else if (j > 0 && d[i][j - 1] > 6) e[i][j] = d[i][j - 1];"
    " else if (i < n - 1 && d[i + 1][j] > 5) e[i][j] = d[i + 1][j];"
    " else if (j < m - 1 && d[i][j + 1] > 4) e[i][j] = d[i][j + 1];"
    " else e[i][j] = -1; }",
    "inside of a branch": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
    " if (e[i][j] > 2) { int best = 9; if (j > 0 && d[i][j - 1] < best) best = d[i][j - 1];"
    " if (i > 0 && d[i - 1][j] < best) best = d[i - 1][j]; e[i][j] = best; }",
    "a sum": "for (int i = 0; i < n; i++) { int s = 0; for (int j = 0; j < m; j++)"
    " if (j > 1 && d[i][j - 2] > 3) s += d[i][j - 2]; e[i][0] = s; }",
    "a variable set in both": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { int v;"
    " if (i > 0 && d[i - 1][j] > 4) v = d[i - 1][j]; else v = j; e[i][j] += v; }",
    "a variable of a branch that is printed again": "for (int i = 0; i < n; i++)"
    " for (int j = 0; j < m; j++)"
    " if ((j > 0 && d[i][j - 1] > 3) || (i > 0 && d[i - 1][j] > 3)) {"
    " int v = d[i][j]; for (int k = 0; k < j; k++) v += k; d[i][j] = v; v += i; e[i][j] = v; }",
    "ranges": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
    " if (((j > 0 && j < 4) || (j > 5 && j < m - 1)) && d[i][j - 1] > 3) e[i][j] = d[i][j - 1];"
    " else e[i][j] += 1;",
    "a chain of ranges": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {"
    + "".join(
        f" if (((j > {k} && j < {k + 3}) || (j > {k + 4} && j < m - 1)) && d[i][j - {k}] > {k})"
        f" e[i][j] = {k}; else"
        for k in range(1, 7)
    )
    + " e[i][j] += 1; }",
    "outside of ranges": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
    " e[i][j] += ((j < 1 || j > 4) && (j < 6 || j >= m - 1)) || d[i][j - 1] > 3 ? 1 : d[i][j - 1];",
    "bits of truth values": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
    " if ((i > 0) & (j > 1) & (d[i][j] > 2) && !((d[i - 1][j - 2] > 4) | (i == 3))) e[i][j] = 1;",
    "in the condition of a loop": "for (int i = 1; i < n; i++) { int j = i; int t = d[0][i];"
    " while (j > 0 && d[0][j - 1] > t) { d[0][j] = d[0][j - 1]; j--; } d[0][j] = t; }",
}


FLAT = {
    "a seam": "for (int i = 1; i < n; i++) for (int j = 0; j < m; j++) {"
    " int b = d[(i - 1) * m + j];"
    " if (j > 0 && d[(i - 1) * m + j - 1] < b) b = d[(i - 1) * m + j - 1];"
    " if (j < m - 1 && d[(i - 1) * m + j + 1] < b) b = d[(i - 1) * m + j + 1];"
    " d[i * m + j] = e[i * m + j] + b; }",
    "or": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
    " if (j == 0 || d[i * m + j - 1] > 3) e[i * m + j] = 1;",
}


@pytest.mark.parametrize("name", FLAT)
def test_elements_that_a_condition_keeps_in_their_row(name: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        f"void f(int n, int m, int *d, int *e) {{\n#pragma scop\n{FLAT[name]}\n"
        "#pragma endscop\n}\n"
    )
    assert_same_as_compiled(path, [(6, 7)], _digits)


@pytest.mark.parametrize("name", BODIES)
def test_what_a_condition_guards(name: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        "void f(int n, int m, int d[n][m], int e[n][m]) {\n#pragma scop\n"
        f"    {BODIES[name]}\n#pragma endscop\n}}\n"
    )
    random = np.random.default_rng(3)

    for n, m in ((7, 9), (9, 9), (1, 9), (2, 9)):
        values = random.integers(0, 9, (2, n, m)).astype(np.int32)

        def arrays(given: np.ndarray = values) -> dict[str, np.ndarray]:
            return {"d": given[0].copy(), "e": given[1].copy()}

        assert_same_as_compiled(path, [(n, m)], arrays)


GUARDS = (
    ("i > 0", "d[i - 1][j]"),
    ("j > 0", "d[i][j - 1]"),
    ("i < n - 1", "d[i + 1][j]"),
    ("j < m - 1 && i > 0", "d[i - 1][j + 1]"),
)

CHAINS: dict[str, Callable[[Sequence[tuple[str, str]]], str]] = {
    "else if": lambda tests: (
        "".join(f"if ({a} && {v} > {k}) e[i][j] = {v}; else " for k, (a, v) in enumerate(tests))
        + "e[i][j] = -1;"
    ),
    "or": lambda tests: (
        "if ("
        + " || ".join(f"({a} && {v} > {k})" for k, (a, v) in enumerate(tests))
        + ") e[i][j] = 1; else e[i][j] += d[i][j];"
    ),
    "and": lambda tests: (
        "if ("
        + " && ".join(f"(!({a}) || {v} > {k})" for k, (a, v) in enumerate(tests))
        + ") e[i][j] = 1; else e[i][j] += d[i][j];"
    ),
    "nested": lambda tests: (
        "".join(f"if ({a} || d[i][j] > {k}) {{ e[i][j] += {k}; " for k, (a, _) in enumerate(tests))
        + "}" * len(tests)
    ),
    "choices": lambda tests: (
        "e[i][j] = "
        + "".join(f"{a} && {v} > {k} ? {v} : " for k, (a, v) in enumerate(tests))
        + "0;"
    ),
}


@pytest.mark.parametrize("name", CHAINS)
def test_chains_grow_in_proportion_to_their_length(name: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    statements: list[int] = []
    for length in (4, 8, 16):
        body = CHAINS[name]([GUARDS[k % 4] for k in range(length)])
        path.write_text(
            "void f(int n, int m, int d[n][m], int e[n][m]) {\n#pragma scop\n"
            f"for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {{ {body} }}\n"
            "#pragma endscop\n}\n"
        )
        statements.append(len(loopwright.load(path)["f"].scop.statements))
        if length == 8:
            assert_same_as_compiled(path, [(6, 7)], _digits, (None,))
    assert statements[2] < 6 * 16
    assert statements[2] - statements[1] <= 2.2 * (statements[1] - statements[0])


def _digits() -> dict[str, np.ndarray]:
    d, e = np.random.default_rng(3).integers(0, 9, (2, 6, 7)).astype(np.int32)
    return {"d": d, "e": e}
