"""Stores under conditions on data in drop-in sources: another thread may write the same element."""

from __future__ import annotations

from pathlib import Path

import pytest

import loopwright

ALWAYS = {
    "both branches": "if (A[i] > 1) B[i] = 1; else B[i] = A[i];",
    "three branches": "if (A[i] > 1) B[i] = 1; else if (A[i] > 0) B[i] = 2; else B[i] = 3;",
    "before it": "B[i] = A[i]; if (A[i] > 1) B[i] = 1;",
    "behind it": "if (A[i] > 1) B[i] = 1; B[i] += 2;",
}
SOMETIMES = {
    "one branch": "if (A[i] > 1) B[i] = 1;",
    "two of three branches": "if (A[i] > 1) B[i] = 1; else if (A[i] > 0) B[i] = 2;",
    "other elements": "if (A[i] > 1) B[i] = 1; else B[i + 1] = 2;",
    "conditions of their own": "if (A[i] > 1) B[i] = 1; if (A[i] <= 1) B[i] = 2;",
    "inside of a loop": "B[i] = 0; for (int j = 0; j < n; j++) if (A[j] > 1) B[j] = 1;",
}


def _replaced(body: str, folder: Path, *flags: str, before: str = "") -> bool:
    path = folder / "f.c"
    path.write_text(
        "void f(int n, double *A, double *B) {\n"
        f"{before}\nfor (int i = 0; i < n; i++) {{ {body} }}\n}}\n"
    )
    made = loopwright.drop_in(path, folder / "g.c", cflags=flags)
    if not made.replaced:
        assert "'B' is written under a condition on data" in str(made.left_out[0])
    return not made.left_out


@pytest.mark.parametrize("name", ALWAYS)
def test_what_an_iteration_writes_in_any_case(name: str, tmp_path: Path) -> None:
    assert _replaced(ALWAYS[name], tmp_path)


@pytest.mark.parametrize("name", SOMETIMES)
def test_what_an_iteration_may_not_write(name: str, tmp_path: Path) -> None:
    assert not _replaced(SOMETIMES[name], tmp_path)
    read = "for (int i = 0; i <= n; i++) A[i] = B[i];"
    for flag in ("-fallow-store-data-races", "-Ofast"):
        assert _replaced(SOMETIMES[name], tmp_path, flag, before=read)
