"""Elements at subscripts that depend on data, in Python, text and C, under all schedules."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.random_python import load_source

import loopwright
from loopwright import f32, f64, i32, u8
from loopwright.cli import main
from loopwright.errors import ArgumentValueError, OutOfBounds, SourceError
from loopwright.lowering.llvm.entry_points import Status
from loopwright.passes.polyhedral.descriptions import describe_tree
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.gathers import gathered_arrays
from loopwright.runtime.calling.inputs import InputError, Settings, make_arguments


@loopwright.kernel
def ell(n: int, m: int, V: f64["n", "m"], J: i32["n", "m"], x: f64["k"], y: f64["n"]):
    for i in range(n):
        for j in range(m):
            y[i] += V[i, j] * x[J[i, j]]


@loopwright.kernel
def colours(h: int, w: int, image: u8["h", "w"], table: f32[256, 3], out: f32["h", "w", 3]):
    for i in range(h):
        for j in range(w):
            p = image[i, j]
            for c in range(3):
                out[i, j, c] = table[p, c] if p > 3 else table[255 - p, c] * 2


@loopwright.kernel
def interpolated(n: int, x: f64["n"], grid: f64["g"], y: f64["n"]):
    for i in range(n):
        k = int(x[i])
        t = x[i] - k
        y[i] = grid[k] * (1 - t) + grid[k + 1] * t


@loopwright.kernel
def guarded(n: int, J: i32["n"], A: f64["k"], y: f64["n"], z: f64["n"]):
    for i in range(n):
        y[i] = A[J[i]] if J[i] >= 0 else -1.0
        if J[i] >= 0 and J[i] < len(A) - 2 and A[J[i] + 2] > 0.5:
            z[i] += A[J[i] + 1]
        else:
            z[i] = 0.0 if J[i] >= len(A) or J[i] < 0 else A[J[i]]


SCHEDULES = (
    None,
    "default",
    "parallel{loops=i}",
    "vectorize{loops=i width=4}",
    "interchange{loops=i,j},vectorize{loops=i width=4}",
    "tile{loops=i,j sizes=4,4}",
)

random = np.random.default_rng(7)


def ell_arguments() -> list[Any]:
    rows = random.integers(0, 11, (9, 5)).astype("i4")
    return [9, 5, random.random((9, 5)), rows, random.random(11), np.zeros(9)]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_schedules_compute_the_same_and_refuse_wrong_subscripts(schedule: str | None) -> None:
    kernel = ell.compile(schedule, threads=2)
    arguments = ell_arguments()
    kernel(*arguments)
    np.testing.assert_allclose(arguments[-1], (arguments[2] * arguments[4][arguments[3]]).sum(1))
    for wrong in (11, -1, 2**31 - 1):
        arguments[3][4, 2] = wrong
        with pytest.raises(OutOfBounds, match=r"access outside of x: .* (is )?-?\d+"):
            kernel(*arguments)


def test_kernels_compute_what_python_does() -> None:
    image = np.arange(28, dtype="u1").reshape(4, 7)
    colours.check(4, 7, image, random.random((256, 3)).astype("f4"), np.zeros((4, 7, 3), "f4"))
    interpolated.check(20, random.random(20) * 8, random.random(10), np.zeros(20))


@loopwright.kernel
def whole(V: f64["n", "m"], J: i32["n", "m"], x: f64["k"], y: f64["n"], places: i32["n"]):
    y += np.sum(V * x[J], axis=1)
    z = x[places] * 2
    z[1:] += x[places[:-1]] + x[places[1:] // 2]
    return z, x[J].max(), np.where(x[J] > 0.5, x[J], 0.0)


def test_arrays_of_subscripts() -> None:
    rows = random.integers(0, 9, (6, 4)).astype("i4")
    places = random.integers(0, 9, 6).astype("i4")
    whole.check(random.random((6, 4)), rows, random.random(9), random.random(6), places)


def test_what_a_condition_excludes_need_not_be_there() -> None:
    for _ in range(4):
        places = random.integers(-5, 7, 9).astype("i4")
        guarded.check(9, places, random.random(7), np.zeros(9), random.random(9))


def test_libraries_say_that_a_subscript_is_wrong(tmp_path: Path) -> None:
    ell.save(tmp_path / "ell.so")
    function = ctypes.CDLL(str(tmp_path / "ell.so")).ell
    arguments = ell_arguments()
    passed: list[Any] = []
    for each in arguments:
        if isinstance(each, np.ndarray):
            passed.append(ctypes.c_void_p(each.ctypes.data))
            passed += [ctypes.c_int64(extent) for extent in each.shape]
        else:
            passed.append(ctypes.c_int64(each))
    assert function(*passed) == Status.OK
    arguments[3][8, 4] = 11
    assert function(*passed) == Status.WRONG_SUBSCRIPT
    arguments[3][8, 4] = 0
    assert function(*passed) == Status.OK


C = """
void f(int n, int I[n], double A[n], double y[n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    y[i] = I[i] < 0 ? 7.0 : A[I[i]];
    if (I[i] > 0 && A[I[i] - 1] > 0.5) y[i] += A[I[i] - 1];
  }
#pragma endscop
}
"""


def test_c_files(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(C)
    kernel = loopwright.load(path)["f"].compile()
    places = np.array([3, -9, 0, 2, 1, -1], "i4")
    A, y = random.random(6), np.zeros(6)
    kernel(6, places, A, y)
    expected = np.array([7.0 if k < 0 else A[k] for k in places])
    for i, k in enumerate(places):
        if k > 0 and A[k - 1] > 0.5:
            expected[i] += A[k - 1]
    np.testing.assert_array_equal(y, expected)


def test_what_is_said_of_gathers() -> None:
    scop = ell.function.scop
    assert "y[i] from y[i], V[i, j], J[i, j], x[*]" in describe_tree(scop, scop.tree)
    sizes = infer_extents(scop, {"n": 9, "m": 5})
    assert "x_dim0" not in sizes and sizes["J_dim1"] == 5
    with pytest.raises(InputError, match="--set x_dim0"):
        make_arguments(scop, ell.function.signature, Settings({"n": "9", "m": "5"}, {}, 0))


def test_arrays_that_are_written_are_read_by_opaque_statements() -> None:
    text = """
func.func @f(%n: index, %I: memref<?xindex>, %A: memref<?xf64>) {
  affine.for %i = 0 to %n {
    %k = affine.load %I[%i] : memref<?xindex>
    %v = memref.load %A[%k] : memref<?xf64>
    affine.store %v, %A[%i] : memref<?xf64>
  }
  return
}
"""
    function = loopwright.load(text)["f"]
    assert function.scop.opaque_statements == ("S0",)
    places = random.integers(0, 9, 9)
    A = random.random(9)
    expected = A.copy()
    for i, k in enumerate(places):
        expected[i] = expected[k]
    function.compile()(9, places, A)
    np.testing.assert_array_equal(A, expected)


def test_other_forms_of_gathers(tmp_path: Path) -> None:
    for language, suffix in (("python", "py"), ("c", "c")):
        path = tmp_path / f"guarded.{suffix}"
        source = tmp_path / "guarded.mlir"
        source.write_text(guarded.mlir)
        assert main(["convert", str(source), "--to", language, "-o", str(path)]) == 0
        scop = loopwright.load(path)["guarded"].scop
        names = {array.value: array.name for array in scop.arrays}
        for statement in scop.statements:
            assert {names[each] for each in gathered_arrays(statement)} == {"A"}


def test_programs_with_gathers_are_proved(tmp_path: Path) -> None:
    one = loopwright.load(ell.mlir)
    other = loopwright.load(ell.mlir.replace("%x", "%table"))
    assert loopwright.verify(one["ell"], other["ell"]).is_equal
    ell.compile("interchange{loops=i,j},vectorize{loops=i width=4}", verify=True)(*ell_arguments())


@loopwright.kernel
def both(n: int, J: i32["n"], A: f64["k"], y: f64["n", "n"]):
    for i in range(n):
        for j in range(n):
            y[i, j] += A[J[i]] * A[j + 2]


@pytest.mark.parametrize(
    "schedule", ["pack{array=A loops=i}", "tile{loops=i,j sizes=4,4},pack{array=A loops=jt}"]
)
def test_gathers_read_the_array_itself_where_a_part_of_it_is_packed(schedule: str) -> None:
    for n in (1, 9):
        rows = random.integers(0, 20, n).astype("i4")
        rows[-1] = 19
        A, y = random.random(20), np.zeros((n, n))
        both.compile(schedule)(n, rows, A, y)
        np.testing.assert_array_equal(y, A[rows][:, None] * A[2 : n + 2])


@loopwright.kernel
def row(n: int, J: i32["n"], A: f64["k", "m"], y: f64["n"]):
    B = A.T
    for i in range(n):
        y[i] = A[1, J[i]] + B[J[i], 0]


@pytest.mark.parametrize("columns", [slice(None, 6), slice(None, None, 3), slice(None, None, -1)])
def test_extents_of_slices_are_not_those_of_their_memory(columns: slice) -> None:
    memory = random.random((4, 9))
    table = memory[:, columns]
    copying = loopwright.kernel(row.python, copy=True)
    for kernel in (row, copying):
        for wrong in (table.shape[1], -1):
            with pytest.raises((OutOfBounds, ArgumentValueError)):
                kernel(1, np.array([wrong], "i4"), table, np.zeros(1))
    copying.check(2, np.array([1, 2], "i4"), table, np.zeros(2))


def test_slices_in_the_text_are_refused() -> None:
    def part(n: int, m: int, J: i32["n"], A: f64["k"], y: f64["n"]):
        B = A[:m]
        for i in range(n):
            y[i] = B[J[i]]

    with pytest.raises(SourceError, match="a subscript that depends on data, of a slice"):
        loopwright.kernel(part)


SCATTERS = """
import loopwright
from loopwright import f64, i32


@loopwright.kernel
def f(n: int, m: int, J: i32["n"], v: f64["n"], A: f64["m"], B: f64["m"]):
    for i in range(n):
        if v[i] > 1.0:
            B[i * i % m] = A[J[i]]
        else:
            B[(i * i + 1) % m] += v[i]
"""


def test_scatters_under_a_condition_keep_what_is_there(tmp_path: Path) -> None:
    """A subscript that is not affine but reads no data: the condition chooses what is stored."""
    kernel = load_source(SCATTERS, tmp_path, "scatters").f
    j = np.array([0, 4, 1, 0, 2, 3, 3, 1, 2], "i4")
    v = np.array([3.0, 1, 3, 0, 1, 2, 0, 5, -1])
    kernel.check(9, 5, j, v, np.arange(5.0) + 10, np.arange(5.0))
