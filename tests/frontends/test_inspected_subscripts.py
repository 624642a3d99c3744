"""Subscripts that are compared with the extents ahead of the loops: results and refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.random_python import load_source

import loopwright
from loopwright import f32, f64, i8, i32, i64, opt, u8
from loopwright.cli import main
from loopwright.errors import OutOfBounds
from loopwright.passes.polyhedral.inspections import inspections

random = np.random.default_rng(11)


@loopwright.kernel
def rows(n: int, m: int, table: f32["k", "m"], idx: i32["n"], out: f32["n", "m"]):
    for i in range(n):
        for j in range(m):
            out[i, j] = table[idx[i], j] * 2


@loopwright.kernel
def resized(h: int, w: int, a: u8["p", "q", 3], ys: i32["h"], xs: i64["w"], out: u8["h", "w", 3]):
    for y in range(h):
        for x in range(w):
            for c in range(3):
                out[y, x, c] = a[ys[y], xs[x], c] // 2 + a[ys[y] + 1, xs[x] + 1, c] // 2


@loopwright.kernel
def edges(n: int, ends: i32["n", 2], points: f64["p", 3], out: f64["n"]):
    for i in range(n):
        for c in range(3):
            out[i] += points[ends[i, 0], c] * points[ends[i, 1], c]


@loopwright.kernel
def neighbours(n: int, near: i32["n", 6], x: f64["p"], y: f64["p"], out: f64["n"]):
    for i in range(n):
        for j in range(6):
            out[i] += x[near[i, j]] - y[near[i, j]]


@loopwright.kernel
def places_change(n: int, idx: i32["n"], x: f64["p"], out: f64["n", 4]):
    for i in range(n):
        idx[i] = idx[i] - 1
    for i in range(n):
        for j in range(4):
            out[i, j] = x[idx[i]]


@loopwright.kernel
def twice(n: int, idx: i8["n"], x: f64["n"], y: f64["p"], out: f64["n", 4]):
    for i in range(n):
        for j in range(4):
            out[i, j] = y[int(x[idx[i]])]


@loopwright.kernel
def rounded(n: int, at: f64["n"], scale: f64, x: f64["p"], out: f64["n"]):
    for i in range(n):
        out[i] = x[int(at[i] * scale + 0.5)]


def arguments(kernel: Any, n: int) -> list[Any]:
    """Arguments whose subscripts are all inside."""

    def places(*shape: int, below: int, kind: str = "i4") -> Any:
        return random.integers(0, below, shape).astype(kind)

    match kernel:
        case _ if kernel is rows:
            table = random.random((7, 5)).astype("f4")
            return [n, 5, table, places(n, below=7), np.zeros((n, 5), "f4")]
        case _ if kernel is resized:
            image = random.integers(0, 255, (6, 9, 3)).astype("u1")
            where = places(n, below=5), places(n + 2, below=8, kind="i8")
            return [n, n + 2, image, *where, np.zeros((n, n + 2, 3), "u1")]
        case _ if kernel is edges:
            return [n, places(n, 2, below=8), random.random((8, 3)), np.zeros(n)]
        case _ if kernel is neighbours:
            values = random.random(8), random.random(8)
            return [n, places(n, 6, below=8), *values, np.zeros(n)]
        case _ if kernel is rounded:
            return [n, random.random(n) * 4, 1.75, random.random(8), np.zeros(n)]
        case _ if kernel is places_change:
            return [n, places(n, below=5) + 1, random.random(5), np.zeros((n, 4))]
        case _:
            values = random.random(n) * 5, random.random(5)
            return [n, places(n, below=n or 1, kind="i1"), *values, np.zeros((n, 4))]


KERNELS = (rows, resized, edges, neighbours, places_change, twice, rounded)
SCHEDULES = (None, "", "default", "parallel{loops=*.0}", "vectorize{loops=*.0 width=4}")


def schedule_of(kernel: Any, schedule: str | None) -> str | None:
    last = kernel.function.scop.statements[-1]
    return schedule and schedule.replace("*.0", f"{last.name}.{last.loops[0]}")


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("n", [0, 1, 13, 40])
def test_results_are_those_of_python(kernel: Any, schedule: str | None, n: int) -> None:
    given = arguments(kernel, n)
    expected = [each.copy() if isinstance(each, np.ndarray) else each for each in given]
    kernel.python(*expected)
    compiled = kernel.compile(schedule_of(kernel, schedule), threads=2, verify=True)
    compiled(*given)
    assert compiled.verdict is not None and compiled.verdict.is_proved
    for own, other in zip(given, expected, strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-12)


@pytest.mark.parametrize("kernel", (rows, resized, edges, neighbours), ids=lambda k: k.__name__)
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("wrong", [8, -1, -(2**31), 2**31 - 1])
def test_nothing_happens_if_one_is_outside(kernel: Any, schedule: str | None, wrong: int) -> None:
    given = arguments(kernel, 13)
    changed = next(k for k, each in enumerate(given) if getattr(each, "dtype", None) == "i4")
    given[changed].flat[7] = wrong
    compiled = kernel.compile(schedule_of(kernel, schedule), threads=2)
    with pytest.raises(OutOfBounds, match=rf"access outside of (a|table|points|x): .*{wrong}"):
        compiled(*given)
    if schedule is not None:
        assert not given[-1].any()
    given[changed].flat[7] = 0
    compiled(*given)
    assert given[-1].any()


def test_subscripts_of_loops_that_never_run_may_be_anything() -> None:
    idx = np.full(4, 99, "i4")
    for schedule in SCHEDULES[:3]:
        rows.compile(schedule)(4, 0, np.zeros((3, 0), "f4"), idx, np.zeros((4, 0), "f4"))


HEADER = "import loopwright\nfrom loopwright import f64, i32\n\n@loopwright.kernel"

CONDITIONAL = f"""{HEADER}
def f(n: int, m: int, idx: i32["n"], x: f64["p"], out: f64["n", "m"]):
    for i in range(n):
        for j in range(m):
            if {{condition}}:
                out[i, j] = x[idx[i]]
"""


@pytest.mark.parametrize("condition", ["i > 4", "i + j > 12", "out[i, j] > 0.5"])
def test_conditions_exclude_subscripts(condition: str, tmp_path: Path) -> None:
    kernel = load_source(CONDITIONAL.format(condition=condition), tmp_path, "conditional").f
    idx = np.arange(9, dtype="i4")
    idx[:4] = -7
    given = [
        9,
        8,
        idx,
        random.random(9),
        np.where(np.arange(9) > 4, 1.0, 0.0)[:, None] * np.ones(8),
    ]
    expected = [*given[:-1], given[-1].copy()]
    kernel.python(*expected)
    for schedule in SCHEDULES[:3]:
        out = given[-1].copy()
        kernel.compile(schedule)(*given[:-1], out)
        np.testing.assert_array_equal(out, expected[-1])


def test_loops_as_written_load_nothing_where_conditions_do_not_hold() -> None:
    text = """
func.func @f(%I: memref<4xindex>, %A: memref<?xf64>, %o: memref<4xf64>) {
  %zero = arith.constant 0 : index
  affine.for %i = 0 to 4 {
    %k = affine.load %I[%i] : memref<4xindex>
    %c = arith.cmpi sge, %k, %zero : index
    scf.if %c {
      %v = memref.load %A[%k] : memref<?xf64>
      affine.store %v, %o[%i] : memref<4xf64>
    }
  }
  return
}
"""
    out = np.zeros(4)
    loopwright.load(text)["f"].compile(None)(np.full(4, -7), np.zeros(0), out)
    assert not out.any()


def parts(kernel: Any) -> list[tuple[tuple[str, ...], int]]:
    """The loops of what is compared ahead, and of how many subscripts."""
    found = inspections(kernel.function.scop).parts
    return [(each.part.loops, sum(map(len, each.subscripts.values()))) for each in found]


def test_what_is_compared_ahead() -> None:
    assert parts(rows) == [(("i",), 1), (("j",), 1)]
    assert sorted(parts(resized)) == [(("c",), 1), (("x",), 2), (("y",), 2)]
    assert sorted(parts(edges)) == [(("c",), 1), (("i",), 2)]
    assert parts(neighbours) == [(("i", "j"), 2)]
    assert parts(places_change) == []
    assert [found for found in parts(twice) if found[0] != ("i",)] == []
    assert parts(rounded) == []  # Fast math may round differently in the loops.


def test_equal_subscripts_of_several_statements_are_compared_once(tmp_path: Path) -> None:
    text = f"""{HEADER}
def f(n: int, idx: i32["n"], x: f64["p", 4], a: f64["n", 4], b: f64["n", 4]):
    for i in range(n):
        for j in range(4):
            a[i, j] = x[idx[i], j]
    for i in range(1, n):
        for j in range(4):
            b[i, j] = x[idx[i], j] + 1
"""
    assert [loops for loops, _ in parts(load_source(text, tmp_path, "several").f)] == [
        ("i",),
        ("j",),
    ]


def test_no_text_says_that_subscripts_are_inspected() -> None:
    text = """
func.func @f(%I: memref<4xindex>, %A: memref<4xf64>, %o: memref<4xf64>) {
  affine.for %i = 0 to 4 {
    %k = affine.load %I[%i] : memref<4xindex>
    %v = memref.load %A[%k] {inspected} : memref<4xf64>
    affine.store %v, %o[%i] : memref<4xf64>
  }
  return
}
"""
    for schedule in (None, "", "default"):
        kernel = loopwright.load(text)["f"].compile(schedule)
        with pytest.raises(OutOfBounds):
            kernel(np.full(4, 10**6), np.zeros(4), np.zeros(4))


@loopwright.kernel
def picked(n: int, idx: i32["n"], x: f64["p"]):
    total = 0.0
    for i in range(n):
        total += x[idx[i]]
    return total


def test_results_are_returned() -> None:
    idx, x = np.array([3, 0, 2], "i4"), np.array([1.0, 2.0, 4.0, 8.0])
    for schedule in SCHEDULES[:3]:
        kernel = picked.compile(schedule, verify=True)
        assert kernel(3, idx, x) == 13.0
        with pytest.raises(OutOfBounds, match="-3"):
            kernel(3, np.array([1, -3, 4], "i4"), x)
    assert parts(picked) == [(("i",), 1)]


def test_programs_that_schedules_are_applied_to_have_no_inspections(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows.mlir"
    path.write_text(rows.mlir)
    assert opt.run([str(path), "-p", "strip-mine{loops=i size=8},apply-schedule"]) == 0
    text = capsys.readouterr().out
    assert "scf.if" not in text
    program = loopwright.load(text)["rows"]
    for schedule in SCHEDULES[:3]:
        kernel = program.compile(schedule)
        given = arguments(rows, 20)
        kernel(*given)
        np.testing.assert_array_equal(given[-1], given[2][given[3]] * 2)
        given[3][11] = -3
        with pytest.raises(OutOfBounds, match="-3"):
            kernel(*given)


@pytest.mark.parametrize("schedule", ["default", "vectorize{loops=j width=5}", None])
def test_programs_that_emit_prints_refuse_wrong_subscripts(
    schedule: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows.mlir"
    path.write_text(rows.mlir)
    options = ["-s", "n=20", "-s", "m=5", "-s", "table_dim0=7"]
    options += [] if schedule is None else ["-p", schedule]
    assert main(["emit", str(path), "--mlir", *options]) == 0
    program = loopwright.load(capsys.readouterr().out)["rows"]
    for again in SCHEDULES[:3]:
        kernel = program.compile(again)
        given = arguments(rows, 20)
        kernel(*given)
        np.testing.assert_array_equal(given[-1], given[2][given[3]] * 2)
        given[3][11] = -3
        with pytest.raises(OutOfBounds, match="-3"):
            kernel(*given)


def test_copies_are_checked_where_they_are(tmp_path: Path) -> None:
    text = f"""{HEADER}
def f(n: int, idx: i32["n"], x: f64["p"], a: f64["n"], b: f64["n"]):
    for i in range(n):
        a[i] = x[idx[i]] * 2
    for i in range(n):
        b[i] += x[idx[i]]
"""
    kernel = load_source(text, tmp_path, "copies").f
    found = inspections(kernel.function.scop)
    assert [len(found.gathers[each.name]) for each in kernel.function.scop.statements] == [0, 1]


@pytest.mark.parametrize("schedule", [None, "", "default"])
@pytest.mark.parametrize("subscript", ["i * j * 100000 + j", "i * j - 400 * i", "i * j + j * j"])
def test_products_of_loop_variables_are_checked(
    subscript: str, schedule: str | None, tmp_path: Path
) -> None:
    for number, access in enumerate((f"y[i] += p[{subscript}]", f"p[{subscript}] = y[i]")):
        text = f"""{HEADER}
def f(p: f64["t"], y: f64["n"]):
    for i in range(len(y)):
        for j in range(len(y)):
            {access}
"""
        kernel = load_source(text, tmp_path, f"products{number}").f.compile(schedule, threads=1)
        with pytest.raises(OutOfBounds, match="access outside of p"):
            kernel(np.ones(5), np.zeros(20))


@loopwright.kernel
def some_neighbours(n: int, near: i32["n", 6], x: f64["p"], out: f64["n"]):
    for i in range(n):
        for j in range(5):
            out[i] += x[near[i, j]]


@pytest.mark.parametrize("kernel", [rows, neighbours, some_neighbours], ids=lambda k: k.__name__)
@pytest.mark.parametrize("wrong", [(0,), (31_000, 12_345), (39_999,)])
def test_threads_inspect_strips(kernel: Any, wrong: tuple[int, ...]) -> None:
    n = 40_000
    kind = kernel.__name__
    given = [n, np.zeros((n, 6), "i4"), np.ones(8), np.zeros(n)]
    if kind == "neighbours":
        given.insert(3, np.zeros(8))
    elif kind == "rows":
        given = [n, 3, np.ones((8, 3), "f4"), np.zeros(n, "i4"), np.zeros((n, 3), "f4")]
    near = given[3] if kind == "rows" else given[1]
    loop = schedule_of(kernel, "parallel{loops=*.0}")
    compiled = kernel.compile(loop, threads=2, verify=True)
    for row in wrong:
        near.reshape(n, -1)[row, 0] = 8 + row
    with pytest.raises(OutOfBounds, match=f" {8 + min(wrong)}, the extent 8"):
        compiled(*given)
    assert not given[-1].any()
    near[:] = 0
    compiled(*given)
    assert given[-1].all()
