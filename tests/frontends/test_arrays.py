"""Statements on whole arrays and slices compute what NumPy does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.random_python import load_source

import loopwright
from loopwright import f64
from loopwright.errors import SourceError

from . import arrays


@pytest.mark.parametrize("name", arrays.CASES.kernels)
def test_same_results_as_numpy(name: str) -> None:
    for seed in range(2):
        arrays.run_case(name, seed)


def test_slices_are_loops_over_subscripts_of_the_array() -> None:
    @loopwright.kernel
    def slices(n: int, A: f64["n"], B: f64["n"]):
        A[1:-1] = 0.5 * (B[:-2] + B[2:])

    @loopwright.kernel
    def loop(n: int, A: f64["n"], B: f64["n"]):
        for i0 in range(1, n - 1):
            A[i0] = 0.5 * (B[i0 - 1] + B[i0 + 1])

    assert slices.mlir.replace("@slices", "@loop") == loop.mlir


def test_temporaries_only_where_old_values_are_needed() -> None:
    @loopwright.kernel
    def none(n: int, A: f64["n", "n"]):
        A[:-1] = A[1:]
        A[0] += A[0] * 2
        for k in range(n):
            A[k + 1 :, k + 1 :] -= A[k + 1 :, k : k + 1] * A[k, k + 1 :]

    @loopwright.kernel
    def one(n: int, A: f64["n", "n"]):
        A[1:-1, 1:-1] = A[:-2, 1:-1] + A[2:, 1:-1]

    assert "alloc" not in none.mlir
    assert one.mlir.count("memref.alloc(") == 1


def test_sums_go_into_their_target() -> None:
    @loopwright.kernel
    def product(n: int, A: f64["n", "n"], B: f64["n", "n"], C: f64["n", "n"]):
        C[:] = A @ B
        C += A @ B

    @loopwright.kernel
    def in_place(n: int, A: f64["n", "n"], B: f64["n", "n"]):
        A[:] = A @ B

    assert "alloc" not in product.mlir
    assert in_place.mlir.count("memref.alloc(") == 1


def test_bounds_of_slices_that_turn_out_negative_are_refused() -> None:
    @loopwright.kernel
    def head(k: int, A: f64["n"]):
        A[:k] = 1.0

    @loopwright.kernel
    def before(n: int, A: f64["n", "n"]):
        for i in range(n):
            if i > 0:
                A[i, : i - 1] = 2.0

    array = np.zeros(5)
    head(3, array)
    assert array.tolist() == [1, 1, 1, 0, 0]
    with pytest.raises(SourceError, match="'k' of this slice is negative for these sizes"):
        head(-1, array)
    with pytest.raises(loopwright.errors.BoundsError):
        head(6, array)
    before.check(4, np.zeros((4, 4)))
    assert not before.translation.requirements


def test_temporaries_have_names_of_their_own() -> None:
    @loopwright.kernel
    def names(n: int, A: f64["n"], A_old: f64["n"], sum: f64["n"]):
        A[1:] += A[:-1] + A_old[1:]
        for mean in range(n):
            sum[mean] = np.sum(A[mean:]) + np.mean(A)

    names.check(5, *np.random.rand(3, 5))


def test_names_of_views_and_updates_in_place() -> None:
    @loopwright.kernel
    def names(n: int, A: f64["n", "n"]):
        row, same = A[1], A
        row += 1
        same[0, 1:] *= row[:-1]
        column = A.T[2][::-1]
        for k in range(n):
            part = A[k, k:]
            part -= 2
            column[k] += k
        local = np.ones(n)
        local *= 3
        A[0] += local

    names.check(4, np.random.rand(4, 4))


def test_empty_arrays() -> None:
    @loopwright.kernel
    def smooth(n: int, A: f64["n"], B: f64["n"]):
        A[1:-1] = B[:-2] + B[2:]
        s = np.sum(A[1:])
        A[1:] = s * A[:-1]

    for n in range(4):
        smooth.check(n, np.ones(n), np.ones(n))


@loopwright.kernel
def renewed(u: Any, steps: int):
    u = u * 1.0
    spread = np.zeros_like(u)
    spread = spread + u - np.mean(u)
    total = 0.0
    for t in range(steps):
        change = np.zeros_like(u)
        change[1:-1] = u[2:] + u[:-2] - 2.0 * u[1:-1]
        u = u + 0.1 * change[::-1]
        seen = u
        total += np.sum(seen)
    if steps > 2:
        spread = spread * 2.0
    total = total + 1.0
    return u, spread, total


@pytest.mark.parametrize("steps", [0, 1, 4])
def test_names_get_new_arrays(steps: int) -> None:
    renewed.check(np.random.default_rng(steps).random(9), steps)


@pytest.mark.parametrize("first", ["u", "u[1:]", "u * 1.0; other = v"])
def test_new_arrays_of_names_that_share_memory_are_refused(first: str, tmp_path: Path) -> None:
    source = f"""
import loopwright

@loopwright.kernel
def shared(u, n: int):
    v = {first}
    for t in range(n):
        v = v + 1.0
    return v * 1.0
"""
    path = tmp_path / "shared.py"
    path.write_text(source)
    names: dict[str, Any] = {}
    exec(compile(source, str(path), "exec"), names)
    with pytest.raises(loopwright.errors.SourceError, match="another name as well"):
        names["shared"](np.ones(5), 2)


@loopwright.kernel
def centred(x: Any, y: Any):
    a, b = x - np.mean(x), y - np.mean(y)
    for i in range(2):
        c, d = a * i, y + i
        y[:] = c - d
    return np.dot(a, b), a[1:] + b[1:]


def test_several_new_arrays() -> None:
    x, y = np.random.default_rng(1).random((2, 20))
    expected, found = y.copy(), y.copy()
    pairs = zip(centred.python(x, expected), centred(x, found), strict=True)
    for one, other in (*pairs, (expected, found)):
        np.testing.assert_allclose(other, one, rtol=1e-13)


@loopwright.kernel
def selected(a: Any, x: Any, k: Any):
    rows = x > 0
    return (
        np.sum(x[x > 0]),
        x[(x > 0) & (x < 1)].sum(),
        np.sum((a * 2)[a > 0.5]),
        a[a > 3].sum(),
        k[k > 3].sum(),
        np.sum(x[rows]) + x[np.isnan(x)].sum(),
    )


def test_sums_of_what_a_mask_selects() -> None:
    a, x = np.random.default_rng(2).random((5, 7)), np.linspace(-2, 2, 9)
    k = np.arange(12, dtype=np.uint8) * np.uint8(20)
    for one, other in zip(selected.python(a, x, k), selected(a, x, k), strict=True):
        assert type(one) is type(other)
        np.testing.assert_allclose(other, one, rtol=1e-13)


def test_rows_that_a_mask_selects_are_refused() -> None:
    @loopwright.kernel
    def rows(a: Any, x: Any):
        return np.sum(a[x > 0])

    with pytest.raises(SourceError):
        rows(np.ones((4, 4)), np.ones(4))


@pytest.mark.parametrize("options", ["axis=0", "axis=-1", "keepdims=True"])
def test_axes_of_what_a_mask_selects_are_refused(options: str, tmp_path: Path) -> None:
    text = "import loopwright\nimport numpy as np\n\n@loopwright.kernel\ndef f(A):\n"
    text += f"    return np.sum(A[A > 0], {options})\n"
    with pytest.raises(SourceError, match="what a mask selects has one dimension"):
        load_source(text, tmp_path, "masked").f(np.ones((3, 4)))
