"""Loops that swap or rotate pointers: the arrays that each iteration means, and those behind."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from support.c_code import build, compilers

import loopwright

STEP = "for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] - 2 * a[i] + a[i + 1] + s;"
SWAP = "double *t = a; a = b; b = t;"
BODIES = {
    "a swap": f"for (int k = 0; k < m; k++) {{ {STEP} {SWAP} }}",
    "a swap first": f"double *t; for (int k = 2; k < m; k++) {{ t = a; a = b; b = t; {STEP} }}",
    "in braces": f"for (int k = m; k > 0; k--) {{ {STEP} {{ {SWAP} }} }}",
    "in a macro": f"for (int k = 0; k <= m; k++) {{ {STEP} EXCHANGE(a, b); }}",
    "steps of two": f"for (int k = 1; k < m; k += 2) {{ {STEP} {SWAP} }}",
    "used behind": f"for (int k = 0; k < m; k++) {{ {STEP} {SWAP} }} "
    "for (int i = 0; i < n; i++) c[i] = a[i];",
    "three of them": "for (int k = 0; k < m; k++) { "
    "for (int i = 1; i < n - 1; i++) c[i] = 2 * b[i] - a[i] + b[i + 1] - b[i - 1]; "
    "double *t = a; a = b; b = c; c = t; } s += b[n / 2]; "
    "for (int i = 0; i < n; i++) a[i] -= c[i];",
    "a name for one": "for (int k = 0; k < m; k++) { const double *old = a; double *now = b; "
    "for (int i = 1; i < n; i++) now[i] = old[i - 1] + k; a = now; b = (double *)old; }",
    "a variable of the region": "int k; double *t; for (k = 0; k < m; k++) { "
    f"{STEP} t = a; a = b; b = t; }}",
    "in the middle": f"for (int k = 0; k < m; k++) {{ {STEP} {SWAP} "
    "for (int i = 0; i < n; i++) a[i] = a[i] / 2 + b[i]; }",
    "two loops": f"for (int k = 0; k < m; k++) {{ {STEP} {SWAP} }} "
    f"for (int k = 0; k < 3; k++) {{ {STEP} {SWAP} }} for (int i = 0; i < n; i++) c[i] += a[i];",
    "a loop twice": f"for (int k = 0; k < m; k++) {{ {STEP} {SWAP} }} " * 2,
    "local numbers": "for (int k = 0; k < m; k++) { double sum = 0; for (int i = 0; i < n; i++) "
    f"sum += a[i]; for (int i = 0; i < n; i++) b[i] = a[i] - sum / n; {SWAP} s += sum; }}",
    "pointers of the region": "double *p = a, *q = b; for (int k = 0; k < m; k++) { "
    "for (int i = 1; i < n; i++) q[i] = p[i - 1] + 1; double *t = p; p = q; q = t; } "
    "for (int i = 0; i < n; i++) c[i] = p[i] - q[i];",
}
REFUSED = {
    "under a condition": f"for (int k = 0; k < m; k++) {{ {STEP} if (b[1] > 0) {{ {SWAP} }} }}",
    "only some move": "for (int k = 0; k < m; k++) { for (int i = 0; i < n; i++) a[i] += b[i]; "
    "a = b; b = c; }",
    "in a structure": "for (int k = 0; k < m; k++) { double *t = g.p; "
    "for (int i = 0; i < n; i++) g.p[i] = g.q[i] + 1; g.p = g.q; g.q = t; }",
}
UNBOUNDED = ("pointers of the region",)
"""Where statements behind the loop are fused into its tiles."""
HEAD = "double *a, double *b, double *c"


def _text(body: str) -> str:
    return (
        "#define EXCHANGE(x, y) do { double *h = x; x = y; y = h; } while (0)\n"
        "struct pair { double *p, *q; };\n"
        f"void f(int n, int m, {HEAD}, double s, struct pair g, double *r) {{\n"
        f"#pragma scop\n{body}\n#pragma endscop\n"
        "r[0] = s;\n}\n"
    )


@pytest.mark.parametrize("schedule", ["", None])
@pytest.mark.parametrize("name", BODIES)
def test_rotations(name: str, schedule: str | None, tmp_path: Path) -> None:
    """As drop-in sources, where what follows uses the pointers as C leaves them."""
    behind = "r[0] = a[1] + 10 * b[1] + 100 * c[1] + s;"
    text = _text(BODIES[name]).replace("r[0] = s;", behind)
    (tmp_path / "f.c").write_text(text)
    made = loopwright.drop_in(tmp_path / "f.c", tmp_path / "g.c", schedule=schedule)
    if schedule is None and not made.replaced and name in UNBOUNDED:
        assert "no affine bounds that hold for all sizes" in str(made.left_out[0])
        return
    assert made.replaced == ("f",), made.left_out
    other = (tmp_path / "g.c").read_text()
    flags = ("-w", "-Wno-error", "-ffp-contract=off")
    folders = [tmp_path / "one", tmp_path / "two"]
    libraries: list[ctypes.CDLL] = []
    for folder, each in zip(folders, (text, other), strict=True):
        folder.mkdir()
        libraries.append(build(compilers()[0], [each], folder, *flags))
    for n in (4, 9, 40):
        for m in range(-1, 6):
            arrays = np.random.default_rng(n).integers(-3, 4, (4, n)).astype(float)
            ours, theirs = arrays.copy(), arrays.copy()
            for library, own in zip(libraries, (theirs, ours), strict=True):
                pointers = [each.ctypes.data_as(ctypes.c_void_p) for each in own]
                pair = (ctypes.c_void_p * 2)()
                passed = (*pointers[:3], ctypes.c_double(2), _Pair(*pair), pointers[3])
                library.f(n, m, *passed)
            np.testing.assert_array_equal(ours, theirs, f"{n} {m}")


class _Pair(ctypes.Structure):
    _fields_ = [("p", ctypes.c_void_p), ("q", ctypes.c_void_p)]


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_rotation(name: str, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(_text(REFUSED[name]))
    with pytest.raises(loopwright.errors.SourceError, match=r"the pointer '(a|b|g_p|t)'"):
        loopwright.load(tmp_path / "f.c")


@pytest.mark.parametrize(
    "body",
    [
        f"int k = 0; while (k < m) {{ {STEP} {SWAP} k++; }}",
        f"int k, j; for (k = 0, j = 1; k < m; k++) {{ {STEP} {SWAP} c[0] += j; }}",
        f"for (int k = 0; k < m; k++) {{ {STEP} {SWAP} }} m = 3; c[1] = m;",
        f"int last = m / 2; for (int k = 0; k < last; k++) {{ {STEP} {SWAP} }}",
    ],
)
def test_loops_that_cannot_be_written_again(body: str, tmp_path: Path) -> None:
    """The pointers are used behind the loop, whose head has more than its variable."""
    (tmp_path / "f.c").write_text(_text(body).replace("r[0] = s;", "r[0] = a[0] + m;"))
    made = loopwright.drop_in(tmp_path / "f.c", tmp_path / "g.c")
    assert not made.replaced
    reasons = ("is used behind a loop that swaps it", "under a condition on data")
    assert any(each in str(made.left_out[0]) for each in reasons)
