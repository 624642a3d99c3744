"""`goto` to a label further down: what the C compiler computes."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from support.c_code import assert_same_with_jumps, build, compilers

import loopwright

BODIES = {
    "instead of else": "for (int i = 0; i < n; i++) { if (x[i] > 0) goto other; y[i] = 1; "
    "goto behind; other: y[i] += x[i]; behind: x[i] = 2; }",
    "to the next iteration": "for (int i = 0; i < n; i++) { if (z[i] > 0) goto next; "
    "y[i] += x[i]; if (z[i] < -2) goto next; x[i] = 3; next: ; }",
    "over labels of others": "for (int i = 0; i < n; i++) { if (z[i] > 2) goto last; "
    "if (z[i] > 0) goto middle; y[i] = 1; middle: x[i] += 2; if (z[i] == 0) goto last; "
    "x[i] *= 2; last: y[i] += x[i]; }",
    "back to front": "for (int i = 0; i < n; i++) { if (z[i] > 2) goto middle; "
    "if (z[i] > 0) goto last; y[i] = 1; middle: x[i] += 2; last: y[i] += x[i]; }",
    "below conditions": "for (int i = 0; i < n; i++) { if (x[i] > 0) { if (z[i] > 2) goto next; "
    "y[i] = 1; } else { if (z[i] < 0) goto next; x[i] = 1; } x[i] += 2; next: y[i] += 1; }",
    "out of a loop": "for (int i = 0; i < n; i++) { if (z[i] == 2) { k = i; goto found; } "
    "x[i] += 1; } found: y[0] += 7;",
    "out of two loops": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) "
    "if (z[j] == z[i] && j != i) { k = n * i + j; goto found; } found: y[0] += 7;",
    "over statements behind a loop": "for (int i = 0; i < n; i++) { if (z[i] == 2) goto found; "
    "x[i] += 1; } k = -5; for (int i = 0; i < n; i++) y[i] += x[i]; found: x[0] += 7;",
    "to the next row": "for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) { "
    "if (z[j] > 3 - i) goto next; y[i] += x[j]; } x[i] = y[i]; next: y[i] += 1; }",
    "out of two loops and one": "for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) { "
    "if (z[j] == 4) goto next; if (x[j] > 1) goto done; y[j] += 1; } next: y[i] += x[i]; } "
    "k = 3; done: x[0] += 5;",
    "with break and continue": "for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) { "
    "if (z[j] == 4) goto done; if (z[j] == 3) break; if (z[j] == 0) continue; y[j] += x[i]; } "
    "if (z[i] == -3) continue; x[i] += 1; } done: k = 4;",
    "for ever": "int i = 0; for (;;) { if (i >= n) goto done; x[i] += i; i += 2; } done: k = i;",
    "while": "int i = 0; while (i < n) { if (z[i] == 3) goto done; x[i] *= 2; i++; } done: k = i;",
    "in a condition": "if (n > 2) { for (int i = 0; i < n; i++) { if (z[i] == 3) goto done; "
    "x[i] *= 2; } } y[0] += 1; done: x[0] += 1;",
}


@pytest.mark.parametrize("name", BODIES)
def test_forward_jumps(name: str, tmp_path: Path) -> None:
    assert_same_with_jumps(tmp_path / "f.c", BODIES[name], sizes=(1, 2, 3, 31), seeds=3)


@pytest.mark.parametrize(
    "body",
    [
        "again: x[0] += 1; if (x[0] < 9) goto again;",  # back
        "if (n > 9) goto middle; if (n > 2) { x[0] = 1; middle: x[1] = 2; }",  # into a block
        "if (n > 9) goto behind; double v = x[0]; behind: v = 2; x[0] = v;",  # over a declaration
    ],
)
def test_other_jumps_are_refused(body: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(f"void f(int n, double *x) {{\n#pragma scop\n    {body}\n#pragma endscop\n}}\n")
    with pytest.raises(loopwright.errors.SourceError, match=r"(goto|label) .* not supported here"):
        loopwright.load(path)


def test_a_region_without_the_label(tmp_path: Path) -> None:
    """The jump ends the loop, but what it skips is not in the region."""
    path = tmp_path / "f.c"
    path.write_text(
        "void f(int n, const int *z, double *x) {\n#pragma scop\n"
        "    for (int i = 0; i < n; i++) { if (z[i] < 0) goto out; x[i] = 1; }\n"
        "#pragma endscop\n    x[0] = 2;\nout: x[1] = 3;\n}\n"
    )
    with pytest.raises(loopwright.errors.SourceError, match="the region begins and ends in"):
        loopwright.load(path)


def test_drop_in_sources(tmp_path: Path) -> None:
    """Loops with jumps inside are replaced; those that are left early stay."""
    path = tmp_path / "f.c"
    text = (
        "int f(int n, const int *z, double *x, double *y) {\n"
        "    if (n < 0) goto bad;\n"
        "    for (int i = 0; i < n; i++) {\n"
        "        if (z[i] < 0) goto other;\n"
        "        x[i] = 2 * x[i] + i; goto behind;\n"
        "other:  x[i] = 1;\n"
        "behind: y[i] += x[i];\n"
        "    }\n"
        "    for (int i = 0; i < n; i++) { if (z[i] == 7) goto done; y[i] += 1; }\n"
        "    for (int i = 0; i < n; i++) y[i] *= 3;\n"
        "done: return n;\n"
        "bad: return -1;\n}\n"
    )
    path.write_text(text)
    made = loopwright.drop_in(path, tmp_path / "g.c")
    assert len(made.replaced) == 2
    assert [each.location.line for each in made.left_out if each.location] == [9]
    libraries = [
        build(compilers()[0], [each], tmp_path / name, "-O1")
        for name, each in (("a", text), ("b", (tmp_path / "g.c").read_text()))
        if not (tmp_path / name).mkdir()
    ]
    for seed in range(8):
        random = np.random.default_rng(seed)
        x, y = random.standard_normal((2, 40))
        z = random.integers(-3, 8 if seed % 2 else 7, 40, dtype="i4")
        results: list[tuple[object, ...]] = []
        for library in libraries:
            arrays = [np.array(each) for each in (z, x, y)]
            count = library.f(40, *(each.ctypes.data_as(ctypes.c_void_p) for each in arrays))
            results.append((count, *(each.tolist() for each in arrays)))
        assert results[0] == results[1]
