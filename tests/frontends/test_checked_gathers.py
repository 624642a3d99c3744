"""Gathers in vectors whose lanes are in rows of their own, compared with the extents in lanes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.random_python import load_source

import loopwright
from loopwright import f32, f64, i16, i32
from loopwright.errors import OutOfBounds
from loopwright.passes.polyhedral.inspections import inspections

random = np.random.default_rng(23)


@loopwright.kernel
def warp(
    h: int, w: int, a: f64["p", "q"], ys: f64["h", "w"], xs: f64["h", "w"], out: f64["h", "w"]
):
    for i in range(h):
        for j in range(w):
            y = int(ys[i, j])
            x = int(xs[i, j])
            fy = ys[i, j] - y
            fx = xs[i, j] - x
            top = a[y, x] * (1 - fx) + a[y, x + 1] * fx
            below = a[y + 1, x] * (1 - fx) + a[y + 1, x + 1] * fx
            out[i, j] = top * (1 - fy) + below * fy


@loopwright.kernel
def cells(n: int, g: f32["p", "q", "r"], x: f32["n", 3], out: f32["n"]):
    for i in range(n):
        out[i] = g[int(x[i, 0]), int(x[i, 1]), int(x[i, 2])]


@loopwright.kernel
def steps(n: int, m: int, a: i16["p", "q"], x: f64["n"], out: i32["n"]):
    for i in range(n):
        for k in range(m):
            out[i] += a[int(x[i]) + k, int(2 * x[i])]


def arguments(kernel: Any, n: int) -> list[Any]:
    if kernel is warp:
        ys, xs = random.random((n, n + 3)) * 5, random.random((n, n + 3)) * 8
        return [n, n + 3, random.random((7, 10)), ys, xs, np.zeros((n, n + 3))]
    if kernel is cells:
        x = (random.random((n, 3)) * [4, 5, 6]).astype("f4")
        return [n, random.random((4, 5, 6)).astype("f4"), x, np.zeros(n, "f4")]
    table = random.integers(-300, 300, (9, 11)).astype("i2")
    return [n, 4, table, random.random(n) * 5, np.zeros(n, "i4")]


KERNELS = (warp, cells, steps)
LAST = {warp: "j", cells: "i", steps: "i"}


def compiled(kernel: Any, width: int, **options: Any) -> Any:
    scop = kernel.function.scop
    names = [each.name for each in scop.statements if LAST[kernel] in each.loops]
    loop = f"{names[0]}.{LAST[kernel]}"
    return kernel.compile(f"vectorize{{loops={loop} width={width}}}", threads=1, **options)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("width", [2, 8, 16])
@pytest.mark.parametrize("n", [0, 1, 13, 40])
def test_results_are_those_of_python(kernel: Any, width: int, n: int) -> None:
    given = arguments(kernel, n)
    expected = [each.copy() if isinstance(each, np.ndarray) else each for each in given]
    kernel.python(*expected)
    code = compiled(kernel, width, verify=True)
    code(*given)
    assert code.verdict is not None and code.verdict.is_proved
    np.testing.assert_allclose(given[-1], expected[-1], rtol=1e-12 if kernel is warp else 0)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_code_has_vectors(kernel: Any) -> None:
    assert not any(each.subscripts for each in inspections(kernel.function.scop).parts)
    code = compiled(kernel, 8)
    code(*arguments(kernel, 40))
    assert "vector.gather" in str(code.loop_ir)
    assert "vector.reduction" in str(code.loop_ir)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("wrong", [-1.0, -7.5, 50.0, 1e9, -1e9])
@pytest.mark.parametrize("place", [0, 5, 36, 39])
@pytest.mark.parametrize("which", [0, 1])
def test_elements_that_do_not_exist_are_noted(
    kernel: Any, wrong: float, place: int, which: int
) -> None:
    given = arguments(kernel, 40)
    if kernel is warp:
        given[3 + which][place, place] = wrong
    elif kernel is cells:
        given[2][place, 1 + which] = wrong
    else:
        given[3][place] = wrong
    code = compiled(kernel, 8)
    with pytest.raises(OutOfBounds, match=r"access outside of (a|g): subscript \d is"):
        code(*given)
    again = arguments(kernel, 40)
    code(*again)
    assert again[-1].any()


def test_messages_say_which_element(tmp_path: Path) -> None:
    given = arguments(cells, 40)
    given[2][17] = [3, 77, 2]
    with pytest.raises(OutOfBounds, match="access outside of g: subscript 1 is 77, the extent 5"):
        compiled(cells, 8)(*given)


HEADER = "import loopwright\nfrom loopwright import f64\n\n@loopwright.kernel"


@pytest.mark.parametrize("schedule", ["default", "rules"])
def test_lanes_that_a_condition_excludes_are_not_noted(schedule: str, tmp_path: Path) -> None:
    text = f"""{HEADER}
def f(n: int, m: int, a: f64["p", "q"], x: f64["n", "m"], out: f64["n", "m"]):
    for i in range(n):
        for j in range(i, m):
            out[i, j] = a[int(x[i, j]), int(x[i, j])]
"""
    kernel = load_source(text, tmp_path, "triangle").f
    x = np.tril(np.full((30, 30), 99.0), -1) + np.triu(random.random((30, 30)) * 6)
    given = [30, 30, random.random((6, 6)), x, np.zeros((30, 30))]
    expected = given[-1].copy()
    kernel.python(*given[:-1], expected)
    kernel.compile(schedule)(*given)
    np.testing.assert_array_equal(given[-1], expected)
